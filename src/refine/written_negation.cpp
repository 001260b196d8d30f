// Chooses between two forms of a condition that compile to equal bytecode, by the column of the first operand relative
// to the start of the statement. In `if not (a or b):`, the operand a is eight columns to the right of the start of
// the statement. In `if not a and not b:`, the operand a is seven columns to the right of the start of the statement.
#include <algorithm>

#include "refine/refine.h"
#include "refine/statement_columns.h"

namespace depyf {
using namespace ast;

void choose_negation(Context& context, const StatementColumns& columns, If& branch, int base) {
  auto* chain = as<BoolOp>(branch.test);
  auto* unary = as<UnaryExpr>(branch.test);
  auto* wrapped = unary && unary->op == UnaryOp::not_ ? as<BoolOp>(unary->operand) : nullptr;
  const BoolOp* tested = chain ? chain : wrapped;
  if (!tested) return;
  const int behind = columns.of_test(branch.test) - base;
  const bool may_be_wrapped = behind == 8 || behind == 10, may_be_turned = behind == 7 || behind == 9;
  if (!may_be_wrapped && !may_be_turned) return;
  auto keeps = [&](const Expr* part) { return negation_cost(context, part) < other_operator; };
  if (!std::ranges::all_of(tested->values, keeps)) return;
  std::vector<Expr*> values;
  for (Expr* part : tested->values) values.push_back(negate(context, part));
  Expr* turned =
      context.expr(BoolOp{!tested->is_or, context.arena.copy(values)}, branch.test->offset, branch.test->line);
  // The first operand is directly behind `if not ` or `elif not `, so no bracket is between them.
  if (wrapped && may_be_turned) branch.test = turned;
  auto* first = chain ? as<UnaryExpr>(chain->values[0]) : nullptr;
  // The first operand is directly behind `if not (` or `elif not (`.
  if (first && first->op == UnaryOp::not_ && may_be_wrapped)
    branch.test = context.expr(UnaryExpr{UnaryOp::not_, turned}, branch.test->offset, branch.test->line);
}

}  // namespace depyf
