// Writes Markdown that shows names, reasons and conditions as they are, whatever characters they contain.
#pragma once

#include <string>
#include <string_view>

namespace depyf::texts {

// Returns a code span. Its delimiters have more backticks than any run of backticks in the text.
std::string code(std::string_view text);

// Returns a line of text in which parts between backticks stay code. All other text is shown character by character.
std::string prose(std::string_view text);

// Returns a line of text, such as a name or a path, in which backticks are shown as well.
std::string literal(std::string_view text);

// Returns a cell of a table, in which `|` ends no column. `text` is Markdown.
std::string cell(std::string_view text);

}  // namespace depyf::texts
