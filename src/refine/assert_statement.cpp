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
      if (auto* raise = as<Raise>(statements[index]); raise && !raise->cause) {
        // A test that is known to fail is no instruction.
        auto* call = as<Call>(raise->exc);
        bool with_message = call && is_assertion(call->func, scope) && call->args.size() == 1 &&
                            call->keywords.empty() && !is<Starred>(call->args[0]);
        if (!with_message && !is_assertion(raise->exc, scope)) continue;
        Constant no;
        no.kind = Constant::Kind::false_;
        statements[index]->node = Assert{context.constant(std::move(no)), with_message ? call->args[0] : nullptr};
        continue;
      }
      auto* branch = as<If>(statements[index]);
      if (!branch) continue;
      // The block within was looked at before.
      auto* failed = branch->body.size() == 1 ? as<Assert>(branch->body[0]) : nullptr;
      auto* constant = failed ? as<ConstantExpr>(failed->test) : nullptr;
      if (!constant || constant->value->kind != Constant::Kind::false_) continue;
      Expr* message = failed->msg;
      Expr* test = negate(context, branch->test);
      std::vector<Stmt*> rest(branch->orelse.begin(), branch->orelse.end());
      statements[index] = context.stmt(Assert{test, message}, statements[index]->offset, statements[index]->line);
      statements.insert(statements.begin() + index + 1, rest.begin(), rest.end());
    }
  });
}

}  // namespace depyf
