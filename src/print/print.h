// A tree to Python source, with the map from its lines to the bytecode.
#pragma once
#include <string>
#include <vector>
#include "ast/node.h"
#include "depyf/decompile.h"
namespace depyf {
struct LineOfCode {
  const CodeObject* code;
  LineMapping mapping;
};
struct Printed {
  std::string source;
  std::vector<LineOfCode> lines;  // in order of the source
  bool has_renamed = false;  // names that are no identifiers were written in another way
};
struct PrintOptions {
  std::size_t limit = Limits().text;  // bytes; a longer text throws std::length_error
  bool lines = true;                  // give the lines of each code object, too
  const CodeObject* root = nullptr;   // holds all code objects of which the tree is made
  std::size_t width = default_width;  // columns of a line whose breaks positions do not decide
  bool align = false;                 // each statement on the line that it had in the source
};
// `version` decides the grammar: what an f-string may hold, starred subscripts, docstrings. `module`: the code that
// `body` is of; null: none, it holds the definition of what is printed.
Printed print_block(ast::Block body, Version version, const CodeObject* module = nullptr,
                    const PrintOptions& options = {});
std::string print_expr(const ast::Expr* expr, Version version);
// A constant as a literal that Python reads back as the same value and type.
std::string literal(const Constant& constant);
}  // namespace depyf
