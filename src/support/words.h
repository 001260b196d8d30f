// Helpers that parse text which Python or PyTorch printed.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/keywords.h"

namespace depyf {

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }

// True for the ASCII characters that names may contain.
constexpr bool is_word(char character) { return ascii_identifier_parts[static_cast<unsigned char>(character)]; }

// Returns the word that the text begins with; an empty text if the text begins with no word.
constexpr std::string_view word_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

// Removes `prefix` from the start of the text. Returns false if the text does not begin with `prefix`.
constexpr bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

constexpr std::string_view blanks = " \t\r\f\v\n";  // the ASCII characters that Python's str.strip removes

// True for a character in `blanks`. `find_first_not_of(blanks)` is not used, because it would call a function for each
// character.
constexpr bool is_blank(char character) { return character == ' ' || (character >= '\t' && character <= '\r'); }

constexpr std::string_view stripped_end(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr std::string_view stripped_start(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

constexpr std::string_view stripped(std::string_view text) { return stripped_start(stripped_end(text)); }

// Returns the lines of a text without their line breaks. A line break at the end of the text starts no further line.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Returns the lines of a text, with an empty line after a final line break, so that the lines joined by line breaks are
// the same text.
inline std::vector<std::string_view> rows_of(std::string_view text) {
  std::vector<std::string_view> rows;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    rows.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return rows;
}

// Returns all texts joined, with `between` between adjacent texts.
template <class Texts>
std::string joined(const Texts& texts, std::string_view between) {
  std::string result;
  bool is_first = true;
  for (const auto& text : texts) {
    if (!std::exchange(is_first, false)) result += between;
    result += text;
  }
  return result;
}

constexpr bool is_quote(char c) { return c == '\'' || c == '"'; }

// Returns the position behind the string literal that begins at `at`; the size of the text if the literal does not end.
constexpr std::size_t behind_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// Returns the items between the brackets at the start of `text`: a and (b, c) for "(a, (b, c)), d".
inline std::vector<std::string_view> items_in_brackets(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t start = 1;
  const auto add = [&](std::size_t end) {
    if (const std::string_view item = stripped(text.substr(start, end - start)); !item.empty()) items.push_back(item);
    start = end + 1;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char character = text[at];
    if (character == '\'' || character == '"') {
      at = behind_string(text, at);
      continue;
    }
    if (character == '(' || character == '[' || character == '{') ++depth;
    if (character == ')' || character == ']' || character == '}') --depth;
    if (depth == 0) {
      if (at > 0) add(at);
      break;
    }
    if (depth == 1 && character == ',') add(at);
    ++at;
  }
  return items;
}

}  // namespace depyf
