// Prints constants: literals, tuples and sets of constants, and strings that span several lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "ast/node.h"
#include "print/breaks.h"

namespace depyf::print {

// Returns the size in bytes of `text` as repr escapes it.
std::size_t escaped_size(std::string_view text);

// Returns how many bytes of `text` are put on a line of `width` columns. If `text` is longer than the line, the line
// ends behind the last line break that fits, or else behind the last blank that fits; the result is 0 if neither fits.
std::size_t filled_line(std::string_view text, std::size_t width);
// Returns the least width with which `lines` lines hold `text`, if `used` columns of the first line are taken; `usual`
// if no lesser width suffices. With the least width, the words are spread evenly over the lines, as they are where
// people divide a string.
std::size_t balanced_width(std::string_view text, std::size_t lines, std::size_t used, std::size_t usual);

class Constants {
 public:
  Constants(Emitter& out, Version version, const Positions& positions, Breaks& breaks)
      : out_(out), version_(version), positions_(positions), breaks_(breaks) {}

  // True if the source divided strings into several adjacent literals in the tuple, list or set that is being printed.
  bool may_divide = false;
  int fields = 0;  // how many f-string fields enclose the expression that is being printed

  // Prints `constant`. `leaf` is the expression that holds the constant, or null if the constant is only a part of a
  // larger constant.
  void constant(const ast::Expr* leaf, const Constant& constant, bool bracketed = true);
  void constant(const Constant& constant) { this->constant(nullptr, constant); }
  // Prints a string or bytes constant that is too long for one line as several adjacent literals. Returns false, and
  // prints nothing, if the constant has fewer than `least` columns, or if the text that is being printed must stay on
  // one line.
  bool long_string(const Constant& constant, std::size_t least = 100);
  // Prints an annotation as several adjacent strings in brackets if it is a string whose columns are unknown, and that is
  // too wide for a line of its own behind the text since the last mark. Returns false, and prints nothing, for any other
  // annotation. Up to 3.13, the compiler folds the annotations of a function into one tuple if all of them are
  // constants, and keeps no position of a single annotation.
  bool divided_annotation(const ast::Expr* annotation);
  // Prints `constant` as a literal whose quotes suit the enclosing f-string.
  void constant_text(const Constant& constant);

  // Prints a string or bytes, and notes the line that its text reaches.
  void string(const ast::Expr* leaf, const Constant& constant);

 private:
  void display(const ast::Expr* leaf, const Constant& constant, bool bracketed);
  static bool has_usual_width(const Position* position, const Constant& constant);
  // Prints a string over several lines if positions show that the source had several lines; returns false otherwise.
  bool multiline_string(const ast::Expr* leaf, const Constant& constant);
  bool raw_string(const ast::Expr* leaf, const Constant& constant);
  bool is_folded(const ast::Expr* leaf, const Constant& constant) const;
  const Constant* wide_annotation(const ast::Expr* annotation) const;
  bool may_be_triple_quoted(const ast::Expr* leaf, std::string_view text) const;
  bool ends_triple_quoted(const ast::Expr* leaf, std::string_view last) const;
  bool starts_below_quotes(const ast::Expr* leaf, std::string_view text, std::int32_t more) const;
  bool ends_by_newline(const ast::Expr* leaf, std::string_view text, std::int32_t more) const;
  void joined_string(const ast::Expr* leaf, const Constant& constant, bool by_newline);
  void constant_items(const Constant& constant, std::int32_t line, int step);

  Emitter& out_;
  const Version version_;
  const Positions& positions_;
  Breaks& breaks_;
};

}  // namespace depyf::print
