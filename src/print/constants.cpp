#include "print/constants.h"

#include <algorithm>
#include <utility>

#include "ast/position.h"
#include "dialect/dialect.h"
#include "print/docstring.h"
#include "print/literal.h"
#include "print/raw_string.h"
#include "support/table.h"

namespace depyf::print {

using namespace ast;

namespace {

// Returns the size of a single byte as repr escapes it; a byte that is not ASCII becomes a lone surrogate.
constexpr std::size_t escaped_size(char c) {
  const auto byte = static_cast<unsigned char>(c);
  constexpr std::size_t named = 2, numbered = 4, surrogate = 6;  // the sizes of `\n`, `\x00` and `\udc80`
  if (byte >= 0x80) return surrogate;
  if (c == '\\' || c == '\n' || c == '\r' || c == '\t') return named;
  return byte < 0x20 || byte == 0x7f ? numbered : 1;
}

}  // namespace

std::size_t escaped_size(std::string_view text) {
  if (is_plain(text, 0)) return text.size();
  auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (is_ascii(text[at])) {
      size += escaped_size(text[at++]);
      continue;
    }
    const auto end = std::size_t(std::ranges::find_if(text.substr(at), is_ascii) - text.begin());
    Text escaped;
    append_escaped(escaped, text.substr(at, end - at), 0);
    size += escaped.size();
    at = end;
  }
  return size;
}

std::size_t balanced_width(std::string_view text, std::size_t lines, std::size_t used, std::size_t usual) {
  if (lines == 0 || text.size() > lines * usual) return usual;
  auto holds = [&](std::size_t width) {
    std::size_t at = 0, left = lines;
    for (std::size_t room = width - used; at < text.size() && left > 0; room = width, --left) {
      const std::size_t size = filled_line(text.substr(at), room);
      if (size == 0) break;
      at += size;
    }
    return at == text.size();
  };
  // If some width suffices for the text, each greater width does, too, because with a greater width no line ends
  // earlier. A binary search, which starts at the average width, finds the least width that suffices.
  std::size_t least = std::max((text.size() + used) / lines, used + 1), known = usual;
  while (least < known) {
    const std::size_t middle = least + (known - least) / 2;
    if (holds(middle)) known = middle;
    else least = middle + 1;
  }
  return known;
}

std::size_t filled_line(std::string_view text, std::size_t width) {
  if (text.size() <= width) return text.size();
  if (width == 0) return 0;
  const std::string_view line = text.substr(0, width);
  // `find` is called before `rfind`, because `find` compares many bytes at a time, and most texts contain no line
  // break.
  const std::size_t end = line.rfind(line.find('\n') == line.npos ? ' ' : '\n');
  return end == line.npos ? 0 : end + 1;
}

// Prints the items of a tuple or frozenset that the compiler folded into one constant, whose items have no positions.
// `line` is the source line of the first item, or -1 if it is unknown, and each further item is `step` lines below its
// predecessor.
void Constants::constant_items(const Constant& constant, std::int32_t line, int step) {
  bool first = true;
  std::vector<const Constant*> items;
  for (const Constant& item : constant.items) items.push_back(&item);
  // The order of a set depends on hashes, which change from run to run, so the items are sorted.
  if (constant.kind == Constant::Kind::frozenset)
    std::ranges::sort(items, precedes_in_set, [](auto* item) -> const Constant& { return *item; });
  for (const Constant* item : items) {
    if (!first) breaks_.comma(line >= 0 ? line += step : -1);
    first = false;
    if (line >= 0) breaks_.last_line = line;
    this->constant(nullptr, *item);
  }
  if (constant.kind == Constant::Kind::tuple && constant.items.size() == 1) out_.write(",");
}

void Constants::constant(const Expr* leaf, const Constant& constant, bool bracketed) {
  using Kind = Constant::Kind;
  if (constant.kind == Kind::string || constant.kind == Kind::bytes) return string(leaf, constant);
  const bool is_display = (constant.kind == Kind::tuple || constant.kind == Kind::frozenset) && !constant.items.empty();
  // Inside the braces of an f-string no line may break, so the tuple or set is printed as plain text.
  if (is_display && fields == 0) return display(leaf, constant, bracketed);
  constant_text(constant);
}

void Constants::string(const Expr* leaf, const Constant& constant) {
  bool is_divided = !leaf && may_divide;
  if (leaf) {
    const Position* position = positions_.of(leaf);
    // A string may contain line breaks, so its text reaches the line on which it ends.
    breaks_.reached_line(position ? std::max(leaf->line, position->end_line) : leaf->line);
    if (!has_usual_width(position, constant)) {
      if (raw_string(leaf, constant)) return;
      if (constant.kind == Constant::Kind::string && multiline_string(leaf, constant)) return;
      is_divided = is_folded(leaf, constant);
    }
  }
  // From 3.11 on, positions show whether the source had a long string on one line or divided it.
  if ((is_divided || !dialect_of(version_).columns) && long_string(constant)) return;
  constant_text(constant);
}

// Only the first and the last line of a folded tuple are known. If a folded tuple has more lines than items, each item
// is printed on a line of its own; otherwise the items share one line within the brackets.
void Constants::display(const Expr* leaf, const Constant& constant, bool bracketed) {
  const std::int32_t more = leaf ? positions_.end_line(leaf) - leaf->line : 0;
  const bool spread = leaf && leaf->line >= 0 && more > 0;
  const bool one_by_one = more > std::int32_t(constant.items.size());
  const std::int32_t line = spread ? leaf->line + 1 : -1;
  const bool tuple = constant.kind == Constant::Kind::tuple;
  // If the tuple had more lines than it has items and brackets, the source divided strings in it into several literals.
  const bool outer = std::exchange(may_divide, may_divide || more > std::int32_t(constant.items.size()) + 1);
  if (bracketed) out_.write(tuple ? "(" : "{"), breaks_.open(line);
  constant_items(constant, line, one_by_one ? 1 : 0);
  may_divide = outer;
  if (spread) breaks_.last_line = std::max(breaks_.last_line, leaf->line + more - 1);
  if (bracketed) breaks_.close(leaf), out_.write(tuple ? ")" : "}");
}

// Returns true if the source had the string on one line, without a prefix and without escapes between its two quotes.
bool Constants::has_usual_width(const Position* position, const Constant& constant) {
  constexpr std::size_t quotes = 2;
  return position && position->column >= 0 && position->line == position->end_line &&
         constant.kind == Constant::Kind::string &&
         std::size_t(position->end_column - position->column) == constant.text.size() + quotes;
}

// Prints a string or bytes as a raw literal if the width of its position shows that the source had a raw literal on one
// line; otherwise returns false, and prints nothing.
bool Constants::raw_string(const Expr* leaf, const Constant& constant) {
  const bool is_bytes = constant.kind == Constant::Kind::bytes;
  if ((constant.kind != Constant::Kind::string && !is_bytes) || fields > 0) return false;
  const Position* position = positions_.of(leaf);
  if (!position || position->column < 0 || position->line != position->end_line) return false;
  // The position of most strings has another width than a raw literal, so the width is tested first.
  constexpr std::size_t quotes = 2;
  const std::string_view prefix = is_bytes ? "rb" : "r";
  const auto width = std::size_t(std::max(position->end_column - position->column, 0));
  if (width != prefix.size() + constant.text.size() + quotes || !positions_.has_own_position(leaf, constant))
    return false;
  const std::string_view quote = constant.text.find('"') == std::string::npos ? "\"" : "'";
  if (!can_be_raw(constant.text, quote)) return false;
  if (is_bytes && std::ranges::any_of(constant.text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return false;
  // With a single backslash in the text, the raw literal and the escaped literal have the same width. The literal is
  // then printed raw only if the backslash probably belongs to a regular expression.
  Text literal;
  append_literal(literal, constant, Quoting::usual, version_);
  if (literal.size() == width && !has_class_of_regex(constant.text)) return false;
  out_.write(prefix), out_.write(quote), out_.write(constant.text), out_.write(quote);
  return true;
}

// Prints a string that the source wrote between triple quotes, or as several strings on lines of their own. Returns
// false, and prints nothing, if positions do not show that the string stood on several lines.
bool Constants::multiline_string(const Expr* leaf, const Constant& constant) {
  const std::int32_t more = positions_.end_line(leaf) - leaf->line;
  if (more <= 0 || leaf->line < 0 || fields > 0 || !breaks_.is_marking() ||
      !positions_.has_own_position(leaf, constant) || constant.text.find('\r') != std::string::npos)
    return false;
  // If the text has as many line breaks as its position has (`more`), the source had one string in triple quotes, or
  // several strings that each end in a line break. The column at which the last string of the source ended
  // distinguishes one string from several strings.
  const bool by_newline = ends_by_newline(leaf, constant.text, more);
  if (line_breaks_in(constant.text) == more && !by_newline && may_be_triple_quoted(leaf, constant.text)) {
    append_docstring(out_.text(), constant.text, 0);
  } else if (!by_newline && starts_below_quotes(leaf, constant.text, more)) {
    out_.write("\"\"\"\\\n");
    append_lines(out_.text(), constant.text, 0, false);
    out_.write("\"\"\"");
  } else {
    joined_string(leaf, constant, by_newline);
  }
  return true;
}

// Returns false if the last line of the text, which needs no escape, has another width than between triple quotes.
bool Constants::may_be_triple_quoted(const Expr* leaf, std::string_view text) const {
  const std::string_view last = text.substr(text.rfind('\n') + 1);
  return !is_plain(last, 0) || ends_triple_quoted(leaf, last);
}

// Returns true if the position of `leaf` ends where `last`, the last line of a text, and triple quotes end.
bool Constants::ends_triple_quoted(const Expr* leaf, std::string_view last) const {
  constexpr std::int32_t triple_quotes = 3;
  return ast::positions_of(*positions_.code)[leaf->offset / 2].end_column == std::int32_t(last.size()) + triple_quotes;
}

// Returns true if the text begins on the line below its triple quotes, behind which the source had a backslash. The
// position of `leaf` ends `more` lines below the line on which it starts.
bool Constants::starts_below_quotes(const Expr* leaf, std::string_view text, std::int32_t more) const {
  return line_breaks_in(text) + 1 == more && ends_triple_quoted(leaf, text.substr(text.rfind('\n') + 1));
}

// Returns true if the source had a separate string literal for each line of `text`. The position of `leaf` ends `more`
// lines below the line on which it starts.
bool Constants::ends_by_newline(const Expr* leaf, std::string_view text, std::int32_t more) const {
  constexpr std::int32_t quotes = 2, triple_quotes = 3;
  const std::size_t newline = text.size() < 2 ? text.npos : text.rfind('\n', text.size() - 2);
  if (newline == text.npos) return false;
  const std::string_view last = text.substr(newline + 1);
  if (line_breaks_in(text) - (last.back() == '\n') != more) return false;
  const Position& position = ast::positions_of(*positions_.code)[leaf->offset / 2];
  if (last.back() != '\n' && position.end_column == std::int32_t(last.size()) + triple_quotes) return false;
  return position.end_column == position.column + quotes + std::int32_t(escaped_size(last));
}

// Prints a string that the source wrote as several adjacent strings, one on each line. The end column of the constant's
// position shows how long the last string was. The lengths of the strings before the last are unknown, so these strings
// are filled up to the least width that suffices for the number of lines. If `by_newline` is true, each string ends
// behind a line break of the text. For example, the source had `x = ("first half "` on one line, and
// `"second half")` on the next line.
void Constants::joined_string(const Expr* leaf, const Constant& constant, bool by_newline) {
  const Position& position = ast::positions_of(*positions_.code)[leaf->offset / 2];
  constexpr std::size_t usual_width = 88, longest_part = 100;
  const std::size_t column = std::size_t(std::max(position.column, 0));
  const std::size_t last_width =
      // Two columns of the last string belong to its quotes.
      std::size_t(std::max(position.end_column - position.column - 2, 0));
  const std::size_t width = usual_width - std::min(column + 2, usual_width / 2);
  const std::string_view text = constant.text;
  // Returns true if the byte at `at` starts a UTF-8 character.
  auto is_start = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80; };
  // Search backwards for the longest tail of the text whose escaped form has the width of the last of the adjacent
  // string literals. A string literal must not end within a UTF-8 character.
  std::size_t last = text.size(), tail_width = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    if (!is_start(at)) continue;
    tail_width += escaped_size(text.substr(at, last - at));
    if (tail_width > last_width) break;
    last = at;
  }
  // If the whole text fits into the width of the last source line, the position belongs to a larger expression, in
  // which the compiler folded several strings.
  if (last == 0 && long_string(constant)) return;
  const auto lines = std::size_t(std::max(position.end_line - position.line, 0));
  const std::size_t balanced = balanced_width(text.substr(0, last), lines, 0, width);
  Table<std::size_t> ends;  // the ends of the parts
  std::int32_t left = position.end_line - position.line;
  for (std::size_t at = 0; at < text.size(); at = ends.back(), --left) {
    std::size_t end = last;
    if (by_newline) {
      const std::size_t newline = text.find('\n', at);
      end = newline == text.npos ? text.size() : newline + 1;
    } else if (at >= last || left <= 0) {
      // A source with too few lines for the parts did not divide the string in this way.
      if (at < last && escaped_size(text.substr(at)) > longest_part && long_string(constant)) return;
      end = text.size();
    } else if ((left > 1 || last - at > longest_part) && last - at > balanced) {
      // A string that another string follows ends behind a line break if possible, else behind a blank, else at the
      // usual width.
      const std::size_t filled = filled_line(text.substr(at, last - at), balanced);
      end = at + (filled > 0 ? filled : width);
      while (end < last && !is_start(end)) ++end;
    }
    ends.push_back(end);
  }
  Constant part;
  part.kind = Constant::Kind::string;
  std::int32_t line = breaks_.last_line = position.line;
  std::size_t at = 0;
  for (const std::size_t end : ends) {
    part.text = text.substr(at, end - at);
    if (at > 0) breaks_.mark(Mark::Kind::separator, ++line, string_priority), out_.write(" ");
    constant_text(part);
    at = end;
  }
  breaks_.last_line = std::max(breaks_.last_line, position.end_line);
}

// Returns true if the source had an expression such as `"ab" * 50` for this constant, or a literal on several lines.
bool Constants::is_folded(const Expr* leaf, const Constant& constant) const {
  const Position* position = positions_.of(leaf);
  if (!position || position->column < 0) return false;
  const bool is_shorter = position->line < position->end_line ||
                          std::size_t(position->end_column - position->column) < constant.text.size();
  return is_shorter && positions_.has_own_position(leaf, constant);
}

bool Constants::long_string(const Constant& constant, std::size_t least) {
  constexpr std::size_t usual_width = 72;
  const std::string_view text = constant.text;
  if (fields > 0 || !breaks_.is_marking()) return false;
  if (text.size() < least / 4 || escaped_size(text) < least) return false;
  Constant part;
  part.kind = constant.kind;
  auto is_start = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80; };
  // The loop writes `text` in parts. `from` is the start of the part that is written next, and `blank` is the end of
  // the last word that fits into this part; `blank` equals `from` as long as no word has ended.
  std::size_t width = 0, from = 0, blank = 0;
  auto write = [&](std::size_t end) {
    if (from > 0) {
      // The invented source lines 0 before the mark and 1 behind the mark force a line break at the mark.
      const std::int32_t line = std::exchange(breaks_.last_line, 0);
      breaks_.mark(Mark::Kind::separator, 1, string_priority), out_.write(" ");
      breaks_.last_line = line;
    }
    part.text = text.substr(from, end - from);
    constant_text(part);
    from = blank = end, width = 0;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > from && width > usual_width && is_start(at)) {
      const std::size_t end = blank > from ? blank : at;
      write(end);
      at = end;
    }
    width += escaped_size(text[at]);
    if (text[at] == ' ') blank = at + 1;
    if (text[at] == '\n' && at + 1 < text.size() && width > usual_width / 4) write(at + 1);
  }
  write(text.size());
  return true;
}

bool Constants::divided_annotation(const Expr* annotation) {
  constexpr std::size_t least = 73;  // the number of columns from which a string is divided into several parts
  const Constant* text = wide_annotation(annotation);
  if (!text) return false;
  breaks_.optional_brackets(-1, [&] {
    if (!long_string(*text, least)) constant_text(*text);
  });
  return true;
}

// Returns the text of an annotation that is a string whose columns are unknown, and that is too wide for a line; null
// for any other annotation.
const Constant* Constants::wide_annotation(const Expr* annotation) const {
  constexpr std::size_t longest_line = 120, quotes = 2, behind = std::string_view(" = None,").size();
  const Constant* text = constant_of(annotation, Constant::Kind::string);
  if (!text || text->text.size() < longest_line / 6) return nullptr;
  const Position* position = positions_.of(annotation);
  if (position && position->column >= 0 && positions_.has_own_position(annotation, *text)) return nullptr;
  const std::size_t in_front = out_.indent() + indentation + breaks_.columns_since_mark();
  return in_front + quotes + escaped_size(text->text) + behind > longest_line ? text : nullptr;
}

void Constants::constant_text(const Constant& constant) {
  // Before Python 3.12 the braces of an f-string must not contain a backslash.
  const Quoting quoting = fields == 0                          ? Quoting::usual
                          : dialect_of(version_).free_fstrings ? Quoting::in_field
                                                               : Quoting::no_backslash;
  if (constant.kind == Constant::Kind::string) append_string(out_.text(), constant.text, quoting);
  else append_literal(out_.text(), constant, quoting, version_);
}

}  // namespace depyf::print
