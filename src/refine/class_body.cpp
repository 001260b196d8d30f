// Removes the statements that the compiler adds to each class body: `__module__ = __name__`, `__qualname__ = '...'`,
// and the stores of type parameters and of the cells of __class__ and __classdict__. The statement `__doc__ = '...'`
// becomes the docstring.
#include <algorithm>
#include <string_view>
#include <vector>

#include "dialect/dialect.h"
#include "refine/refine.h"
#include "refine/static_attributes.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// True if `stmt` is an assignment whose only target is the name `id`.
bool stores(const Stmt* stmt, std::string_view id) {
  auto* assign = as<Assign>(stmt);
  auto* name = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  return name && name->id == id;
}

// True if `stmt` is `return (__classcell__ := <the cell>)`, which ends a class body whose methods use `super`.
bool returns_cell(const Stmt* stmt) {
  auto* leave = as<Return>(stmt);
  auto* named = leave ? as<NamedExpr>(leave->value) : nullptr;
  auto* name = named ? as<Name>(named->target) : nullptr;
  return name && name->id == "__classcell__";
}

// Removes the statements that the compiler adds at the end of a class body, such as the store of
// `__static_attributes__` (3.13 and later). Sets `attributes` to the value of `__static_attributes__` if the value is a
// constant. If the body ends in an `if`, the compiler adds its own statements to the branch that reaches the end of the
// body. For example, if a class body ends in `if c: a()` with `else: raise E`, the compiler adds `__static_attributes__
// = ()` behind `a()` in the body of the `if`.
Block without_end(Context& context, Block body, int depth, const Constant*& attributes) {
  if (body.empty() || depth > search_limits::statement_nesting) return body;
  std::size_t count = body.size();
  if (returns_cell(body[count - 1])) --count;
  if (count > 0 && stores(body[count - 1], "__classdictcell__")) --count;
  if (count > 0 && dialect_of(context.version).class_details && stores(body[count - 1], "__static_attributes__")) {
    if (auto* value = as<ConstantExpr>(as<Assign>(body[--count])->value)) attributes = value->value;
  }
  if (count < body.size()) return body.first(count);
  if (auto* branch = as<If>(body.back())) {
    branch->orelse = without_end(context, branch->orelse, depth + 1, attributes);
    branch->body = without_end(context, branch->body, depth + 1, attributes);
    if (branch->body.empty()) branch->body = context.list({context.stmt(Pass{})});
  }
  return body;
}

Block with_lost_attributes(Context& context, Block body, const std::vector<std::string_view>& lost) {
  constexpr std::size_t shown = 5;
  std::string text = "depyf: not equal: __static_attributes__ lists attributes of code that the compiler left out: ";
  for (std::size_t index = 0; index < std::min(lost.size(), shown); ++index) {
    if (index > 0) text += ", ";
    text += lost[index];
  }
  if (lost.size() > shown) text += ", ...";
  return context.with_comment(text, body);
}

}  // namespace

Block class_body(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::class_body) return body;
  std::vector<Stmt*> result;
  result.reserve(body.size() + 1);
  Stmt* doc = nullptr;
  const Constant* attributes = nullptr;
  body = without_end(context, body, 0, attributes);
  // If a store such as `__module__ = __name__` occurs twice, the user wrote the second one.
  std::vector<std::string_view> seen;
  auto is_first = [&](std::string_view name) {
    if (std::ranges::find(seen, name) != seen.end()) return false;
    seen.push_back(name);
    return true;
  };
  for (Stmt* stmt : body) {
    if (auto* assign = as<Assign>(stmt); assign && assign->targets.size() == 1) {
      auto* name = as<Name>(assign->targets[0]);
      auto* text = as<ConstantExpr>(assign->value);
      // The stores that the compiler adds come before all other statements of a class body.
      if (name && result.empty() && !doc) {
        auto* module = as<Name>(assign->value);
        bool own = (name->id == "__module__" && module && module->id == "__name__") ||
                   (name->id == "__qualname__" && text) || (name->id == "__firstlineno__" && text) ||
                   (name->id == "__type_params__" && module && module->id == ".type_params");
        if (own && is_first(name->id)) continue;
        if (name->id == "__doc__" && text && text->value->kind == Constant::Kind::string) {
          doc = context.stmt(ExprStmt{assign->value}, stmt->offset, stmt->line);
          continue;
        }
      }
      if (auto* locals = as<Internal>(assign->value); name && locals && locals->marker == Marker::locals) continue;
    }
    auto* leave = as<Return>(stmt);
    if (leave && stmt == body.back() && (!leave->value || is_none(leave->value))) continue;
    result.push_back(stmt);
  }
  if (doc) result.insert(result.begin(), doc);
  const Block finished = context.arena.copy(result);
  const std::vector<std::string_view> lost =
      attributes ? lost_attributes(*attributes, finished) : std::vector<std::string_view>{};
  return lost.empty() ? finished : with_lost_attributes(context, finished, lost);
}

}  // namespace depyf
