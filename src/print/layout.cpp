#include "print/layout.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "support/utf8.h"

namespace depyf::print {
namespace {

// A line that is still too long after this many nested splits stays as it is, because no code that people write nests
// that deep.
constexpr int steps_max = 60;
// A line that exceeds the width, but not this length, is split neither before a single attribute nor within brackets
// that close on a later line.
constexpr std::size_t longest_line = 120;
constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

// Decides at which marks the line breaks. The most certain facts are used first: source lines, then columns, then the
// rule that the two brackets of a pair break alike, and at last the width of the lines.
class Layout {
 public:
  Layout(std::string_view text, std::span<Mark> marks, std::span<const Anchor> anchors, const Lines& lines)
      : text_(text), marks_(marks), anchors_(anchors), lines_(lines), states_(marks.size()) {}

  void append_to(Text& result) {
    follow_lines(marks_, states_);
    follow_columns(text_, marks_, anchors_, lines_.indent, states_);
    complete_groups();
    split();
    render(result);
  }

 private:
  using Kind = Mark::Kind;
  using State = BreakState;
  // The text and the marks between two breaks.
  struct Line {
    int first, last;  // indices of marks, `last` exclusive
    std::size_t from, to;  // offsets in the text
    std::size_t indent;
    std::int32_t source;  // the line of the source; -1 if it is unknown
  };

  // Removes the marks of redundant brackets that columns do not prove; the kept marks move to the front. Also completes
  // the states of brackets without positions. A line break at a separator within brackets requires a line break behind
  // the opening bracket. A line break behind an opening bracket requires a line break before its closing bracket.
  void complete_groups() {
    const int given = int(marks_.size());
    Pairing pairs(states_);
    for (int i = 0; i < given; ++i) {
      const Mark& mark = this->mark(i);
      if (mark.is_hint && mark.kind == Kind::open && is_apart(i) && partner(i) >= 0)
        this->mark(i).is_hint = this->mark(partner(i)).is_hint = false;
      if (mark.is_hint) continue;
      const int index = count_++;
      this->mark(index) = mark;
      MarkState& state = this->state(index);
      state.state = this->state(i).state;
      state.last_comma = -1;
      const int opening = pairs.add(index, mark.kind);
      if (opening < 0) [[unlikely]] {
        state.state = State::together;
        continue;
      }
      // The processor could not predict branches on the kinds of the marks, so the states are computed without
      // branches.
      MarkState& open = this->state(opening);
      const bool follows_open = (mark.kind == Kind::close) & (state.state == State::unknown);
      const bool spreads = (mark.kind == Kind::separator) & state.is_apart() & (open.state == State::unknown);
      state.state = select(follows_open, open.state, state.state);
      open.state = select(spreads, State::apart, open.state);
      open.last_comma = select(mark.is_comma(), index, open.last_comma);
    }
    pairs.finish();
  }

  // Cuts the text into lines where the source had breaks, and then fits each line into the width. If a line is too long
  // because of its indentation, the indentation of all lines is bounded.
  void split() {
    std::vector<Line> lines = cut(unbounded);
    const bool is_too_deep = std::ranges::any_of(lines, [&](const Line& line) {
      const std::size_t limit = lines_.limit(line.source);
      return line.indent > deepest_indent(limit) && line.indent + columns(line.from, line.to) > limit;
    });
    if (is_too_deep) lines = cut(deepest_indent(lines_.limit(-1)));
    for (const Line& each : lines) fit(each, lines_.limit(each.source), 0);
  }

  // True if the line is no longer than the width, as most lines are, so that its own limit need not be computed.
  bool fits_width(const Line& line) const {
    return line.to <= line.from || line.indent + (line.to - line.from) <= lines_.width;
  }

  // Returns the largest indentation of text within brackets that leaves room for the text itself in a line of `limit`
  // columns.
  std::size_t deepest_indent(std::size_t limit) const { return std::max(lines_.indent + indentation, limit * 3 / 5); }

  // Divides the text into lines at the line breaks of the source, and indents each line by at most `deepest` columns.
  // Returns the lines that are longer than the width.
  std::vector<Line> cut(std::size_t deepest) {
    Line line{0, 0, lines_.indent, lines_.indent, lines_.indent, lines_.first};
    std::vector<Line> result;
    for (int i = 0; i < count_; ++i) {
      const Mark& mark = this->mark(i);
      const bool apart = is_apart(i);
      // If the line does not break behind an opening bracket, the content of the bracket is aligned with the column
      // behind the bracket. `content` and `outside` are set for marks of all kinds, because the processor could not
      // predict a branch on the kind, but they are read only for opening brackets.
      const std::size_t column = line.indent + (mark.at - line.from) + (mark.optional ? 1 : 0);
      state(i).content = std::min(select(apart, line.indent + indentation, column), deepest);
      state(i).outside = line.indent;
      if (!apart) continue;
      const MarkState& group = state(opening(i));
      break_at(i, mark.kind == Kind::close ? group.outside : group.content);
      line.last = i, line.to = mark.at;
      if (!fits_width(line)) result.push_back(line);
      // The blank behind a separator is dropped at a line break.
      const std::size_t from = mark.at < text_.size() && text_[mark.at] == ' ' ? mark.at + 1 : mark.at;
      line = {i + 1, i + 1, from, from, state(i).indent, mark.line};
    }
    line.last = count_, line.to = text_.size();
    if (!fits_width(line)) result.push_back(line);
    return result;
  }

  // Returns the number of characters, not bytes, in the text from offset `from` to `to`.
  std::size_t columns(std::size_t from, std::size_t to) const { return characters_in(text_.substr(from, to - from)); }

  // Breaks the line at the mark `i`; the new line behind the mark has the indentation `indent`.
  void break_at(int i, std::size_t indent) {
    state(i).state = State::apart;
    state(i).indent = indent;
    state(opening(i)).is_written = true;
  }

  // Splits `line` if it is too long, and splits the resulting lines in the same way.
  void fit(const Line& line, std::size_t limit, int steps) {
    if (line.to <= line.from || line.indent + (line.to - line.from) <= limit || steps > steps_max) return;
    if (line.indent + columns(line.from, line.to) <= limit) return;
    // A line with a string over several lines cannot be measured, so it stays as it is.
    if (text_.substr(line.from, line.to - line.from).find('\n') != text_.npos) return;
    if (split_at_separators(line, limit, steps, Attributes::of_chains) || split_at_group(line, limit, steps)) return;
    if (line.indent + columns(line.from, line.to) <= std::max(limit, longest_line)) return;
    if (!split_at_separators(line, limit, steps, Attributes::all)) split_in_open_group(line, limit, steps);
  }

  // Splits a line within brackets that are still open at its end, because the line ends at a line break of the source
  // within these brackets. The line is split at separators directly within the outermost open brackets that contain a
  // separator. For example, `f(a, b, g(` is split into the lines `f(a,` and `b, g(`, and the second line starts in the
  // column behind `f(`.
  void split_in_open_group(const Line& line, std::size_t limit, int steps) {
    int open = -1, highest = attribute_priority;
    auto is_direct = [&](int i) { return mark(i).kind == Kind::separator && partner(i) == open; };
    for (int at = line.first; at < line.last && highest == attribute_priority; ++at) {
      if (mark(at).kind != Kind::open || partner(at) < line.last) continue;
      open = at;
      for (int i = open + 1; i < line.last; ++i)
        if (is_direct(i)) highest = std::max(highest, int(mark(i).priority));
    }
    if (highest == attribute_priority) return;
    const std::size_t column = line.indent + (mark(open).at - line.from) + (mark(open).optional ? 1 : 0);
    const std::size_t indent = std::min(column, deepest_indent(limit));
    Line part = line;
    for (int i = open + 1; i < line.last; ++i) {
      if (!is_direct(i) || mark(i).priority != highest) continue;
      break_at(i, indent);
      part.last = i, part.to = mark(i).at;
      fit(part, limit, steps + 1);
      part.first = i + 1, part.from = mark(i).at + (text_[mark(i).at] == ' ' ? 1 : 0), part.indent = indent;
    }
    part.last = line.last, part.to = line.to;
    fit(part, limit, steps + 1);
  }

  // The attributes before which a line may be split: only attributes behind `)` or `]`, if there are at least two, or
  // all attributes.
  //   self.table.select(a).where(b).limit(1)   ->   self.table.select(a)
  //                                                 .where(b)
  //                                                 .limit(1)
  enum class Attributes : std::uint8_t { of_chains, all };

  // Splits a line at all separators of its loosest kind. Returns false if the line has no separator outside of brackets
  // at which `attributes` permits a split. For example, `a + b or c` is split into the lines `a + b` and `or c`,
  // because `or` is the loosest separator.
  bool split_at_separators(const Line& line, std::size_t limit, int steps, Attributes attributes) {
    int level = 0, highest = 0;
    // Returns true if the mark `i` is a separator outside of the brackets in the line.
    auto direct = [&](int i) {
      if (mark(i).kind == Kind::open) ++level;
      if (mark(i).kind == Kind::close) level = std::max(level - 1, 0);
      return mark(i).kind == Kind::separator && level == 0 && partner(i) >= 0;
    };
    int number = 0;  // the number of attributes before which the line may be split
    for (int i = line.first; i < line.last; ++i) {
      if (!direct(i) || !splits(i, attributes)) continue;
      highest = std::max(highest, int(mark(i).priority));
      number += mark(i).priority == attribute_priority;
    }
    if (highest == 0 || (highest == attribute_priority && attributes == Attributes::of_chains && number < 2))
      return false;
    Line part = line;
    level = 0;
    for (int i = line.first; i < line.last; ++i) {
      if (!direct(i) || mark(i).priority != highest || !splits(i, attributes)) continue;
      break_at(i, line.indent);
      part.last = i, part.to = mark(i).at;
      fit(part, limit, steps + 1);
      part.first = i + 1, part.from = mark(i).at + (text_[mark(i).at] == ' ' ? 1 : 0);
    }
    part.last = line.last, part.to = line.to;
    fit(part, limit, steps + 1);
    return true;
  }

  // True if `attributes` permits that a line is split at the separator `i`.
  bool splits(int i, Attributes attributes) const {
    const std::size_t at = mark(i).at;
    return mark(i).priority != attribute_priority || attributes == Attributes::all ||
           (at > 0 && (text_[at - 1] == ')' || text_[at - 1] == ']'));
  }

  // Splits a line at its longest outermost brackets. If the longest outermost brackets are optional, the line is
  // preferably split at brackets within them that end at the same place. Returns false if the line has no brackets
  // whose breaking makes it shorter.
  bool split_at_group(const Line& line, std::size_t limit, int steps) {
    int chosen = -1;
    for (int i = line.first; i < line.last; ++i) {
      if (mark(i).kind != Kind::open || partner(i) < 0 || partner(i) >= line.last) continue;
      if (length(i) > 0 && (chosen < 0 || length(i) >= length(chosen))) chosen = i;
      i = partner(i);
    }
    if (chosen < 0) return false;
    if (mark(chosen).optional) chosen = without_optional(line, chosen, limit);
    const int close = partner(chosen);
    // Optional brackets are useless around a text that cannot be split further and is too long even on a line of its
    // own.
    if (mark(chosen).optional && close == chosen + 1 && line.indent + indentation + length(chosen) > limit)
      return false;
    // The line becomes three lines: the text up to the opening bracket, the indented content, and the text from the
    // closing bracket on.
    const std::size_t inner = std::max(line.indent, std::min(line.indent + indentation, deepest_indent(limit)));
    break_at(chosen, inner);
    break_at(close, line.indent);
    fit({line.first, chosen, line.from, mark(chosen).at, line.indent, line.source}, limit, steps + 1);
    fit({chosen + 1, close, mark(chosen).at, mark(close).at, inner, line.source}, limit, steps + 1);
    fit({close + 1, line.last, mark(close).at, line.to, line.indent, line.source}, limit, steps + 1);
    return true;
  }

  // The number of bytes between the brackets that open at the mark `open`.
  std::size_t length(int open) const { return mark(partner(open)).at - mark(open).at; }

  // Returns the inner brackets that end where the optional brackets `optional` end, if a break at the inner brackets
  // makes the line short enough; otherwise returns `optional`.
  int without_optional(const Line& line, int optional, std::size_t limit) const {
    const int close = partner(optional);
    int separators = 0, last = -1;
    for (int i = optional + 1; i < close; ++i) {
      if (mark(i).kind == Kind::separator && partner(i) == optional && splits(i, Attributes::of_chains)) ++separators;
      if (mark(i).kind == Kind::open && partner(i) > 0 && partner(i) < close) {
        if (mark(partner(i)).at + 1 == mark(close).at && length(i) > 0) last = i;
        i = partner(i);
      }
    }
    const bool fits = last >= 0 && separators <= 1 && line.indent + (mark(last).at - line.from) <= limit;
    return fits ? last : optional;
  }

  // Appends the text to `result`, with a line break at each mark whose state is `apart`, and with the optional brackets
  // at which a line breaks. A mark is a place where the line may break.
  void render(Text& result) const {
    std::size_t copied = 0;
    for (int i = 0; i < count_; ++i) {
      const Mark& mark = this->mark(i);
      const bool apart = is_apart(i);
      const int open = opening(i);
      const MarkState& group = state(std::max(open, 0));
      const bool adds_bracket = mark.optional & (open >= 0) & group.is_written;
      // Behind the next statement, `open` is not -1, because a line breaks only at marks that belong to brackets.
      if (!(apart | adds_bracket)) continue;
      if (mark.at > copied) result += text_.substr(copied, mark.at - copied), copied = mark.at;
      if (mark.kind == Kind::open && adds_bracket) result += '(';
      // A closing bracket on a line of its own gets a trailing comma if the line also breaks behind the last comma in
      // the brackets.
      const bool ends_items = mark.kind == Kind::close && apart && group.last_comma >= 0 && is_apart(group.last_comma);
      if (ends_items && !result.ends_with(',')) result += ',';
      if (apart) {
        result += '\n';
        result.append_blanks(state(i).indent);
        // A blank at a line break is dropped.
        if (mark.kind != Kind::close && copied < text_.size() && text_[copied] == ' ') ++copied;
      }
      if (mark.kind == Kind::close && adds_bracket) result += ')';
    }
    if (copied < text_.size()) result += text_.substr(copied);
  }

  Mark& mark(int i) { return marks_[std::size_t(i)]; }
  const Mark& mark(int i) const { return marks_[std::size_t(i)]; }
  MarkState& state(int i) { return states_[std::size_t(i)]; }
  const MarkState& state(int i) const { return states_[std::size_t(i)]; }
  int partner(int i) const { return state(i).partner; }
  // Returns the mark that opens the brackets to which the mark `i` belongs; -1 if the mark is outside of all brackets.
  // A mark at which the line breaks always belongs to brackets.
  int opening(int i) const { return select(mark(i).kind == Kind::open, i, partner(i)); }
  bool is_apart(int i) const { return state(i).is_apart(); }

  std::string_view text_;
  std::span<Mark> marks_;
  std::span<const Anchor> anchors_;
  const Lines& lines_;
  std::vector<MarkState> states_;
  int count_ = 0;  // the number of marks that `complete_groups` kept, at the front of `marks_`
};

}  // namespace

void append_with_breaks(Text& result, std::string_view text, std::span<Mark> marks, std::span<const Anchor> anchors,
                        const Lines& lines) {
  Layout(text, marks, anchors, lines).append_to(result);
}

}  // namespace depyf::print
