// A tree to Python source, with the map from its lines to the bytecode.
#pragma once
#include <string>
#include <vector>
#include "ast/node.h"
#include "depyf/decompile.h"
namespace depyf {
struct Printed {
  std::string source;
  std::vector<LineMapping> lines;  // of statements outside nested functions and classes
};
// `version` decides the grammar: what an f-string may hold, parentheses of with items, type parameters.
Printed print_block(ast::Block body, Version version);
std::string print_expr(const ast::Expr* expr, Version version);
// A constant as a literal that Python reads back as the same value and type.
std::string literal(const Constant& constant);
}  // namespace depyf
