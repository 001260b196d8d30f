// Chooses between forms that compile to equal bytecode in code up to 3.10, which has lines but no columns (see
// indentation.cpp). An `else:` takes a line of its own, while an `elif` has no extra line in front of it:
//
//     1 if a:            if a:              1 if a:             if a:
//     2     return b         return b       2     return b          return b
//     4 return c         else:              3 if c:             elif c:
//                            return c       4     d()               d()
//
// If two forms have equal lines as well, the one is chosen that people write more often.
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

// The first and the last line of some code; -1 if no line is known.
struct Lines {
  int first = -1, last = -1;
  void add(int line) {
    if (line < 0) return;
    first = first < 0 ? line : std::min(first, line);
    last = std::max(last, line);
  }
};

// Adds the lines of an expression and its parts.
void add_lines(Lines& lines, const Expr* expr, int depth) {
  lines.add(expr->line);
  if (depth > search_limits::statement_nesting) return;
  for_each_child(const_cast<Expr*>(expr), [&](Expr*& child) {
    if (child) add_lines(lines, child, depth + 1);
  });
}

void add_lines(Lines& lines, const Stmt* stmt, int depth) {
  lines.add(stmt->line);
  // The lines of a nested definition belong to another code object.
  if (is<FunctionDef>(stmt) || is<ClassDef>(stmt)) return;
  for_each_expr(const_cast<Stmt*>(stmt), [&](Expr*& child) {
    if (child) add_lines(lines, child, depth + 1);
  });
  if (depth > search_limits::statement_nesting) return;
  for_each_block(const_cast<Stmt*>(stmt), [&](Block& inner) {
    for (const Stmt* nested : inner) add_lines(lines, nested, depth + 1);
  });
}

// True if `stmt`, the last of its block, is the else clause of the `if` in front of it.
bool is_else(const If& branch, const Stmt* stmt) {
  if (!branch.orelse.empty() || !leaves(branch.body)) return false;
  const Stmt* leave = branch.body.back();
  const int last = last_line(branch.body), first = first_line(stmt);
  if (last < 0) return false;
  // An `elif` is on the line directly below the body, where few people write an independent `if` below a return or
  // break.
  if (is<If>(stmt)) return (is<Return>(leave) || is<Break>(leave)) && first == last + 1;
  // The line with `else:` stands between the body and the statement.
  return (is<Return>(stmt) || is<Raise>(stmt)) && first == last + 2;
}

// True if `stmt` is the else clause of the try statement in front of it. In 3.8, the bytecode itself shows where an
// else clause starts (see flow/).
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

// Moves the last statement into the else clause of the `if` or `try` in front of it. Returns true if it moved the
// statement.
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

// Moves the statements behind the `if` at `index` into its else clause, and the last statements of its body behind it,
// if the body never reaches its end and its last statements are below the moved statements in the source:
//
//     1 if a:            1 if a:
//     2     b()          2     b()
//     6     c()          3 else:
//     7     return d  -> 4     e()
//     4 e()              5     return f
//     5 return f         6 c()
//                        7 return d
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
  return lines.last;
}

int first_line(const Stmt* stmt) {
  Lines lines;
  add_lines(lines, stmt, 0);
  return lines.first;
}

Block lines(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  const Version version = scope.decoded.version;
  if (dialect_of(version).columns) return body;  // columns show more
  return rewrite_blocks(context, body, StmtKinds::of<If, Try>(), [&](std::vector<Stmt*>& statements) {
    for (std::size_t index = 0; index < statements.size(); ++index) leave_behind_else(context, statements, index);
    while (take_else(context, statements, version)) {}
  });
}

}  // namespace depyf
