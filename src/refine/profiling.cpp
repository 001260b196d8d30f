// Marks the calls by which Dynamo measures the time of its own bytecode with a comment `# profiling`. The profiling
// calls are no part of the user's program, but have effects, so they are marked instead of removed. Dynamo generates
// two kinds of profiling calls: `token = utils.record_pregraph_bytecode_enter()` and
// `utils.record_pregraph_bytecode_exit(token)`.
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
      auto mark = [](auto* n) {
        if (n && is_profiling(n->value)) n->comment = "profiling";
      };
      mark(as<Assign>(stmt));
      mark(as<ExprStmt>(stmt));
    }
  });
}

}  // namespace depyf
