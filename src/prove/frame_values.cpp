// Models locals and cells. Loading a local that may be unbound on some path is an effect, because it may raise.
#include "prove/frame_values.h"
#include "decode/op.h"
#include "prove/methods.h"

namespace depyf::operations {

namespace {

Symbol name_of_local(Symbols& symbols, const Program& program, const Instruction& it) {
  return symbols.string(program.decoded.localsplus[static_cast<std::size_t>(it.arg)]);
}

// Makes the load of a possibly unbound variable an effect. After the effect has been matched, the instruction is
// executed again with the variable bound.
Step unbound(Execution& run, const Instruction& it, Symbol content) {
  Effect made{.op = Op::load_fast_, .name = name_of_local(run.symbols, run.program, it), .operands = {content}};
  made.then = Effect::Then::bound;
  // If the content is NULL, the variable is certainly unbound, so its load always raises.
  made.returns = content != Symbols::null;
  return run.effect(std::move(made));
}

}  // namespace

Step load_local(Execution& run, const Instruction& it) {
  Symbol value = run.frame.local(it);
  if (run.symbols.may_be_null(value)) return unbound(run, it, value);
  if (it.op == Op::delete_fast_) {
    run.frame.local(it) = Symbols::null;
  } else {
    run.frame.push(value);
  }
  return run.frame.silent();
}

// Loads from a cell. The content of a cell that no other code has seen is known; the content of any other cell may be
// changed by other code.
Step load_cell(Execution& run, const Instruction& it) {
  Symbol cell = run.frame.local(it);
  if (const Object* known = run.frame.object(cell)) {
    if (known->kind != Object::Kind::cell) return run.stuck("no cell where one is needed");
    if (run.symbols.may_be_null(known->items[0])) return unbound(run, it, known->items[0]);
    run.frame.push(known->items[0]);
    return run.frame.silent();
  }
  if (run.symbols.may_be_null(cell)) return run.stuck("no cell where one is needed");
  if (is_class_of_super(run.program, run.frame, it)) return run.frame.push(cell), run.frame.silent();
  Effect made{.op = it.op, .name = name_of_local(run.symbols, run.program, it), .operands = {cell}};
  made.results = 1;
  return run.effect(std::move(made));
}

Step store_cell(Execution& run, const Instruction& it) {
  Symbol cell = run.frame.local(it);
  if (Object* known = run.frame.object(cell)) {
    if (known->kind != Object::Kind::cell) return run.stuck("no cell where one is needed");
    known->items[0] = run.frame.pop();
    return run.frame.silent();
  }
  if (run.symbols.may_be_null(cell)) return run.stuck("no cell where one is needed");
  Effect made{.op = it.op, .name = name_of_local(run.symbols, run.program, it), .operands = {cell, run.frame.peek(1)}};
  made.pops = 1, made.raises = false;
  return run.effect(std::move(made));
}

Step delete_cell(Execution& run, const Instruction& it) {
  Symbol cell = run.frame.local(it);
  if (Object* known = run.frame.object(cell)) {
    if (known->kind != Object::Kind::cell) return run.stuck("no cell where one is needed");
    if (run.symbols.may_be_null(known->items[0])) return unbound(run, it, known->items[0]);
    known->items[0] = Symbols::null;
    return run.frame.silent();
  }
  if (run.symbols.may_be_null(cell)) return run.stuck("no cell where one is needed");
  return run.effect({.op = it.op, .name = name_of_local(run.symbols, run.program, it), .operands = {cell}});
}

// Loads a name in a class body, which Python looks up first in the class namespace and then in the cell.
Step class_cell(Execution& run, const Instruction& it) {
  bool given = it.op == Op::load_from_dict_or_deref_;
  if (run.symbols.may_be_null(run.frame.local(it))) return run.stuck("no cell where one is needed");
  Effect made{.op = Op::load_class_deref_,
              .name = name_of_local(run.symbols, run.program, it),
              .operands = {given ? run.frame.peek(1) : run.symbols.known("the locals"), run.frame.local(it)}};
  made.pops = given, made.results = 1;
  return run.effect(std::move(made));
}

}  // namespace depyf::operations
