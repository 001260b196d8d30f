// Finds the part of a statement that is evaluated before anything with an effect.
#pragma once

#include <set>
#include <string_view>

#include "refine/locals.h"

namespace depyf {

struct FirstEvaluated {
  // The place that holds the expression; null if an effect comes first or there is no such expression.
  ast::Expr** slot = nullptr;
  // Fast locals that are read before the expression.
  std::set<std::string_view> read_before{};
};

// Returns the first subexpression in the order of evaluation for which `wanted` holds. A subexpression comes after its
// parts, and their effects do not count: in `g((t := f()), h())` the walrus comes first, although f() is called before
// it binds t.
FirstEvaluated first_evaluated(ast::Stmt* stmt, const Locals& locals, FunctionRef<bool(const ast::Expr*)> wanted);

}  // namespace depyf
