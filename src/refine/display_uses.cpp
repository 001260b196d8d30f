// Replaces the reads of names and items in a statement by their known values. If t is known to be [a, b] and u to be
// {0: c}, `f(*t, u[0])` becomes `f(a, b, c)`.
#include "ast/visit.h"
#include "refine/known_displays.h"

namespace depyf::displays {
using namespace ast;

namespace {

// Returns the name `x` of an expression such as `x`, `x[0]` or `x[0][1]`; an empty name for any other expression.
std::string_view base_name(const Expr* expr) {
  while (auto* subscript = as<Subscript>(expr)) expr = subscript->value;
  auto* name = as<Name>(expr);
  return name ? name->id : std::string_view{};
}

}  // namespace

void Known::use(Expr*& slot) {
  if (auto* name = as<Name>(slot)) {
    auto found = names_.state().names.find(name->id);
    if (found != names_.state().names.end()) slot = names_.given(found->second, name->id);
    return;
  }
  // Lambdas and comprehensions are kept, because the names that they read have been stored in front of the statement.
  if (is<Lambda>(slot) || is<ComprehensionExpr>(slot) || is_cell(slot)) return;
  if (is<Subscript>(slot)) {
    if (auto value = known(slot, false)) {
      slot = names_.given(*value, base_name(slot));
      return;
    }
  }
  // A walrus whose name is not read is replaced by its value.
  if (auto* walrus = as<NamedExpr>(slot)) {
    use(walrus->value);
    auto* name = as<Name>(walrus->target);
    if (!name) return;
    names_.stored(name->id);
    if (locals_.foldable(name->id) && !liveness_.live_or_now(name->id)) slot = walrus->value;
    return;
  }
  if (auto* call = as<Call>(slot)) {
    use(call->func);
    call->args = spread(call->args);
    for (Keyword& keyword : call->keywords) use(keyword.value);
    return;
  }
  if (auto* list = as<ListExpr>(slot)) {
    list->elts = spread(list->elts);
    return;
  }
  if (auto* tuple = as<Tuple>(slot)) {
    tuple->elts = spread(tuple->elts);
    return;
  }
  for_each_child(slot, [&](Expr*& child) { use(child); });
}

// Returns the list `a, b, c` for the items `*t, u[0]`, if t is known to be [a, b] and u to be {0: c}.
List<Expr*> Known::spread(List<Expr*> items) {
  std::vector<Expr*> result;
  bool changed = false;
  for (Expr*& slot : items) {
    auto* starred = as<Starred>(slot);
    auto value = starred ? known(starred->value, false) : std::nullopt;
    std::vector<Value> parts;
    if (!value || !names_.sequence(*value, parts)) {
      use(slot);
      result.push_back(slot);
      continue;
    }
    changed = true;
    for (const Value& part : parts) result.push_back(names_.given(part, base_name(starred->value)));
  }
  return changed ? context_.arena.copy(result) : items;
}

void Known::use_parts(Expr* target) {
  if (is<Name>(target)) return;
  for_each_child(target, [&](Expr*& child) {
    if (is<Tuple>(target) || is<ListExpr>(target) || is<Starred>(target)) use_parts(child);
    else use(child);
  });
}

}  // namespace depyf::displays
