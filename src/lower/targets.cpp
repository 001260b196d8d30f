// What is stored to, deleted, and changed in place.
#include "lower/lowerer.h"

namespace depyf::lowering {
using namespace ast;

void Lowerer::store(const Expr* target) {
  if (auto* node = as<Name>(target)) return name(node->id, Access::store);
  if (auto* node = as<Attribute>(target)) {
    store_to_self(*node);
    expr(node->value);
    return named(Op::store_attr_, mangled(node->attr));
  }
  if (auto* node = as<Subscript>(target)) {
    expr(node->value);
    if (is_binary_slice(node->slice)) {
      slice(*as<Slice>(node->slice));
      emit(Op::store_slice_);
      return;
    }
    expr(node->slice);
    emit(Op::store_subscr_);
    return;
  }
  if (auto* node = as<Tuple>(target)) return store_items(node->elts);
  if (auto* node = as<ListExpr>(target)) return store_items(node->elts);
  if (auto* empty = constant_of(target, Constant::Kind::tuple); empty && empty->items.empty()) return store_items({});
  fail("a target that nothing can be stored to");
}

// From 3.13 on a class keeps the names of the attributes that its functions store to `self`.
void Lowerer::store_to_self(const Attribute& target) {
  auto* owner = as<Name>(target.value);
  if (!dialect_.class_details || !owner || owner->id != "self") return;
  for (Lowerer* around = this; around; around = around->outer_)
    if (around->scope_->unit()->kind == ScopeKind::class_body) {
      around->static_attributes_.insert(std::string(spelled(target.attr)));
      return;
    }
}

void Lowerer::store_items(List<Expr*> items) {
  int star = -1;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (is<Starred>(items[i])) star = static_cast<int>(i);
  const int count = static_cast<int>(items.size());
  if (star < 0) emit(Op::unpack_sequence_, count);
  else emit(Op::unpack_ex_, star, count - star - 1);
  for (const Expr* item : items) {
    auto* starred = as<Starred>(item);
    store(starred ? starred->value : item);
  }
}

void Lowerer::remove(const Expr* target) {
  if (auto* node = as<Name>(target)) return name(node->id, Access::remove);
  if (auto* node = as<Attribute>(target)) {
    expr(node->value);
    return named(Op::delete_attr_, mangled(node->attr));
  }
  if (auto* node = as<Subscript>(target)) {
    expr(node->value);
    expr(node->slice);
    emit(Op::delete_subscr_);
    return;
  }
  auto* tuple = as<Tuple>(target);
  auto* list = as<ListExpr>(target);
  auto* empty = constant_of(target, Constant::Kind::tuple);
  if (!tuple && !list && !(empty && empty->items.empty())) fail("a target that cannot be deleted");
  if (empty) return;
  for (const Expr* each : tuple ? tuple->elts : list->elts) remove(each);
}

void Lowerer::augmented(const AugAssign& node) {
  const auto change = [&] {
    expr(node.value);
    emit(Op::binary_op_, static_cast<std::int32_t>(node.op), 1);
  };
  if (auto* target = as<Name>(node.target)) {
    name(target->id, Access::load);
    change();
    return name(target->id, Access::store);
  }
  if (auto* target = as<Attribute>(node.target)) {
    expr(target->value);
    emit(Op::copy_, 1);
    named(Op::load_attr_, mangled(target->attr));
    change();
    emit(Op::swap_, 2);
    return named(Op::store_attr_, mangled(target->attr));
  }
  auto* target = as<Subscript>(node.target);
  if (!target) fail("a target that cannot be changed in place");
  expr(target->value);
  if (is_binary_slice(target->slice)) {
    slice(*as<Slice>(target->slice));
    for (int i = 0; i < 3; ++i) emit(Op::copy_, 3);
    emit(Op::binary_slice_);
    change();
    emit(Op::rotate_, 4);
    emit(Op::store_slice_);
    return;
  }
  expr(target->slice);
  emit(Op::copy_, 2);
  emit(Op::copy_, 2);
  emit(Op::binary_subscr_);
  change();
  emit(Op::rotate_, 3);
  emit(Op::store_subscr_);
}

}  // namespace depyf::lowering
