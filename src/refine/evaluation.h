// What a statement evaluates before it has any effect.
#pragma once

#include <set>
#include <string_view>

#include "refine/locals.h"

namespace depyf {

struct FirstEvaluated {
  ast::Expr** slot = nullptr;                // null where an effect comes first, or no such expression
  std::set<std::string_view> read_before{};  // fast locals that are read before the expression
};

// The first subexpression, in the order of evaluation, for which `wanted` holds. An expression comes after its parts, and
// effects of its own parts are not in front of it: in `g((t := f()), h())` the walrus is first, although f() is called.
FirstEvaluated first_evaluated(ast::Stmt* stmt, const Locals& locals, FunctionRef<bool(const ast::Expr*)> wanted);

}  // namespace depyf
