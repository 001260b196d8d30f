// Moves a walrus that a statement evaluates before any expression with an effect into an assignment in front of the
// statement. A later pass can derive a name for the variable of the new assignment from the assigned value, and a
// debugger can stop at the new assignment. For example, `weight = (t := self._parameters)['weight']` becomes `t =
// self._parameters; weight = t['weight']`.
#include "ast/visit.h"
#include "refine/evaluation.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

// True if a walrus in `expr` binds one of `names`.
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
        // Moving the walrus forward must not change a local that the statement reads before the walrus.
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
