// Chooses between forms of statements that compile to equal bytecode, in code up to 3.10, which has lines but no
// columns (indentation.cpp does so by columns). If two forms have equal bytecode and equal lines, the pass chooses the
// form that people write more often. Usually the lines show which form the source has, because an `else:` takes a line
// of its own, while an `elif` needs no extra line. For example, a `return c` two lines below the body of `if a: return
// b` was the else clause of the `if`. An `if c: d()` directly below the body of `if a: return b` was `elif c: d()` in
// the source.
#include "ast/visit.h"
#include "decode/instruction.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// Finds the first and the last of the source lines that are added.
class Lines {
 public:
  void add(int line) {
    first_ = std::min(first_, static_cast<unsigned>(line));
    last_ = std::max(last_, line);
  }
  int first() const { return std::max(static_cast<int>(first_), -1); }  // -1 if all added lines are unknown
  int last() const { return last_; }  // -1 if all added lines are unknown

 private:
  // As an unsigned number, an unknown line (-1) is greater than all known lines, so `add` needs no test for unknown
  // lines.
  unsigned first_ = static_cast<unsigned>(-1);
  int last_ = -1;
};

// Adds the lines of `expr` and its parts to `lines`.
void add_lines(Lines& lines, const Expr* expr, int depth) {
  lines.add(expr->line);
  // Most expressions are names and constants, which have no parts to search.
  if (is<Name>(expr) || is<ConstantExpr>(expr) || depth > search_limits::statement_nesting) return;
  for_each_child(const_cast<Expr*>(expr), [&](Expr*& child) { add_lines(lines, child, depth + 1); });
}

void add_lines(Lines& lines, const Stmt* stmt, int depth) {
  lines.add(stmt->line);
  // The lines of a nested definition belong to another code object.
  if (is<FunctionDef>(stmt) || is<ClassDef>(stmt)) return;
  for_each_expr(const_cast<Stmt*>(stmt), [&](Expr*& child) { add_lines(lines, child, depth + 1); });
  if (depth > search_limits::statement_nesting) return;
  for_each_block(const_cast<Stmt*>(stmt), [&](Block& inner) {
    for (const Stmt* nested : inner) add_lines(lines, nested, depth + 1);
  });
}

// True if the source had `stmt`, the last statement of its block, as the else clause of the preceding `if`.
bool is_else(const If& branch, const Stmt* stmt) {
  if (!branch.orelse.empty() || !leaves(branch.body)) return false;
  const Stmt* leave = branch.body.back();
  const int last = last_line(branch.body), first = first_line(stmt);
  if (last < 0) return false;
  // An `elif` is on the line directly below the body. Few people write an independent `if` directly below a return or
  // break.
  if (is<If>(stmt)) return (is<Return>(leave) || is<Break>(leave)) && first == last + 1;
  // The line with `else:` is between the body of the `if` and the statement `stmt`.
  return (is<Return>(stmt) || is<Raise>(stmt)) && first == last + 2;
}

// True if the source had `stmt` as the else clause of the preceding try statement. The function is not called for 3.8,
// because the bytecode of 3.8 itself shows the start of an else clause (see src/flow).
bool is_else(const Try& attempt, const Stmt* stmt) {
  if (!attempt.orelse.empty() || !attempt.finalbody.empty() || attempt.handlers.empty()) return false;
  int last = -1;
  for (const ExceptHandler& handler : attempt.handlers) {
    auto* leave = as<Return>(handler.body.back());
    if (!leaves(handler.body) || (leave && !leave->value)) return false;
    last = std::max(last, last_line(handler.body));
  }
  return last >= 0 && first_line(stmt) == last + 2;
}

// Moves the last of `statements` into the else clause of the `if` or `try` in front of it, if the lines show that the
// source had the statement in that else clause. Returns true if the statement was moved.
bool take_else(Context& context, std::vector<Stmt*>& statements, Version version) {
  if (statements.size() < 2) return false;
  Stmt* before = statements[statements.size() - 2];
  Block last = context.list({statements.back()});
  if (auto* branch = as<If>(before); branch && is_else(*branch, last[0])) branch->orelse = last;
  else if (auto* attempt = as<Try>(before);
           attempt && !dialect_of(version).folded_else_of_try && is_else(*attempt, last[0]))
    attempt->orelse = last;
  else return false;
  statements.pop_back();
  return true;
}

// Moves the statements behind the `if` at `index` into the else clause of the `if`, and the last statements of the body
// of the `if` behind the `if`. Nothing is moved unless control never reaches the end of the body, and the source has
// the last statements of the body below the statements that follow the `if` in the tree. For example, if c() is below
// `return f` in the source, `if a: b(); c(); return d` in front of `e(); return f` becomes `if a: b()` with `else: e();
// return f` in front of `c(); return d`.
void leave_behind_else(Context& context, std::vector<Stmt*>& statements, std::size_t index) {
  auto* branch = as<If>(statements[index]);
  if (!branch || !branch->orelse.empty() || !leaves(branch->body)) return;
  const Block rest = Block(statements).subspan(index + 1);
  if (!leaves(rest) || first_line(rest[0]) <= statements[index]->line) return;
  const std::size_t kept = above_line(branch->body, last_line(rest));
  if (kept == 0 || kept == branch->body.size() || last_line(branch->body.first(kept)) >= first_line(rest[0])) return;
  branch->orelse = context.arena.copy(rest.data(), rest.size());
  statements.resize(index + 1);
  move_behind(statements, index, branch->body, kept);
}

}  // namespace

std::size_t above_line(Block block, int line) {
  std::size_t kept = block.size();
  while (kept > 0 && first_line(block[kept - 1]) > line) --kept;
  return kept;
}

int last_line(Block body) {
  Lines lines;
  for (const Stmt* stmt : body) add_lines(lines, stmt, 0);
  return lines.last();
}

int first_line(const Stmt* stmt) {
  Lines lines;
  add_lines(lines, stmt, 0);
  return lines.first();
}

Block lines(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  const Version version = scope.decoded.version;
  if (dialect_of(version).columns) return body;  // columns show more than lines
  return rewrite_blocks(context, body, StmtKinds::of<If, Try>(), [&](std::vector<Stmt*>& statements) {
    for (std::size_t index = 0; index < statements.size(); ++index) leave_behind_else(context, statements, index);
    while (take_else(context, statements, version)) {}
  });
}

}  // namespace depyf
