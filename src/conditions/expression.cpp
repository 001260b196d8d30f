#include "conditions/expression.h"

#include <utility>

namespace depyf::conditions {

Expression make(Expression::Kind kind, std::string text, std::vector<Expression> parts) {
  Expression result;
  result.kind = kind;
  result.text = std::move(text);
  result.parts = std::move(parts);
  return result;
}

std::optional<std::string_view> string_value(const Expression& expression) {
  const std::string_view text = expression.text;
  if (!expression.is(Expression::Kind::string) || text.size() < 2 || text[0] != '\'' || text.back() != '\'')
    return std::nullopt;
  const std::string_view body = text.substr(1, text.size() - 2);
  if (body.find_first_of("\\'") != std::string_view::npos) return std::nullopt;
  return body;
}

std::optional<std::int64_t> integer_value(const Expression& expression) {
  constexpr std::size_t digits_max = 18;  // every number with 18 digits fits into 64 bits
  if (!expression.is(Expression::Kind::number) || expression.text.empty() || expression.text.size() > digits_max)
    return std::nullopt;
  std::int64_t value = 0;
  for (const char c : expression.text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace depyf::conditions
