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
// `version` decides the grammar: what an f-string may hold, starred subscripts, docstrings. Where the outermost code object is
// that of a definition in `body`, `outermost` is that definition, and the lines are those of its body; null: `body` is a module.
Printed print_block(ast::Block body, Version version, const ast::Stmt* outermost = nullptr);
std::string print_expr(const ast::Expr* expr, Version version);
// A constant as a literal that Python reads back as the same value and type.
std::string literal(const Constant& constant);
}  // namespace depyf
