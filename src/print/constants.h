// Prints constants: literals, tuples and sets of constants, and strings that span several lines.
#pragma once

#include <cstdint>
#include <string_view>

#include "ast/node.h"
#include "print/breaks.h"

namespace depyf::print {

// Returns the size of `text` as repr escapes it.
std::size_t escaped_size(std::string_view text);

class Constants {
 public:
  Constants(Emitter& out, Version version, const Positions& positions, Breaks& breaks)
      : out_(out), version_(version), positions_(positions), breaks_(breaks) {}

  int fields = 0;  // how many f-string fields enclose the expression that is being printed

  // Prints `constant`. `leaf` is the expression that holds the constant, or null if the constant is only a part of a
  // larger constant.
  void constant(const ast::Expr* leaf, const Constant& constant, bool bracketed = true);
  void constant(const Constant& constant) { this->constant(nullptr, constant); }
  // Prints `constant` as a literal whose quotes suit the enclosing f-string.
  void constant_text(const Constant& constant);

 private:
  // Prints a string over several lines if positions show that the source did; returns false otherwise.
  bool multiline_string(const ast::Expr* leaf, const Constant& constant);
  bool long_string(const Constant& constant);
  bool ends_by_newline(const ast::Expr* leaf, std::string_view text, std::int32_t more) const;
  void joined_string(const ast::Expr* leaf, const Constant& constant, bool by_newline);
  void constant_items(const Constant& constant, std::int32_t line, int step);

  Emitter& out_;
  const Version version_;
  const Positions& positions_;
  Breaks& breaks_;
};

}  // namespace depyf::print
