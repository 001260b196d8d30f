// Inserts the docstring in front of the body. The docstring of a function is its first constant; the docstring of a
// module is assigned to __doc__.
#include <algorithm>

#include "decode/decode.h"
#include "refine/refine.h"

namespace depyf {
using namespace ast;

bool is_docstring(const Stmt* stmt) {
  auto* assign = as<Assign>(stmt);
  auto* target = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  return target && target->id == "__doc__" && constant_of(assign->value, Constant::Kind::string);
}

Block docstring(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::module && !body.empty() && is_docstring(body[0])) {
    std::vector<Stmt*> result(body.begin(), body.end());
    result[0] = context.stmt(ExprStmt{as<Assign>(body[0])->value}, 0, body[0]->line);
    return context.arena.copy(result);
  }
  if (scope.kind != Scope::Kind::function || !has_docstring_constant(*scope.decoded.code)) return body;
  // No instruction loads the docstring of a function, so its line is unknown.
  const Block result = context.arena.list<Stmt*>(1 + body.size());
  result[0] = context.stmt(ExprStmt{context.expr(ConstantExpr{&scope.decoded.constants[0]})});
  std::ranges::copy(body, result.begin() + 1);
  return result;
}

}  // namespace depyf
