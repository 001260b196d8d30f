// To 3.10 no columns tell how statements were indented (see indentation.cpp). Lines tell something: an `else` has one of its
// own, an `elif` has none before it.
//
//     1 if a:            if a:              1 if a:             if a:
//     2     return b         return b       2     return b          return b
//     4 return c         else:              3 if c:             elif c:
//                            return c       4     d()               d()
//
// and of both forms that make the same bytecode and the same lines, the one that people write more often.
// On every version: what one import statement binds stands in one place.
#include "ast/visit.h"
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

// Is the last statement of `statements` what the `if` before it has behind `else`?
bool is_else(const Stmt* branch, const Stmt* stmt) {
  auto* test = as<If>(branch);
  if (!test || !test->orelse.empty() || !leaves(test->body)) return false;
  const Stmt* leave = test->body.back();
  Lines lines;
  add_lines(lines, stmt, 0);
  const int last = last_line(test->body);
  if (last < 0 || lines.first < 0) return false;
  if (is<If>(stmt)) return (is<Return>(leave) || is<Break>(leave)) && lines.first == last + 1;
  return (is<Return>(stmt) || is<Raise>(stmt)) && lines.first == last + 2;
}

void join_imports(Context& context, std::vector<Stmt*>& statements) {
  std::vector<Stmt*> joined;
  for (Stmt* stmt : statements) {
    auto* import = as<Import>(stmt);
    Stmt* before = joined.empty() ? nullptr : joined.back();
    auto* first = as<Import>(before);
    if (import && first && stmt->line >= 0 && stmt->line == before->line && stmt->column == before->column &&
        import->is_lazy == first->is_lazy) {
      std::vector<Alias> names(first->names.begin(), first->names.end());
      names.insert(names.end(), import->names.begin(), import->names.end());
      first->names = context.arena.copy(names);
    } else {
      joined.push_back(stmt);
    }
  }
  statements = std::move(joined);
}

}  // namespace

int last_line(Block body) {
  Lines lines;
  for (const Stmt* stmt : body) add_lines(lines, stmt, 0);
  return lines.last;
}

Block lines(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  const bool columns = scope.decoded.code->version >= Version{3, 11};
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    join_imports(context, statements);
    while (!columns && statements.size() > 1 && is_else(statements[statements.size() - 2], statements.back())) {
      as<If>(statements[statements.size() - 2])->orelse = context.list({statements.back()});
      statements.pop_back();
    }
  });
}

}  // namespace depyf
