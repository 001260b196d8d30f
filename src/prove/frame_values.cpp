// Locals and cells. A local may be unbound on some of the ways that lead here: then its load is an effect.
#include "prove/machine.h"

namespace depyf {

Step Machine::unbound(const Instruction& it, Symbol content) {
  Effect made{.op = Op::load_fast_, .name = name_of_local(it), .operands = {content}};
  made.then = Effect::Then::bound;
  made.returns = content != Symbols::null;
  return effect(std::move(made));
}

Step Machine::load_local(const Instruction& it) {
  Symbol value = local(it);
  if (symbols_.may_be_null(value)) return unbound(it, value);
  if (it.op == Op::delete_fast_) {
    local(it) = Symbols::null;
  } else {
    push(value);
  }
  return silent();
}

// The content of a cell that only this frame has is known; that of another may be changed by anyone.
Step Machine::load_cell(const Instruction& it) {
  Symbol cell = local(it);
  if (const Object* known = object(cell)) {
    if (known->kind != Object::Kind::cell) return stuck("no cell where one is needed");
    if (symbols_.may_be_null(known->items[0])) return unbound(it, known->items[0]);
    push(known->items[0]);
    return silent();
  }
  if (symbols_.may_be_null(cell)) return stuck("no cell where one is needed");
  if (is_class_of_super(it)) return push(cell), silent();
  Effect made{.op = it.op, .name = name_of_local(it), .operands = {cell}};
  made.results = 1;
  return effect(std::move(made));
}

Step Machine::store_cell(const Instruction& it) {
  Symbol cell = local(it);
  if (Object* known = object(cell)) {
    if (known->kind != Object::Kind::cell) return stuck("no cell where one is needed");
    known->items[0] = pop();
    return silent();
  }
  if (symbols_.may_be_null(cell)) return stuck("no cell where one is needed");
  Effect made{.op = it.op, .name = name_of_local(it), .operands = {cell, peek(1)}};
  made.pops = 1, made.raises = false;
  return effect(std::move(made));
}

Step Machine::delete_cell(const Instruction& it) {
  Symbol cell = local(it);
  if (Object* known = object(cell)) {
    if (known->kind != Object::Kind::cell) return stuck("no cell where one is needed");
    if (symbols_.may_be_null(known->items[0])) return unbound(it, known->items[0]);
    known->items[0] = Symbols::null;
    return silent();
  }
  if (symbols_.may_be_null(cell)) return stuck("no cell where one is needed");
  return effect({.op = it.op, .name = name_of_local(it), .operands = {cell}});
}

// A name in a class body: first among the locals, then in the cell.
Step Machine::class_cell(const Instruction& it) {
  bool given = it.op == Op::load_from_dict_or_deref_;
  if (symbols_.may_be_null(local(it))) return stuck("no cell where one is needed");
  Effect made{.op = Op::load_class_deref_,
              .name = name_of_local(it),
              .operands = {given ? peek(1) : symbols_.known("the locals"), local(it)}};
  made.pops = given, made.results = 1;
  return effect(std::move(made));
}

}  // namespace depyf
