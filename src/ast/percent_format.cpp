#include "ast/percent_format.h"

#include <algorithm>

#include "ast/position.h"
#include "depyf/constant.h"
#include "depyf/position.h"

namespace depyf::ast {

namespace {

constexpr std::size_t most_digits = 2;  // CPython's ast_opt.c (MAXDIGITS) allows fewer than three digits

// Returns the number of digits that `text` starts with.
std::size_t leading_digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

// Returns the operand with which the text of `expr` starts; null if the text does not start with an operand.
const Expr* first_operand(const Expr* expr) {
  if (auto* n = as<Attribute>(expr)) return n->value;
  if (auto* n = as<Subscript>(expr)) return n->value;
  if (auto* n = as<Call>(expr)) return n->func;
  if (auto* n = as<BinOp>(expr)) return n->left;
  if (auto* n = as<Compare>(expr)) return n->left;
  if (auto* n = as<IfExp>(expr)) return n->body;
  if (auto* n = as<BoolOp>(expr)) return n->values.empty() ? nullptr : n->values[0];
  return nullptr;
}

}  // namespace

std::optional<std::string> percent_specifier(const FormattedValue& field) {
  if (!field.conversion) return std::nullopt;
  const std::string conversion(1, field.conversion);
  if (!field.format_spec) return "%" + conversion;
  auto* joined = as<JoinedStr>(field.format_spec);
  const Expr* part = joined && joined->values.size() == 1 ? joined->values[0] : field.format_spec;
  const Constant* constant = constant_of(part, Constant::Kind::string);
  if (!constant) return std::nullopt;
  std::string_view rest = constant->text;
  const bool is_right = rest.starts_with('>');
  if (is_right) rest.remove_prefix(1);
  const std::size_t width = leading_digits(rest);
  if (width > most_digits || (width > 0 && rest[0] == '0') || (is_right && width == 0)) return std::nullopt;
  std::string specifier = width > 0 && !is_right ? "%-" : "%";
  specifier += rest.substr(0, width);
  rest.remove_prefix(width);
  if (rest.starts_with('.')) {
    const std::size_t precision = leading_digits(rest.substr(1));
    if (precision == 0 || precision > most_digits || (precision > 1 && rest[1] == '0')) return std::nullopt;
    specifier += rest.substr(0, precision + 1);
    rest.remove_prefix(precision + 1);
  }
  if (!rest.empty() || specifier.size() < 2) return std::nullopt;
  return specifier + conversion;
}

bool is_percent_field(const CodeObject& code, const FormattedValue& field, const Position& field_position) {
  if (field_position.line < 0 || field_position.column < 0 || !percent_specifier(field)) return false;
  for (const Expr* expr = field.value; expr; expr = first_operand(expr)) {
    const Position* position = position_in(code, expr);
    if (position && position->line == field_position.line && position->column == field_position.column) return true;
  }
  return false;
}

}  // namespace depyf::ast
