// Brings the calls of all Python versions into one normal form, and represents each function that the code creates by
// an Object with known parts.
#include <algorithm>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "prove/calls.h"
#include "prove/methods.h"

namespace depyf::operations {
namespace {
void add_context(Symbols& symbols, const Program& program, Frame& frame, Effect& effect);

// Reads a callable from two stack slots, which contain either NULL and the callable, or a function and its `self`. A
// `self` becomes the first argument of the call. Returns false if the two slots are not known to form a callable.
bool callable_of(const Symbols& symbols, Symbol low, Symbol high, Symbol& callable, Parts& arguments) {
  if (low == Symbols::null || high == Symbols::null) {
    callable = low == Symbols::null ? high : low;
    return !symbols.may_be_null(callable);
  }
  if (symbols.may_be_null(low) || symbols.may_be_null(high)) return false;
  callable = low;
  const SymbolInfo& self = symbols[high];
  // LOAD_METHOD pushes an unknown method and, in the slot of its self, the term `self_of(method)`, which is not
  // counted as an argument.
  if (self.kind == SymbolInfo::Kind::term && self.text == self_of) return self.args[0] == low;
  arguments.push_back(high);
  return true;
}

// Executes a call in the normal form: a callable, its arguments and the names of keyword arguments. `names` is the
// tuple of the names of keyword arguments, which are the last arguments; `pops` is the number of stack slots that the
// call consumes.
Step finish_call(Execution& run, Symbol callable, Parts arguments, Symbol names, int pops) {
  // An empty tuple of keyword names means the same as no names.
  if (const Constant* tuple = run.symbols.value(names);
      tuple && tuple->kind == Constant::Kind::tuple && tuple->items.empty()) {
    names = Symbols::null;
  }
  if (const Object* known = run.frame.object(callable);
      known && known->kind == Object::Kind::method && names == Symbols::null) {
    if (Step step = call_method(run, callable, arguments, pops); step != Step::stuck) return step;
  }
  Effect made{.op = Op::call_, .name = names, .operands = {callable}};
  made.operands.insert(made.operands.end(), arguments.begin(), arguments.end());
  made.pops = pops, made.results = 1;
  if (auto outputs = run.program.outputs.find(callable); outputs != run.program.outputs.end())
    made.outputs = outputs->second;
  for (Symbol operand : made.operands) {
    if (run.symbols.may_be_null(operand)) return run.stuck("no value where one is needed");
  }
  add_context(run.symbols, run.program, run.frame, made);
  return run.effect(std::move(made));
}

// Appends to the effect's `context` those values of the frame that the callee can read although they are not passed as
// arguments. The values in `context` are compared like the arguments.
void add_context(Symbols& symbols, const Program& program, Frame& frame, Effect& made) {
  const DecodedCode& decoded = program.decoded;
  bool none = made.operands.size() == 1 || made.op == Op::call_function_ex_;
  // `super()` without arguments takes the cell `__class__` and the first local from the frame of its caller.
  if (none && !frame.side().locals.empty()) {
    for (std::size_t i = 0; i < frame.side().locals.size(); ++i) {
      if (decoded.localsplus[i] != "__class__" || static_cast<int>(i) < decoded.first_free) continue;
      const Object* cell = frame.object(frame.side().locals[0]);
      bool inside = cell && cell->kind == Object::Kind::cell;
      made.context = {inside ? cell->items[0] : frame.side().locals[0], frame.side().locals[i]};
    }
  }
  // An unknown callable that was loaded from a name such as `locals` or `eval` may read all locals of its caller. With an
  // argument, `vars` and `dir` look at the argument instead.
  const SymbolInfo& callable = symbols[made.operands[0]];
  const bool looks_at_argument = !none && (callable.text == "vars" || callable.text == "dir");
  if (callable.kind == SymbolInfo::Kind::opaque && looks_at_locals(callable.text) && !looks_at_argument)
    add_locals(symbols, program, frame, made);
}

}  // namespace

Step call(Execution& run, const Instruction& it) {
  // From 3.11 on, the callable of a call takes two stack slots: NULL and the function, or the function and its self.
  bool slots = it.op == Op::call_ || it.op == Op::call_kw_;
  bool names_on_top = it.op == Op::call_kw_ || it.op == Op::call_function_kw_;
  const int pops = it.arg + 1 + slots + names_on_top;
  if (run.frame.depth() < pops) return run.stuck("the stack is too short");
  Symbol names = Symbols::null;
  if (names_on_top) {
    names = run.frame.peek(1);
  } else if (it.op == Op::call_ && it.aux >= 0) {
    names = run.program.constants[static_cast<std::size_t>(it.aux)];
  }
  Symbol callable = Symbols::null;
  Parts arguments;
  if (slots) {
    if (!callable_of(run.symbols, run.frame.peek(pops), run.frame.peek(pops - 1), callable, arguments))
      return run.stuck("a call of nothing");
  } else {
    callable = run.frame.peek(pops);
  }
  auto begin = run.frame.side().stack.end() - (it.arg + names_on_top);
  arguments.insert(arguments.end(), begin, begin + it.arg);
  return finish_call(run, callable, std::move(arguments), names, pops);
}

void add_locals(Symbols& symbols, const Program& program, Frame& frame, Effect& made) {
  const DecodedCode& decoded = program.decoded;
  std::vector<std::pair<std::string_view, Symbol>> bound;
  for (std::size_t i = 0; i < frame.side().locals.size(); ++i) {
    const Symbol value = frame.side().locals[i];
    // An empty cell does not count as a bound local: modules of 3.14 and later have an empty cell
    // `__conditional_annotations__`.
    const Object* cell = frame.object(value);
    const bool is_empty = cell && cell->kind == Object::Kind::cell && cell->items[0] == Symbols::null;
    if (value != Symbols::null && !is_empty) bound.emplace_back(decoded.localsplus[i], value);
  }
  // The names are sorted, so that the context of the effect does not depend on the order of the locals.
  std::sort(bound.begin(), bound.end());
  for (auto [name, value] : bound) made.context.insert(made.context.end(), {symbols.string(name), value});
}

// Executes `f(*args, **kwargs)`. If no other code has seen the tuple and the dict, the call is executed as a call
// with their items as arguments.
Step call_expanded(Execution& run, const Instruction& it) {
  const bool slot = it.aux & 1;
  const int pops = 2 + it.arg + slot;
  Symbol kwargs = it.arg ? run.frame.peek(1) : Symbols::null;
  Symbol args = run.frame.peek(1 + it.arg);
  Symbol callable = Symbols::null;
  Parts arguments;
  if (slot) {
    if (!callable_of(run.symbols, run.frame.peek(pops), run.frame.peek(pops - 1), callable, arguments) ||
        !arguments.empty()) {
      return run.stuck("a call of nothing");
    }
  } else {
    callable = run.frame.peek(pops);
  }
  Parts items;
  const Object* keywords = run.frame.object(kwargs);
  bool known = run.frame.sequence(args, items) &&
               // The loop below also requires that the keys are strings, because a call with any other key raises.
               (kwargs == Symbols::null || (keywords && keywords->kind == Object::Kind::dict));
  Symbol names = Symbols::null;
  if (known && keywords) {
    Constant tuple;
    tuple.kind = Constant::Kind::tuple;
    for (Symbol key : keywords->keys) {
      const Constant* constant = run.symbols.value(key);
      known = known && constant->kind == Constant::Kind::string;
      tuple.items.push_back(*constant);
    }
    items.insert(items.end(), keywords->items.begin(), keywords->items.end());
    names = run.symbols.constant(tuple);
  }
  if (known) return finish_call(run, callable, std::move(items), names, pops);
  Effect made{.op = it.op, .operands = {callable, args}};
  if (kwargs != Symbols::null) made.operands.push_back(kwargs);
  made.pops = pops, made.results = 1;
  for (Symbol operand : made.operands) {
    if (run.symbols.may_be_null(operand)) return run.stuck("no value where one is needed");
  }
  add_context(run.symbols, run.program, run.frame, made);
  return run.effect(std::move(made));
}

// Executes MAKE_FUNCTION. The new function is represented by an Object with known parts, because no other code has seen
// the function.
Step make_function(Execution& run, const Instruction& it) {
  Parts parts(function_parts, Symbols::null);
  if (it.aux) parts[function_name] = run.frame.pop();
  parts[function_code] = run.frame.pop();
  const CodeObject* code = run.symbols[parts[function_code]].code;
  if (!code) return run.stuck("a function without a code object");
  if (!it.aux) parts[function_name] = run.symbols.string(code->qualname);
  // Up to 3.10 the function that runs a class body has the unqualified name of the class, and from 3.11 on the
  // qualified name. The difference has no effect, because only `__build_class__` receives the function. If one code
  // object of a proof is from 3.10 or earlier and the other one from 3.11 or later, the unqualified name is used for
  // both.
  if (run.program.across(&Dialect::qualified_name_on_stack) && !(code->flags & CodeObject::optimized)) {
    parts[function_name] = run.symbols.string(code->name);
  }
  // The flags of MAKE_FUNCTION state which parts of the function lie on the stack, from the top: closure,
  // annotations, keyword defaults, defaults.
  for (auto [flag, part] : {std::pair{8, function_closure}, std::pair{4, function_annotations},
                            std::pair{2, function_kwdefaults}, std::pair{1, function_defaults}}) {
    if (it.arg & flag) parts[static_cast<std::size_t>(part)] = run.frame.pop();
  }
  if (const Object* dict = run.frame.object(parts[function_annotations]); dict && dict->kind == Object::Kind::dict) {
    // Up to 3.9 the annotations of a function are a dict. The normal form of annotations is that of 3.10 and later: a
    // tuple in which names and values alternate.
    Parts pairs;
    for (std::size_t i = 0; i < dict->keys.size(); ++i) pairs.insert(pairs.end(), {dict->keys[i], dict->items[i]});
    parts[function_annotations] = run.frame.make(Object::Kind::tuple, std::move(pairs));
  }
  run.frame.push(run.frame.make(Object::Kind::function, std::move(parts)));
  return run.frame.silent();
}

// Executes SET_FUNCTION_ATTRIBUTE (3.13 and later), which sets one part of a new function.
Step set_function_attribute(Execution& run, const Instruction& it) {
  Symbol function = run.frame.pop(), value = run.frame.pop();
  Object* known = run.frame.object(function);
  if (!known || known->kind != Object::Kind::function)
    return run.stuck("an attribute of a value that is no new function");
  // The argument is the bit that MAKE_FUNCTION used for the same part in earlier versions.
  std::size_t part = it.arg == 1   ? function_defaults
                     : it.arg == 2 ? function_kwdefaults
                     : it.arg == 4 ? function_annotations
                     : it.arg == 8 ? function_closure
                                   : function_annotate;
  if (part == function_annotate && it.arg != 16) return run.stuck("an unknown attribute of a function");
  known->items[part] = value;
  run.frame.push(function);
  return run.frame.silent();
}

}  // namespace depyf::operations
