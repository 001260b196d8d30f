// Rewrites every block of a tree, inner blocks first.
#pragma once
#include <algorithm>

#include "ast/visit.h"
#include "lift/context.h"
#include "support/function_ref.h"
namespace depyf {
// Calls `rewrite` with the statements of each block that contains a statement of the `wanted` kinds, nested blocks
// first. The function `rewrite` may change the statements. All calls of `rewrite` use the same vector `statements`.
inline ast::Block rewrite_blocks(Context& context, ast::Block body, ast::StmtKinds wanted,
                                 FunctionRef<void(std::vector<ast::Stmt*>&)> rewrite,
                                 std::vector<ast::Stmt*>& statements) {
  bool is_wanted = false;
  for (ast::Stmt* stmt : body) {
    is_wanted |= wanted.has(ast::StmtKinds::of(stmt));
    ast::for_each_block(stmt, [&](ast::Block& inner) {
      if (!inner.empty()) inner = rewrite_blocks(context, inner, wanted, rewrite, statements);
    });
  }
  if (!is_wanted) return body;
  statements.assign(body.begin(), body.end());
  rewrite(statements);
  return std::equal(statements.begin(), statements.end(), body.begin(), body.end()) ? body
                                                                                    : context.arena.copy(statements);
}
inline ast::Block rewrite_blocks(Context& context, ast::Block body, ast::StmtKinds wanted,
                                 FunctionRef<void(std::vector<ast::Stmt*>&)> rewrite) {
  std::vector<ast::Stmt*> statements;
  return rewrite_blocks(context, body, wanted, rewrite, statements);
}
inline ast::Block rewrite_blocks(Context& context, ast::Block body,
                                 FunctionRef<void(std::vector<ast::Stmt*>&)> rewrite) {
  return rewrite_blocks(context, body, ast::StmtKinds::all(), rewrite);
}
// Calls `visit` with each statement of `body` and of its nested blocks. The statements of nested blocks come before the
// statement around them.
template <class Visit>
void for_each_statement(ast::Block body, const Visit& visit) {
  for (ast::Stmt* stmt : body) {
    ast::for_each_block(stmt, [&](ast::Block& inner) {
      if (!inner.empty()) for_each_statement(inner, visit);
    });
    visit(stmt);
  }
}
// True if `wanted` is true for any statement of `body` or of a nested block.
template <class Wanted>
bool has_any(ast::Block body, const Wanted& wanted) {
  return std::ranges::any_of(body, [&](ast::Stmt* stmt) {
    bool found = wanted(stmt);
    ast::for_each_block(stmt, [&](ast::Block& inner) { found = found || (!inner.empty() && has_any(inner, wanted)); });
    return found;
  });
}
inline bool has_return(ast::Block body) {
  return has_any(body, [](const ast::Stmt* stmt) { return ast::is<ast::Return>(stmt); });
}
// Returns the lowest index in `block` from which on all statements are below `line` in the source; `block.size()` if
// the last statement is not below `line`.
std::size_t above_line(ast::Block block, int line);

// Moves the statements of `block` from index `kept` on behind the statement `statements[index]`, which contains
// `block`.
inline void move_behind(std::vector<ast::Stmt*>& statements, std::size_t index, ast::Block& block, std::size_t kept) {
  const ast::Block moved = block.subspan(kept);
  statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, moved.begin(), moved.end());
  block = block.first(kept);
}

// True if the last statement of `block` never lets control reach the end of the block.
inline bool leaves(ast::Block block) {
  if (block.empty()) return false;
  const ast::Stmt* last = block.back();
  if (auto* branch = ast::as<ast::If>(last)) return leaves(branch->body) && leaves(branch->orelse);
  return ast::is<ast::Return>(last) || ast::is<ast::Raise>(last) || ast::is<ast::Break>(last) ||
         ast::is<ast::Continue>(last);
}
}  // namespace depyf
