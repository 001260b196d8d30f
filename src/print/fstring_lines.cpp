// Finds the lines of f-strings that the source wrote as several strings, one on each line.
#include <algorithm>

#include "ast/position.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "print/fstring.h"
#include "print/fstring_parts.h"
#include "print/literal.h"
#include "print/operands.h"

namespace depyf::print {

using namespace ast;

namespace {

// Returns the offset at which the last `width` columns of the escaped `text` begin; `text.size()` if no character
// begins exactly there.
std::size_t last_columns(std::string_view text, std::int32_t width) {
  std::size_t size = 0, behind = text.size();
  for (std::size_t at = text.size(); at-- > 0;) {
    // Bytes of the form 10xxxxxx continue a UTF-8 character.
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    size += escaped_size(text.substr(at, behind - at));
    if (std::int32_t(size) == width) return at;
    if (std::int32_t(size) > width) break;
    behind = at;
  }
  return text.size();
}

}  // namespace

// Returns where the parts of an f-string stood in the source; an empty list if that is unknown. In 3.11 only the values
// of fields have positions, and the positions of literals are computed from those of the fields and from the number of
// closing quotes, `closing`.
std::vector<Position> FStrings::part_positions(const JoinedStr& node, const Position& place, int closing) const {
  constexpr std::int32_t opening = 2;  // columns of `f"`
  std::vector<Position> result;
  const bool is_known = dialect_of(version_).fstring_positions;
  Position last = place;
  last.end_line = place.line, last.end_column = place.column + opening;
  for (const Expr* part : node.values) {
    auto* field = as<FormattedValue>(part);
    const Expr* leaf = is_known ? part : field ? first_leaf(field->value) : nullptr;
    const Position* position = leaf ? position_in(*positions_.code, leaf) : nullptr;
    if (!position && (leaf || is_known)) return {};
    if (is_known) {
      result.push_back(*position);
      continue;
    }
    Position here = last;
    here.line = last.end_line, here.column = last.end_column;
    if (field) {
      here.line = position->line, here.column = position->column - 1;  // the column of the brace
      const Position* end = position_in(*positions_.code, field->value);
      if (!end) return {};
      here.end_line = end->end_line, here.end_column = end->end_column + 1 + (field->conversion ? 2 : 0);
      if (auto* spec = constant_of(field->format_spec, Constant::Kind::string))
        here.end_column += 1 + std::int32_t(escaped_size(spec->text));
      // The literal in front of a field ends at the opening brace of the field.
      if (!result.empty() && is<ConstantExpr>(node.values[result.size() - 1]))
        result.back().end_line = here.line, result.back().end_column = here.column;
    } else {
      here.end_line = place.end_line, here.end_column = place.end_column - closing;
      // The string on the last line is assumed to be a plain string if the text that fits between two plain quotes on
      // that line begins at the start of a word. For a plain string, `end_column` is set to the column behind the
      // closing quote: `add_literal_lines` subtracts two columns, which are `f"` of an f-string, but the two quotes of
      // a plain string.
      const std::string_view text = as<ConstantExpr>(part) ? as<ConstantExpr>(part)->value->text : std::string_view();
      const std::size_t tail = closing > 1 ? 0 : last_columns(text, place.end_column - place.column - opening);
      if (tail > 0 && tail < text.size() && (text[tail - 1] == ' ' || text[tail - 1] == '\n' || text[tail] == ' '))
        here.end_column = place.end_column;
    }
    result.push_back(last = here);
  }
  return result;
}

// Splits a literal of an f-string into the lines that it had in the source, starting on the last of `lines`. The end
// column of `position` shows how much of the literal was on its last line. Returns false if the lines cannot be
// determined.
bool FStrings::add_literal_lines(std::vector<StringLine>& lines, const Expr* part, const Position& position,
                                 std::int32_t column) {
  constexpr std::int32_t quotes = 2;  // columns of `f"` before the text, or of the quotes on both sides
  constexpr std::size_t usual_width = 88;
  std::string_view text = as<ConstantExpr>(part)->value->text;
  const std::int32_t last_width = position.end_column - column - quotes;
  // In 3.11 a literal ends at the brace of the next field, so a width of 0 shows that a new string begins with the
  // field.
  const bool is_field_next = last_width == 0;
  const std::size_t last = position.end_line == position.line ? 0 : last_columns(text, last_width);
  const std::size_t newline = text.rfind('\n');
  // In a string with triple quotes, the text after the last line break ends exactly at the end column.
  const bool is_one_string = newline != text.npos && std::int32_t(text.size() - newline - 1) == position.end_column;
  if ((last == text.size() && !is_field_next) || (position.end_line > position.line && is_one_string)) return false;
  // Only the length of the last string is known, so all strings in front of it are filled up to the same width. The
  // first line may have other parts of the f-string in front of the literal.
  const std::size_t usual = usual_width - std::min(std::size_t(column) + quotes, usual_width / 2);
  const bool is_continued = !lines.back().pieces.empty() && position.column > column;
  const auto count = std::size_t(std::max(position.end_line - position.line, 0));
  std::size_t used = is_continued ? std::size_t(position.column - column - 1) : 0;
  const std::size_t width = balanced_width(text.substr(0, last), count, used, usual);
  for (std::int32_t line = position.line; line < position.end_line; ++line) {
    std::size_t end = last - std::size_t(text.data() - as<ConstantExpr>(part)->value->text.data());
    if (line + 1 < position.end_line) end = filled_line(text.substr(0, end), width - std::min(used, width));
    used = 0;
    // In 3.11 the whole literal may stand below the line on which its position starts, and the line of the position
    // would be empty.
    if (end == 0 && lines.back().pieces.empty()) return false;
    if (end > 0) lines.back().pieces.push_back({Piece::Kind::literal, std::string(text.substr(0, end))});
    lines.push_back({line + 1, {}});
    text.remove_prefix(end);
  }
  if (!text.empty()) lines.back().pieces.push_back({Piece::Kind::literal, std::string(text)});
  return true;
}
// Finds which of the lines without a field had the prefix `f` in the source. For the first and the last line, the
// columns show whether the line had the prefix. All lines between the first and the last line are assumed to be written
// like these two lines.
void FStrings::find_prefixes(std::vector<StringLine>& lines, const std::vector<Position>& parts,
                             const Position& place) {
  StringLine &first = lines.front(), &last = lines.back();
  first.has_prefix = parts.front().column > place.column;
  last.has_prefix = parts.back().end_column < place.end_column;
  const bool is_first_known = !first.has_field, is_last_known = !last.has_field;
  const bool usual =
      (is_first_known || is_last_known) && (!is_first_known || first.has_prefix) && (!is_last_known || last.has_prefix);
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) lines[i].has_prefix = usual;
}

// Prints an f-string that the source wrote as several strings, one on each line. Returns false, and prints nothing, if
// the positions of the parts do not show which part stood on which line.
bool FStrings::fstring_lines(const JoinedStr& node, const Expr* whole) {
  const Position* place = positions_.code && breaks_.is_marking() && constants_.fields == 0
                              ? position_in(*positions_.code, whole)
                              : nullptr;
  if (!place || !dialect_of(version_).columns || place->column < 0 || place->end_line <= place->line) return false;
  const std::vector<Position> parts = part_positions(node, *place, 1);
  if (parts.empty() || parts.size() != node.values.size()) return false;
  std::vector<StringLine> lines{{place->line, {}}};
  std::int32_t line = place->line;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Position& position = parts[i];
    if (position.line < line || position.end_column < 0) return false;
    if (position.line > line) lines.push_back({position.line, {}});
    line = position.end_line;
    if (is<ConstantExpr>(node.values[i])) {
      if (!add_literal_lines(lines, node.values[i], position, place->column)) return false;
    } else {
      add_pieces(lines.back().pieces, node.values[i], 0);
      lines.back().has_field = true;
    }
  }
  if (dialect_of(version_).fstring_positions) find_prefixes(lines, parts, *place);
  if (std::ranges::any_of(lines, [](const StringLine& each) { return each.pieces.empty(); })) return false;
  if (!can_be_lines(lines)) return false;
  breaks_.last_line = place->line;
  for (const StringLine& each : lines) {
    if (&each != &lines[0]) {
      breaks_.mark(Mark::Kind::separator, each.line, string_priority);
      // Adjacent strings are joined by the compiler, so a line break or a blank between them changes nothing.
      out_.write(" ");
      breaks_.anchor_at(each.line, place->column);
    }
    string_line(each);
  }
  breaks_.last_line = std::max(breaks_.last_line, place->end_line);
  return true;
}

}  // namespace depyf::print
