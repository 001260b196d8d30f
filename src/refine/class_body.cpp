// What every class body does by itself is not written out: __module__ = __name__, __qualname__ = '...',
// the cells of __class__ and __classdict__, type parameters; __doc__ = '...' is the docstring.
#include "refine/refine.h"

namespace depyf {
using namespace ast;

Block class_body(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::class_body) return body;
  std::vector<Stmt*> result;
  Stmt* doc = nullptr;
  for (Stmt* stmt : body) {
    if (auto* assign = as<Assign>(stmt); assign && assign->targets.size() == 1) {
      auto* name = as<Name>(assign->targets[0]);
      auto* text = as<ConstantExpr>(assign->value);
      if (name && result.empty() && !doc) {
        auto* module = as<Name>(assign->value);
        if (name->id == "__module__" && module && module->id == "__name__") continue;
        if (name->id == "__qualname__" && text) continue;
        if (name->id == "__firstlineno__" && text) continue;
        if (name->id == "__type_params__" && module && module->id == ".type_params") continue;
        if (name->id == "__doc__" && text && text->value->kind == Constant::Kind::string) {
          doc = context.stmt(ExprStmt{assign->value}, stmt->offset, stmt->line);
          continue;
        }
      }
      if (name && name->id == "__static_attributes__") continue;
      if (auto* locals = as<Internal>(assign->value); name && locals && locals->marker == Marker::locals) continue;
      if (name && name->id == "__classdictcell__") continue;
    }
    if (auto* leave = as<Return>(stmt); leave && stmt == body.back()) {
      auto* named = as<NamedExpr>(leave->value);
      auto* name = named ? as<Name>(named->target) : nullptr;
      if (name && name->id == "__classcell__") continue;
      auto* none = as<ConstantExpr>(leave->value);
      if (!leave->value || (none && none->value->kind == Constant::Kind::none)) continue;
    }
    result.push_back(stmt);
  }
  if (doc) result.insert(result.begin(), doc);
  return context.arena.copy(result);
}

}  // namespace depyf
