#include "print/print.h"

#include "print/printer.h"

namespace depyf {

Printed print_block(ast::Block body, Version version, const CodeObject* module, const PrintOptions& options) {
  print::Printer printer(version, module, options);
  printer.module(body);
  return {std::move(printer.emitter().text()), printer.emitter().take_lines(), printer.has_renamed()};
}

std::string print_expr(const ast::Expr* expr, Version version) {
  print::Printer printer(version, nullptr, {});
  printer.expr(expr, print::Level::named);
  return std::move(printer.emitter().text());
}

std::string literal(const Constant& constant) {
  std::string out;
  print::append_literal(out, constant);
  return out;
}

}  // namespace depyf
