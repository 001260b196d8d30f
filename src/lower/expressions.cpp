// Lowers expressions, in the order in which the language evaluates their parts. The functions that lower expressions
// are in one file, because each is short and most call several others.
#include <algorithm>
#include <cctype>

#include "ast/overloaded.h"
#include "decode/equal_constants.h"
#include "decode/folded_constants.h"
#include "decode/op.h"
#include "lower/awaits.h"
#include "lower/calls.h"
#include "lower/comprehensions.h"
#include "lower/definitions.h"
#include "lower/expressions.h"
#include "lower/fstrings.h"
#include "lower/targets.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Emits `a and b` or `a or b` as a value. Each operand but the last is tested by JUMP_IF_x_OR_POP, in place of which
// 3.12 and 3.13 have COPY 1; POP_JUMP_IF_x; POP_TOP.
void bool_op(Unit& unit, const BoolOp& node) {
  if (node.values.empty()) fail("an operator without operands");
  const Label end = unit.code.label();
  for (std::size_t i = 0; i + 1 < node.values.size(); ++i) {
    expr(unit, node.values[i]);
    if (unit.dialect.copied_conditions) {
      unit.code.emit(Op::copy_, 1);
      unit.code.jump(node.is_or ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, end);
      unit.code.emit(Op::pop_top_);
    } else {
      unit.code.jump(node.is_or ? Op::jump_if_true_or_pop_ : Op::jump_if_false_or_pop_, end);
    }
  }
  expr(unit, node.values.back());
  unit.code.place(end);
}

// Emits the operation of one comparison, whose operands are on the stack.
void comparison(Assembler& code, CompareOp op) {
  switch (op) {
    case CompareOp::in: code.emit(Op::contains_op_, 0); return;
    case CompareOp::not_in: code.emit(Op::contains_op_, 1); return;
    case CompareOp::is: code.emit(Op::is_op_, 0); return;
    case CompareOp::is_not: code.emit(Op::is_op_, 1); return;
    case CompareOp::lt:
    case CompareOp::le:
    case CompareOp::eq:
    case CompareOp::ne:
    case CompareOp::gt:
    case CompareOp::ge: code.emit(Op::compare_op_, static_cast<std::int32_t>(op)); return;
  }
}

// Emits a comparison as a value. In `a < b < c`, the value of `b` is copied, and a false first result skips the second
// comparison. The instructions of `a < b < c` are:
//
//   a; b; COPY 1; ROT_THREE; COMPARE_OP; JUMP_IF_FALSE_OR_POP cleanup; c; COMPARE_OP; JUMP end;
//   cleanup: SWAP 2; POP_TOP; end: ...
void compare(Unit& unit, const Compare& node) {
  expr(unit, node.left);
  if (node.ops.empty() || node.ops.size() != node.comparators.size()) fail("a comparison without operands");
  const std::size_t last = node.ops.size() - 1;
  const Label cleanup = unit.code.label(), end = unit.code.label();
  for (std::size_t i = 0; i < last; ++i) {
    expr(unit, node.comparators[i]);
    unit.code.emit(Op::copy_, 1);
    unit.code.emit(Op::rotate_, 3);
    comparison(unit.code, node.ops[i]);
    if (unit.dialect.copied_conditions) {
      unit.code.emit(Op::copy_, 1);
      unit.code.jump(Op::pop_jump_if_false_, cleanup);
      unit.code.emit(Op::pop_top_);
    } else {
      unit.code.jump(Op::jump_if_false_or_pop_, cleanup);
    }
  }
  expr(unit, node.comparators[last]);
  comparison(unit.code, node.ops[last]);
  if (last == 0) return;
  unit.code.jump(Op::jump_, end);
  unit.code.place(cleanup);
  unit.code.emit(Op::swap_, 2);
  unit.code.emit(Op::pop_top_);
  unit.code.place(end);
}

// Emits a chained comparison as a test that jumps to `target` if its truth is `when`.
void compare_condition(Unit& unit, const Compare& node, Label target, bool when) {
  expr(unit, node.left);
  const std::size_t last = node.ops.size() - 1;
  if (node.ops.size() != node.comparators.size()) fail("a comparison without operands");
  const Label cleanup = unit.code.label(), end = unit.code.label();
  for (std::size_t i = 0; i < last; ++i) {
    expr(unit, node.comparators[i]);
    unit.code.emit(Op::copy_, 1);
    unit.code.emit(Op::rotate_, 3);
    comparison(unit.code, node.ops[i]);
    unit.code.jump(Op::pop_jump_if_false_, cleanup);
  }
  expr(unit, node.comparators[last]);
  comparison(unit.code, node.ops[last]);
  unit.code.jump(when ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, target);
  unit.code.jump(Op::jump_, end);
  unit.code.place(cleanup);
  unit.code.emit(Op::pop_top_);
  if (!when) unit.code.jump(Op::jump_, target);
  unit.code.place(end);
}

// Emits a display with starred items for 3.8. `kind` is the second argument of build_unpack: 0 for a tuple, 1 for a
// list, 2 for a set.
void unpacked_sequence_38(Unit& unit, List<Expr*> items, int kind) {
  constexpr int set = 2;
  const int parts = gathered_38(unit, items, 0, kind == set ? Op::build_set_ : Op::build_tuple_);
  unit.code.emit(Op::build_unpack_, parts, kind);
}

// Emits a dict of the pairs from `begin` to `end`: by BUILD_CONST_KEY_MAP if all keys are constants, by MAP_ADD if
// there are many pairs, otherwise by BUILD_MAP.
void some_pairs(Unit& unit, const Dict& node, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  const bool constants = std::all_of(node.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                     node.keys.begin() + static_cast<std::ptrdiff_t>(end),
                                     [](const Expr* key) { return is<ConstantExpr>(key); });
  const bool big = count > most_pairs && unit.dialect.bounded_displays;
  if (count > 1 && constants && !big && unit.dialect.constant_key_maps) {
    Constant keys;
    keys.kind = Constant::Kind::tuple;
    for (std::size_t i = begin; i < end; ++i) {
      expr(unit, node.values[i]);
      keys.items.push_back(*as<ConstantExpr>(node.keys[i])->value);
    }
    unit.code.load(std::move(keys));
    unit.code.emit(Op::build_const_key_map_, static_cast<std::int32_t>(count));
    return;
  }
  if (big) unit.code.emit(Op::build_map_, 0);
  for (std::size_t i = begin; i < end; ++i) {
    expr(unit, node.keys[i]);
    expr(unit, node.values[i]);
    if (big) unit.code.emit(Op::map_add_, 1);
  }
  if (!big) unit.code.emit(Op::build_map_, static_cast<std::int32_t>(count));
}

// Emits a dict display. The pairs between two `**` items are built as a separate dict, which is then merged into the
// result.
void dict(Unit& unit, const Dict& node) {
  if (node.keys.size() != node.values.size()) fail("a dict whose keys and values do not pair");
  std::size_t begin = 0;
  bool built = false;
  int parts = 0;
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    some_pairs(unit, node, begin, end);
    ++parts;
    if (built && !unit.dialect.unpacking_builds) unit.code.emit(Op::dict_update_, 1);
    built = true;
    begin = end;
  };
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i]) {
      // Up to 3.9, CPython's compiler builds at most 0x10000 pairs by one BUILD_MAP.
      constexpr std::size_t most_pairs_39 = 0xFFFF;
      if (i - begin > (unit.dialect.bounded_displays ? most_pairs : most_pairs_39 - 1)) flush(i + 1);
      continue;
    }
    flush(i);
    begin = i + 1;
    if (!built && !unit.dialect.unpacking_builds) unit.code.emit(Op::build_map_, 0);
    built = true;
    ++parts;
    expr(unit, node.values[i]);
    if (!unit.dialect.unpacking_builds) unit.code.emit(Op::dict_update_, 1);
  }
  flush(node.keys.size());
  if (!built) unit.code.emit(Op::build_map_, 0);
  const bool unpacks = std::ranges::any_of(node.keys, [](const Expr* key) { return key == nullptr; });
  if (unit.dialect.unpacking_builds && (unpacks || parts > 1)) unit.code.emit(Op::build_unpack_, parts, 3);
}

// From 3.12 on, `x[a:b]` is compiled to one operation.
void subscript(Unit& unit, const Subscript& node) {
  expr(unit, node.value);
  if (is_binary_slice(unit.dialect, node.slice)) {
    slice(unit, *as<Slice>(node.slice));
    unit.code.emit(Op::binary_slice_);
    return;
  }
  expr(unit, node.slice);
  unit.code.emit(Op::binary_subscr_);
}

}  // namespace

bool has_star(List<Expr*> items) {
  return std::ranges::any_of(items, [](const Expr* item) { return is<Starred>(item); });
}

// Pushes the value of an expression, by a table over the kinds of nodes.
void expr(Unit& unit, const Expr* whole) {
  if (!whole) fail("an expression that is missing");
  if (auto* name = as<Name>(whole)) return unit.names.name(name->id, Access::load);
  if (auto* constant = as<ConstantExpr>(whole)) return unit.code.load(*constant->value);
  std::visit(Overloaded{
                 [](const Name&) {},
                 [](const ConstantExpr&) {},
                 [&](const Attribute& n) {
                   if (super_attribute(unit, n)) return;
                   expr(unit, n.value);
                   unit.code.named(Op::load_attr_, unit.names.mangled(n.attr));
                 },
                 [&](const Subscript& n) { subscript(unit, n); },
                 [&](const Slice& n) {
                   slice(unit, n);
                   unit.code.emit(Op::build_slice_, n.step ? 3 : 2);
                 },
                 [&](const Call& n) { call(unit, n); },
                 [&](const BinOp& n) {
                   expr(unit, n.left);
                   expr(unit, n.right);
                   unit.code.emit(Op::binary_op_, static_cast<std::int32_t>(n.op), n.in_place);
                 },
                 [&](const UnaryExpr& n) {
                   expr(unit, n.operand);
                   unit.code.emit(Op::unary_op_, static_cast<std::int32_t>(n.op));
                 },
                 [&](const BoolOp& n) { bool_op(unit, n); },
                 [&](const Compare& n) { compare(unit, n); },
                 [&](const IfExp& n) {
                   const Label otherwise = unit.code.label(), end = unit.code.label();
                   condition(unit, n.test, otherwise, false);
                   expr(unit, n.body);
                   unit.code.jump(Op::jump_, end);
                   unit.code.place(otherwise);
                   expr(unit, n.orelse);
                   unit.code.place(end);
                 },
                 [&](const Tuple& n) { sequence(unit, n.elts, 0, Op::build_tuple_, true); },
                 [&](const ListExpr& n) { sequence(unit, n.elts, 0, Op::build_list_); },
                 [&](const SetExpr& n) { sequence(unit, n.elts, 0, Op::build_set_); },
                 [&](const Dict& n) { dict(unit, n); },
                 [&](const FormattedValue& n) { formatted(unit, n); },
                 [&](const JoinedStr& n) { joined(unit, n.values); },
                 [&](const Interpolation&) { fail("an interpolation outside a template"); },
                 [&](const TemplateStr& n) { template_string(unit, n); },
                 [&](const Lambda& n) { lambda_expr(unit, n, whole); },
                 [&](const ComprehensionExpr& n) { comprehension(unit, n, whole); },
                 [&](const Await& n) {
                   expr(unit, n.value);
                   await_value(unit.code, unit.dialect);
                 },
                 [&](const Yield& n) { yield_expr(unit, n); },
                 [&](const YieldFrom& n) {
                   expr(unit, n.value);
                   yield_from(unit.code, unit.dialect);
                 },
                 [&](const NamedExpr& n) {
                   expr(unit, n.value);
                   unit.code.emit(Op::copy_, 1);
                   store(unit, n.target);
                 },
                 [&](const Starred&) { fail("a star where no items are gathered"); },
                 [&](const Verbatim& n) { unit.code.load_string(n.text); },
                 [&](const Internal&) { fail("a part of the tree that was not finished"); },
             },
             whole->node);
}

// The truth of each value is tested only once, because the test may have effects.
void condition(Unit& unit, const Expr* test, Label target, bool when) {
  if (auto* node = as<UnaryExpr>(test); node && node->op == UnaryOp::not_)
    return condition(unit, node->operand, target, !when);
  if (auto* node = as<BoolOp>(test)) {
    const bool or_ = node->is_or;
    if (node->values.empty()) fail("an operator without operands");
    // For a jump that is taken if `a or b` is false, a true `a` must skip the test of `b` and the jump. Likewise, for a
    // jump that is taken if `a and b` is true, a false `a` must skip the test of `b` and the jump.
    const Label past = or_ != when ? unit.code.label() : target;
    for (std::size_t i = 0; i + 1 < node->values.size(); ++i) condition(unit, node->values[i], past, or_);
    condition(unit, node->values.back(), target, when);
    if (past != target) unit.code.place(past);
    return;
  }
  if (auto* node = as<IfExp>(test)) {
    const Label otherwise = unit.code.label(), end = unit.code.label();
    condition(unit, node->test, otherwise, false);
    condition(unit, node->body, target, when);
    unit.code.jump(Op::jump_, end);
    unit.code.place(otherwise);
    condition(unit, node->orelse, target, when);
    unit.code.place(end);
    return;
  }
  // A comparison with a single operator is tested like any other value.
  if (auto* node = as<Compare>(test); node && node->ops.size() > 1) return compare_condition(unit, *node, target, when);
  expr(unit, test);
  unit.code.jump(when ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, target);
}

// Returns a frozenset of the constants in `items`, without duplicates.
Constant set_of(List<Expr*> items) {
  Constant set;
  set.kind = Constant::Kind::frozenset;
  for (const Expr* item : items) {
    const Constant& value = *as<ConstantExpr>(item)->value;
    const auto is_the_same = [&](const Constant& earlier) {
      return &earlier == &value || equal_constants(earlier, value);
    };
    if (std::ranges::none_of(set.items, is_the_same)) set.items.push_back(value);
  }
  return set;
}

// The items of a display are pushed together if there are few, and added one by one if there are many or some are
// starred.
void sequence(Unit& unit, List<Expr*> items, int pushed, Op build, bool tuple) {
  const Op add = build == Op::build_set_ ? Op::set_add_ : Op::list_append_;
  const Op extend = build == Op::build_set_ ? Op::set_update_ : Op::list_extend_;
  const std::size_t count = items.size();
  // 3.8 gathers each run of items without a star into a tuple or set, and then joins the parts.
  if (unit.dialect.unpacking_builds) {
    if (has_star(items)) return unpacked_sequence_38(unit, items, tuple ? 0 : build == Op::build_list_ ? 1 : 2);
    exprs(unit, items);
    unit.code.emit(tuple ? Op::build_tuple_ : build, static_cast<std::int32_t>(count) + pushed);
    return;
  }
  // The number of items in front of the first starred item.
  const auto plain = static_cast<std::size_t>(
      std::ranges::find_if(items, [](const Expr* item) { return is<Starred>(item); }) - items.begin());
  const bool constants =
      std::ranges::all_of(items.first(plain), [](const Expr* item) { return is<ConstantExpr>(item); });
  // A set display of at least three constants is built from one frozenset. If the dialect has `late_folding`, a display
  // that only starts with at least three constants is built from a frozenset of these constants, and its other items
  // are added one by one, unless it has so many items that the compiler adds all of them one by one.
  bool built = false;
  const bool big = unit.dialect.bounded_displays && count + static_cast<std::size_t>(pushed) > most_on_the_stack;
  if (build == Op::build_set_ && plain > 2 && constants && (plain == count || (unit.dialect.late_folding && !big)) &&
      (!unit.dialect.bounded_set_constants || plain <= most_on_the_stack)) {
    unit.code.emit(build, 0);
    unit.code.load(set_of(items.first(plain)));
    unit.code.emit(extend, 1);
    if (plain == count) return;
    built = true;
  }
  if (!has_star(items) && !big) {
    exprs(unit, items);
    unit.code.emit(tuple ? Op::build_tuple_ : build, static_cast<std::int32_t>(count) + pushed);
    return;
  }
  const std::size_t first = built ? plain : 0;
  if (big && !built) unit.code.emit(build == Op::build_tuple_ ? Op::build_list_ : build, pushed), built = true;
  for (std::size_t i = first; i < count; ++i) {
    if (auto* starred = as<Starred>(items[i])) {
      if (!built)
        unit.code.emit(build == Op::build_tuple_ ? Op::build_list_ : build, static_cast<std::int32_t>(i) + pushed);
      built = true;
      expr(unit, starred->value);
      unit.code.emit(extend, 1);
    } else {
      expr(unit, items[i]);
      if (built) unit.code.emit(add, 1);
    }
  }
  if (tuple) unit.code.emit(Op::list_to_tuple_);
}

// Builds tuples or sets from the `pushed` values that are on the stack already, and from each run of items without a
// star. Returns the number of values on the stack that BUILD_TUPLE_UNPACK or a similar operation has to join.
int gathered_38(Unit& unit, List<Expr*> items, int pushed, Op gathering) {
  int parts = 0, gathered = pushed;
  const auto gather = [&] {
    if (gathered == 0) return;
    unit.code.emit(gathering, gathered);
    gathered = 0;
    ++parts;
  };
  for (const Expr* item : items) {
    if (auto* starred = as<Starred>(item)) {
      gather();
      expr(unit, starred->value);
      ++parts;
    } else {
      expr(unit, item);
      ++gathered;
    }
  }
  gather();
  return parts;
}

// From 3.14 on, a slice with constant bounds is one constant, so it is not compiled to BINARY_SLICE. A negative number is
// no constant yet when the compiler chooses the instruction.
bool is_binary_slice(const Dialect& dialect, const Expr* slice) {
  auto* node = as<Slice>(slice);
  if (!dialect.binary_slices || !node || node->step) return false;
  const auto constant = [&](const Expr* bound) {
    auto* value = as<ConstantExpr>(bound);
    return !bound || (value && !(dialect.late_folding && is_folded(*value->value)));
  };
  return !dialect.constant_slices || !constant(node->lower) || !constant(node->upper);
}

void slice(Unit& unit, const Slice& node) {
  for (const Expr* bound : {node.lower, node.upper}) {
    if (bound) expr(unit, bound);
    else unit.code.load_none();
  }
  if (node.step) expr(unit, node.step);
}

}  // namespace depyf::lowering
