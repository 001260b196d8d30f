// Methods of lists and sets that are known to be just that: `a.append(b)` is LIST_APPEND, and is silent where only the
// frame has the list. Attributes of super(). The cells of a new function: `(lambda: x).__closure__[0]`.
#include "dialect/dialect.h"
#include "prove/machine.h"
#include "support/search_limits.h"

namespace depyf {
namespace {

// These types and their methods never change.
bool has_method(Exact type, std::string_view name) {
  if (type == Exact::list) return name == "append" || name == "extend";
  return type == Exact::set && name == "add";
}

}  // namespace

Exact Machine::exact_type_of(Symbol symbol) const {
  if (!symbols_.is_object(symbol)) return symbols_[symbol].exact;
  auto found = frame().objects.find(symbol);
  return found == frame().objects.end() ? Exact::unknown : exact_type(found->second.kind);
}

Step Machine::load_attribute(const Instruction& it) {
  const Symbol name = program_.names[static_cast<std::size_t>(it.arg)], owner = peek(1);
  if (symbols_.may_be_null(owner)) return stuck("no value where one is needed");
  const std::string& text = symbols_.value(name)->text;
  if (has_method(exact_type_of(owner), text)) {
    pop();
    push(make(Object::Kind::method, {owner, name}));
    if (it.op == Op::load_method_) push(Symbols::null);
    return silent();
  }
  if (const Object* known = object(owner);
      known && known->kind == Object::Kind::function && text == "__closure__" && it.op == Op::load_attr_) {
    Symbol closure = known->items[function_closure];
    pop();
    push(closure == Symbols::null ? symbols_.none() : closure);
    return silent();
  }
  Effect made{.op = Op::load_attr_, .name = name, .operands = {owner}};
  made.pops = 1, made.results = 1, made.method = it.op == Op::load_method_;
  return effect(std::move(made));
}

// `super().name` as a call and an attribute, which it is to 3.11.
Step Machine::super_attribute(const Instruction& it) {
  for (int n = 1; n <= (frame().second ? 1 : 3); ++n) {
    if (symbols_.may_be_null(peek(n))) return stuck("no value where one is needed");
  }
  if (frame().second) {
    Effect made{.op = Op::load_attr_, .name = program_.names[static_cast<std::size_t>(it.arg)], .operands = top(1)};
    made.pops = made.results = 1, made.method = it.aux & 1;
    return effect(std::move(made));
  }
  Effect made{.op = Op::call_, .operands = {peek(3)}};
  if (it.aux & 2) made.operands.insert(made.operands.end(), {peek(2), peek(1)});
  else made.context = {peek(1), peek(2)};
  made.pops = 3, made.results = 1, made.half = true;
  return effect(std::move(made));
}

// LOAD_DEREF __class__; LOAD_FAST self; LOAD_SUPER_ATTR: to 3.11 super() itself looks into the cell.
bool Machine::is_class_of_super(const Instruction& it) const {
  const auto at = static_cast<std::size_t>(frame().at);
  if (!program_.across(&Dialect::super_attributes) || at + 2 >= program_.decoded.instructions.size()) return false;
  const Instruction& used = program_.decoded.instructions[at + 2];
  return used.op == Op::load_super_attr_ && !(used.aux & 2) &&
         program_.decoded.localsplus[static_cast<std::size_t>(it.arg)] == "__class__";
}

// Stuck: it is called in a way that is not known here.
Step Machine::call_method(Symbol method, const Parts& arguments, int pops) {
  const Object* known = object(method);
  const Symbol owner = known->items[0];
  const std::string& name = symbols_.value(known->items[1])->text;
  if (arguments.size() != 1 || symbols_.may_be_null(arguments[0])) return Step::stuck;
  Object* list = object(owner);
  if (name == "extend") {
    Parts items;
    if (!list || !sequence(arguments[0], items) || list->items.size() + items.size() > search_limits::known_items)
      return Step::stuck;
    list->items.insert(list->items.end(), items.begin(), items.end());
  } else if (list) {
    if (list->items.size() >= search_limits::known_items) return Step::stuck;
    list->items.push_back(arguments[0]);
  } else {
    const bool set = name == "add";
    Effect made{.op = set ? Op::set_add_ : Op::list_append_, .operands = {owner, arguments[0]}};
    made.pops = pops, made.none = true, made.raises = set;
    return effect(std::move(made));
  }
  drop(pops);
  push(symbols_.none());
  return silent();
}

}  // namespace depyf
