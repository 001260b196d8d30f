// Finds an expression in a statement that is evaluated before any expression with an effect.
#pragma once

#include <set>
#include <string_view>

#include "refine/locals.h"

namespace depyf {

struct FirstEvaluated {
  // Points to the field of the tree that holds the wanted expression. The pointer is null if an expression with an
  // effect comes before the wanted expression, or if the statement contains no wanted expression.
  ast::Expr** slot = nullptr;
  // The fast locals that are read before the wanted expression is evaluated.
  std::set<std::string_view> read_before{};
};

// Returns the first subexpression of `stmt`, in the order of evaluation, for which `wanted` is true. The effects of the
// parts of the returned subexpression are ignored: in `g((t := f()), h())`, the walrus is the first subexpression,
// although f() is called before the walrus binds t.
FirstEvaluated first_evaluated(ast::Stmt* stmt, const Locals& locals, FunctionRef<bool(const ast::Expr*)> wanted);

}  // namespace depyf
