// Where the lines of a statement break. While a statement is printed on one line, the printer marks each place where a line may
// end; then the breaks are chosen: where the source had them, as far as positions tell, and otherwise by width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/function_ref.h"

namespace depyf::print {

struct Mark {
  enum class Kind : std::uint8_t { open, separator, close };
  std::size_t
      at;  // offset in the text: behind an opening bracket, before the blank of a separator, before a closing bracket
  Kind kind;
  std::uint8_t priority = 0;  // of a separator: those with the highest in a line are broken first
  bool optional = false;  // of open and close: the brackets are written only where the line breaks
  std::int32_t before = -1,
               line = -1;  // of the source: where the text before the mark ends and that behind it starts; -1: unknown
  bool is_hint = false;  // of optional ones: only where columns tell that the source had them
};

// A part of the text whose place in the source is known.
struct Anchor {
  std::size_t at;  // offset in the text
  std::int32_t line, column;
};

// What is known of a mark: whether the line breaks there.
enum class BreakState : std::uint8_t { unknown, together, apart };

constexpr std::size_t indentation = 4;

constexpr std::uint8_t string_priority = 17, comma_priority = 40, comprehension_priority = 50, attribute_priority = 1;

struct Lines {
  std::size_t indent = 0;  // of the statement
  // Returns how many columns a line may have that the source had as line `line` (-1: unknown).
  FunctionRef<std::size_t(std::int32_t line)> limit;
  std::int32_t first = -1;  // the line of the source that the statement starts on; -1: unknown
};

// Sets the states of the marks between two anchors where only one way to break there puts the second anchor into the column that
// it had in the source. Source of another style, where no way does, is left as it is. `indent`: of the statement.
void follow_columns(std::string_view text, const std::vector<Mark>& marks, const std::vector<Anchor>& anchors,
                    std::size_t indent, std::vector<BreakState>& states);

// Returns `text`, which starts with the indentation of a statement, with its lines broken. The marks are those of `text`.
std::string with_breaks(std::string_view text, std::vector<Mark> marks, const std::vector<Anchor>& anchors,
                        const Lines& lines);

}  // namespace depyf::print
