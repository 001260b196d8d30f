// Marks the calls by which Dynamo measures itself:
//
//   token = utils.record_pregraph_bytecode_enter()
//   utils.record_pregraph_bytecode_exit(token)            ->   each gets the comment "# profiling" at its end
//
// The profiling calls are no part of the user's program, but have effects, so they are marked instead of removed.
#include "ast/visit.h"
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

bool is_profiling(const Expr* value) {
  auto* call = as<Call>(value);
  auto* function = call ? as<Attribute>(call->func) : nullptr;
  return function && function->attr.starts_with("record_pregraph_bytecode_");
}

Block profiling(Context& context, Block body, const Scope&) {
  return rewrite_blocks(context, body, [](std::vector<Stmt*>& statements) {
    for (Stmt* stmt : statements) {
      Expr* value = nullptr;
      if (auto* assign = as<Assign>(stmt)) value = assign->value;
      if (auto* single = as<ExprStmt>(stmt)) value = single->value;
      if (is_profiling(value)) stmt->comment = "profiling";
    }
  });
}

}  // namespace depyf
