// t = f(a)               ->   return g(f(a))      where g is a local: nothing happens between the call and its use
// return g(t)
// t = f(a); x = t        ->   x = f(a)
//
// For temporaries that are stored once and read once, by the next statement, before that does anything that can be seen.
#include "ast/equal.h"
#include "ast/visit.h"
#include "refine/locals.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int parts_max = 16;  // of an expression, for a line that can be read

enum class Found : std::uint8_t { no, yes, effect };

int parts(Expr* expr) {
  int count = 1;
  for_each_child(expr, [&](Expr*& child) { count += parts(child); });
  return count;
}

// Looks for a name in the order of evaluation, up to the first effect.
class Search {
 public:
  Search(const Locals& locals, std::string_view name) : locals_(locals), name_(name) {}

  Expr** slot = nullptr;

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
    if (auto* name = as<Name>(expr)) {
      if (name->id == name_) return slot = &expr, Found::yes;
      return locals_.is_fast(name->id) ? Found::no : Found::effect;
    }
    if (is<ConstantExpr>(expr)) return Found::no;
    // Of these only the first part is sure to be evaluated.
    if (auto* either = as<BoolOp>(expr)) return first(either->values[0]);
    if (auto* choice = as<IfExp>(expr)) return first(choice->test);
    if (auto* chain = as<Compare>(expr)) {
      Found left = in(chain->left);
      return left == Found::no ? first(chain->comparators[0]) : left;
    }
    if (auto* inner = as<ComprehensionExpr>(expr)) return first(inner->generators[0].iter);
    if (is<Lambda>(expr) || is<Internal>(expr)) return Found::effect;
    Found found = Found::no;
    for_each_child(expr, [&](Expr*& child) {
      if (found == Found::no) found = in(child);
    });
    const bool silent = is<Tuple>(expr) || is<ListExpr>(expr) || is<Slice>(expr);
    return found == Found::no && !silent ? Found::effect : found;
  }

  Found first(Expr*& expr) {
    Found found = in(expr);
    return found == Found::no ? Found::effect : found;
  }

  const Locals& locals_;
  std::string_view name_;
};

class Uses {
 public:
  explicit Uses(Block body) { count(body); }
  bool once(std::string_view name) const {
    auto read = reads_.find(name), stored = stores_.find(name);
    return read != reads_.end() && read->second == 1 && stored != stores_.end() && stored->second == 1;
  }

 private:
  void count(Block body) {
    for (Stmt* stmt : body) {
      for_each_read(stmt, [&](std::string_view name, bool inner) { reads_[name] += inner ? 2 : 1; });
      for_each_expr(stmt, [&](Expr*& expr) { walrus(expr); });
      for_each_target(stmt,
                      [&](Expr* target) { for_each_bound(target, [&](std::string_view name) { ++stores_[name]; }); });
      for_each_block(stmt, [&](Block& inner) { count(inner); });
    }
  }
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
      while (!kept.empty()) {
        auto* made = as<Assign>(kept.back());
        auto* name = made && made->targets.size() == 1 ? as<Name>(made->targets[0]) : nullptr;
        if (!name || !is_temporary(name->id) || !uses.once(name->id)) break;
        Search search(locals, name->id);
        if (search.in(stmt) != Found::yes || parts(made->value) > parts_max) break;
        *search.slot = made->value;
        if (stmt->line < 0) stmt->line = kept.back()->line;
        kept.pop_back();
      }
      kept.push_back(stmt);
    }
    statements = std::move(kept);
  });
}

}  // namespace depyf
