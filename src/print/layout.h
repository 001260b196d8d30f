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
};

constexpr std::uint8_t string_priority = 17, comma_priority = 40, comprehension_priority = 50, attribute_priority = 1;

struct Lines {
  std::size_t indent = 0;  // of the statement
  // Returns how many columns a line may have that the source had as line `line` (-1: unknown).
  FunctionRef<std::size_t(std::int32_t line)> limit;
  std::int32_t first = -1;  // the line of the source that the statement starts on; -1: unknown
};

// Returns `text`, which starts with the indentation of a statement, with its lines broken. The marks are those of `text`.
std::string with_breaks(std::string_view text, const std::vector<Mark>& marks, const Lines& lines);

}  // namespace depyf::print
