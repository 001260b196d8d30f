// Defines the parts into which an f-string is divided for printing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "print/fstring.h"

namespace depyf::print {

struct FStrings::Piece {
  enum class Kind : std::uint8_t { literal, spec_literal, code };  // the text of literals is not escaped yet
  Kind kind;
  std::string text;
};

// The part of an f-string that stood on one line of the source.
struct FStrings::StringLine {
  std::int32_t line;
  std::vector<Piece> pieces;
  bool has_field = false;
  bool has_prefix = false;  // true if the source had the prefix `f`, although the string has no field
  Quotes quotes = {};       // set by can_be_lines if the string has a field or the prefix
};

}  // namespace depyf::print
