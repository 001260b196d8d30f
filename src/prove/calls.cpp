// Calls in one normal form, whatever the version and however the arguments came; functions as objects.
#include <algorithm>

#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "prove/machine.h"

namespace depyf {
namespace {}  // namespace

// Two slots hold the callable: with NULL, or a function with its self.
bool Machine::callable_of(Symbol low, Symbol high, Symbol& callable, Parts& arguments) const {
  if (low == Symbols::null || high == Symbols::null) {
    callable = low == Symbols::null ? high : low;
    return !symbols_.may_be_null(callable);
  }
  if (symbols_.may_be_null(low) || symbols_.may_be_null(high)) return false;
  callable = low;
  const SymbolInfo& self = symbols_[high];
  if (self.kind == SymbolInfo::Kind::term && self.text == self_of) return self.args[0] == low;
  arguments.push_back(high);
  return true;
}

Step Machine::call(const Instruction& it) {
  bool slots = it.op == Op::call_ || it.op == Op::call_kw_;
  bool names_on_top = it.op == Op::call_kw_ || it.op == Op::call_function_kw_;
  const int pops = it.arg + 1 + slots + names_on_top;
  if (depth() < pops) return stuck("the stack is too short");
  Symbol names = Symbols::null;
  if (names_on_top) {
    names = peek(1);
  } else if (it.op == Op::call_ && it.aux >= 0) {
    names = program_.constants[static_cast<std::size_t>(it.aux)];
  }
  Symbol callable = Symbols::null;
  Parts arguments;
  if (slots) {
    if (!callable_of(peek(pops), peek(pops - 1), callable, arguments)) return stuck("a call of nothing");
  } else {
    callable = peek(pops);
  }
  auto begin = frame().stack.end() - (it.arg + names_on_top);
  arguments.insert(arguments.end(), begin, begin + it.arg);
  return finish_call(callable, std::move(arguments), names, pops);
}

Step Machine::finish_call(Symbol callable, Parts arguments, Symbol names, int pops) {
  if (const Constant* tuple = symbols_.value(names);
      tuple && tuple->kind == Constant::Kind::tuple && tuple->items.empty()) {
    names = Symbols::null;
  }
  if (const Object* known = object(callable); known && known->kind == Object::Kind::method && names == Symbols::null) {
    if (Step step = call_method(callable, arguments, pops); step != Step::stuck) return step;
  }
  Effect made{.op = Op::call_, .name = names, .operands = {callable}};
  made.operands.insert(made.operands.end(), arguments.begin(), arguments.end());
  made.pops = pops, made.results = 1;
  if (auto outputs = program_.outputs.find(callable); outputs != program_.outputs.end()) made.outputs = outputs->second;
  for (Symbol operand : made.operands) {
    if (symbols_.may_be_null(operand)) return stuck("no value where one is needed");
  }
  add_context(made);
  return effect(std::move(made));
}

void Machine::add_context(Effect& made) {
  const DecodedCode& decoded = program_.decoded;
  bool none = made.operands.size() == 1 || made.op == Op::call_function_ex_;
  if (none && !frame().locals.empty()) {  // super() finds its arguments in the frame
    for (std::size_t i = 0; i < frame().locals.size(); ++i) {
      if (decoded.localsplus[i] != "__class__" || static_cast<int>(i) < decoded.first_free) continue;
      const Object* cell = object(frame().locals[0]);
      bool inside = cell && cell->kind == Object::Kind::cell;
      made.context = {inside ? cell->items[0] : frame().locals[0], frame().locals[i]};
    }
  }
  const SymbolInfo& callable = symbols_[made.operands[0]];
  if (callable.kind == SymbolInfo::Kind::opaque && looks_at_locals(callable.text)) add_locals(made);
}

void Machine::add_locals(Effect& made) {
  const DecodedCode& decoded = program_.decoded;
  std::vector<std::pair<std::string_view, Symbol>> bound;
  for (std::size_t i = 0; i < frame().locals.size(); ++i) {
    if (frame().locals[i] != Symbols::null) bound.emplace_back(decoded.localsplus[i], frame().locals[i]);
  }
  std::sort(bound.begin(), bound.end());
  for (auto [name, value] : bound) made.context.insert(made.context.end(), {symbols_.string(name), value});
}

// f(*args, **kwargs); where both are displays that only the frame has, the same as a call with what is in them.
Step Machine::call_expanded(const Instruction& it) {
  const bool slot = it.aux & 1;
  const int pops = 2 + it.arg + slot;
  Symbol kwargs = it.arg ? peek(1) : Symbols::null;
  Symbol args = peek(1 + it.arg);
  Symbol callable = Symbols::null;
  Parts arguments;
  if (slot) {
    if (!callable_of(peek(pops), peek(pops - 1), callable, arguments) || !arguments.empty()) {
      return stuck("a call of nothing");
    }
  } else {
    callable = peek(pops);
  }
  Parts items;
  const Object* keywords = object(kwargs);
  bool known = sequence(args, items) && (kwargs == Symbols::null || (keywords && keywords->kind == Object::Kind::dict));
  Symbol names = Symbols::null;
  if (known && keywords) {
    Constant tuple;
    tuple.kind = Constant::Kind::tuple;
    for (Symbol key : keywords->keys) {
      const Constant* constant = symbols_.value(key);
      known = known && constant->kind == Constant::Kind::string;
      tuple.items.push_back(*constant);
    }
    items.insert(items.end(), keywords->items.begin(), keywords->items.end());
    names = symbols_.constant(tuple);
  }
  if (known) return finish_call(callable, std::move(items), names, pops);
  Effect made{.op = it.op, .operands = {callable, args}};
  if (kwargs != Symbols::null) made.operands.push_back(kwargs);
  made.pops = pops, made.results = 1;
  for (Symbol operand : made.operands) {
    if (symbols_.may_be_null(operand)) return stuck("no value where one is needed");
  }
  add_context(made);
  return effect(std::move(made));
}

Step Machine::make_function(const Instruction& it) {
  Parts parts(function_parts, Symbols::null);
  if (it.aux) parts[function_name] = pop();
  parts[function_code] = pop();
  const CodeObject* code = symbols_[parts[function_code]].code;
  if (!code) return stuck("a function without a code object");
  if (!it.aux) parts[function_name] = symbols_.string(code->qualname);
  // The function of a class body has the class's own name to 3.10; only __build_class__ sees it.
  if (program_.across(&Dialect::qualified_name_on_stack) && !(code->flags & CodeObject::optimized)) {
    parts[function_name] = symbols_.string(code->name);
  }
  for (auto [flag, part] : {std::pair{8, function_closure}, std::pair{4, function_annotations},
                            std::pair{2, function_kwdefaults}, std::pair{1, function_defaults}}) {
    if (it.arg & flag) parts[static_cast<std::size_t>(part)] = pop();
  }
  if (const Object* dict = object(parts[function_annotations]); dict && dict->kind == Object::Kind::dict) {
    Parts pairs;  // as they come from 3.10 on
    for (std::size_t i = 0; i < dict->keys.size(); ++i) pairs.insert(pairs.end(), {dict->keys[i], dict->items[i]});
    parts[function_annotations] = make(Object::Kind::tuple, std::move(pairs));
  }
  push(make(Object::Kind::function, std::move(parts)));
  return silent();
}

Step Machine::set_function_attribute(const Instruction& it) {
  Symbol function = pop(), value = pop();
  Object* known = object(function);
  if (!known || known->kind != Object::Kind::function) return stuck("an attribute of no new function");
  std::size_t part = it.arg == 1   ? function_defaults
                     : it.arg == 2 ? function_kwdefaults
                     : it.arg == 4 ? function_annotations
                     : it.arg == 8 ? function_closure
                                   : function_annotate;
  if (part == function_annotate && it.arg != 16) return stuck("an unknown attribute of a function");
  known->items[part] = value;
  push(function);
  return silent();
}

}  // namespace depyf
