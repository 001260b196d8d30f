#include "print/raw_string.h"

#include <algorithm>
#include <string>

#include "print/literal.h"

namespace depyf::print {

bool can_be_raw(std::string_view text, std::string_view quotes) {
  if (text.find('\\') == text.npos || text.find(quotes) != text.npos || text.ends_with(quotes[0])) return false;
  // An odd number of backslashes in front of the closing quotes would escape the first closing quote.
  const std::size_t last = text.find_last_not_of('\\');
  const std::size_t trailing = text.size() - (last == text.npos ? 0 : last + 1);
  if (trailing % 2 != 0) return false;
  const bool is_triple = quotes.size() > 1;
  auto stands_unescaped = [&](char c) { return c == '\\' || (is_triple && (c == '\n' || c == '\t')); };
  auto is_printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::ranges::all_of(text, [&](char c) { return is_printable(c) || stands_unescaped(c); })) return true;
  std::string plain(text);
  std::erase_if(plain, stands_unescaped);
  Text escaped;
  append_escaped(escaped, plain, 0);
  return escaped.view() == plain;
}

bool has_class_of_regex(std::string_view text) {
  constexpr std::string_view behind_backslash = "dDwWsSbBAZ.^$*+?()[]{}|-/";
  const std::size_t at = text.find('\\');
  return at + 1 < text.size() && behind_backslash.find(text[at + 1]) != behind_backslash.npos;
}

}  // namespace depyf::print
