// Finds the call in Inductor's output code that writes each buffer.
#include <algorithm>
#include <array>

#include "links/seen.h"
#include "support/words.h"

namespace depyf::links {
namespace {

constexpr std::array<std::string_view, 6> allocations{"empty_strided",      "empty",   "alloc",
                                                      "reinterpret_tensor", "assert_", "as_strided"};
// A statement that begins with one of the keywords is neither a single call nor the assignment of a call.
constexpr std::array<std::string_view, 24> keywords{
    "del",  "return", "assert", "import", "from",  "if",     "elif",     "else", "with",    "for",    "while", "raise",
    "pass", "global", "async",  "def",    "class", "lambda", "nonlocal", "try",  "finally", "except", "not",   "await"};

std::size_t indent_of(std::string_view line) {
  std::size_t indent = 0;
  while (indent < line.size() && (line[indent] == ' ' || line[indent] == '\t')) ++indent;
  return indent;
}

// True for the `def` line of a function that calls kernels, which is named `call` or `partition_N`.
bool is_wrapper_head(std::string_view line) {
  line.remove_prefix(indent_of(line));
  if (!take(line, "def ")) return false;
  const std::string_view name = word_at(line);
  const bool is_wrapper = name == "call" || (name.starts_with("partition_") && name.size() > 10);
  return is_wrapper && line.substr(name.size()).starts_with("(");
}

// Removes the first statement from `text`, and returns the statement without its comment. A statement ends at a line
// break or a semicolon outside of brackets.
std::string taken_statement(std::string_view& text) {
  std::string statement;
  int depth = 0;
  std::size_t copied = 0, at = 0;
  const auto copy_up_to = [&](std::size_t end) { statement += text.substr(copied, end - copied); };
  for (bool is_end = false; at < text.size() && !is_end; ++at) {
    const char character = text[at];
    if (is_quote(character)) {
      at = behind_string(text, at) - 1;
    } else if (character == '#') {
      copy_up_to(at);
      copied = std::min(text.find('\n', at), text.size());
      at = copied - 1;
    } else if (character == '(' || character == '[' || character == '{') {
      ++depth;
    } else if (character == ')' || character == ']' || character == '}') {
      --depth;
    } else if (depth <= 0 && (character == '\n' || character == ';')) {
      copy_up_to(at);
      copied = at + 1;
      is_end = true;
    }
  }
  copy_up_to(at);
  text.remove_prefix(at);
  return std::string(stripped(statement));
}

// Returns the text behind the last `=` of a statement, or the whole statement if it has no `=`. Returns an empty text
// if the statement has another operator with `=`, such as `+=` or `==`.
std::string_view value_of(std::string_view statement) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < statement.size(); ++at) {
    const char character = statement[at];
    if (character == '"' || character == '\'') {
      at = behind_string(statement, at) - 1;
      continue;
    }
    if (character == '(' || character == '[' || character == '{') ++depth;
    if (character == ')' || character == ']' || character == '}') --depth;
    if (depth != 0 || character != '=') continue;
    if (at + 1 < statement.size() && statement[at + 1] == '=') return {};  // a comparison
    if (at > 0 && std::string_view("+-*/%&|^<>!:@").find(statement[at - 1]) != std::string_view::npos) return {};
    begin = at + 1;
  }
  return stripped(statement.substr(begin));
}

// Returns the called function, such as `extern_kernels.mm`, with `?` in place of a part that is not a name. Returns an
// empty text if the value is not a call.
std::string callee_of(std::string_view value) {
  if (!value.ends_with(')')) return {};
  // Finds the opening bracket that matches the last closing bracket.
  std::vector<std::size_t> open;
  std::size_t begin = std::string_view::npos;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const char character = value[at];
    if (character == '"' || character == '\'') {
      at = behind_string(value, at) - 1;
      continue;
    }
    if (character == '(' || character == '[' || character == '{') open.push_back(at);
    if (character == ')' || character == ']' || character == '}') {
      if (open.empty()) return {};
      begin = open.back();
      open.pop_back();
      continue;
    }
    if (open.empty() && character != '.' && !is_word(character)) return {};  // not a call, such as `f(x) + 1`
  }
  if (begin == std::string_view::npos || begin == 0) return {};
  const std::string_view callee = value.substr(0, begin);
  const std::size_t last = callee.find_last_of(")]}");
  return last == std::string_view::npos ? std::string(callee) : "?" + std::string(callee.substr(last + 1));
}

void read_statement(std::string_view statement, std::unordered_map<std::string, std::string>& writers) {
  const std::vector<std::string_view> buffers = buffers_in(statement);
  if (buffers.empty()) return;
  const std::string_view first = word_at(statement);
  if (std::find(keywords.begin(), keywords.end(), first) != keywords.end()) return;
  std::string callee = callee_of(value_of(statement));
  if (callee.empty()) return;
  const std::string_view last = std::string_view(callee).substr(callee.rfind('.') + 1);  // npos + 1 is 0
  if (std::any_of(allocations.begin(), allocations.end(),
                  [&](std::string_view start) { return last.starts_with(start); }))
    return;
  if (callee.ends_with(".run")) callee.resize(callee.size() - 4);
  for (const std::string_view buffer : buffers) writers.try_emplace(std::string(buffer), callee);
}

}  // namespace

std::vector<std::string_view> buffers_in(std::string_view text) {
  std::vector<std::string_view> buffers;
  for (std::size_t at = 0; (at = text.find("buf", at)) != std::string_view::npos;) {
    const std::string_view word = word_at(text.substr(at));
    const bool is_buffer =
        word.size() > 3 && (at == 0 || !is_word(text[at - 1])) && std::all_of(word.begin() + 3, word.end(), is_digit);
    if (is_buffer) buffers.push_back(word);
    at += word.size();
  }
  return buffers;
}

std::unordered_map<std::string, std::string> buffer_writers(std::string_view code) {
  std::unordered_map<std::string, std::string> writers;
  const std::vector<std::string_view> lines = lines_of(code);
  for (std::size_t number = 0; number < lines.size(); ++number) {
    if (!is_wrapper_head(lines[number])) continue;
    const std::size_t indent = indent_of(lines[number]);
    const char* begin = lines[number].data() + lines[number].size();
    while (number + 1 < lines.size() && (stripped(lines[number + 1]).empty() || indent_of(lines[number + 1]) > indent))
      ++number;
    std::string_view body(begin, static_cast<std::size_t>(lines[number].data() + lines[number].size() - begin));
    while (!body.empty()) read_statement(taken_statement(body), writers);
  }
  return writers;
}

}  // namespace depyf::links
