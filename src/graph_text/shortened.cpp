// See depyf/graph_text.h. A line that is not entirely of a shape that this file recognises is kept unchanged, so that
// Python's compiler checks the line.
#include <algorithm>
#include <utility>
#include <vector>

#include "depyf/graph_text.h"
#include "support/keywords.h"
#include "support/words.h"

namespace depyf {
namespace {

constexpr std::string_view statement_indent = "        ";

bool is_ascii_part(char c) { return ascii_identifier_parts[static_cast<unsigned char>(c)]; }
bool is_constant(std::string_view name) { return name == "None" || name == "True" || name == "False"; }

// True for a character that could end a line or the text, or that could continue a line or a string on the next line.
bool ends_or_continues(char c) { return c == '\\' || c == '\r' || c == '\0'; }

bool has_once_each(std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

// Reads one line from left to right. Each method reads the part that its name describes, and returns false or an empty
// text if this part does not follow.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  bool at_end() const { return rest_.empty(); }

  bool take(std::string_view text) {
    // Most calls fail at the first character, so it is compared first, without a function call.
    if (rest_.empty() || rest_.front() != text.front() || !rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Consumes an identifier that can be assigned to; returns an empty text if anything else follows.
  std::string_view name() {
    const std::string_view word = peek_word();
    if (word.empty() || is_keyword(word)) return {};
    rest_.remove_prefix(word.size());
    return word;
  }

  // Consumes a name and, if it has one, its annotation, as in `name: "annotation"`.
  std::string_view annotated_name() {
    const std::string_view found = name();
    return !found.empty() && (!take(": \"") || annotation()) ? found : std::string_view{};
  }

  // Consumes a dotted name such as torch.ops.aten.add.Tensor, or None.
  bool path() {
    const std::string_view word = peek_word();
    if (word.empty() || (is_keyword(word) && !is_constant(word))) return false;
    rest_.remove_prefix(word.size());
    while (take(".")) {
      if (name().empty()) return false;
    }
    return true;
  }

  bool atom() { return number() || path(); }

  // Consumes a value such as device(type='cpu', index=0).
  bool value() {
    if (take("[")) return take("]") || (atoms() && take("]"));
    if (take("(")) return atom() && (take(",)") || (take(", ") && atoms() && take(")")));
    if (take("device(type='")) {
      if (peek_characters() == 0) return false;
      rest_.remove_prefix(peek_characters());
      return take("'") && (!take(", index=") || digit()) && take(")");
    }
    return atom();
  }

  // Consumes arguments in parentheses, such as (x, [1, 2], dim = 0).
  bool arguments() {
    if (!take("(")) return false;
    if (take(")")) return true;
    std::vector<std::string_view> names;
    do {
      LineReader ahead = *this;
      const std::string_view before = ahead.name();
      if (!before.empty() && ahead.take(" = ")) {
        names.push_back(before);
        *this = ahead;
      } else if (!names.empty()) {
        return false;
      }
      if (!value()) return false;
    } while (take(", "));
    return take(")") && has_once_each(std::move(names));
  }

  // Consumes the right side of an assignment, such as f(x), a.b, a[0] or a + b.
  bool result() {
    if (number()) return operation();
    if (!path()) return false;
    if (at_end() || rest_.front() == ';') return true;
    if (rest_.front() == '(') return arguments();
    if (take("[")) return digit() && take("]");
    return operation();
  }

  // Consumes a comment such as `# File: a.py:1 in f`, which must not contain characters that could end a string or
  // continue the line.
  bool comment() {
    if (!take("#")) return false;
    const bool plain = std::none_of(rest_.begin(), rest_.end(), ends_or_continues) && rest_.find("'''") == rest_.npos &&
                       rest_.find("\"\"\"") == rest_.npos;
    if (plain) rest_ = {};
    return plain;
  }

 private:
  std::size_t peek_characters() const {
    return static_cast<std::size_t>(std::find_if_not(rest_.begin(), rest_.end(), is_ascii_part) - rest_.begin());
  }

  std::string_view peek_word() const {
    return rest_.empty() || is_digit(rest_.front()) ? std::string_view{} : rest_.substr(0, peek_characters());
  }

  bool digit() {
    if (rest_.empty() || !is_digit(rest_.front())) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool digits() {
    if (!digit()) return false;
    while (digit()) {}
    return true;
  }

  // Consumes a number such as -1.5e-05. Octal numbers, and numbers that are followed by a letter, are refused.
  bool number() {
    if (rest_.empty() || !(is_digit(rest_.front()) || rest_.front() == '-')) return false;
    LineReader ahead = *this;
    ahead.take("-");
    if (!ahead.take("0") && !ahead.digits()) return false;
    if (ahead.take(".") && !ahead.digits()) return false;
    if (ahead.take("e")) {
      if (!ahead.take("+")) ahead.take("-");
      if (!ahead.digits()) return false;
    }
    if (!ahead.at_end() && (is_ascii_part(ahead.rest_.front()) || ahead.rest_.front() == '.')) return false;
    *this = ahead;
    return true;
  }

  bool atoms() {
    do {
      if (!atom()) return false;
    } while (take(", "));
    return true;
  }

  // Consumes an operator and its right side behind an atom (a name or number), such as `+ b` behind `a`.
  bool operation() {
    if (!take(" ")) return false;
    for (const std::string_view sign : {"== ", "!= ", "<= ", ">= ", "- ", "+ ", "* ", "/ ", "@ ", "% ", "< ", "> "})
      if (take(sign)) return atom();
    return false;
  }

  // Consumes the rest of a string in double quotes.
  bool annotation() {
    const auto found =
        std::find_if(rest_.begin(), rest_.end(), [](char c) { return c == '"' || ends_or_continues(c); });
    const auto end = static_cast<std::size_t>(found - rest_.begin());
    if (end == rest_.size() || rest_[end] != '"' || rest_.substr(0, end).find("'''") != rest_.npos) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string_view rest_;
};

bool is_statement(std::string_view line) {
  LineReader reader(line);
  if (!reader.take(statement_indent) || reader.annotated_name().empty() || !reader.take(" = ") || !reader.result())
    return false;
  if (reader.at_end()) return true;
  // Consumes the end of a line that deletes values, such as `;  a = b = None`.
  if (!reader.take(";  ") || reader.name().empty()) return false;
  while (reader.take(" = ")) {
    if (reader.take("None")) return reader.at_end();
    if (reader.name().empty()) return false;
  }
  return false;
}

// Consumes the end of a line that holds one item: a comma and, if the line has one, a comment. Returns false if
// anything else follows.
bool ends_item(LineReader& reader) {
  return reader.take(",") && (reader.at_end() || (reader.take("  ") && reader.comment()));
}

using Lines = std::vector<std::string_view>;

// Returns the number of lines of the function head that begins at line `at`; 0 if no function head begins at this
// line.
std::size_t head_lines(const Lines& lines, std::size_t at) {
  LineReader reader(lines[at]);
  if (!reader.take("    def forward(")) return 0;
  std::vector<std::string_view> names;
  if (!reader.at_end()) {
    do {
      names.push_back(reader.annotated_name());
      if (names.back().empty()) return 0;
    } while (reader.take(", "));
    return reader.take("):") && reader.at_end() && has_once_each(std::move(names)) ? 1 : 0;
  }
  std::size_t end = at + 1;
  for (; end < lines.size() && lines[end] != "    ):"; ++end) {
    LineReader parameter(lines[end]);
    if (!parameter.take(statement_indent)) return 0;
    names.push_back(parameter.annotated_name());
    if (names.back().empty() || !ends_item(parameter)) return 0;
  }
  return end < lines.size() && !names.empty() && has_once_each(std::move(names)) ? end + 1 - at : 0;
}

// True if a line is a return statement whose value is an atom (a name or number), a device, a list or a tuple.
bool is_return(std::string_view line) {
  LineReader reader(line);
  return reader.take(statement_indent) && reader.take("return ") && reader.value() && reader.at_end();
}

// Returns the number of lines of the return statement that begins at line `at`; 0 if no return statement begins at line
// `at`. A return statement is on one line, or has a separate line for each value.
std::size_t return_lines(const Lines& lines, std::size_t at) {
  if (is_return(lines[at])) return 1;
  if (lines[at] != "        return (") return 0;
  std::size_t end = at + 1;
  for (; end < lines.size() && lines[end] != "        )"; ++end) {
    LineReader value(lines[end]);
    if (!value.take("            ") || !value.atom() || !ends_item(value)) return 0;
  }
  return end < lines.size() && end > at + 1 ? end + 1 - at : 0;
}

struct Row {
  std::size_t end;
  bool has_statement;
};

// Returns the run of lines from `at` on that are statements, comments or empty.
Row row_at(const Lines& lines, std::size_t at) {
  Row row{at, false};
  for (; row.end < lines.size(); ++row.end) {
    if (is_statement(lines[row.end])) {
      row.has_statement = true;
      continue;
    }
    LineReader reader(lines[row.end]);
    if (!reader.at_end() && !(reader.take(statement_indent) && reader.comment())) break;
  }
  return row;
}

}  // namespace

std::string shortened_graph(std::string_view text) {
  Lines lines;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  std::string out(lines[0]);
  Row row{1, false};
  for (std::size_t at = 1; at < lines.size();) {
    out += '\n';
    if (at >= row.end) row = row_at(lines, at);
    if (row.has_statement) {
      out += "        pass";
      at = row.end;
      row.has_statement = false;
    } else if (const std::size_t head = head_lines(lines, at)) {
      out += "    def forward(self):";
      at += head;
    } else if (const std::size_t values = return_lines(lines, at)) {
      out += "        return";
      at += values;
    } else {
      out += lines[at++];
    }
  }
  return out;
}

}  // namespace depyf
