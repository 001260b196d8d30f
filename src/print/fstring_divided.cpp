// Divides f-strings that no line has room for into several adjacent strings.
#include <utility>

#include "ast/position.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "print/fstring_parts.h"

namespace depyf::print {

using namespace ast;

// Sets the quotes of each line that is printed as an f-string. Returns false if no quotes are possible for some line.
bool FStrings::can_be_lines(std::vector<StringLine>& lines) const {
  for (StringLine& line : lines) {
    if (!line.has_field && !line.has_prefix) continue;
    const std::optional<Quotes> quotes = quotes_of(line.pieces);
    if (!quotes) return false;
    line.quotes = *quotes;
  }
  return true;
}

// A line without fields is printed as a plain string, unless the source had the prefix `f` in front of it.
void FStrings::string_line(const StringLine& line) {
  if (line.has_field || line.has_prefix) return quoted("f", line.pieces, line.quotes);
  Constant literal;
  literal.kind = Constant::Kind::string;
  for (const Piece& piece : line.pieces) literal.text += piece.text;
  constants_.constant_text(literal);
}

// Prints an f-string that no line has room for as several adjacent strings, which end behind words, as `long_string`
// does with other strings. Returns false, and prints nothing, if the f-string is short, or if the source had it on one
// line.
bool FStrings::divided(const Expr* whole, const std::vector<Piece>& pieces) {
  constexpr std::size_t long_text = 100, usual_width = 72;
  if (!as<JoinedStr>(whole) || constants_.fields > 0 || !breaks_.is_marking()) return false;
  const Position* place = positions_.code ? position_in(*positions_.code, whole) : nullptr;
  const bool knows_end = dialect_of(version_).columns && place && place->line >= 0;
  if (knows_end && place->line == place->end_line) return false;
  const auto width_of = [](const Piece& piece) {
    return piece.kind == Piece::Kind::code ? piece.text.size() : escaped_size(piece.text);
  };
  std::size_t all = 0;
  for (const Piece& piece : pieces) all += width_of(piece);
  if (all < long_text) return false;
  std::vector<StringLine> lines;
  lines.push_back({});
  std::size_t width = 0;
  const auto next_line = [&] {
    if (width > 0) lines.push_back({});
    width = 0;
  };
  int depth = 0;  // the number of open braces
  for (const Piece& piece : pieces) {
    if (piece.kind != Piece::Kind::literal) {
      const bool closes = piece.kind == Piece::Kind::code && piece.text == "}";
      if (depth == 0 && width + piece.text.size() > usual_width) next_line();
      if (piece.kind == Piece::Kind::code) depth += closes ? -1 : 1;
      lines.back().has_field = true;
      lines.back().pieces.push_back(piece);
      width += width_of(piece);
      continue;
    }
    // Splits the text into words, each with the blank or the line break behind it.
    for (std::string_view text = piece.text; !text.empty();) {
      const std::size_t blank = text.find_first_of(" \n");
      const std::size_t end = blank == text.npos ? text.size() : blank + 1;
      const std::string_view word = text.substr(0, end);
      const bool has_room = width + escaped_size(word) <= usual_width || word == " ";
      if (width > 0 && !has_room) next_line();
      auto& line = lines.back().pieces;
      if (line.empty() || line.back().kind != Piece::Kind::literal) line.push_back({Piece::Kind::literal, {}});
      line.back().text += word;
      width += escaped_size(word);
      if (word.back() == '\n' && end < text.size()) next_line();
      text.remove_prefix(end);
    }
  }
  if (lines.back().pieces.empty()) lines.pop_back();
  if (lines.size() < 2 || !can_be_lines(lines)) return false;
  for (const StringLine& each : lines) {
    if (&each != &lines[0]) {
      // The invented source lines 0 before the mark and 1 behind the mark force a line break at the mark.
      const std::int32_t line = std::exchange(breaks_.last_line, 0);
      breaks_.mark(Mark::Kind::separator, 1, string_priority), out_.write(" ");
      breaks_.last_line = line;
    }
    string_line(each);
  }
  return true;
}

}  // namespace depyf::print
