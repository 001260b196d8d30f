// Lowers the targets of stores, deletions and augmented assignments.
#include "lower/targets.h"
#include "decode/op.h"
#include "lower/expressions.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Emits the unpacking of the value on top of the stack into the targets `items`.
void store_items(Unit& unit, List<Expr*> items) {
  int star = -1;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (is<Starred>(items[i])) star = static_cast<int>(i);
  const int count = static_cast<int>(items.size());
  if (star < 0) unit.code.emit(Op::unpack_sequence_, count);
  else unit.code.emit(Op::unpack_ex_, star, count - star - 1);
  for (const Expr* item : items) {
    auto* starred = as<Starred>(item);
    store(unit, starred ? starred->value : item);
  }
}

}  // namespace

// Emits the store of the value on top of the stack.
void store(Unit& unit, const Expr* target) {
  if (auto* node = as<Name>(target)) return unit.names.name(node->id, Access::store);
  if (auto* node = as<Attribute>(target)) {
    unit.store_to_self(*node);
    expr(unit, node->value);
    return unit.code.named(Op::store_attr_, unit.names.mangled(node->attr));
  }
  if (auto* node = as<Subscript>(target)) {
    expr(unit, node->value);
    if (is_binary_slice(unit.dialect, node->slice)) {
      slice(unit, *as<Slice>(node->slice));
      unit.code.emit(Op::store_slice_);
      return;
    }
    expr(unit, node->slice);
    unit.code.emit(Op::store_subscr_);
    return;
  }
  if (auto* node = as<Tuple>(target)) return store_items(unit, node->elts);
  if (auto* node = as<ListExpr>(target)) return store_items(unit, node->elts);
  // `() = value` has a constant as its target.
  if (auto* empty = constant_of(target, Constant::Kind::tuple); empty && empty->items.empty())
    return store_items(unit, {});
  fail("a target that nothing can be stored to");
}

// Emits the deletion of a target.
void remove(Unit& unit, const Expr* target) {
  if (auto* node = as<Name>(target)) return unit.names.name(node->id, Access::remove);
  if (auto* node = as<Attribute>(target)) {
    expr(unit, node->value);
    return unit.code.named(Op::delete_attr_, unit.names.mangled(node->attr));
  }
  if (auto* node = as<Subscript>(target)) {
    expr(unit, node->value);
    expr(unit, node->slice);
    unit.code.emit(Op::delete_subscr_);
    return;
  }
  // `del (a, b)` deletes each item.
  auto* tuple = as<Tuple>(target);
  auto* list = as<ListExpr>(target);
  auto* empty = constant_of(target, Constant::Kind::tuple);
  if (!tuple && !list && !(empty && empty->items.empty())) fail("a target that cannot be deleted");
  if (empty) return;
  for (const Expr* each : tuple ? tuple->elts : list->elts) remove(unit, each);
}

// Emits `target op= value`. The parts of the target are evaluated once, and copied for the load and the store.
void augmented(Unit& unit, const AugAssign& node) {
  const auto change = [&] {
    expr(unit, node.value);
    unit.code.emit(Op::binary_op_, static_cast<std::int32_t>(node.op), 1);
  };
  if (auto* target = as<Name>(node.target)) {
    unit.names.name(target->id, Access::load);
    change();
    return unit.names.name(target->id, Access::store);
  }
  if (auto* target = as<Attribute>(node.target)) {
    expr(unit, target->value);
    unit.code.emit(Op::copy_, 1);
    unit.code.named(Op::load_attr_, unit.names.mangled(target->attr));
    change();
    unit.code.emit(Op::swap_, 2);
    return unit.code.named(Op::store_attr_, unit.names.mangled(target->attr));
  }
  auto* target = as<Subscript>(node.target);
  if (!target) fail("a target that cannot be changed in place");
  expr(unit, target->value);
  if (is_binary_slice(unit.dialect, target->slice)) {
    slice(unit, *as<Slice>(target->slice));
    // The container, the start and the stop of the slice are copied.
    for (int i = 0; i < 3; ++i) unit.code.emit(Op::copy_, 3);
    unit.code.emit(Op::binary_slice_);
    change();
    // ROT_N moves the result below the parts of the target.
    unit.code.emit(Op::rotate_, 4);
    unit.code.emit(Op::store_slice_);
    return;
  }
  expr(unit, target->slice);
  unit.code.emit(Op::copy_, 2);
  unit.code.emit(Op::copy_, 2);
  unit.code.emit(Op::binary_subscr_);
  change();
  unit.code.emit(Op::rotate_, 3);
  unit.code.emit(Op::store_subscr_);
}

}  // namespace depyf::lowering
