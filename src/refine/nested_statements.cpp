// try: try: a  except E: b  finally: c    ->   try: a  except E: b  finally: c
// with a: with b: c   (on one line)       ->   with a, b: c
// else: if a: return ...; rest            ->   elif a: return ...  else: rest
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

Block try_finally(Context& context, Block body, const Scope&) {
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (Stmt* stmt : statements) {
      auto* outer = as<Try>(stmt);
      if (!outer || outer->finalbody.empty() || !outer->handlers.empty() || outer->body.size() != 1) continue;
      auto* inner = as<Try>(outer->body[0]);
      if (!inner || !inner->finalbody.empty()) continue;
      Try joined = *inner;
      joined.finalbody = outer->finalbody;
      stmt->node = joined;
    }
  });
}

Block with_items(Context& context, Block body, const Scope&) {
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (Stmt* stmt : statements) {
      auto* outer = as<With>(stmt);
      if (!outer || outer->body.size() != 1 || stmt->line < 0) continue;
      auto* inner = as<With>(outer->body[0]);
      if (!inner || inner->is_async != outer->is_async || outer->body[0]->line != stmt->line) continue;
      std::vector<WithItem> items(outer->items.begin(), outer->items.end());
      items.insert(items.end(), inner->items.begin(), inner->items.end());
      outer->items = context.arena.copy(items);
      outer->body = inner->body;
    }
  });
}

Block elif_chain(Context& context, Block body, const Scope&) {
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (Stmt* stmt : statements) {
      auto* outer = as<If>(stmt);
      if (!outer || outer->orelse.size() < 2) continue;
      auto* inner = as<If>(outer->orelse[0]);
      if (!inner || !inner->orelse.empty() || !leaves(inner->body)) continue;
      inner->orelse = outer->orelse.subspan(1);
      outer->orelse = outer->orelse.first(1);
    }
  });
}

}  // namespace depyf
