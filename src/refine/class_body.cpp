// What every class body does by itself is not written out: __module__ = __name__, __qualname__ = '...',
// the cells of __class__ and __classdict__, type parameters; __doc__ = '...' is the docstring.
#include <set>
#include <string_view>

#include "refine/refine.h"

namespace depyf {
using namespace ast;

Block class_body(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::class_body) return body;
  std::vector<Stmt*> result;
  Stmt* doc = nullptr;
  const Stmt* static_attributes = nullptr;  // what a person stores under that name comes before
  for (Stmt* stmt : body) {
    auto* assign = as<Assign>(stmt);
    auto* name = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
    if (name && name->id == "__static_attributes__") static_attributes = stmt;
  }
  if (scope.decoded.code->version < Version{3, 13}) static_attributes = nullptr;
  std::set<std::string_view> seen;  // what stands there twice is a person's
  for (Stmt* stmt : body) {
    if (auto* assign = as<Assign>(stmt); assign && assign->targets.size() == 1) {
      auto* name = as<Name>(assign->targets[0]);
      auto* text = as<ConstantExpr>(assign->value);
      if (name && result.empty() && !doc) {
        auto* module = as<Name>(assign->value);
        bool own = (name->id == "__module__" && module && module->id == "__name__") ||
                   (name->id == "__qualname__" && text) || (name->id == "__firstlineno__" && text) ||
                   (name->id == "__type_params__" && module && module->id == ".type_params");
        if (own && seen.insert(name->id).second) continue;
        if (name->id == "__doc__" && text && text->value->kind == Constant::Kind::string) {
          doc = context.stmt(ExprStmt{assign->value}, stmt->offset, stmt->line);
          continue;
        }
      }
      if (name && name->id == "__static_attributes__" && stmt == static_attributes) continue;
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
