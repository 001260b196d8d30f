#include "refine/evaluation.h"

#include "ast/visit.h"

namespace depyf {
using namespace ast;

namespace {

// The result of a search: `effect` means that an expression with an effect may be evaluated before the wanted
// expression.
enum class Found : std::uint8_t { no, yes, effect };

// Searches a statement for the wanted expression, in the order of evaluation.
class Search {
 public:
  Search(const Locals& locals, FunctionRef<bool(const Expr*)> wanted) : locals_(locals), wanted_(wanted) {}

  FirstEvaluated result;

  // Searches the expression that `stmt` evaluates first.
  Found in(Stmt* stmt) {
    if (auto* assign = as<Assign>(stmt)) return in(assign->value);
    if (auto* returned = as<Return>(stmt)) return returned->value ? in(returned->value) : Found::no;
    if (auto* single = as<ExprStmt>(stmt)) return in(single->value);
    if (auto* branch = as<If>(stmt)) return in(branch->test);
    if (auto* loop = as<For>(stmt)) return in(loop->iter);
    if (auto* with = as<With>(stmt)) return in(with->items[0].context_expr);
    if (auto* raised = as<Raise>(stmt)) return raised->exc ? in(raised->exc) : Found::no;
    if (auto* test = as<Assert>(stmt)) return in(test->test);
    if (auto* match = as<Match>(stmt)) return in(match->subject);
    return Found::effect;
  }

 private:
  Found in(Expr*& expr) {
    const Found within = in_parts(expr);
    if (within == Found::yes) return within;
    if (wanted_(expr)) return result.slot = &expr, Found::yes;
    if (auto* name = as<Name>(expr); name && within == Found::no) result.read_before.insert(name->id);
    return within;
  }

  Found in_parts(Expr*& expr) {
    if (auto* name = as<Name>(expr)) return locals_.is_fast(name->id) ? Found::no : Found::effect;
    if (is<ConstantExpr>(expr)) return Found::no;
    // Of `a and b`, a conditional expression, a chained comparison or a comprehension, only the part that is evaluated
    // first is certain to be evaluated.
    if (auto* either = as<BoolOp>(expr)) return first(either->values[0]);
    if (auto* choice = as<IfExp>(expr)) return first(choice->test);
    if (auto* chain = as<Compare>(expr)) {
      const Found left = in(chain->left);
      return left == Found::no ? first(chain->comparators[0]) : left;
    }
    if (auto* inner = as<ComprehensionExpr>(expr)) return first(inner->generators[0].iter);
    if (is<Lambda>(expr) || is<Internal>(expr)) return Found::effect;
    if (auto* walrus = as<NamedExpr>(expr)) return first(walrus->value);
    Found found = Found::no;
    for_each_child(expr, [&](Expr*& child) {
      if (found == Found::no) found = in(child);
    });
    // The creation of a tuple, a list or a slice has no effect.
    const bool silent = is<Tuple>(expr) || is<ListExpr>(expr) || is<Slice>(expr);
    return found == Found::no && !silent ? Found::effect : found;
  }

  // Searches `expr`, the only part of an expression that is certain to be evaluated. If `expr` does not contain the
  // wanted expression, an effect is assumed.
  Found first(Expr*& expr) {
    const Found found = in(expr);
    return found == Found::no ? Found::effect : found;
  }

  const Locals& locals_;
  FunctionRef<bool(const Expr*)> wanted_;
};

}  // namespace

FirstEvaluated first_evaluated(Stmt* stmt, const Locals& locals, FunctionRef<bool(const Expr*)> wanted) {
  Search search(locals, wanted);
  if (search.in(stmt) != Found::yes) return {};
  return std::move(search.result);
}

}  // namespace depyf
