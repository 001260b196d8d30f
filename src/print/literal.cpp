#include "print/literal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "dialect/dialect.h"
#include "print/print.h"
#include "print/unicode.h"
#include "support/blocks.h"

namespace depyf::print {
namespace {

// The characters that a literal contains unescaped unless they are its quotes: printable ASCII except the backslash.
constexpr auto plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '\\';
  return plain;
}();

// True if the text needs no escape in a literal with the quotes `quote`. If `has_lines` is true, line breaks need no
// escape. As signed numbers, the bytes beyond ASCII are negative, and so the comparison with a blank excludes these
// bytes.
template <bool has_lines>
bool has_only_plain(std::string_view text, char quote) {
  return all_blocks_pass(text, [&](const char* bytes, auto count) {
    unsigned char special = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<signed char>(bytes[i]);
      const bool is_unprintable = (byte < 0x20) & (!has_lines | (byte != '\n'));
      special |= static_cast<unsigned char>(is_unprintable | (byte == 0x7f) | (byte == '\\') | (byte == quote));
    }
    return special == 0;
  });
}

}  // namespace

bool is_plain(std::string_view text, char quote) { return has_only_plain<false>(text, quote); }
bool has_plain_lines(std::string_view text, char quote) { return has_only_plain<true>(text, quote); }

bool needs_no_escape(std::string_view text, std::string_view quotes) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    if (point.value == '\n') {
      if (quotes.size() == 1) return false;
    } else if (point.value == '\\' || !point.valid || (!is_printable(point.value) && point.value != '\t')) {
      return false;
    }
    at += point.size;
  }
  // If the text ended with the quote, that quote would be read as the start of the closing quotes.
  return text.find(quotes) == text.npos && (text.empty() || text.back() != quotes[0]);
}

namespace {

// Appends the shortest of the escapes `\x`, `\u` and `\U` that can hold the code point.
void append_code_point(Text& out, char32_t value) {
  const std::size_t digits = value < 0x100 ? 2 : value < 0x10000 ? 4 : 8;
  std::array<char, 10> escape{'\\', digits == 2 ? 'x' : digits == 4 ? 'u' : 'U'};
  for (std::size_t i = digits; i > 0; --i, value >>= 4) escape[i + 1] = "0123456789abcdef"[value & 15];
  out += std::string_view(escape.data(), digits + 2);
}

// Appends a float as float.__repr__ does: the shortest digits that read back as the same float, with an exponent below
// 1e-4 and from 1e16 on.
void append_finite(Text& out, double value) {
  char buffer[40];
  // std::to_chars writes the shortest digits as `d.ddde+xx`. The following lines separate the digits from the exponent.
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, std::size_t(end - buffer));
  if (text[0] == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) (out += '.') += digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    if (std::abs(exponent) < 10) out += '0';
    out += std::to_string(std::abs(exponent));
  } else if (exponent < 0) {
    (out += "0.").append(std::size_t(-exponent - 1), '0') += digits;
  } else if (count <= exponent + 1) {
    (out += digits).append(std::size_t(exponent + 1 - count), '0') += ".0";
  } else {
    ((out += digits.substr(0, std::size_t(exponent + 1))) += '.') += digits.substr(std::size_t(exponent + 1));
  }
}

// Appends a float. There are no literals for infinity and NaN, so they are written as expressions that the compiler
// folds to one constant.
void append_real(Text& out, double value) {
  if (std::isnan(value)) {
    out += "1e309-1e309";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-1e309" : "1e309";
  } else {
    append_finite(out, value);
  }
}

// Appends a real number as the imaginary part of a literal, without ".0", as repr does it.
void append_imaginary(Text& out, double value) {
  if (std::isnan(value)) {
    out += "(1e309j-1e309j)";
    return;
  }
  append_real(out, value);
  if (out.ends_with(".0")) out.cut(out.size() - 2);
  out += 'j';
}

// Appends the real part of a sum, with parentheses around the difference that stands for NaN.
void append_real_part(Text& out, double value) {
  if (std::isnan(value)) {
    out += "(1e309-1e309)";
    return;
  }
  append_real(out, value);
  if (out.ends_with(".0")) out.cut(out.size() - 2);
}

// The shapes of the expressions for a complex constant: `2j`, `-2j`, `1+2j`, `-(1+2j)`, `0j*(-1+0j)` and
// `-(0j*(-1+0j))`.
enum class ComplexForm : std::uint8_t { imaginary, minus_imaginary, sum, minus_sum, product, minus_product };

// Returns the form of the expression whose value has exactly the parts `real` and `imag`, including the signs of zeros.
// Because -0.0 + 0.0 is 0.0, a sum cannot result in some signs of zeros, which only a negation or a product can
// produce. Up to 3.13, a sum also loses the sign of a zero because a real number in the sum is converted to a complex
// number with the imaginary part 0.0.
ComplexForm complex_form(double real, double imag) {
  const bool minus_real = std::signbit(real) && !std::isnan(real);
  const bool minus_imag = std::signbit(imag) && !std::isnan(imag);
  const bool zero_real = real == 0, zero_imag = imag == 0;
  if (zero_real && minus_real == minus_imag) return minus_imag ? ComplexForm::minus_imaginary : ComplexForm::imaginary;
  if (zero_real && std::isnan(imag)) return ComplexForm::minus_imaginary;  // `real` is -0.0 here
  if (zero_real && zero_imag) return minus_real ? ComplexForm::product : ComplexForm::minus_product;
  if (zero_real) return minus_real ? ComplexForm::minus_sum : ComplexForm::sum;
  return zero_imag && minus_imag ? ComplexForm::minus_sum : ComplexForm::sum;
}

// Writes the real part, the sign and the imaginary part; a negative imaginary part becomes a difference.
void append_sum(Text& out, double real, double imag) {
  append_real_part(out, real);
  const bool minus = std::signbit(imag) && !std::isnan(imag);
  out += minus ? '-' : '+';
  append_imaginary(out, minus ? -imag : imag);
}

void append_complex(Text& out, double real, double imag, Version version) {
  // In 3.14 and later, sums and differences of a real and an imaginary number keep the signs of both parts, even of
  // zeros, so that `1-0j` can be written as it is.
  if (dialect_of(version).signed_complex_sums && imag == 0 && std::signbit(imag) && !std::signbit(real))
    return append_sum(out, real, imag);
  switch (complex_form(real, imag)) {
    case ComplexForm::imaginary: return append_imaginary(out, imag);
    case ComplexForm::minus_imaginary: return append_imaginary(out += '-', -imag);
    case ComplexForm::sum: return append_sum(out, real, imag);
    case ComplexForm::minus_sum:
      append_sum(out += "-(", -real, -imag);
      out += ')';
      return;
    case ComplexForm::product: out += "0j*(-1+0j)"; return;
    case ComplexForm::minus_product: out += "-(0j*(-1+0j))"; return;
  }
}

Level complex_level(double real, double imag) {
  switch (complex_form(real, imag)) {
    case ComplexForm::imaginary: return Level::atom;
    case ComplexForm::sum: return Level::arithmetic;
    case ComplexForm::product: return Level::term;
    // From 3.14 on, a constant of these two forms may be printed as a difference.
    case ComplexForm::minus_sum:
    case ComplexForm::minus_product: return Level::arithmetic;
    case ComplexForm::minus_imaginary: return Level::factor;
  }
  return Level::factor;
}

char preferred_quote(Quoting quoting) { return quoting == Quoting::usual ? '"' : '\''; }

// Chooses the quotes that need fewer backslashes; the preferred quotes win a tie.
char quote_of(std::string_view text, Quoting quoting) {
  const char preferred = preferred_quote(quoting), other = preferred == '"' ? '\'' : '"';
  if (text.find(preferred) == text.npos) return preferred;
  return std::ranges::count(text, preferred) > std::ranges::count(text, other) ? other : preferred;
}

// Appends `text` unescaped between the first quotes that need no backslash. Returns false, and appends nothing, if each
// kind of quotes needs a backslash.
bool append_without_backslash(Text& out, std::string_view text) {
  const auto quotes = std::ranges::find_if(all_quotes, [&](auto each) { return needs_no_escape(text, each); });
  if (quotes == all_quotes.end()) return false;
  ((out += *quotes) += text) += *quotes;
  return true;
}

void append_bytes(Text& out, std::string_view text, Quoting quoting) {
  const char quote = quote_of(text, quoting);
  (out += 'b') += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else if (c == '\t') out += "\\t";
    else if (byte < 0x20 || byte >= 0x7f) append_code_point(out, byte);
    else out += c;
  }
  out += quote;
}

void append_items(Text& out, const std::vector<Constant>& items, Quoting quoting, Version version) {
  bool first = true;
  for (const Constant& item : items) {
    if (!first) out += ", ";
    first = false;
    append_literal(out, item, quoting, version);
  }
}

// Appends the escape of a quote, a backslash or an unprintable character of ASCII.
void append_escape(Text& out, unsigned char byte) {
  if (byte == '\n') out += "\\n";
  else if (byte == '\r') out += "\\r";
  else if (byte == '\t') out += "\\t";
  else if (byte >= 0x20 && byte < 0x7f) (out += '\\') += char(byte);
  else append_code_point(out, byte);
}

// Appends the characters from `at` to the first character that needs an escape, and returns that character's offset;
// the size of `text` if no character needs an escape.
std::size_t append_plain(Text& out, std::string_view text, std::size_t at, char quote) {
  std::size_t end = at;
  while (end < text.size() && plain_bytes[static_cast<unsigned char>(text[end])] && text[end] != quote) ++end;
  out += text.substr(at, end - at);
  return end;
}

}  // namespace

void append_escaped(Text& out, std::string_view text, char quote) {
  for (std::size_t at = 0; at < text.size();) {
    at = append_plain(out, text, at, quote);
    if (at == text.size()) return;
    // `append_plain` stops only at a character that is not plain, so an ASCII character at which it stops needs an
    // escape.
    if (const auto byte = static_cast<unsigned char>(text[at]); byte < 0x80) {
      append_escape(out, byte);
      ++at;
      continue;
    }
    const CodePoint point = code_point(text, at);
    // An invalid byte becomes the lone surrogate to which Python's error handler surrogateescape decodes it.
    if (!point.valid) append_code_point(out, 0xdc00 + point.value);
    else if (is_printable(point.value)) out += text.substr(at, point.size);
    else append_code_point(out, point.value);
    at += point.size;
  }
}

void append_string(Text& out, std::string_view text, Quoting quoting) {
  if (const char quote = preferred_quote(quoting); is_plain(text, quote)) {
    out.append_quoted(text, quote);
    return;
  }
  if (quoting == Quoting::no_backslash && append_without_backslash(out, text)) return;
  const char quote = quote_of(text, quoting);
  append_escaped(out += quote, text, quote);
  out += quote;
}

bool precedes_in_set(const Constant& one, const Constant& two) {
  // Large integers are compared by text, because a floating-point number does not represent them exactly.
  constexpr std::size_t exact_digits = 15;
  auto number = [](const Constant& constant) -> std::optional<double> {
    if (constant.kind == Constant::Kind::real) return constant.real;
    if (constant.kind != Constant::Kind::integer || constant.text.size() > exact_digits) return std::nullopt;
    return std::strtod(constant.text.c_str(), nullptr);
  };
  const std::optional<double> first = number(one), second = number(two);
  if (first && second && *first != *second && !std::isnan(*first) && !std::isnan(*second)) return *first < *second;
  if (first.has_value() != second.has_value()) return first.has_value();
  return literal(one) < literal(two);
}

void append_literal(Text& out, const Constant& constant, Quoting quoting, Version version) {
  using Kind = Constant::Kind;
  switch (constant.kind) {
    case Kind::none: out += "None"; return;
    case Kind::true_: out += "True"; return;
    case Kind::false_: out += "False"; return;
    case Kind::ellipsis: out += "..."; return;
    case Kind::integer: out += constant.text; return;
    case Kind::real: append_real(out, constant.real); return;
    case Kind::complex: append_complex(out, constant.real, constant.imag, version); return;
    case Kind::string: append_string(out, constant.text, quoting); return;
    case Kind::bytes: append_bytes(out, constant.text, quoting); return;
    case Kind::tuple:
      append_items(out += '(', constant.items, quoting, version);
      out += constant.items.size() == 1 ? ",)" : ")";
      return;
    case Kind::frozenset:
      if (constant.items.empty()) {
        out += "frozenset()";
        return;
      }
      append_items(out += '{', constant.items, quoting, version);
      out += '}';
      return;
    case Kind::slice:
      append_items(out += "slice(", constant.items, quoting, version);
      out += ')';
      return;
    case Kind::code: out += "__code__"; return;  // reached only through a bug; a name keeps the text valid
    case Kind::opaque: out += "__opaque__"; return;
  }
}

Level level_of(const Constant& constant) {
  using Kind = Constant::Kind;
  switch (constant.kind) {
    case Kind::integer: return constant.text.starts_with('-') ? Level::factor : Level::atom;
    case Kind::real:
      if (std::isnan(constant.real)) return Level::arithmetic;
      return std::signbit(constant.real) ? Level::factor : Level::atom;
    case Kind::complex: return complex_level(constant.real, constant.imag);
    case Kind::none:
    case Kind::true_:
    case Kind::false_:
    case Kind::ellipsis:
    case Kind::string:
    case Kind::bytes:
    case Kind::tuple:
    case Kind::frozenset:
    case Kind::slice:
    case Kind::code:
    case Kind::opaque: return Level::atom;
  }
  return Level::atom;
}

}  // namespace depyf::print
