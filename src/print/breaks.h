// Where the line that is being printed may break.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "print/emitter.h"
#include "print/layout.h"
#include "print/positions.h"
#include "support/function_ref.h"

namespace depyf::print {

// True if the source may have had `expr` on several lines, within brackets that mean nothing.
bool may_need_lines(const ast::Expr* expr);

class Breaks {
 public:
  Breaks(Emitter& out, const Positions& positions, const PrintOptions& options)
      : out_(out), positions_(positions), options_(options) {}

  std::int32_t last_line = -1;  // of the source, that the text so far reaches; -1: unknown

  // False: the text may not break, or is not in its place yet.
  bool is_marking() const { return marking_; }
  void mark(Mark::Kind kind, std::int32_t line, std::uint8_t priority = 0, bool optional = false);
  void open(std::int32_t line = -1) { mark(Mark::Kind::open, line); }
  // The closing bracket of `whole`; null: of brackets that have no position.
  void close(const ast::Expr* whole = nullptr);
  void comma(std::int32_t line = -1);
  // The text reaches as far as `expr` starts, or, where it is a string, ends.
  void reached(const ast::Expr* expr);
  // A statement that starts with an expression starts on its line, whatever the line of its own instruction is.
  void starts_at(std::int32_t line);
  // Notes where the source had what is printed next, if the position of the instruction that made `expr` tells.
  void anchor(const ast::Expr* expr);
  void anchor_at(std::int32_t line, std::int32_t column) { anchors_.push_back({out_.text().size(), line, column}); }

  // Prints an expression that the source may have had in brackets of its own.
  template <class F>
  void perhaps_bracketed(const ast::Expr* expr, F print) {
    const bool may_be = marking_ && may_need_lines(expr);
    if (may_be) mark(Mark::Kind::open, -1, 0, true), marks_.back().is_hint = true;
    print();
    if (may_be) mark(Mark::Kind::close, -1, 0, true), marks_.back().is_hint = true;
  }
  template <class F>
  void optional_brackets(std::int32_t line, F print) {
    mark(Mark::Kind::open, line, 0, true);
    print();
    mark(Mark::Kind::close, -1, 0, true);
  }
  // What `print` writes, apart from the rest and without breaks.
  template <class F>
  std::string capture(F print) {
    std::string text;
    const bool outer = std::exchange(marking_, false);
    text = out_.capture(print);
    marking_ = outer;
    return text;
  }

  // Adds the index that the next mark gets.
  void note_next(std::vector<std::size_t>& places) const {
    if (marking_) places.push_back(marks_.size());
  }
  bool have_no_lines(const std::vector<std::size_t>& places) const;
  // Where the compiler kept no positions of parameters: the number of lines up to the body tells whether they stand on the line
  // of the `def`, on one of their own, or on one each, as formatters lay them out. `parameters`: the marks before each and at the
  // end.
  void place_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line, std::int32_t body_line);

  // Breaks the lines of what was printed since the line began. `room` says how many lines that may be where lines are aligned.
  void break_lines(FunctionRef<std::int32_t()> room);

 private:
  std::size_t limit_of(std::int32_t line) const;

  Emitter& out_;
  const Positions& positions_;
  const PrintOptions& options_;
  std::vector<Anchor> anchors_;  // of the text since the line began
  std::vector<Mark> marks_;      // of the text since the line began
  bool marking_ = true;
  bool spread_ = false;  // some mark is where the source had a break
};

}  // namespace depyf::print
