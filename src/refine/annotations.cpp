// x = v; __annotations__['x'] = T   ->   x: T = v     (module and class bodies, to 3.13)
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

Block annotations(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::module && scope.kind != Scope::Kind::class_body) return body;
  bool as_text = (scope.decoded.code->flags & CodeObject::future_annotations) != 0;
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    std::vector<Stmt*> result;
    for (Stmt* stmt : statements) {
      auto* assign = as<Assign>(stmt);
      auto* place = assign && assign->targets.size() == 1 ? as<Subscript>(assign->targets[0]) : nullptr;
      auto* table = place ? as<Name>(place->value) : nullptr;
      auto* key = place ? as<ConstantExpr>(place->slice) : nullptr;
      if (!table || table->id != "__annotations__" || !key || key->value->kind != Constant::Kind::string) {
        result.push_back(stmt);
        continue;
      }
      Expr* annotation = assign->value;
      if (as_text) annotation = context.annotation(annotation);
      Expr *target = context.name(key->value->text), *value = nullptr;
      auto* before = result.empty() ? nullptr : as<Assign>(result.back());
      auto* name = before && before->targets.size() == 1 ? as<Name>(before->targets[0]) : nullptr;
      if (name && name->id == key->value->text) {
        value = before->value;
        result.pop_back();
      }
      result.push_back(context.stmt(AnnAssign{target, annotation, value, true}, stmt->offset, stmt->line));
    }
    statements = std::move(result);
  });
}

}  // namespace depyf
