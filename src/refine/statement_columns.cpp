#include "refine/statement_columns.h"

#include <algorithm>

#include "ast/position.h"
#include "ast/visit.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int behind_return = 7, behind_del = 4;  // the lengths of `return ` and `del `
constexpr int behind_if = 3;  // the length of `if `
constexpr int more_of_while = 3;  // the number of columns by which `while` is longer than `if`
constexpr int behind_with = 5, behind_async_with = 11;  // the lengths of `with ` and `async with `

// True if a test may be `columns` columns to the right of the start of its `elif`, which is two columns longer than
// `if`.
bool is_behind_elif(int columns) { return StatementColumns::is_behind_if(columns - 2); }

// True if the body of `branch` is a single `if`, and neither `branch` nor the inner `if` has an else clause.
bool holds_one_if(const If& branch) {
  if (!branch.orelse.empty() || branch.body.size() != 1) return false;
  auto* inner = as<If>(branch.body[0]);
  return inner && inner->orelse.empty();
}

}  // namespace

const Expr* innermost_left(const Expr* test) {
  for (int depth = 0; depth < search_limits::operand_nesting; ++depth) {
    if (auto* chain = as<BoolOp>(test)) test = chain->values[0];
    else if (auto* unary = as<UnaryExpr>(test); unary && unary->op == UnaryOp::not_) test = unary->operand;
    else break;
  }
  return test;
}

int last_line_of_test(const Expr* test, int line) {
  line = std::max(line, int(test->line));
  auto* chain = as<BoolOp>(test);
  return chain && !chain->values.empty() ? std::max(line, int(innermost_left(chain->values.back())->line)) : line;
}

StatementColumns::StatementColumns(const CodeObject& code, Block body) : code_(code) {
  if (!body.empty()) collect(body, 0);
  if (known_.total() == 0) return;
  for (int unit : {4, 2, 3, 1}) {
    // The unit of indentation is the first of 4, 2, 3 and 1 for which at least three quarters of the columns, counted
    // from the least column, are multiples of the unit. A quarter of the columns may be wrong, because CPython
    // attributes some positions to a neighbouring statement.
    unit_ = unit;
    if (4 * known_.multiples(unit) >= 3 * known_.total()) break;
  }
}

// Collects the columns of all statements.
void StatementColumns::collect(Block body, int depth) {
  if (depth > search_limits::statement_nesting) return;
  constexpr StmtKinds others = StmtKinds::nesting() | StmtKinds::of<Return, Delete>();
  for (Stmt* stmt : body) {
    const StmtKinds kind = StmtKinds::of(stmt);
    // For a statement of a kind that is not in `others`, `Stmt::column` is the column of the statement, or -1 if it is
    // unknown.
    if (!kind.has(others)) {
      known_.add(stmt->column);
      continue;
    }
    if (stmt->column >= 0) known_.add(of(stmt));
    if (!kind.has(StmtKinds::nesting())) continue;
    if (is<With>(stmt)) with_lines_.push_back(stmt->line);
    for_each_block(stmt, [&](Block& inner) {
      if (!inner.empty()) collect(inner, depth + 1);
    });
  }
}

int StatementColumns::column(const Stmt* stmt, int depth) const {
  if (auto* leave = as<Return>(stmt); leave && (!leave->value || is<ConstantExpr>(leave->value))) {
    // A return out of a with statement has the position of the with statement.
    if (std::ranges::find(with_lines_, stmt->line) != with_lines_.end()) return -1;
    if (!leave->value || written_return(stmt) != WrittenReturn::unknown)
      return written_return(stmt) != WrittenReturn::written ? -1
             : stmt->width == width_of_return               ? stmt->column
                                                            : stmt->column - behind_return;
    return stmt->column < behind_return ? -1 : stmt->column - behind_return;  // `stmt->column` is that of the constant
  }
  // If a return runs a finally clause first, its position may be the end of that clause.
  if (auto* leave = as<Return>(stmt); leave && leave->value->line != stmt->line) return -1;
  // The position of a `del a` is that of its target.
  if (is<Delete>(stmt)) return stmt->column < behind_del ? -1 : stmt->column - behind_del;
  if (stmt->column >= 0) return stmt->column;
  // A with statement has no position of its own, but its first context manager has one.
  if (auto* with = as<With>(stmt)) {
    const Expr* context = with->items[0].context_expr;
    const int behind = with->is_async ? behind_async_with : behind_with;
    if (const int at = context->line == stmt->line ? position_of(context) - behind : -1; at >= 0) return at;
  }
  int found = -1;
  if (depth > search_limits::statement_nesting_searched) return -1;
  // The column of a compound statement without a position follows from the first statement of its body. The keyword
  // `try` has no instruction, so a try statement has the line of its body. If the source has `try: f()` on one line,
  // the column of the body is no multiple of the indentation unit, and the body is ignored. The else clause of a try
  // statement is not examined, because in the source, its statements may have been behind the try statement.
  auto* attempt = as<Try>(stmt);
  for_each_block(const_cast<Stmt*>(stmt), [&](Block& inner) {
    if (found >= 0 || inner.empty() || (attempt && &inner == &attempt->orelse)) return;
    const bool is_body = attempt && &inner == &attempt->body && inner[0]->line == stmt->line;
    if (inner[0]->line <= stmt->line && !is_body) return;
    const int within = column(inner[0], depth + 1);
    if (within >= unit_ && !(is_body && unit_ > 0 && within % unit_ != 0)) found = within - unit_;
  });
  // The body of `while a and b` may be indented by more than one unit, because the source had an `if` in the loop.
  if (auto* loop = as<While>(stmt); loop && unit_ > 0 && is<BoolOp>(loop->test))
    for (int outer = found; outer >= 0; outer -= unit_)
      if (is_behind_if(of_test(loop->test) - outer - more_of_while)) return outer;
  auto* branch = as<If>(stmt);
  if (!branch || unit_ <= 0) return found;
  const int test = of_test(branch->test);
  // A body that is only a `break` or `continue` has no column, so the column of the `if` follows from its test, which
  // is behind `if ` or `if (`.
  const bool only_jumps = found < 0 && branch->orelse.empty() && branch->body.size() == 1 &&
                          (is<Break>(branch->body[0]) || is<Continue>(branch->body[0]));
  if (only_jumps && !is<UnaryExpr>(branch->test) && !is<BoolOp>(branch->test))
    for (const int at : {test - behind_if, test - behind_if - 1})
      if (at >= 0 && at % unit_ == 0) return at;
  if (found < 0) return found;
  // The body of `if a and b` may be indented by more than one unit, because the source had nested statements.
  if (is<BoolOp>(branch->test))
    for (int outer = found; outer >= 0; outer -= unit_)
      if (is_behind_if(test - outer) || is_behind_elif(test - outer)) return outer;
  // The inner body of `if a: if b:` may be indented by one unit only, because the source had `if a and b`.
  auto is_close = [](int columns) { return columns == 3 || columns == 4; };
  if (holds_one_if(*branch) && !is_close(test - found) && is_close(test - found - unit_)) return found + unit_;
  return found;
}

int StatementColumns::position_of(const Expr* expr) const {
  const Position* position = position_in(code_, expr);
  return position ? position->column : -1;
}

bool StatementColumns::is_elif(const Stmt* stmt, int base) const {
  auto* branch = as<If>(stmt);
  return branch && is_behind_elif(of_test(branch->test) - base);
}

bool StatementColumns::all_at(Block statements, int base) const {
  bool is_known = false;
  for (const Stmt* stmt : statements) {
    int at = of(stmt);
    // An `if` whose own column is unknown is at `base` if its test is directly behind an `if ` or `if (` at `base`.
    if (auto* branch = as<If>(stmt); branch && at < 0)
      if (const int behind = of_test(branch->test) - base; behind == behind_if || behind == behind_if + 1) at = base;
    if (at >= 0 && at != base) return false;
    is_known |= at >= 0;
  }
  return is_known;
}

}  // namespace depyf
