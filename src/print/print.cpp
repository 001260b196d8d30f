#include "print/print.h"

#include <algorithm>
#include <string>

#include "print/literal.h"
#include "print/statement.h"

namespace depyf {

Printed print_block(ast::Block body, Version version, const CodeObject* module, const PrintOptions& options) {
  // Most files have less text than `usual_text` bytes, so their text is not copied to larger memory while it grows.
  constexpr std::size_t usual_text = std::size_t{1} << 16;
  print::Sheet sheet(version, module, options);
  sheet.out.text().reserve(std::min(usual_text, options.limit));
  print::Expressions exprs(sheet);
  print::Statements(sheet, exprs).module(body);
  return {std::string(sheet.out.text().view()), sheet.out.take_lines(), sheet.names.has_renamed()};
}

std::string print_expr(const ast::Expr* expr, Version version) {
  print::Sheet sheet(version, nullptr, {});
  print::Expressions(sheet).expr(expr, print::Level::named);
  return std::string(sheet.out.text().view());
}

std::string literal(const Constant& constant) {
  print::Text out;
  print::append_literal(out, constant);
  return std::string(out.view());
}

}  // namespace depyf
