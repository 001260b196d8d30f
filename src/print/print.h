// Prints a tree as Python source, with the map from its lines to the bytecode.
#pragma once
#include <string>
#include <vector>
#include "ast/node.h"
#include "depyf/decompile.h"
namespace depyf {
// A printed line, and the instruction in `code` at which it starts.
struct LineOfCode {
  const CodeObject* code;
  LineMapping mapping;
};
// The printed source, with the map from its lines to instructions.
struct Printed {
  std::string source;
  std::vector<LineOfCode> lines;  // in the order of the source
  bool has_renamed = false;       // true if names that are no identifiers were printed differently
};
// The options of print_block.
struct PrintOptions {
  std::size_t limit = Limits().text;  // the size in bytes beyond which the text throws std::length_error
  bool lines = true;                  // true if `Printed::lines` is filled
  const CodeObject* root = nullptr;   // the code object that contains all code objects of the tree
  std::size_t width = default_width;  // the most columns of a line if positions do not decide where it breaks
  bool align = false;  // true if each statement is printed on the line that it had in the source
};
// Prints the statements in `body`. `version` selects the grammar: the contents of f-string fields, starred subscripts
// and docstrings. `module` is the code object of the module if `body` is the body of a module; otherwise null, for
// example if `body` only holds the definition that is printed.
Printed print_block(ast::Block body, Version version, const CodeObject* module = nullptr,
                    const PrintOptions& options = {});
// Prints one expression on one line.
std::string print_expr(const ast::Expr* expr, Version version);
// Returns a literal that Python reads back as a constant of the same value and type.
std::string literal(const Constant& constant);
}  // namespace depyf
