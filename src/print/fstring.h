// f-strings and t-strings; see fstring.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "print/sheet.h"

namespace depyf::print {

class Expressions;

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
  // As a string, `%` and a tuple: what the fields of an f-string were.
  void percent_format(const ast::JoinedStr& node, const ast::Expr* whole);

 private:
  struct Piece;
  struct StringLine;

  bool multiline_fstring(const ast::JoinedStr& node, const ast::Expr* whole);
  bool fstring_lines(const ast::JoinedStr& node, const ast::Expr* whole);
  static bool add_literal_lines(std::vector<StringLine>& lines, const ast::Expr* part, const Position& position,
                                std::int32_t column);
  void add_pieces(std::vector<Piece>& pieces, const ast::Expr* part, int spec_depth);
  void add_field(std::vector<Piece>& pieces, std::string value, char conversion, const ast::Expr* spec, int spec_depth);
  std::string field_value(const ast::Expr* value);
  bool quoted(std::string_view prefix, const std::vector<Piece>& pieces);
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
