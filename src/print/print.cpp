#include "print/print.h"

#include <string>

#include "print/literal.h"
#include "print/statement.h"

namespace depyf {

Printed print_block(ast::Block body, Version version, const CodeObject* module, const PrintOptions& options) {
  print::Sheet sheet(version, module, options);
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
