// Negates a condition, so that the result has a form that people write. Each row of the following list shows the
// negation of one form of condition, and how the negation changes the bytecode.
//
//   The negation of `a` is `not a`, which compiles to the opposite jump.
//   The negation of `not a` is `a`, which compiles to the opposite jump.
//   The negation of `a and b` is `not a or not b` or `not (a and b)`, which are compiled to the same opposite jumps.
//   The negation of `a if c else b` is `not a if c else not b` or `not (a if c else b)`, which are compiled to
//   the same opposite jumps.
//   Before 3.14, the negation of `a in b` is `a not in b`, which compiles to another instruction than `a in b`.
//   From 3.14 on, the negation of `a in b` is `not a in b`, which compiles to the opposite jump.
#include <algorithm>
#include <optional>

#include "dialect/dialect.h"
#include "lift/context.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// Returns the operator whose result is always the negation of the result of `op`. Returns nullopt for `==`, `!=`, `<`,
// `<=`, `>` and `>=`: a class may define both an operator and its opposite to return true.
std::optional<CompareOp> opposite(CompareOp op) {
  switch (op) {
    case CompareOp::in: return CompareOp::not_in;
    case CompareOp::not_in: return CompareOp::in;
    case CompareOp::is: return CompareOp::is_not;
    case CompareOp::is_not: return CompareOp::is;
    case CompareOp::lt:
    case CompareOp::le:
    case CompareOp::eq:
    case CompareOp::ne:
    case CompareOp::gt:
    case CompareOp::ge: return std::nullopt;
  }
  return std::nullopt;
}

// Returns the number of `not` operators in `test` or, if `negated` is set, in the negation of `test` that has the
// fewest `not` operators. A negation that turns `in` into `not in` or `is` into `is not` counts as `other_operator`,
// because the negated operator is another instruction. A `not` in a condition only inverts a jump.
int count_not(const Context& context, const Expr* test, bool negated) {
  if (auto* unary = as<UnaryExpr>(test); unary && unary->op == UnaryOp::not_) {
    int inner = count_not(context, unary->operand, !negated);
    return is<BoolOp>(unary->operand) ? std::min(inner, 1 + count_not(context, unary->operand, negated)) : inner;
  }
  if (auto* chain = as<BoolOp>(test)) {
    int parts = 0;
    for (const Expr* part : chain->values) {
      const int pushed_down = count_not(context, part, negated);
      const bool may_wrap = negated && is<BoolOp>(part);
      parts += may_wrap ? std::min(pushed_down, 1 + count_not(context, part, false)) : pushed_down;
    }
    return parts;
  }
  if (auto* choice = as<IfExp>(test)) {
    const int plain = count_not(context, choice->body, false) + count_not(context, choice->orelse, false);
    if (!negated) return plain;
    const int inner = count_not(context, choice->body, true) + count_not(context, choice->orelse, true);
    return std::min(inner, 1 + plain);
  }
  if (!negated) return 0;
  // From 3.11 on, `x is None` and `x is not None` compile to one jump each, so the negation of either test counts as no
  // `not` operator.
  if (auto* compare = as<Compare>(test);
      compare && compare->ops.size() == 1 && dialect_of(context.version).none_jumps) {
    bool identity = compare->ops[0] == CompareOp::is || compare->ops[0] == CompareOp::is_not;
    if (identity && is_none(compare->comparators[0])) return 0;
  }
  auto* compare = as<Compare>(test);
  return compare && compare->ops.size() == 1 && opposite(compare->ops[0]) ? other_operator : 1;
}

// True if `part` is a comparison like `a < b`, whose negation is `not a < b`.
bool is_kept_by_negation(const Expr* part) {
  auto* compare = as<Compare>(part);
  return compare && (compare->ops.size() > 1 || !opposite(compare->ops[0]));
}

// True if `chain` has two operands whose negations read well: no operand is a comparison like `a < b`, and at most one
// operand is itself an `and` or `or`.
bool reads_well_negated(const BoolOp& chain) {
  return chain.values.size() == 2 && std::ranges::none_of(chain.values, is_kept_by_negation) &&
         std::ranges::count_if(chain.values, [](const Expr* part) { return is<BoolOp>(part); }) < 2;
}

}  // namespace

int negation_cost(const Context& context, const Expr* test) { return count_not(context, test, true); }

bool negation_changes(const Context& context, const Expr* test) {
  auto* compare = as<Compare>(test);
  return compare && compare->ops.size() == 1 && count_not(context, test, true) >= other_operator;
}

// In a condition, `not (a and b)` and `not a or not b` compile to the same jumps. People write `not a or not b` if the
// operands are simple, such as names and calls. If an operand is not simple, the form with fewer `not` operators is
// chosen, where the `not` in front of parentheses counts too.
Expr* negate(Context& context, Expr* test) {
  if (auto* unary = as<UnaryExpr>(test); unary && unary->op == UnaryOp::not_) return unary->operand;
  auto* chain = as<BoolOp>(test);
  const int pushed_down = chain ? count_not(context, test, true) : 0;
  // `not (not a or b or c)` has as many `not` operators as `a and not b and not c`, but reads worse.
  const int within = chain ? count_not(context, test, false) : 0;
  if (chain &&
      (pushed_down <= within + (within > 0 ? 1 : 0) || (pushed_down < other_operator && reads_well_negated(*chain)))) {
    Table<Expr*> values;
    for (Expr* part : chain->values) values.push_back(negate(context, part));
    return context.expr(BoolOp{!chain->is_or, context.arena.copy(values)}, test->offset, test->line);
  }
  if (auto* choice = as<IfExp>(test)) {
    const int inner = count_not(context, choice->body, true) + count_not(context, choice->orelse, true);
    if (inner <= count_not(context, test, false))
      return context.expr(IfExp{choice->test, negate(context, choice->body), negate(context, choice->orelse)},
                          test->offset, test->line);
  }
  // From 3.14 on, a condition `not a in b` compiles to the operation `in` and the opposite jump, and not to the
  // operation `not in`.
  const bool turns_jump = dialect_of(context.version).negation_turns_jumps && negation_changes(context, test);
  if (auto* compare = as<Compare>(test); compare && compare->ops.size() == 1 && !turns_jump) {
    const std::optional<CompareOp> negated = opposite(compare->ops[0]);
    if (!negated) return context.expr(UnaryExpr{UnaryOp::not_, test}, test->offset, test->line);
    return context.expr(Compare{compare->left, context.list({*negated}), compare->comparators}, test->offset,
                        test->line);
  }
  return context.expr(UnaryExpr{UnaryOp::not_, test}, test->offset, test->line);
}

}  // namespace depyf
