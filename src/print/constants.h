// Constants: literals, displays of constants, and strings on several lines.
#pragma once

#include <cstdint>

#include "ast/node.h"
#include "print/breaks.h"

namespace depyf::print {

class Constants {
 public:
  Constants(Emitter& out, Version version, const Positions& positions, Breaks& breaks)
      : out_(out), version_(version), positions_(positions), breaks_(breaks) {}

  int fields = 0;  // f-strings around the expression that is being printed

  // `leaf`: the expression that is the constant, null if it is but a part of one.
  void constant(const ast::Expr* leaf, const Constant& constant, bool bracketed = true);
  void constant(const Constant& constant) { this->constant(nullptr, constant); }
  void constant_text(const Constant& constant);

 private:
  bool multiline_string(const ast::Expr* leaf, const Constant& constant);
  void joined_string(const ast::Expr* leaf, const Constant& constant);
  void constant_items(const Constant& constant, std::int32_t line, int step);

  Emitter& out_;
  const Version version_;
  const Positions& positions_;
  Breaks& breaks_;
};

}  // namespace depyf::print
