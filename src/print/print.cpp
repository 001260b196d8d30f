#include "print/print.h"

#include <stdexcept>
#include <string>

#include "print/literal.h"
#include "print/statement.h"

namespace depyf {

void print::Emitter::throw_too_long() const {
  throw std::length_error("the source is longer than " + std::to_string(limit_) + " bytes");
}

Printed print_block(ast::Block body, Version version, const CodeObject* module, const PrintOptions& options) {
  print::Sheet sheet(version, module, options);
  print::Expressions exprs(sheet);
  print::Statements(sheet, exprs).module(body);
  return {sheet.out.text().take(), sheet.out.take_lines(), sheet.names.has_renamed()};
}

std::string print_expr(const ast::Expr* expr, Version version) {
  print::Sheet sheet(version, nullptr, {});
  print::Expressions(sheet).expr(expr, print::Level::named);
  return sheet.out.text().take();
}

std::string literal(const Constant& constant) {
  print::Text out;
  print::append_literal(out, constant);
  return out.take();
}

}  // namespace depyf
