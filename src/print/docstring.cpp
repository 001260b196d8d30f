// Writes texts between triple quotes.
#include "print/docstring.h"

#include <algorithm>

#include "print/literal.h"
#include "print/raw_string.h"

namespace depyf::print {

namespace {

// Returns the offset of the next quote or tab in a docstring line, from `at` on; the size of the line if there is none.
// Tabs and most quotes are written without escapes in a docstring, unlike in other strings.
std::size_t find_special(std::string_view line, std::size_t at) {
  while (at < line.size() && line[at] != '"' && line[at] != '\t') ++at;
  return at;
}

// A long line of a docstring is printed in several parts, each on a line of its own. Returns the end of the part that
// starts at `at`. A long line with many blanks in it comes from source in which a backslash joined a line with the
// indented line below. If lines of the source are known to be joined (`joined` is not 0), a part ends behind its last
// blank.
std::size_t end_of_part(std::string_view line, std::size_t at, std::size_t indent, std::size_t joined) {
  constexpr std::size_t long_line = 120, usual_width = 87;
  constexpr std::string_view blanks = "        ";
  if (joined > 0 && line.size() - at > usual_width) {
    const std::size_t blank = line.substr(0, at + usual_width).rfind(' ');
    return blank == line.npos || blank <= at ? line.size() : blank + 1;
  }
  if (line.size() + indent <= long_line) return line.size();
  const std::size_t text = line.find_first_not_of(' ', at);
  return text == line.npos ? line.size() : std::min(line.find(blanks, text), line.size());
}

// True if a line of the docstring is printed in several parts.
bool has_long_line(std::string_view text, std::size_t indent) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end_of_part(text.substr(at, end - at), 0, indent, 0) < end - at) return true;
    at = end + 1;
  }
  return false;
}

// Appends a line of a docstring. `is_last` is true for the last line, behind which the closing quotes stand. Each line
// break that joins lines of the source reduces `joined`.
void append_docstring_line(Text& out, std::string_view line, bool is_last, std::size_t indent, std::size_t& joined) {
  for (std::size_t i = 0, part = end_of_part(line, 0, indent, joined); i < line.size();) {
    if (i == part)
      out += "\\\n", joined -= std::min<std::size_t>(joined, 1), part = end_of_part(line, i, indent, joined);
    const std::size_t special = std::min(find_special(line, i), part);
    const std::string_view usual = line.substr(i, special - i);
    if (is_plain(usual, 0)) out += usual;
    else append_escaped(out, usual, 0);
    if ((i = special) == part) continue;
    // A quote is escaped only where it would end the docstring.
    const bool ends_text = is_last && i + 1 == line.size();
    if (line[i] == '"' && (ends_text || line.substr(i).starts_with("\"\"\""))) out += '\\';
    out += line[i++];
  }
}

}  // namespace

void append_lines(Text& out, std::string_view text, std::size_t indent, bool is_raw, std::size_t joined) {
  const bool is_unchanged = is_raw || (joined == 0 && has_plain_lines(text, '"') && !has_long_line(text, indent));
  if (is_unchanged && indent == 0) {
    out += text;
    return;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool is_last = end == text.size();
    if (at > 0 && (end > at || is_last)) out.append_blanks(indent);
    const std::string_view line = text.substr(at, end - at);
    if (is_unchanged || (end_of_part(line, 0, indent, joined) == line.size() && is_plain(line, '"'))) out += line;
    else append_docstring_line(out, line, is_last, indent, joined);
    if (!is_last) out += '\n';
    at = end + 1;
  }
}

void append_docstring(Text& out, std::string_view text, std::size_t indent, std::size_t joined) {
  constexpr std::string_view quotes = "\"\"\"";
  const bool is_raw = joined == 0 && can_be_raw(text, quotes) && !has_long_line(text, indent);
  if (is_raw) out += 'r';
  out += quotes;
  append_lines(out, text, indent, is_raw, joined);
  out += quotes;
}

}  // namespace depyf::print
