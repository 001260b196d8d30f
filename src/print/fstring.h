// Prints f-strings and t-strings; fstring.cpp explains the limits of each version.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "print/precedence.h"
#include "print/sheet.h"

namespace depyf::print {

class Expressions;

// Returns the level at which the expression of a field is printed. An expression that ends with a lambda gets
// parentheses, because the colon of the lambda would begin the format specification.
Level level_of_field(const ast::Expr* value);

// Prints an f-string in the first form that is possible: over several lines, on a single line, or as calls of `format`
// if no kind of quotes is left.
class FStrings {
 public:
  FStrings(Sheet& sheet, Expressions& exprs)
      : out_(sheet.out),
        version_(sheet.version),
        positions_(sheet.positions),
        breaks_(sheet.breaks),
        constants_(sheet.constants),
        exprs_(exprs) {}

  void fstring(const ast::Expr* expr);
  // Prints the operator `%` with a format string and a tuple, which the compilers of 3.11 and later turn into the same
  // bytecode as an f-string.
  void percent_format(const ast::JoinedStr& node, const ast::Expr* whole);

 private:
  // A `Piece` is literal text or the code of a field; a `StringLine` holds the pieces of one line.
  struct Piece;
  struct StringLine;
  // Literal text between the quotes is escaped if `escapes` is true, and written unchanged otherwise.
  struct Quotes {
    std::string_view text;
    bool escapes;
  };

  bool multiline_fstring(const ast::JoinedStr& node, const ast::Expr* whole);
  bool fstring_lines(const ast::JoinedStr& node, const ast::Expr* whole);
  std::vector<Position> part_positions(const ast::JoinedStr& node, const Position& place, int closing) const;
  static void find_prefixes(std::vector<StringLine>& lines, const std::vector<Position>& parts, const Position& place);
  static bool add_literal_lines(std::vector<StringLine>& lines, const ast::Expr* part, const Position& position,
                                std::int32_t column);
  void add_pieces(std::vector<Piece>& pieces, const ast::Expr* part, int spec_depth);
  void add_field(std::vector<Piece>& pieces, std::string value, char conversion, const ast::Expr* spec, int spec_depth);
  std::string field_value(const ast::Expr* value);
  std::optional<Quotes> quotes_of(const std::vector<Piece>& pieces) const;
  void quoted(std::string_view prefix, const std::vector<Piece>& pieces, Quotes quotes);
  static void append_piece(Text& out, const Piece& piece, Quotes quotes);
  bool raw_fstring(const ast::Expr* whole, const std::vector<Piece>& pieces);
  bool divided(const ast::Expr* whole, const std::vector<Piece>& pieces);
  bool can_be_lines(std::vector<StringLine>& lines) const;
  void string_line(const StringLine& line);
  void joined_calls(ast::List<ast::Expr*> parts);
  void format_call(const ast::FormattedValue& field);

  Emitter& out_;
  const Version version_;
  const Positions& positions_;
  Breaks& breaks_;
  Constants& constants_;
  Expressions& exprs_;
};

}  // namespace depyf::print
