// Decides where the lines of a statement break. The printer first writes a statement on one line and marks each place
// where a line may end. A statement gets the line breaks of the source, as far as positions show them; where positions
// show nothing, lines that are too long are split.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "print/text.h"
#include "support/branch_free.h"
#include "support/function_ref.h"

namespace depyf::print {

// The priorities of separators. The priorities of operators are below `string_priority`; the tighter an operator
// binds, the lower is its priority.
constexpr std::uint8_t string_priority = 17, comma_priority = 40, comprehension_priority = 50, attribute_priority = 1;

// A place in the text at which the line may break.
struct Mark {
  enum class Kind : std::uint8_t { open, separator, close };
  // The offset of the mark in the text: behind an opening bracket, before the blank of a separator, or before a
  // closing bracket.
  std::size_t at = 0;
  std::int32_t before = -1;  // the line of the source where the text before the mark ends; -1 if it is unknown
  Kind kind = Kind::open;
  // The priority of a separator; a line that is too long breaks at the highest priority first.
  std::uint8_t priority = 0;
  bool optional = false;  // true for brackets that are written only if the line breaks at them
  bool is_hint = false;  // true for optional brackets that are written only if columns show that the source had them
  std::int32_t line = -1;  // the line of the source where the text behind the mark starts; -1 if it is unknown

  bool is_comma() const { return (kind == Kind::separator) & (priority == comma_priority); }
};

// A part of the text whose line and column in the source are known. At least one mark stands between two anchors.
struct Anchor {
  std::size_t at;  // the offset of the part in the text
  std::size_t marks;  // the number of marks up to the offset `at`
  std::int32_t line, column;
};

// The state of a mark: unknown, no line break at the mark, or a line break at the mark.
enum class BreakState : std::uint8_t { unknown, together, apart };

constexpr std::size_t indentation = 4;

// The facts that the layout determines about a mark. The state of the mark with index i is element i of the list of
// states.
struct MarkState {
  BreakState state = BreakState::unknown;
  bool has_unknown = false;  // true for an opening bracket if its source line, or that of one of its commas, is unknown
  // True for an opening bracket if the line breaks at the bracket, at its closing bracket or at a separator between
  // them, so that even optional brackets are written.
  bool is_written = false;
  // For a bracket: the mark of the matching bracket. For a separator: the mark of the opening bracket around it. The
  // value -1 means that the text has no such bracket.
  int partner = -1;
  // For an opening bracket: the mark of the last comma directly within the brackets; -1 if there is no comma.
  int last_comma = -1;
  std::size_t indent = 0;  // indentation of the line behind the mark, if the line breaks there
  // For an opening bracket: the indentation of lines within the brackets, and the indentation of the line with the
  // bracket.
  std::size_t content = 0, outside = 0;

  bool is_apart() const { return state == BreakState::apart; }
};

// Finds the marks that belong to the same brackets. While brackets are open, the `partner` of their opening mark is the
// opening mark of the brackets around them, so that no stack of brackets is needed.
class Pairing {
 public:
  explicit Pairing(std::span<MarkState> states) : states_(states) {}

  // Pairs the mark `i`. All marks before the mark `i` must have been paired. Returns the mark that opens the brackets
  // to which the mark `i` belongs; -1 if the mark is outside of all brackets.
  int add(int i, Mark::Kind kind) {
    const int around = innermost_;
    state(i).partner = around;
    // The processor could not predict a branch on `kind`, so the function has no branch.
    const bool opens = kind == Mark::Kind::open, closes = (kind == Mark::Kind::close) & (around >= 0);
    int& partner = state(select(closes, around, i)).partner;
    // If the mark `i` closes brackets, `outer` is the mark that opens the brackets around them. For all other marks,
    // `outer` is `around`.
    const int outer = partner;
    partner = select(closes, i, outer);
    innermost_ = select(opens, i, outer);
    return select(opens, i, around);
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

// Sets the state of each mark by the source lines of the text before the mark and of the text behind the mark. Also
// sets `MarkState::partner` of each mark: the other bracket of the pair, or the opening bracket around a separator.
void follow_lines(std::span<const Mark> marks, std::span<MarkState> states);

// Anchors are parts of the text whose places in the source are known. Sets the states of the marks between two
// neighbouring anchors if some choice of breaks puts the second anchor into the column that it had in the source. If no
// choice puts the second anchor into this column, for example because the style of the source is unknown, the states of
// the marks stay unchanged. `indent` is the indentation of the statement.
void follow_columns(std::string_view text, std::span<const Mark> marks, std::span<const Anchor> anchors,
                    std::size_t indent, std::span<MarkState> states);

// Appends `text` to `result` with its lines broken. The text starts with the indentation of a statement, and the
// offsets of the marks and anchors count from its start. The marks are changed.
void append_with_breaks(Text& result, std::string_view text, std::span<Mark> marks, std::span<const Anchor> anchors,
                        const Lines& lines);

}  // namespace depyf::print
