// Models methods of lists and sets whose exact type is known. `a.append(b)` means the same as LIST_APPEND, and is
// silent if only the frame has the list. The file also models attributes of super(), and the closure of a new
// function, as in `(lambda: x).__closure__[0]`.
#include "prove/methods.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "support/search_limits.h"

namespace depyf::operations {
namespace {

// Returns true if objects of the exact type have the method, and `call_method` has a rule for it. Programs cannot
// change the methods of built-in types.
bool has_method(Exact type, std::string_view name) {
  if (type == Exact::list) return name == "append" || name == "extend";
  return type == Exact::set && name == "add";
}

}  // namespace

Step load_attribute(Execution& run, const Instruction& it) {
  const Symbol name = run.program.names[static_cast<std::size_t>(it.arg)], owner = run.frame.peek(1);
  if (run.symbols.may_be_null(owner)) return run.stuck("no value where one is needed");
  const std::string& text = run.symbols.value(name)->text;
  if (has_method(run.frame.exact_type_of(owner), text)) {
    run.frame.pop();
    run.frame.push(run.frame.make(Object::Kind::method, {owner, name}));
    if (it.op == Op::load_method_) run.frame.push(Symbols::null);
    return run.frame.silent();
  }
  // Only the frame has seen the function, so its closure is the tuple of cells that the function was created with.
  if (const Object* known = run.frame.object(owner);
      known && known->kind == Object::Kind::function && text == "__closure__" && it.op == Op::load_attr_) {
    Symbol closure = known->items[function_closure];
    run.frame.pop();
    run.frame.push(closure == Symbols::null ? run.symbols.none() : closure);
    return run.frame.silent();
  }
  Effect made{.op = Op::load_attr_, .name = name, .operands = {owner}};
  made.pops = 1, made.results = 1, made.method = it.op == Op::load_method_;
  return run.effect(std::move(made));
}

// Executes `super().name` as a call of super() and a load of an attribute, which are separate instructions up to 3.11.
Step super_attribute(Execution& run, const Instruction& it) {
  for (int n = 1; n <= (run.frame.side().second ? 1 : 3); ++n) {
    if (run.symbols.may_be_null(run.frame.peek(n))) return run.stuck("no value where one is needed");
  }
  if (run.frame.side().second) {
    Effect made{.op = Op::load_attr_,
                .name = run.program.names[static_cast<std::size_t>(it.arg)],
                .operands = run.frame.top(1)};
    made.pops = made.results = 1, made.method = it.aux & 1;
    return run.effect(std::move(made));
  }
  Effect made{.op = Op::call_, .operands = {run.frame.peek(3)}};
  // With two arguments super() gets the class and self; without arguments it finds them in the frame.
  if (it.aux & 2) made.operands.insert(made.operands.end(), {run.frame.peek(2), run.frame.peek(1)});
  else made.context = {run.frame.peek(1), run.frame.peek(2)};
  made.pops = 3, made.results = 1, made.half = true;
  return run.effect(std::move(made));
}

// Returns true if `it` is the first instruction of `LOAD_DEREF __class__; LOAD_FAST self; LOAD_SUPER_ATTR name`, and
// the version of the other code object has no LOAD_SUPER_ATTR. The LOAD_DEREF in front of a LOAD_SUPER_ATTR is silent,
// because up to 3.11 super() itself reads the cell `__class__`.
bool is_class_of_super(const Program& program, const Frame& frame, const Instruction& it) {
  const auto at = static_cast<std::size_t>(frame.side().at);
  if (!program.across(&Dialect::super_attributes) || at + 2 >= program.decoded.instructions.size()) return false;
  const Instruction& used = program.decoded.instructions[at + 2];
  return used.op == Op::load_super_attr_ && !(used.aux & 2) &&
         program.decoded.localsplus[static_cast<std::size_t>(it.arg)] == "__class__";
}

Step call_method(Execution& run, Symbol method, const Parts& arguments, int pops) {
  const Object* known = run.frame.object(method);
  const Symbol owner = known->items[0];
  const std::string& name = run.symbols.value(known->items[1])->text;
  if (arguments.size() != 1 || run.symbols.may_be_null(arguments[0])) return Step::stuck;
  Object* list = run.frame.object(owner);
  if (name == "extend") {
    Parts items;
    if (!list || !run.frame.sequence(arguments[0], items) ||
        list->items.size() + items.size() > search_limits::known_items)
      return Step::stuck;
    list->items.insert(list->items.end(), items.begin(), items.end());
  } else if (list) {
    if (list->items.size() >= search_limits::known_items) return Step::stuck;
    list->items.push_back(arguments[0]);
    // Other code may have seen the container, so the call is an effect that returns None.
  } else {
    const bool set = name == "add";
    Effect made{.op = set ? Op::set_add_ : Op::list_append_, .operands = {owner, arguments[0]}};
    made.pops = pops, made.none = true, made.raises = set;
    return run.effect(std::move(made));
  }
  run.frame.drop(pops);
  run.frame.push(run.symbols.none());
  return run.frame.silent();
}

}  // namespace depyf::operations
