// Writes constants as the text of literals.
#pragma once

#include <array>
#include <string_view>

#include "depyf/constant.h"
#include "print/precedence.h"
#include "print/text.h"

namespace depyf::print {

// The rules by which strings are quoted. Usually the quotes are double quotes, unless single quotes need fewer
// backslashes, as formatters do it. Inside the braces of an f-string single quotes are preferred. Before Python 3.12
// the braces of an f-string must contain no backslash. So a string in the braces gets quotes with which it needs no
// backslash, if there are such quotes.
enum class Quoting : std::uint8_t { usual, in_field, no_backslash };

// Appends `constant` as a literal, without parentheses: `-1` and `1+2j` bind looser than an atom (see `level_of`).
// `version` is the version of the compiler that will read the text; the default means that all versions must read it.
void append_literal(Text& out, const Constant& constant, Quoting quoting = Quoting::usual, Version version = {});
// Appends the literal of a string, as `append_literal` does.
void append_string(Text& out, std::string_view text, Quoting quoting = Quoting::usual);
Level level_of(const Constant& constant);

// True if the element `one` of a set of constants is printed before `two`: numbers stand first, by their values, and
// everything else follows by its text.
bool precedes_in_set(const Constant& one, const Constant& two);

// The kinds of quotes that can enclose a string.
constexpr std::array<std::string_view, 4> all_quotes = {"'", "\"", "'''", "\"\"\""};

// True if `text` consists of printable ASCII without the backslash and without the quote `quote`, so that it needs no
// escape between quotes of this kind. Most strings need no further test than `is_plain`.
bool is_plain(std::string_view text, char quote);
// True if each line of `text` is plain, as `is_plain` defines it.
bool has_plain_lines(std::string_view text, char quote);

// True if `text` can be written unescaped between `quotes`, which is one of `all_quotes`. A line break needs triple
// quotes.
bool needs_no_escape(std::string_view text, std::string_view quotes);

// Appends the characters of a string without the quotes, escaped as repr does it. The character `quote` is escaped,
// too; if `quote` is 0, no quotes are escaped.
void append_escaped(Text& out, std::string_view text, char quote);

}  // namespace depyf::print
