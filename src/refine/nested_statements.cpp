// Joins nested statements that were one statement in the source. Two with statements are joined only if lines and
// columns show that they were one statement. If a finally clause never completes, for example because it ends in a
// return, control never reaches the code behind the try statement. If a finally clause never completes, the only code
// that the compiler emits behind the try statement is a copy of the finally clause, and the copy is removed.
//
//   `try: try: a  except E: b  finally: c` becomes `try: a  except E: b  finally: c`.
//   `with a: with b: c` becomes `with a, b: c`.
//   `else: if a: return b; rest` becomes `elif a: return b  else: rest`.
//   `try: a  finally: return b; return b` becomes `try: a  finally: return b`.
#include "ast/position.h"
#include "decode/instruction.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "flow/cfg.h"
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

// True if control never reaches the end of `block`, even if a statement in front of its last statement raises an
// exception.
bool never_completes(Block block) {
  if (leaves(block)) return true;
  if (block.empty()) return false;
  if (auto* loop = as<While>(block.back())) {
    auto* test = as<ConstantExpr>(loop->test);
    return test && test->value->kind == Constant::Kind::true_ &&
           !has_any(loop->body, [](const Stmt* stmt) { return is<Break>(stmt); });
  }
  auto* attempt = as<Try>(block.back());
  return attempt && never_completes(attempt->finalbody);
}

}  // namespace

bool has_finally(const Cfg& cfg) {
  return std::ranges::any_of(cfg.regions,
                             [](const Region& region) { return region.kind == Region::Kind::try_finally; });
}

Block try_finally(Context& context, Block body, const Scope& scope) {
  if (!has_finally(scope.cfg)) return body;
  return rewrite_blocks(context, body, StmtKinds::of<Try>(), [&](std::vector<Stmt*>& statements) {
    for (std::size_t index = 0; index + 1 < statements.size(); ++index) {
      auto* attempt = as<Try>(statements[index]);
      if (attempt && never_completes(attempt->finalbody)) statements.resize(index + 1);
    }
    for (Stmt* stmt : statements) {
      auto* outer = as<Try>(stmt);
      if (!outer || outer->finalbody.empty() || !outer->handlers.empty() || outer->body.size() != 1) continue;
      auto* inner = as<Try>(outer->body[0]);
      if (!inner || !inner->finalbody.empty()) continue;
      const Block finalbody = outer->finalbody;
      *outer = *inner;
      outer->finalbody = finalbody;
    }
  });
}

namespace {

// True if `inner`, the whole body of `outer`, was an item of the with statement `outer` in the source. A nested with
// statement would start on a line of its own, and would be indented further than `outer`.
bool is_item_of(const CodeObject& code, const With& outer, const With& inner) {
  if (outer.items.empty() || inner.items.empty()) return false;
  const Position* last = position_in(code, outer.items.back().context_expr);
  const Position* next = position_in(code, inner.items[0].context_expr);
  const auto is_known = [](const Position* position) {
    return position && position->line >= 0 && position->column >= 0;
  };
  if (!is_known(last) || !is_known(next)) return false;
  return next->line == last->end_line || (next->line > last->end_line && next->column <= last->column);
}

}  // namespace

Block with_items(Context& context, Block body, const Scope& scope) {
  for_each_statement(body, [&](Stmt* stmt) {
    auto* outer = as<With>(stmt);
    // If the line of the outer with statement is unknown, no position shows that two nested with statements were one
    // statement.
    if (!outer || outer->body.size() != 1 || stmt->line < 0) return;
    auto* inner = as<With>(outer->body[0]);
    if (!inner || inner->is_async != outer->is_async) return;
    if (outer->body[0]->line != stmt->line && !is_item_of(*scope.decoded.code, *outer, *inner)) return;
    std::vector<WithItem> items(outer->items.begin(), outer->items.end());
    items.insert(items.end(), inner->items.begin(), inner->items.end());
    outer->items = context.arena.copy(items);
    outer->body = inner->body;
  });
  return body;
}

Block elif_chain(Context&, Block body, const Scope&) {
  for_each_statement(body, [](Stmt* stmt) {
    auto* outer = as<If>(stmt);
    if (!outer || outer->orelse.size() < 2) return;
    auto* inner = as<If>(outer->orelse[0]);
    // If the body of an `if` never reaches its end, the statements behind the `if` can become its else clause.
    if (!inner || !inner->orelse.empty() || !leaves(inner->body)) return;
    inner->orelse = outer->orelse.subspan(1);
    outer->orelse = outer->orelse.first(1);
  });
  return body;
}

}  // namespace depyf
