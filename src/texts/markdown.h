// Text in Markdown that shows names, reasons and conditions as they are, whatever characters they hold.
#pragma once

#include <string>
#include <string_view>

namespace depyf::texts {

// A code span, delimited by more backticks than stand together in the text.
std::string code(std::string_view text);

// A line of text: what stands between backticks stays code, all else is shown character by character.
std::string prose(std::string_view text);

// A line of text in which backticks too are shown: a name, a path.
std::string literal(std::string_view text);

// A cell of a table, in which `|` ends no column; `text` is Markdown.
std::string cell(std::string_view text);

}  // namespace depyf::texts
