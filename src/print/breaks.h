// Records where the line that is being printed may break.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "print/emitter.h"
#include "print/layout.h"
#include "print/positions.h"
#include "print/records.h"
#include "support/function_ref.h"

namespace depyf::print {

// Returns true if the source may have spread `expr` over several lines within redundant brackets.
inline bool may_need_lines(const ast::Expr* expr) {
  using namespace ast;
  return is<BoolOp>(expr) || is<BinOp>(expr) || is<Compare>(expr) || is<IfExp>(expr) || is<Attribute>(expr) ||
         is<Call>(expr) || is<Subscript>(expr) || is<UnaryExpr>(expr) || is<Await>(expr) || is<JoinedStr>(expr);
}

// The lengths in columns of a code object's source lines, as far as positions show them.
class LineLengths {
 public:
  LineLengths() = default;
  explicit LineLengths(const CodeObject& code);
  // Returns the greatest end column of the positions that end on `line`; -1 if no position does.
  std::int32_t of(std::int32_t line) const {
    const std::int64_t index = std::int64_t(line) - first_;
    return index < 0 || index >= std::ssize(columns_) ? -1 : columns_[std::size_t(index)];
  }

 private:
  std::int32_t first_ = 0;
  std::vector<std::int32_t> columns_;
};

// A part of the printed text. If the line and the column of the part in the source are known, the part becomes an
// `Anchor`, and the line breaks are chosen so that they put the part into this column. If `expr` is null, the part
// stood at `line` and `column` in the source. If `expr` is not null, the part is the text of `expr`, and its place in
// the source is known if `code` has a position for `expr`.
struct Part {
  const ast::Expr* expr = nullptr;
  std::int32_t line = -1, column = -1;
  std::size_t at = 0;  // the offset of the part in the printed text
  const CodeObject* code = nullptr;
};

// Collects marks (places where the line may break) and anchors (parts whose place in the source is known) while a
// statement is printed on one line. When the statement ends, `break_lines` chooses the marks at which the line breaks,
// and rewrites the text.
class Breaks {
 public:
  Breaks(Emitter& out, const Positions& positions, const PrintOptions& options)
      : out_(out), positions_(positions), options_(options) {}

  // The last source line of the text that has been printed; -1 if it is unknown.
  std::int32_t last_line = -1;

  // Returns false while `capture` prints text, which may not break because its final place is unknown.
  bool is_marking() const { return marking_; }
  // Returns the number of columns of the text behind the last mark, or since the line began if the line has no marks.
  std::size_t columns_since_mark() const {
    return out_.text().size() - (marks_.empty() ? out_.line_begin() : marks_[marks_.size() - 1].at);
  }
  // Adds a mark (a place where the line may break) at the end of the text. `line` is the source line of the text behind
  // the mark (-1: unknown). `optional` is true for brackets that are written only if the line breaks at them.
  void mark(Mark::Kind kind, std::int32_t line, std::uint8_t priority = 0, bool optional = false) {
    add({out_.text().size(), last_line, kind, priority, optional, false, line});
  }
  void open(std::int32_t line = -1) { mark(Mark::Kind::open, line); }
  // Marks the place before the closing bracket of `whole`. If `whole` is null, the brackets have no position.
  void close(const ast::Expr* whole = nullptr) {
    if (marking_) mark(Mark::Kind::close, whole ? positions_.end_line(whole) : -1);
  }
  // Prints a comma and a blank, between which the line may break.
  void comma(std::int32_t line = -1) {
    out_.write(", ");
    add({out_.text().size() - 1, last_line, Mark::Kind::separator, comma_priority, false, false, line});
  }
  // Notes that the printed text reaches the source line on which `expr` starts or, if `expr` is an f-string, ends. For
  // strings, `Constants::string` calls `reached_line` instead.
  void reached(const ast::Expr* expr);
  // Notes that the printed text reaches the source line `line`.
  void reached_line(std::int32_t line) {
    if (marking_) last_line = std::max(last_line, line);
  }
  // Moves `last_line` back to `line`, for a statement whose first expression starts above the line of the statement's
  // own instruction. Does nothing behind the first mark of the statement.
  void starts_at(std::int32_t line) {
    if (marks_.empty() && line >= 0 && line < last_line) last_line = line;
  }
  // Notes that the text of `expr` is printed next. When the statement is laid out over several lines, the text becomes
  // an anchor (a part whose place in the source is known) if the instruction that made `expr` is known to have the
  // position of the text.
  void anchor(const ast::Expr* expr) {
    if (marking_ && positions_.code && expr->line >= 0) parts_.add({expr, -1, -1, out_.text().size(), positions_.code});
  }
  void anchor_at(std::int32_t line, std::int32_t column) {
    parts_.add({nullptr, line, column, out_.text().size(), nullptr});
  }

  // Prints an expression, within redundant brackets if columns prove that the source had them.
  template <class F>
  void perhaps_bracketed(const ast::Expr* expr, F print) {
    const bool may_be = marking_ && may_need_lines(expr);
    if (may_be) add({out_.text().size(), last_line, Mark::Kind::open, 0, true, true, -1});
    print();
    if (may_be) add({out_.text().size(), last_line, Mark::Kind::close, 0, true, true, -1});
  }
  // Prints text within brackets that are written only if the line breaks at them.
  template <class F>
  void optional_brackets(std::int32_t line, F print) {
    mark(Mark::Kind::open, line, 0, true);
    print();
    mark(Mark::Kind::close, -1, 0, true);
  }
  // Returns the text that `print` writes, without adding it to the output and without marks in it.
  template <class F>
  std::string capture(F print) {
    std::string text;
    const bool outer = std::exchange(marking_, false);
    text = out_.capture(print);
    marking_ = outer;
    return text;
  }

  // Appends to `places` the index that the next mark will get.
  void note_next(std::vector<std::size_t>& places) const {
    if (marking_) places.push_back(marks_.size());
  }
  bool have_no_lines(std::span<const std::size_t> places) const;
  // Returns false if the header of a function with `places` marks around its parameters certainly stays on one line.
  // Most function headers stay on one line: a short header with few parameters is broken only if the source had a line
  // break at one of its marks (`spread_`).
  bool may_break_header(std::size_t places) const {
    return spread_ || places > few_parameters + 1 ||
           out_.text().size() - out_.line_begin() >= std::min(long_header, options_.width);
  }
  // Guesses the lines of parameters for which the compiler kept no positions. The number of lines between `def` and the
  // body decides among the three layouts that formatters use: all parameters on the line of the `def`, all on one line
  // of their own, or each on a line of its own. `parameters` holds the indices of the marks before each parameter and
  // of the mark behind the last parameter. `is_documented` is true if the body begins with a docstring.
  void place_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line, std::int32_t body_line,
                        bool is_documented);
  // Guesses the lines of parameters if none of them has a known line, but the line of the closing bracket behind the
  // parameters is known.
  void place_before_close(const std::vector<std::size_t>& parameters, std::int32_t def_line);

  // Breaks the text that was printed since the current line began into several lines, if the source had line breaks in
  // the text or if the text is too long. `room` is called only with `--align lines`, and returns the number of lines
  // that the text may take.
  void break_lines(FunctionRef<std::int32_t()> room) {
    const bool is_long = out_.text().size() - out_.line_begin() > options_.width;
    if (!marks_.empty() && (spread_ || (is_long && !options_.align))) lay_out(room);
    marks_.clear();
    parts_.clear();
    spread_ = false;
  }

 private:
  // Formatters break function headers that are longer than `long_header` columns, and seldom break shorter headers. A
  // header of at most `long_header` columns has each parameter on a line of its own only if it has more than
  // `few_parameters` parameters.
  static constexpr std::size_t long_header = 79, few_parameters = 2;

  // Adds a mark, and updates `last_line`, the greatest source line so far. `spread_` is set when the source had a line
  // break before some mark.
  void add(const Mark& mark) {
    if (!marking_) return;
    marks_.add(mark);
    // If `mark.line` is unknown (-1), it is not greater than `last_line`, so that the next two statements change
    // nothing, and need no branch.
    spread_ = spread_ | ((last_line >= 0) & (mark.line > last_line));
    last_line = std::max(last_line, mark.line);
  }
  // Rewrites the text from the start of the line with the line breaks that `append_with_breaks` chooses.
  void lay_out(FunctionRef<std::int32_t()> room);
  // Returns the anchors, which are parts of the text whose places in the source are known; only the first anchor behind
  // each mark is returned. Offsets in the anchors count from `begin`, as the offsets in the marks already do.
  std::vector<Anchor> anchors(std::size_t begin) const;
  // Sets the source line of each parameter: a line of its own if `each_line` is true, one line for all parameters if
  // `own_line` is true, and the line of the `def` otherwise.
  void spread_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line, bool each_line,
                         bool own_line);
  // Returns how many columns the printed text of source line `line` may have before it is broken.
  std::size_t limit_of(std::int32_t line);

  Emitter& out_;
  const Positions& positions_;
  const PrintOptions& options_;
  Records<Part> parts_;          // the parts of the text since the line began
  Records<Mark> marks_;          // the marks in the text since the line began
  Text broken_;                  // the last statement that was broken over lines; kept so that its memory is reused
  // The line lengths of each code object, computed on first use.
  std::unordered_map<const CodeObject*, LineLengths> line_lengths_;
  bool marking_ = true;
  bool spread_ = false;  // true if the source had a line break before some mark in `marks_`
};

}  // namespace depyf::print
