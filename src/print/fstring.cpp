// Prints f-strings and t-strings. Before Python 3.12 the braces of an f-string must contain neither a backslash nor
// the quotes that enclose the whole string.
#include <algorithm>
#include <optional>

#include "ast/percent_format.h"
#include "ast/position.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "print/docstring.h"
#include "print/expression.h"
#include "print/fstring.h"
#include "print/fstring_parts.h"
#include "print/literal.h"
#include "print/operands.h"
#include "print/raw_string.h"

namespace depyf::print {

using namespace ast;

namespace {

// Before Python 3.12 each level of nested f-strings needs other quotes, and there are only four kinds: ' " ''' """.
constexpr int max_fields = 4;

// True if `text` may stand in the braces of an f-string that is enclosed in `quotes`. In all versions, `text` must not
// contain `quotes`. Before Python 3.12, `text` must also contain no backslash, and no line break if the quotes are a
// single character.
bool fits_in_braces(std::string_view text, std::string_view quotes, Version version) {
  if (text.find(quotes) != text.npos) return false;
  if (dialect_of(version).free_fstrings) return true;
  return text.find('\\') == text.npos && (quotes.size() > 1 || text.find('\n') == text.npos);
}

// Returns true if `field` nests deeper in format specifications than Python allows, for example `f"{a:{b:{c}}}"` before
// 3.12.
bool nests_too_deep(const FormattedValue& field, int spec_depth, Version version) {
  const int limit = dialect_of(version).free_fstrings ? 2 : 1;
  if (spec_depth < limit || !field.format_spec || is<ConstantExpr>(field.format_spec)) return false;
  auto* spec = as<JoinedStr>(field.format_spec);
  return !spec || !std::ranges::all_of(spec->values, [](const Expr* each) { return is<ConstantExpr>(each); });
}

}  // namespace

Level level_of_field(const Expr* value) {
  while (auto* choice = as<IfExp>(value)) value = choice->orelse;
  return is<Lambda>(value) ? Level::or_ : Level::test;
}

// Appends literal text of an f-string: escapes it for the quotes and doubles its braces.
void FStrings::append_piece(Text& out, const Piece& piece, Quotes quotes) {
  Text escaped;
  if (quotes.escapes) append_escaped(escaped, piece.text, quotes.text[0]);
  else escaped += piece.text;
  const bool in_spec = piece.kind == Piece::Kind::spec_literal;
  for (const char c : escaped.view()) {
    // Within a format specification, some versions of Python do not read doubled braces as braces, so braces in a
    // format specification become escapes.
    if (c == '{') out += in_spec ? "\\x7b" : "{{";
    else if (c == '}') out += in_spec ? "\\x7d" : "}}";
    else out += c;
  }
}

// Returns the text of a field's expression.
std::string FStrings::field_value(const Expr* value) {
  return breaks_.capture([&] {
    ++constants_.fields;
    exprs_.expr(value, level_of_field(value));
    --constants_.fields;
  });
}

void FStrings::add_field(std::vector<Piece>& pieces, std::string value, char conversion, const Expr* spec,
                         int spec_depth) {
  // A blank separates the brace of the field from the brace of a dict or set: `{ {1, 2} }`.
  std::string open = value.starts_with('{') ? "{ " : "{";
  open += value;
  if (conversion) (open += '!') += conversion;
  if (spec) open += ':';
  pieces.push_back({Piece::Kind::code, std::move(open)});
  if (spec) add_pieces(pieces, spec, spec_depth + 1);
  pieces.push_back({Piece::Kind::code, "}"});
}

// Appends the pieces of `part`. `spec_depth` counts the format specifications around `part`.
void FStrings::add_pieces(std::vector<Piece>& pieces, const Expr* part, int spec_depth) {
  auto* constant = as<ConstantExpr>(part);
  if (constant && constant->value->kind == Constant::Kind::string) {
    pieces.push_back({spec_depth > 0 ? Piece::Kind::spec_literal : Piece::Kind::literal, constant->value->text});
  } else if (auto* joined = as<JoinedStr>(part)) {
    for (const Expr* each : joined->values) add_pieces(pieces, each, spec_depth);
  } else if (auto* templ = as<TemplateStr>(part)) {
    for (const Expr* each : templ->values) add_pieces(pieces, each, spec_depth);
  } else if (auto* field = as<FormattedValue>(part); field && !nests_too_deep(*field, spec_depth, version_)) {
    add_field(pieces, field_value(field->value), field->conversion, field->format_spec, spec_depth);
  } else if (auto* interpolation = as<Interpolation>(part)) {
    const bool has_text = interpolation->shown != Interpolation::Shown::value;
    std::string value = has_text ? std::string(interpolation->text) : field_value(interpolation->value);
    add_field(pieces, std::move(value), interpolation->conversion, interpolation->format_spec, spec_depth);
  } else {
    // Any remaining kind of node, or a field that nests too deep, becomes a field of its own.
    add_field(pieces, field_value(part), 0, nullptr, spec_depth);
  }
}

// Returns the quotes that suit the pieces best, or nothing if no quotes are possible.
std::optional<FStrings::Quotes> FStrings::quotes_of(const std::vector<Piece>& pieces) const {
  const bool nests = dialect_of(version_).free_fstrings;
  auto fits = [&](std::string_view quotes) {
    return std::ranges::all_of(pieces, [&](const Piece& piece) {
      return piece.kind != Piece::Kind::code || fits_in_braces(piece.text, quotes, version_);
    });
  };
  if (!nests && constants_.fields > 0) {
    std::string literals;
    for (const Piece& piece : pieces)
      if (piece.kind != Piece::Kind::code) literals += piece.text;
    const bool has_braces = std::ranges::any_of(pieces, [](const Piece& piece) {
      return piece.kind == Piece::Kind::spec_literal && piece.text.find_first_of("{}") != std::string::npos;
    });
    for (std::string_view each : all_quotes)
      if (!has_braces && fits(each) && needs_no_escape(literals, each)) return Quotes{each, false};
  }
  auto in_literals = [&](char quote) {
    std::ptrdiff_t count = 0;
    for (const Piece& piece : pieces)
      if (piece.kind != Piece::Kind::code) count += std::ranges::count(piece.text, quote);
    return count;
  };
  // As for plain strings, the quotes that need fewer backslashes are preferred; the enum Quoting defines the usual
  // quotes.
  const std::string_view usual = constants_.fields > 0 ? "'" : "\"", other = constants_.fields > 0 ? "\"" : "'";
  const bool is_usual = fits(usual), both = is_usual && fits(other);
  if (is_usual && !(both && in_literals(usual[0]) > in_literals(other[0]))) return Quotes{usual, true};
  for (std::string_view each : {other, std::string_view("'''"), std::string_view("\"\"\"")})
    if (fits(each)) return Quotes{each, true};
  if (nests) return Quotes{usual, true};
  return std::nullopt;
}

void FStrings::quoted(std::string_view prefix, const std::vector<Piece>& pieces, Quotes quotes) {
  out_.write(prefix);
  out_.write(quotes.text);
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::code) out_.write(piece.text);
    else append_piece(out_.text(), piece, quotes);
  }
  out_.write(quotes.text);
}

// Prints an f-string between triple quotes if the source had it between triple quotes. Returns false, and prints
// nothing, if the source had no triple quotes. Positions of the parts prove triple quotes: the text behind the last
// line break of a literal must be as long as the end column of the literal.
bool FStrings::multiline_fstring(const JoinedStr& node, const Expr* whole) {
  const Position* place = positions_.code && breaks_.is_marking() && constants_.fields == 0
                              ? position_in(*positions_.code, whole)
                              : nullptr;
  if (!place || !dialect_of(version_).columns || node.is_percent || place->end_line <= place->line) return false;
  constexpr std::string_view quotes = "\"\"\"";
  const std::vector<Position> parts = part_positions(node, *place, int(quotes.size()));
  if (parts.size() != node.values.size()) return false;
  std::int32_t line_breaks = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Expr* part = node.values[i];
    const Constant* literal = constant_of(part, Constant::Kind::string);
    if (!literal) continue;
    const std::string_view text = literal->text;
    const std::size_t newline = text.rfind('\n');
    if (text.find('\r') != text.npos) return false;
    if (newline == text.npos) continue;
    if (std::int32_t(text.size() - newline - 1) != parts[i].end_column) return false;
    line_breaks += std::int32_t(std::ranges::count(text, '\n'));
  }
  // All lines of the f-string must come from line breaks in its literals.
  if (line_breaks != place->end_line - place->line) return false;
  std::vector<Piece> pieces;
  add_pieces(pieces, whole, 0);
  Text text;
  (text += 'f') += quotes;
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::literal) {
      Text escaped;
      append_lines(escaped, piece.text, 0, false);
      for (const char c : escaped.view()) text.append(c == '{' || c == '}' ? 2 : 1, c);
    } else if (piece.text.find('\n') != std::string::npos || !fits_in_braces(piece.text, quotes, version_)) {
      return false;
    } else if (piece.kind == Piece::Kind::code) {
      text += piece.text;
    } else {
      append_piece(text, piece, {quotes, true});
    }
  }
  out_.write(text.view());
  out_.write(quotes);
  breaks_.last_line = std::max(breaks_.last_line, place->end_line);
  return true;
}

// Prints an f-string as a raw literal if the width of its position shows that the source had a raw literal on one line;
// otherwise returns false, and prints nothing.
bool FStrings::raw_fstring(const Expr* whole, const std::vector<Piece>& pieces) {
  auto has_backslash = [](const Piece& piece) { return piece.text.find('\\') != std::string::npos; };
  if (!is<JoinedStr>(whole) || constants_.fields > 0 || std::ranges::none_of(pieces, has_backslash)) return false;
  const Position* place = positions_.of(whole);
  if (!place || place->column < 0 || place->line != place->end_line) return false;
  std::string literals;
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::literal) literals += piece.text;
    // The escapes for braces in a format specification mean something else in a raw literal.
    if (piece.kind == Piece::Kind::spec_literal && piece.text.find_first_of("\\{}'\"") != std::string::npos)
      return false;
  }
  const std::string_view quotes = literals.find('"') == std::string::npos ? "\"" : "'", prefix = "rf";
  if (!can_be_raw(literals, quotes)) return false;
  const bool fits = std::ranges::all_of(pieces, [&](const Piece& piece) {
    return piece.kind != Piece::Kind::code || fits_in_braces(piece.text, quotes, version_);
  });
  const auto width_with = [&](std::size_t prefix_size, Quotes chosen) {
    Text text;
    for (const Piece& piece : pieces) {
      if (piece.kind == Piece::Kind::code) text += piece.text;
      else append_piece(text, piece, chosen);
    }
    return prefix_size + 2 * quotes.size() + text.size();
  };
  const auto width = std::size_t(std::max(place->end_column - place->column, 0));
  if (!fits || width != width_with(prefix.size(), {quotes, false})) return false;
  // With a single backslash, the raw literal and the escaped literal have the same width. As a plain string, the f-string
  // is then printed raw only if the backslash probably belongs to a regular expression.
  if (width == width_with(1, {quotes, true}) && !has_class_of_regex(literals)) return false;
  quoted(prefix, pieces, {quotes, false});
  return true;
}

void FStrings::fstring(const Expr* expr) {
  if (auto* joined = as<JoinedStr>(expr); joined && (multiline_fstring(*joined, expr) || fstring_lines(*joined, expr)))
    return;
  const bool is_template = is<TemplateStr>(expr) || is<Interpolation>(expr);
  // Within fewer than four nested fields some kind of quotes is still unused; fields that nest deeper need the free
  // nesting of 3.12.
  if (dialect_of(version_).free_fstrings || constants_.fields < max_fields) {
    std::vector<Piece> pieces;
    add_pieces(pieces, expr, 0);
    if (raw_fstring(expr, pieces) || divided(expr, pieces)) return;
    if (const std::optional<Quotes> quotes = quotes_of(pieces)) return quoted(is_template ? "t" : "f", pieces, *quotes);
  }
  const bool in_field = constants_.fields > 0;
  // A higher value of `fields` prevents that nested fields are tried as f-strings again at each level, which would take
  // exponential time.
  if (in_field) ++constants_.fields;
  if (auto* joined = as<JoinedStr>(expr)) joined_calls(joined->values);
  else if (auto* field = as<FormattedValue>(expr)) format_call(*field);
  else out_.write("\"\"");  // unreachable for t-strings, which need 3.14, where quotes nest freely
  if (in_field) --constants_.fields;
}

void FStrings::percent_format(const JoinedStr& node, const Expr* whole) {
  Constant format;
  format.kind = Constant::Kind::string;
  std::vector<const Expr*> values;
  for (const Expr* part : node.values) {
    if (auto* field = as<FormattedValue>(part)) {
      format.text += percent_specifier(*field).value_or("%s");
      values.push_back(field->value);
      // A percent sign in literal text must be doubled in a format string.
    } else if (auto* text = constant_of(part, Constant::Kind::string)) {
      for (const char c : text->text) format.text += c == '%' ? "%%" : std::string(1, c);
    }
  }
  const bool is_divided = whole->line >= 0 && positions_.end_line(whole) > whole->line;
  if (!is_divided || !constants_.long_string(format)) constants_.constant_text(format);
  breaks_.mark(Mark::Kind::separator, -1, static_cast<std::uint8_t>(int(Level::atom) - int(Level::term)));
  out_.write(" % (");
  for (std::size_t i = 0; i < values.size(); ++i) {
    i == 0 ? breaks_.open(first_line(values[0])) : breaks_.comma(first_line(values[i]));
    exprs_.expr(values[i], Level::test);
  }
  if (values.size() == 1) out_.write(",");
  breaks_.close(values.size() > 1 ? whole : nullptr);
  out_.write(")");
}

// Prints an f-string as the calls to which it is equivalent, for places where no kind of quotes is left. For example,
// f"{a}{b!r:>4}" becomes "".join([format(a), format(repr(b), ">4")]).
void FStrings::joined_calls(List<Expr*> parts) {
  out_.write(constants_.fields > 0 ? "''.join([" : "\"\".join([");
  bool first = true;
  for (const Expr* each : parts) {
    if (!first) out_.write(", ");
    first = false;
    if (auto* field = as<FormattedValue>(each)) format_call(*field);
    else if (is<ConstantExpr>(each) || is<JoinedStr>(each)) exprs_.expr(each, Level::test);
    // A node that is neither a literal nor a FormattedValue is a value without conversion or format specification.
    else format_call({const_cast<Expr*>(each), 0, nullptr});
  }
  out_.write("])");
}

void FStrings::format_call(const FormattedValue& field) {
  const std::string_view convert = field.conversion == 's'   ? "str("
                                   : field.conversion == 'r' ? "repr("
                                   : field.conversion == 'a' ? "ascii("
                                                             : "";
  out_.write("format(");
  out_.write(convert);
  exprs_.expr(field.value, Level::test);
  if (!convert.empty()) out_.write(")");
  if (field.format_spec) out_.write(", "), exprs_.expr(field.format_spec, Level::test);
  out_.write(")");
}

}  // namespace depyf::print
