#include "texts/markdown.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "support/words.h"
#include "texts/shown.h"

namespace depyf::texts {
namespace {

bool is_space(char character) { return character == ' ' || character == '\t'; }

bool is_punctuation(char character) { return std::ispunct(static_cast<unsigned char>(character)) != 0; }

// Returns the length of the run of equal characters that begins at the position `at`.
std::size_t run_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] == text[at]) ++end;
  return end - at;
}

// True if an entity such as `&amp;` begins at `at`.
bool begins_entity(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (end < text.size() && text[end] == '#') ++end;
  const std::size_t name = end;
  while (end < text.size() && is_word(text[end])) ++end;
  return end > name && end < text.size() && text[end] == ';';
}

// True for a character that CommonMark would not show: an escape, a backtick, the beginning of HTML or of an entity, or
// the middle of a link.
bool is_markup(std::string_view text, std::size_t at) {
  const char character = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
  const char before = at ? text[at - 1] : '\0';
  switch (character) {
    case '`': return true;
    case '\\': return is_punctuation(next);
    case '<': return std::isalpha(static_cast<unsigned char>(next)) || next == '/' || next == '!' || next == '?';
    case '&': return begins_entity(text, at);
    case '(': return before == ']';
    case '!': return next == '[';
  }
  return false;
}

// Escapes text outside of code spans. Asterisks and underscores that directly follow a word or punctuation are escaped,
// because they could end emphasis. Underscores directly in front of a word, as in `a_b`, are not escaped, because they
// cannot end emphasis.
std::string plain(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char character = text[at];
    if (character == '*' || character == '_') {
      const std::size_t count = run_at(text, at);
      const char before = at ? text[at - 1] : ' ';
      const bool ends_word = !is_space(before) && at != 0;
      const bool is_in_word = character == '_' && at + count < text.size() &&
                              (is_word(text[at + count]) || static_cast<unsigned char>(text[at + count]) >= 0x80);
      for (std::size_t i = 0; i < count; ++i)
        result += ends_word && !is_in_word ? std::string{'\\', character} : std::string{character};
      at += count;
      continue;
    }
    if (is_markup(text, at)) result += '\\';
    result += character;
    ++at;
  }
  return result;
}

// Escapes the beginning of a block of text, so that the block does not become a heading, a list or a quotation.
std::string at_the_start(std::string result, std::string_view text) {
  if (text.empty() || result.starts_with('\\')) return result;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const bool is_number = digits && digits < text.size() && (text[digits] == '.' || text[digits] == ')');
  const bool is_rule = text[0] == '_' && text.find_first_not_of("_ ") == std::string_view::npos;
  if (!is_number && !is_rule && std::string_view("#>*+-=~[").find(text[0]) == std::string_view::npos) return result;
  return result.insert(is_number ? digits : 0, 1, '\\');
}

}  // namespace

std::string code(std::string_view text) {
  const std::string line = one_line(text);
  std::set<std::size_t> lengths;
  for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at)) {
    const std::size_t count = run_at(line, at);
    lengths.insert(count);
    at += count;
  }
  std::size_t length = 1;
  while (lengths.contains(length)) ++length;
  const std::string fence(length, '`');
  const char* pad = !line.empty() && (line.front() == '`' || line.back() == '`') ? " " : "";
  return fence + pad + line + pad + fence;
}

std::string prose(std::string_view text) {
  const std::string line = one_line(text);
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at)) {
    const std::size_t length = run_at(line, at);
    std::size_t end = line.find('`', at + length);
    while (end != std::string::npos && run_at(line, end) != length) end = line.find('`', end + run_at(line, end));
    if (end == std::string::npos) {
      at += length;
      continue;
    }
    result += plain(std::string_view(line).substr(done, at - done)) + line.substr(at, end + length - at);
    at = done = end + length;
  }
  return at_the_start(result + plain(std::string_view(line).substr(done)), line);
}

std::string literal(std::string_view text) {
  const std::string line = one_line(text);
  return at_the_start(plain(line), line);
}

std::string cell(std::string_view text) {
  std::string result;
  for (const char character : text) result += character == '|' ? std::string("\\|") : std::string{character};
  return result;
}

}  // namespace depyf::texts
