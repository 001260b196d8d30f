// if not c: raise AssertionError(m)   (LOAD_ASSERTION_ERROR)   ->   assert c, m
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {
// Only LOAD_ASSERTION_ERROR makes a name of this very text; a global is a view of co_names.
bool is_assertion(const Expr* expr, const Scope& scope) {
  auto* name = as<Name>(expr);
  if (!name || name->id != "AssertionError") return false;
  for (const std::string& own : scope.decoded.code->names)
    if (own.data() == name->id.data()) return false;
  return true;
}
}  // namespace

Block assert_statement(Context& context, Block body, const Scope& scope) {
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (std::size_t index = 0; index < statements.size(); ++index) {
      auto* branch = as<If>(statements[index]);
      if (!branch) continue;
      bool in_body = branch->body.size() == 1, found = false;
      Stmt* raised = in_body ? branch->body[0] : nullptr;
      auto* raise = as<Raise>(raised);
      Expr* message = nullptr;
      if (raise && !raise->cause) {
        if (is_assertion(raise->exc, scope)) found = true;
        auto* call = as<Call>(raise->exc);
        if (call && is_assertion(call->func, scope) && call->args.size() == 1 && call->keywords.empty() &&
            !is<Starred>(call->args[0]))
          found = true, message = call->args[0];
      }
      if (!found) continue;
      Expr* test = negate(context, branch->test);
      std::vector<Stmt*> rest(branch->orelse.begin(), branch->orelse.end());
      statements[index] = context.stmt(Assert{test, message}, statements[index]->offset, statements[index]->line);
      statements.insert(statements.begin() + index + 1, rest.begin(), rest.end());
    }
  });
}

}  // namespace depyf
