// Decides where the lines of a statement break. The printer first writes a statement on one line and marks each place
// where a line may end. The line breaks of the statement are chosen where the source had them, as far as positions show
// it, and otherwise by width.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "print/text.h"
#include "support/function_ref.h"

namespace depyf::print {

// The priorities of separators. Operators have priorities below `string_priority`, which fall as they bind tighter.
constexpr std::uint8_t string_priority = 17, comma_priority = 40, comprehension_priority = 50, attribute_priority = 1;

// A place in the text at which the line may break.
struct Mark {
  enum class Kind : std::uint8_t { open, separator, close };
  // The offset in the text: behind an opening bracket, before the blank of a separator, or before a closing bracket.
  std::size_t at = 0;
  std::int32_t before = -1;  // the line of the source where the text before the mark ends; -1 if it is unknown
  Kind kind = Kind::open;
  std::uint8_t priority = 0;  // of a separator; in a line that is too long, the highest priority breaks first
  bool optional = false;  // of brackets: the brackets are written only if the line breaks at them
  bool is_hint = false;  // of optional brackets: written only if columns show that the source had them
  std::int32_t line = -1;  // the line of the source where the text behind the mark starts; -1 if it is unknown

  bool is_comma() const { return kind == Kind::separator && priority == comma_priority; }
};

// A part of the text whose line and column in the source are known. At least one mark stands between two anchors.
struct Anchor {
  std::size_t at;  // offset in the text
  std::size_t marks;  // the number of marks up to this offset
  std::int32_t line, column;
};

// The state of a mark: unknown, no line break at the mark, or a line break at the mark.
enum class BreakState : std::uint8_t { unknown, together, apart };

constexpr std::size_t indentation = 4;

// The facts that the layout determines about the mark with the same index.
struct MarkState {
  BreakState state = BreakState::unknown;
  bool has_unknown = false;  // of an opening bracket: the source line is unknown at the bracket or at one of its commas
  bool is_written = false;  // of an opening bracket: a line breaks at its marks, so that even optional ones are written
  int partner = -1;  // the mark of the other bracket, or for a separator the mark that opens its brackets; -1: none
  int last_comma = -1;  // of an opening bracket: the last comma directly within the brackets; -1 if there is none
  std::size_t indent = 0;  // indentation of the line behind the mark, if the line breaks there
  // Of an opening bracket: the indentation of lines within the brackets, and that of the line with the bracket.
  std::size_t content = 0, outside = 0;

  bool is_apart() const { return state == BreakState::apart; }
};

// Finds the marks that belong to the same brackets. While brackets are open, the `partner` of their opening mark is the
// opening mark of the brackets around them, so that no stack of brackets is needed.
class Pairing {
 public:
  explicit Pairing(std::span<MarkState> states) : states_(states) {}

  // Pairs the mark `i`. All marks before it must have been paired. Returns the mark that opens the brackets
  // to which it belongs; -1 if there is none.
  int add(int i, Mark::Kind kind) {
    const int around = innermost_;
    state(i).partner = around;
    if (kind == Mark::Kind::open) return innermost_ = i;
    if (kind == Mark::Kind::close && around >= 0) innermost_ = std::exchange(state(around).partner, i);
    return around;
  }
  // Ends the pairing. The line does not break behind an opening bracket that was never closed.
  void finish() {
    while (innermost_ >= 0) {
      MarkState& unclosed = state(innermost_);
      unclosed.state = BreakState::together;
      innermost_ = std::exchange(unclosed.partner, -1);
    }
  }

 private:
  MarkState& state(int i) { return states_[std::size_t(i)]; }

  std::span<MarkState> states_;
  int innermost_ = -1;  // the mark that opens the innermost brackets around the next mark; -1 if there is none
};

// The choices by which `append_with_breaks` lays out the lines of one statement.
struct Lines {
  std::size_t indent = 0;  // indentation of the statement, in columns
  std::size_t width = 0;  // how many columns each line may have; `limit` allows more for some lines
  // Returns how many columns the text of source line `line` may have (-1: the source line is unknown).
  FunctionRef<std::size_t(std::int32_t line)> limit;
  std::int32_t first = -1;  // the line of the source on which the statement starts; -1 if it is unknown
};

// Sets the state of each mark by the source lines of the text before the mark and of the text behind the mark, and
// pairs the marks.
void follow_lines(std::span<const Mark> marks, std::span<MarkState> states);

// Sets the states of marks between two anchors if some choice of breaks puts the second anchor into the column that it
// had in the source. The states of the marks stay unchanged if no choice of breaks puts the second anchor into its
// column, for example for source of an unknown style. `indent` is the indentation of the statement.
void follow_columns(std::string_view text, std::span<const Mark> marks, std::span<const Anchor> anchors,
                    std::size_t indent, std::span<MarkState> states);

// Appends `text` to `result` with its lines broken. The text starts with the indentation of a statement, and the
// offsets of the marks and anchors count from its start. The marks are changed.
void append_with_breaks(Text& result, std::string_view text, std::span<Mark> marks, std::span<const Anchor> anchors,
                        const Lines& lines);

}  // namespace depyf::print
