// To 3.10 no columns tell how statements were indented (see indentation.cpp). Lines tell something: an `else` has one of its
// own, an `elif` has none before it.
//
//     1 if a:            if a:              1 if a:             if a:
//     2     return b         return b       2     return b          return b
//     4 return c         else:              3 if c:             elif c:
//                            return c       4     d()               d()
//
// and of both forms that make the same bytecode and the same lines, the one that people write more often.
#include "ast/visit.h"
#include "decode/instruction.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int deepest = 200;

struct Lines {
  int first = -1, last = -1;
  void add(int line) {
    if (line < 0) return;
    first = first < 0 ? line : std::min(first, line);
    last = std::max(last, line);
  }
};

void add_lines(Lines& lines, const Expr* expr, int depth) {
  lines.add(expr->line);
  if (depth > deepest) return;
  for_each_child(const_cast<Expr*>(expr), [&](Expr*& child) {
    if (child) add_lines(lines, child, depth + 1);
  });
}

void add_lines(Lines& lines, const Stmt* stmt, int depth) {
  lines.add(stmt->line);
  if (is<FunctionDef>(stmt) || is<ClassDef>(stmt)) return;
  for_each_expr(const_cast<Stmt*>(stmt), [&](Expr*& child) {
    if (child) add_lines(lines, child, depth + 1);
  });
  if (depth > deepest) return;
  for_each_block(const_cast<Stmt*>(stmt), [&](Block& inner) {
    for (const Stmt* nested : inner) add_lines(lines, nested, depth + 1);
  });
}

// Is `stmt`, with which the block ends, what the `if` before it has behind `else`?
bool is_else(const If& branch, const Stmt* stmt) {
  if (!branch.orelse.empty() || !leaves(branch.body)) return false;
  const Stmt* leave = branch.body.back();
  const int last = last_line(branch.body), first = first_line(stmt);
  if (last < 0) return false;
  if (is<If>(stmt)) return (is<Return>(leave) || is<Break>(leave)) && first == last + 1;
  return (is<Return>(stmt) || is<Raise>(stmt)) && first == last + 2;
}

// In 3.8 the bytecode tells.
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

}  // namespace

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
  const Version version = scope.decoded.code->version;
  if (dialect_of(version).columns) return body;  // columns tell
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    while (take_else(context, statements, version)) {}
  });
}

}  // namespace depyf
