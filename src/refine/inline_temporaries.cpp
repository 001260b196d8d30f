// Replaces the use of a temporary by the expression that is stored in the temporary. A temporary is replaced if it is
// stored once and read once, by the next statement, before that statement has any effect.
//
//   `t = f(a); return g(t)` becomes `return g(f(a))` if g is a local.
//   `t = f(a); x = t` becomes `x = f(a)`.
#include "ast/visit.h"
#include "refine/evaluation.h"
#include "refine/locals.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

// The largest number of nodes of an expression that is inlined, so that lines stay readable.
constexpr int parts_max = 16;

// Returns the number of nodes of the tree `expr`.
int parts(Expr* expr) {
  int count = 1;
  for_each_child(expr, [&](Expr*& child) { count += parts(child); });
  return count;
}

// Counts stores and reads of names.
class Uses {
 public:
  explicit Uses(Block body) { count(body); }
  // True if `name` is stored exactly once and read exactly once.
  bool once(std::string_view name) const {
    auto read = reads_.find(name), stored = stores_.find(name);
    return read != reads_.end() && read->second == 1 && stored != stores_.end() && stored->second == 1;
  }

 private:
  void count(Block body) {
    for (Stmt* stmt : body) {
      // A read in a lambda or comprehension counts twice, because it may run any number of times.
      for_each_read(stmt, [&](std::string_view name, bool inner) { reads_[name] += inner ? 2 : 1; });
      for_each_expr(stmt, [&](Expr*& expr) { walrus(expr); });
      for_each_target(stmt,
                      [&](Expr* target) { for_each_bound(target, [&](std::string_view name) { ++stores_[name]; }); });
      for_each_block(stmt, [&](Block& inner) { count(inner); });
    }
  }
  // Counts the stores of the walruses in `expr`.
  void walrus(Expr* expr) {
    if (auto* named = as<NamedExpr>(expr))
      for_each_bound(named->target, [&](std::string_view name) { ++stores_[name]; });
    for_each_child(expr, [&](Expr*& child) { walrus(child); });
  }

  std::map<std::string_view, int> reads_, stores_;
};

}  // namespace

Block inline_temporaries(Context& context, Block body, const Scope& scope) {
  const Locals locals(scope, context.options);
  const Uses uses(body);
  return rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    std::vector<Stmt*> kept;
    for (Stmt* stmt : statements) {
      // The inlined value may itself contain a temporary that the preceding statement stores, so the replacement is
      // repeated.
      while (!kept.empty()) {
        auto* made = as<Assign>(kept.back());
        auto* name = made && made->targets.size() == 1 ? as<Name>(made->targets[0]) : nullptr;
        if (!name || !is_temporary(name->id) || !uses.once(name->id)) break;
        Expr** slot = first_evaluated(stmt, locals, [&](const Expr* expr) {
                        auto* read = as<Name>(expr);
                        return read && read->id == name->id;
                      }).slot;
        if (!slot || parts(made->value) > parts_max) break;
        *slot = made->value;
        if (stmt->line < 0) stmt->line = kept.back()->line;
        kept.pop_back();
      }
      kept.push_back(stmt);
    }
    statements = std::move(kept);
  });
}

}  // namespace depyf
