// weight = (t := self._parameters)['weight']   ->   t = self._parameters
//                                                   weight = t['weight']
//
// What a statement binds before it does anything else is bound by a statement of its own in front of it. The name can then
// say what it holds, and a debugger stops there.
#include "ast/visit.h"
#include "refine/evaluation.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

bool binds_any(Expr* expr, const std::set<std::string_view>& names) {
  bool binds = false;
  if (auto* walrus = as<NamedExpr>(expr))
    for_each_bound(walrus->target, [&](std::string_view name) { binds = binds || names.contains(name); });
  for_each_child(expr, [&](Expr*& child) { binds = binds || binds_any(child, names); });
  return binds;
}

}  // namespace

Block first_walrus(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::function) return body;
  const Locals locals(scope, context.options);
  const auto is_walrus = [&](const Expr* expr) {
    auto* walrus = as<NamedExpr>(expr);
    auto* name = walrus ? as<Name>(walrus->target) : nullptr;
    return name && locals.foldable(name->id);
  };
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    std::vector<Stmt*> separated;
    for (Stmt* stmt : statements) {
      while (true) {
        const FirstEvaluated first = first_evaluated(stmt, locals, is_walrus);
        if (!first.slot || binds_any(*first.slot, first.read_before)) break;
        auto* walrus = as<NamedExpr>(*first.slot);
        const std::vector<Expr*> targets{walrus->target};
        separated.push_back(context.stmt(Assign{.targets = context.arena.copy(targets), .value = walrus->value},
                                         stmt->offset, stmt->line));
        *first.slot = context.name(as<Name>(walrus->target)->id);
      }
      separated.push_back(stmt);
    }
    statements = std::move(separated);
  });
}

}  // namespace depyf
