#include "print/unicode.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>

#include "support/identifier_bytes.h"
#include "support/keywords.h"

namespace depyf::print {
namespace {

struct Range {
  char32_t first, last;
};
#include "print/unicode_tables.inc"

// True if one of the sorted ranges contains `point`; only the last range that starts at or before `point` can do so.
bool contains(std::span<const Range> ranges, char32_t point) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), point,
                                [](char32_t value, const Range& range) { return value < range.first; });
  return after != ranges.begin() && point <= std::prev(after)->last;
}

// For each code point up to the letters of Arabic: true if it is printable. A table is quicker than a search in the
// ranges.
constexpr auto frequent = [] {
  std::array<bool, 0x700> printable{};
  for (char32_t point = 0x20; point < 0x7f; ++point) printable[point] = true;
  for (const Range& range : printable_ranges)
    for (char32_t point = range.first; point <= range.last && point < printable.size(); ++point)
      printable[point] = true;
  return printable;
}();

constexpr bool is_letter(char32_t point) {
  return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || point == '_';
}

bool starts_identifier(char32_t point) {
  return point < 0x80 ? is_letter(point) : contains(identifier_start_ranges, point);
}

bool continues_identifier(char32_t point) {
  if (point < 0x80) return is_letter(point) || (point >= '0' && point <= '9');
  return contains(identifier_continue_ranges, point);
}

}  // namespace

// In the UTF-8 form of a character that is not ASCII, the number of leading one bits of the first byte is the number
// of bytes.
CodePoint code_point(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  if (lead >= 0xc2 && lead < 0xe0 && (byte(at + 1) & 0xc0) == 0x80)
    return {(lead & 0x1f) << 6 | (byte(at + 1) & 0x3f), 2, true};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  char32_t value = lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(at + i) & 0x3f);
  }
  // Overlong encodings are invalid, as are bytes that UTF-8 never uses and code points above U+10FFFF.
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc0 || lead > 0xf4 || value < smallest[size] || value > 0x10ffff) return {lead, 1, false};
  return {value, size, true};
}

bool is_printable(char32_t point) {
  return point < frequent.size() ? frequent[point] : contains(printable_ranges, point);
}

bool is_surrogate(char32_t point) { return point >= 0xd800 && point <= 0xdfff; }

namespace {

// True if `name` is an identifier, for names with bytes that are no ASCII letters, digits or underscores. The function
// is not inlined, because names beyond ASCII are rare.
[[gnu::noinline]] bool is_unusual_identifier(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const CodePoint point = code_point(name, at);
    if (!point.valid || !(at == 0 ? starts_identifier(point.value) : continues_identifier(point.value))) return false;
    at += point.size;
  }
  return true;
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty()) return false;
  const bool is_ascii = has_identifier_bytes<false>(name);  // true for most names
  if (is_ascii ? !is_letter(static_cast<unsigned char>(name[0])) : !is_unusual_identifier(name)) return false;
  return !is_keyword(name);
}

std::string identifier(std::string_view name) {
  if (is_identifier(name)) return std::string(name);
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const CodePoint point = code_point(name, at);
    if (point.valid && continues_identifier(point.value)) {
      // A first character that can only continue an identifier, such as a digit, gets an underscore before it.
      if (at == 0 && !starts_identifier(point.value)) result += '_';
      result += name.substr(at, point.size);
    } else {
      result += '_';
    }
    at += point.size;
  }
  return result.empty() || is_keyword(result) ? "_" + result : result;
}

}  // namespace depyf::print
