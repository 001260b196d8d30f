// Lowers functions, classes and lambdas.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// The bits in the argument of MAKE_FUNCTION.
constexpr int with_defaults = 1, with_kwdefaults = 2, with_annotations = 4, with_closure = 8;

void function_def(Unit& unit, const ast::FunctionDef& node, const ast::Stmt* stmt);
void class_def(Unit& unit, const ast::ClassDef& node, const ast::Stmt* stmt);
void lambda_expr(Unit& unit, const ast::Lambda& node, const ast::Expr* whole);
// Removes the docstring from the start of a body and returns it; null if the body has no docstring. Comments in front
// of the docstring are removed as well.
const Constant* take_docstring(ast::Block& body);

}  // namespace depyf::lowering
