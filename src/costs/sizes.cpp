#include "costs/sizes.h"

#include <algorithm>
#include <charconv>

#include "support/words.h"

namespace depyf::costs {
namespace {

constexpr std::int64_t value_max = std::int64_t{1} << 50;  // a larger size must be a mistake in the text
constexpr int depth_max = 50;

// Maps the name of an element type in Python to the bytes of an element.
constexpr std::pair<std::string_view, int> bytes_of_types[] = {
    {"float64", 8},     {"float32", 4},         {"float16", 2},         {"bfloat16", 2},
    {"int64", 8},       {"int32", 4},           {"int16", 2},           {"int8", 1},
    {"uint8", 1},       {"uint16", 2},          {"uint32", 4},          {"uint64", 8},
    {"bool", 1},        {"complex64", 8},       {"complex128", 16},     {"float8_e4m3fn", 1},
    {"float8_e5m2", 1}, {"float8_e4m3fnuz", 1}, {"float8_e5m2fnuz", 1}, {"float8_e8m0fnu", 1}};

class Expression {
 public:
  Expression(std::string_view text, const Symbols& symbols) : text_(text), symbols_(symbols) {}

  std::optional<std::int64_t> run() {
    const std::optional<std::int64_t> value = sum(0);
    skip_blanks();
    return text_.empty() ? value : std::nullopt;
  }

 private:
  void skip_blanks() { text_ = stripped_start(text_); }

  std::optional<std::int64_t> sum(int depth) {
    std::optional<std::int64_t> value = product(depth);
    for (skip_blanks(); value && !text_.empty() && (text_[0] == '+' || text_[0] == '-'); skip_blanks()) {
      const bool is_plus = text_[0] == '+';
      text_.remove_prefix(1);
      const std::optional<std::int64_t> next = product(depth);
      if (!next) return std::nullopt;
      value = bounded(is_plus ? *value + *next : *value - *next);
    }
    return value;
  }

  std::optional<std::int64_t> product(int depth) {
    std::optional<std::int64_t> value = factor(depth);
    for (skip_blanks(); value && !text_.empty(); skip_blanks()) {
      const bool is_division = take(text_, "//");
      if (!is_division && (text_.starts_with("**") || !take(text_, "*"))) break;
      const std::optional<std::int64_t> next = factor(depth);
      if (!next || (is_division && *next == 0)) return std::nullopt;
      if (!is_division && *next != 0 && std::abs(*value) > value_max / std::abs(*next)) return std::nullopt;
      value = is_division ? *value / *next : *value * *next;
    }
    return value;
  }

  std::optional<std::int64_t> factor(int depth) {
    skip_blanks();
    if (depth > depth_max || text_.empty()) return std::nullopt;
    if (take(text_, "-")) {
      const std::optional<std::int64_t> value = factor(depth + 1);
      return value ? std::optional(-*value) : std::nullopt;
    }
    if (take(text_, "(")) {
      const std::optional<std::int64_t> value = sum(depth + 1);
      skip_blanks();
      return take(text_, ")") ? value : std::nullopt;
    }
    const std::string_view word = word_at(text_);
    if (word.empty()) return std::nullopt;
    text_.remove_prefix(word.size());
    if (word[0] >= '0' && word[0] <= '9') {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      return error == std::errc() && end == word.data() + word.size() ? bounded(value) : std::nullopt;
    }
    const auto known = symbols_.find(word);
    return known == symbols_.end() ? std::nullopt : bounded(known->second);
  }

  static std::optional<std::int64_t> bounded(std::int64_t value) {
    return value > value_max || value < -value_max ? std::nullopt : std::optional(value);
  }

  std::string_view text_;
  const Symbols& symbols_;
};

}  // namespace

std::optional<std::int64_t> size_of(std::string_view expression, const Symbols& symbols) {
  return Expression(expression, symbols).run();
}

std::optional<std::int64_t> strided_bytes(std::string_view sizes, std::string_view strides, std::int64_t element_bytes,
                                          const Symbols& symbols) {
  const std::vector<std::string_view> size_texts = items_in_brackets(sizes), stride_texts = items_in_brackets(strides);
  if (size_texts.size() != stride_texts.size()) return std::nullopt;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < size_texts.size(); ++i) {
    const std::optional<std::int64_t> size = size_of(size_texts[i], symbols),
                                      stride = size_of(stride_texts[i], symbols);
    if (!size || !stride || *size < 0 || *stride < 0) return std::nullopt;
    if (*size == 0) return 0;
    if (*stride > 0 && *size - 1 > value_max / *stride) return std::nullopt;
    elements += (*size - 1) * *stride;
    if (elements > value_max) return std::nullopt;
  }
  return elements * element_bytes;
}

std::int64_t element_bytes_of(std::string_view dtype) {
  take(dtype, "torch.");
  for (const auto& [name, bytes] : bytes_of_types)
    if (name == dtype) return bytes;
  return 0;
}

}  // namespace depyf::costs
