// Finds the part of a statement that is evaluated before anything with an effect.
#pragma once

#include <set>
#include <string_view>

#include "refine/locals.h"

namespace depyf {

struct FirstEvaluated {
  // Points to the tree's pointer to the wanted expression; null if something with an effect comes before it or no
  // expression is wanted.
  ast::Expr** slot = nullptr;
  // The fast locals that are read before the wanted expression is evaluated.
  std::set<std::string_view> read_before{};
};

// Returns the first subexpression in the order of evaluation for which `wanted` is true. A subexpression comes after
// its parts, and the effects of its parts are ignored: in `g((t := f()), h())` the walrus comes first, although f() is
// called before it binds t.
FirstEvaluated first_evaluated(ast::Stmt* stmt, const Locals& locals, FunctionRef<bool(const ast::Expr*)> wanted);

}  // namespace depyf
