// Folds the statements to which pytest rewrites each `assert` of a test module back to asserts. pytest evaluates the
// operands of `and` and `or` in nested `if` statements, each of which assigns its operand to the variable that holds
// the result. To explain a failure, pytest rewrites `assert a == 1` to the following statements:
//
//     @py_assert2 = 1;
//     @py_assert1 = a == @py_assert2;
//     if not @py_assert1:
//         @py_format4 = @pytest_ar._call_reprcompare(...);
//         raise AssertionError(@pytest_ar._format_explanation(...));
//     @py_assert1 = @py_assert2 = None.
#include <map>
#include <set>
#include <string_view>

#include "ast/equal.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

constexpr std::string_view variable_prefix = "@py_assert", helpers = "@pytest_ar";

// Returns the name of `expr` if it is one of pytest's variables; an empty name for any other expression.
std::string_view variable_of(const Expr* expr) {
  auto* name = as<Name>(expr);
  return name && name->id.starts_with(variable_prefix) ? name->id : std::string_view();
}

// True if `expr` is a call `@pytest_ar.function(x)` of pytest's helper `function` with one argument.
bool is_helper(const Expr* expr, std::string_view function) {
  auto* call = as<Call>(expr);
  auto* attribute = call ? as<Attribute>(call->func) : nullptr;
  auto* name = attribute ? as<Name>(attribute->value) : nullptr;
  return name && name->id == helpers && attribute->attr == function && call->args.size() == 1;
}

// True if `block` ends in a raise with pytest's explanation of a failed assert. Sets `message` to the message of the
// assert, or to null if the assert has no message.
bool explains(Block block, Expr*& message) {
  message = nullptr;
  if (block.empty()) return false;
  auto* raise = as<Raise>(block.back());
  auto* error = raise ? as<Call>(raise->exc) : nullptr;
  if (!error || error->args.size() != 1 || !is_helper(error->args[0], "_format_explanation")) return false;
  for (const Stmt* stmt : block) {
    auto* assign = as<Assign>(stmt);
    auto* format = assign ? as<BinOp>(assign->value) : nullptr;
    auto* text = format ? as<BinOp>(format->left) : nullptr;
    if (text && is_helper(text->left, "_format_assertmsg")) message = as<Call>(text->left)->args[0];
  }
  return true;
}

// Folds the asserts of one block. The values of pytest's variables are collected until an `if` tests these variables.
class Folder {
 public:
  explicit Folder(Context& context) : context_(context) {}

  // Rewrites the statements of one block.
  void run(std::vector<Stmt*>& statements) {
    std::vector<Stmt*> result;
    // The index in `result` of the first statement that evaluates an operand of the current assert.
    std::size_t start = 0;
    for (std::size_t at = 0; at < statements.size(); ++at) {
      Stmt* stmt = statements[at];
      if (evaluate(stmt)) {
        result.push_back(stmt);
        continue;
      }
      Expr *message = nullptr, *test = nullptr;
      Block rest;
      if (auto* branch = as<If>(stmt)) {
        if (explains(branch->body, message)) test = negate(context_, branch->test), rest = branch->orelse;
        else if (explains(branch->orelse, message)) test = branch->test, rest = branch->body;
      }
      Expr* condition = test ? folded_test(test) : nullptr;
      if (!condition) {
        result.push_back(stmt);
        start = result.size();
        forget();
        continue;
      }
      Stmt* first = start < result.size() ? result[start] : stmt;
      result.resize(start);
      result.push_back(context_.stmt(Assert{condition, message}, first->offset, first->line));
      result.insert(result.end(), rest.begin(), rest.end());
      // The statement `@py_assert1 = @py_assert2 = None` behind the test of an assert is removed together with the
      // test.
      if (at + 1 < statements.size() && clears(statements[at + 1])) ++at;
      start = result.size();
      forget();
    }
    statements = std::move(result);
  }

 private:
  // Drops the collected values. The function is called behind each assert, and behind each statement from which
  // `evaluate` takes no value.
  void forget() { values_.clear(), joined_.clear(); }

  // Returns true, and records the value, if `stmt` sets one of pytest's variables to a value whose parts are known.
  bool evaluate(Stmt* stmt) {
    if (auto* assign = as<Assign>(stmt)) {
      std::string_view variable;
      // `n = @py_assert1 = f()` was `(n := f())` in the source.
      Expr* walrus = nullptr;
      for (Expr* target : assign->targets) {
        if (const std::string_view name = variable_of(target); !name.empty() && variable.empty()) variable = name;
        else if (is<Name>(target) && !walrus) walrus = target;
        else return false;
      }
      if (variable.empty()) return false;
      Expr* value = assign->value;
      std::set<std::string_view> used;
      if (!is_resolvable(value, used, 0)) return false;
      values_[variable] = walrus ? context_.expr(NamedExpr{walrus, value}, stmt->offset, stmt->line) : value;
      joined_.erase(variable);
      return true;
    }
    return join(stmt);
  }

  // Joins the operands of an `and` or `or`, which pytest evaluates in nested `if` statements, to one value. The code `r
  // = a; if a: r = b` sets r to `a and b`, and `r = a; if not a: r = b` sets r to `a or b`. Returns false if `stmt`
  // evaluates no operand of an `and` or `or`.
  bool join(Stmt* stmt) {
    auto* branch = as<If>(stmt);
    if (!branch || !branch->orelse.empty() || branch->body.empty()) return false;
    auto* negation = as<UnaryExpr>(branch->test);
    const bool is_or = negation && negation->op == UnaryOp::not_;
    std::string_view result;
    for (Stmt* nested : branch->body) {
      auto* assign = as<Assign>(nested);
      if (!assign || assign->targets.size() != 1 || variable_of(assign->targets[0]).empty()) continue;
      if (values_.contains(variable_of(assign->targets[0]))) result = variable_of(assign->targets[0]);
    }
    if (result.empty()) return false;
    const std::map<std::string_view, Expr*> before = values_;
    Expr* left = values_[result];
    for (Stmt* nested : branch->body)
      if (!evaluate(nested)) {
        values_ = before;
        return false;
      }
    Expr* right = values_[result];
    std::vector<Expr*> operands{left};
    auto* more = as<BoolOp>(right);
    if (more && more->is_or == is_or && joined_.contains(result))
      operands.insert(operands.end(), more->values.begin(), more->values.end());
    else operands.push_back(right);
    values_[result] = context_.expr(BoolOp{is_or, context_.arena.copy(operands)}, left->offset, left->line);
    joined_.insert(result);
    return true;
  }

  // True if all of pytest's variables in `expr`, and in the values of these variables, have a known value. Adds
  // pytest's variables in `expr` to `used`.
  bool is_resolvable(Expr* expr, std::set<std::string_view>& used, int depth) {
    if (depth > search_limits::statement_nesting) return false;
    if (const std::string_view variable = variable_of(expr); !variable.empty()) {
      auto known = values_.find(variable);
      if (known == values_.end()) return false;
      used.insert(variable);
      return is_resolvable(known->second, used, depth + 1);
    }
    bool complete = true;
    for_each_child(expr,
                   [&](Expr*& child) { complete = complete && (!child || is_resolvable(child, used, depth + 1)); });
    return complete;
  }

  // Replaces pytest's variables in `expr` by their values. The function changes expressions in place, so it is called
  // only after all checks have succeeded.
  Expr* substituted(Expr* expr) {
    if (const std::string_view variable = variable_of(expr); !variable.empty()) return substituted(values_[variable]);
    for_each_child(expr, [&](Expr*& child) {
      if (child) child = substituted(child);
    });
    return expr;
  }

  // True if `used` contains all of pytest's variables whose values may have an effect, so that no effect is lost when
  // the statements that set pytest's variables are removed.
  bool uses_all(const std::set<std::string_view>& used) const {
    for (const auto& [variable, value] : values_) {
      auto* explanations = as<ListExpr>(value);  // if empty: the list in which pytest collects explanations
      if (!used.contains(variable) && !is<ConstantExpr>(value) && !(explanations && explanations->elts.empty()))
        return false;
    }
    return true;
  }

  // Returns the condition of the assert that pytest rewrote to an `if` with the test `test`; null if the values of
  // pytest's variables do not determine the condition.
  Expr* folded_test(Expr* test) {
    std::set<std::string_view> used;
    if (!is_resolvable(test, used, 0) || !uses_all(used)) return nullptr;
    Expr* whole = chained_comparison(test);
    return whole ? substituted(whole) : nullptr;
  }

  // Returns `a < b < c` for the test `@py_assert1 and @py_assert2` whose variables have the values `a < b` and `b < c`.
  // Returns null if the operands of the `and` form no chain, and returns `test` itself if it is no `and`.
  Expr* chained_comparison(Expr* test) {
    auto* parts = as<BoolOp>(test);
    if (!parts || parts->is_or) return test;
    std::vector<CompareOp> ops;
    std::vector<Expr*> comparators;
    Expr* left = nullptr;
    for (Expr* part : parts->values) {
      Expr* value = variable_of(part).empty() ? nullptr : values_[variable_of(part)];
      auto* comparison = as<Compare>(value);
      if (!comparison || comparison->ops.size() != 1) return nullptr;
      if (!left) left = comparison->left;
      else if (!equal(comparators.back(), comparison->left)) return nullptr;
      ops.push_back(comparison->ops[0]);
      comparators.push_back(comparison->comparators[0]);
    }
    return context_.expr(Compare{left, context_.arena.copy(ops), context_.arena.copy(comparators)}, left->offset,
                         left->line);
  }

  // True if `stmt` sets the variables of the preceding assert to None.
  bool clears(const Stmt* stmt) const {
    auto* assign = as<Assign>(stmt);
    if (!assign || !is_none(assign->value)) return false;
    std::size_t count = 0;
    for (const Expr* target : assign->targets) {
      if (!values_.contains(variable_of(target))) return false;
      ++count;
    }
    return count == values_.size();
  }

  Context& context_;
  std::map<std::string_view, Expr*> values_;  // the values of pytest's variables since the last assert
  // The variables whose value is an `and` or `or` that `join` built.
  std::set<std::string_view> joined_;
};

// True if some statement of `body` raises an error with pytest's explanation, so that its assert was not folded.
bool uses_helpers(Block body) {
  return has_any(body, [](const Stmt* stmt) {
    Expr* message = nullptr;
    Stmt* alone = const_cast<Stmt*>(stmt);
    return is<Raise>(stmt) && explains({&alone, 1}, message);
  });
}

// Removes the imports of pytest's helpers from `stmt`. Returns true if the helpers are the only names that `stmt`
// imports.
bool drop_imports(Context& context, Stmt* stmt) {
  auto* import = as<Import>(stmt);
  if (!import) return false;
  std::vector<Alias> others;
  for (const Alias& alias : import->names)
    if (alias.asname != helpers && alias.asname != "@py_builtins") others.push_back(alias);
  if (others.size() == import->names.size()) return false;
  import->names = context.arena.copy(others);
  return others.empty();
}

}  // namespace

Block pytest_assertions(Context& context, Block body, const Scope& scope) {
  if (!context.folds_assertions) return body;
  body = rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) { Folder(context).run(statements); });
  if (uses_helpers(body)) context.has_unfolded_assertions = true;
  // The imports of pytest's helpers are needed as long as any function of the module calls the helpers.
  if (scope.kind != Scope::Kind::module) return body;
  std::vector<Stmt*> statements(body.begin(), body.end());
  if (!context.has_unfolded_assertions)
    std::erase_if(statements, [&](Stmt* stmt) { return drop_imports(context, stmt); });
  return context.arena.copy(statements);
}

}  // namespace depyf
