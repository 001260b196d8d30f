// Writes Markdown that shows names, reasons and conditions as they are, whatever characters they contain.
#pragma once

#include <string>
#include <string_view>

namespace depyf::texts {

// Returns a code span whose delimiters differ in length from each run of backticks in the text.
std::string code(std::string_view text);

// Returns a line of text in which parts between backticks stay code. Outside of the backticks, the markup of Markdown
// is escaped.
std::string prose(std::string_view text);

// Returns a line of text, such as a name or a path, in which all markup is escaped, including backticks.
std::string literal(std::string_view text);

// Returns a cell of a table, in which each `|` is escaped, because a `|` would end the cell. `text` is Markdown.
std::string cell(std::string_view text);

}  // namespace depyf::texts
