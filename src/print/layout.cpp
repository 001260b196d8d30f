#include "print/layout.h"

#include <algorithm>
#include <limits>

#include "support/table.h"
#include "support/utf8.h"

namespace depyf::print {
namespace {

// A line that is still too long after this many nested splits stays as it is, because no code that people write nests
// that deep.
constexpr int steps_max = 60;
// A line may be longer than the width where the source's breaks ask for it, but not longer than this.
constexpr std::size_t longest_line = 120;
constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

// Chooses a state for each mark, in steps of falling certainty: source lines, columns, brackets that must match, and
// last the width.
class Layout {
 public:
  Layout(std::string_view text, std::vector<Mark> marks, const std::vector<Anchor>& anchors, const Lines& lines)
      : text_(text), marks_(std::move(marks)), anchors_(anchors), lines_(lines), breaks_(marks_.size()) {}

  std::string run() {
    pair();
    follow_source();
    follow_columns();
    complete_groups();
    split();
    return render();
  }

 private:
  using Kind = Mark::Kind;
  using State = BreakState;
  struct Break {
    State state = State::unknown;
    // For brackets: the mark of the other bracket. For a separator: the opening mark of its brackets. -1 if there is none.
    int partner = -1;
    std::size_t indent = 0;  // indentation of the line behind the mark, if the line breaks there
  };
  // The text and the marks between two breaks.
  struct Line {
    int first, last;       // indices of marks, `last` exclusive
    std::size_t from, to;  // offsets in the text
    std::size_t indent;
    std::int32_t source;  // the line of the source; -1 if it is unknown
  };

  // Finds the partner of each mark, like matching brackets in a text.
  void pair() {
    std::vector<int> open;
    for (int i = 0; i < count(); ++i) {
      if (marks_[i].kind == Kind::open) {
        open.push_back(i);
      } else if (!open.empty()) {
        breaks_[i].partner = open.back();
        if (marks_[i].kind == Kind::close) breaks_[open.back()].partner = i, open.pop_back();
      }
    }
    // Brackets that were never closed cannot break.
    for (const int i : open) breaks_[i].state = State::together;
    for (int i = 0; i < count(); ++i)
      if (breaks_[i].partner < 0) breaks_[i].state = State::together;
  }

  // Breaks at each mark whose two sides stood on different lines of the source.
  void follow_source() {
    for (int i = 0; i < count(); ++i) {
      const Mark& mark = marks_[i];
      if (breaks_[i].partner < 0 || mark.line < 0 || mark.before < 0) continue;
      breaks_[i].state = mark.line > mark.before ? State::apart : State::together;
    }
    for (int i = 0; i < count(); ++i)
      if (marks_[i].kind == Kind::open && breaks_[i].partner >= 0) decide_unknown_items(i);
  }

  // Decides about items without positions, such as parameters. The number of source lines between items with positions
  // shows whether the items in between stand on lines of their own.
  void decide_unknown_items(int open) {
    std::vector<int> unknown;
    bool has_comma = false;
    for (int i = open + 1; i < breaks_[open].partner; ++i)
      has_comma = has_comma || (breaks_[i].partner == open && marks_[i].priority == comma_priority);
    if (!has_comma) return;
    bool all_apart = true, any_known = false;
    const int close = breaks_[open].partner;
    // All items that wait for a decision get the same state.
    auto settle = [&](State state) {
      for (const int i : unknown) breaks_[i].state = state;
      unknown.clear();
    };
    for (int i = open; i < close; ++i) {
      // Only the opening bracket and the commas directly within this pair of brackets count.
      const bool is_comma = marks_[i].kind == Kind::separator && marks_[i].priority == comma_priority;
      const bool direct = i == open || (is_comma && breaks_[i].partner == open);
      if (!direct) continue;
      if (breaks_[i].state == State::unknown) {
        unknown.push_back(i);
        continue;
      }
      any_known = true;
      const std::int32_t gap = marks_[i].line - marks_[i].before;
      if (unknown.empty() || marks_[i].line < 0) {
        all_apart = all_apart && breaks_[i].state == State::apart;
        // There are enough lines for each unknown item to have one.
      } else if (gap > std::int32_t(unknown.size())) {
        settle(State::apart);
        // The unknown items are the first ones, and share the line below the opening bracket.
      } else if (gap > 0 && unknown[0] == open) {
        settle(State::together);
        breaks_[open].state = State::apart;
        breaks_[i].state = State::together;
        all_apart = false;
      } else {
        all_apart = all_apart && gap > 0;
        settle(State::together);
      }
    }
    // The line of the closing bracket may show where the last items stand.
    const std::int32_t left = marks_[close].line < 0 ? -1 : marks_[close].line - marks_[close].before;
    if (any_known && left >= 0) settle(left > std::int32_t(unknown.size()) ? State::apart : State::together);
    if (any_known) settle(all_apart && breaks_[open].state == State::apart ? State::apart : State::together);
  }

  // Lets columns, which are more exact than lines, correct the states. Redundant brackets that columns do not prove are
  // removed.
  void follow_columns() {
    Table<State> states;
    for (const Break& each : breaks_) states.push_back(each.state);
    print::follow_columns(text_, marks_, anchors_, lines_.indent, states);
    Table<State> kept_states;
    for (int i = 0; i < count(); ++i) {
      const int partner = breaks_[i].partner;
      const bool is_apart = states[i] == State::apart ||
                            (partner >= 0 && marks_[i].kind != Kind::separator && states[partner] == State::apart);
      if (marks_[i].is_hint && !is_apart) continue;
      // The kept marks move to the front of the list, in place.
      marks_[kept_states.size()] = marks_[i];
      kept_states.push_back(states[i]);
    }
    marks_.resize(kept_states.size());
    breaks_.assign(kept_states.size(), {});
    pair();
    for (int i = 0; i < count(); ++i)
      if (breaks_[i].partner >= 0) breaks_[i].state = kept_states[i];
  }

  // Completes brackets about which positions say nothing: they break if a separator in them breaks, and the closing
  // bracket follows the opening bracket.
  void complete_groups() {
    for (int i = 0; i < count(); ++i)
      if (marks_[i].kind == Kind::separator && breaks_[i].state == State::apart && breaks_[i].partner >= 0 &&
          breaks_[breaks_[i].partner].state == State::unknown)
        breaks_[breaks_[i].partner].state = State::apart;
    for (int i = 0; i < count(); ++i)
      if (marks_[i].kind == Kind::close && breaks_[i].partner >= 0 && breaks_[i].state == State::unknown)
        breaks_[i].state = breaks_[breaks_[i].partner].state;
  }

  // Cuts the text where the source had breaks, and then fits each piece into the width. If a piece is too long because
  // of its indentation, the indentation of all pieces is bounded.
  void split() {
    std::vector<Line> lines = cut(unbounded);
    const bool is_too_deep = std::ranges::any_of(lines, [&](const Line& line) {
      if (fits_width(line)) return false;
      const std::size_t limit = lines_.limit(line.source);
      return line.indent > deepest_indent(limit) && line.indent + columns(line.from, line.to) > limit;
    });
    if (is_too_deep) lines = cut(deepest_indent(lines_.limit(-1)));
    for (const Line& each : lines)
      if (!fits_width(each)) fit(each, lines_.limit(each.source), 0);
  }

  // True if the line is so short that its limit does not matter. Most lines are.
  bool fits_width(const Line& line) const {
    return line.to <= line.from || line.indent + (line.to - line.from) <= lines_.width;
  }

  // Returns the largest indentation of text within brackets that leaves room for the text itself.
  std::size_t deepest_indent(std::size_t limit) const { return std::max(lines_.indent + indentation, limit * 3 / 5); }

  // Returns the lines that the source's breaks make, indented by `deepest` columns at most.
  std::vector<Line> cut(std::size_t deepest) {
    // Stacks over the open brackets: the indentation of the text inside them, and of the line that opens them.
    std::vector<std::size_t> content{lines_.indent + indentation};
    std::vector<std::size_t> outside{lines_.indent};
    Line line{0, 0, lines_.indent, lines_.indent, lines_.indent, lines_.first};
    std::vector<Line> result;
    for (int i = 0; i < count(); ++i) {
      const Mark& mark = marks_[i];
      const bool apart = breaks_[i].state == State::apart;
      if (mark.kind == Kind::open) {
        outside.push_back(line.indent);
        // If the line does not break behind the bracket, its content aligns with the column behind it.
        const std::size_t column = line.indent + (mark.at - line.from) + (mark.optional ? 1 : 0);
        content.push_back(std::min(apart ? line.indent + indentation : column, deepest));
      }
      if (apart) breaks_[i].indent = mark.kind == Kind::close ? outside.back() : content.back();
      if (mark.kind == Kind::close && content.size() > 1) content.pop_back(), outside.pop_back();
      if (!apart) continue;
      line.last = i, line.to = mark.at;
      result.push_back(line);
      // The blank behind a separator is dropped at a line break.
      const std::size_t from = mark.at < text_.size() && text_[mark.at] == ' ' ? mark.at + 1 : mark.at;
      line = {i + 1, i + 1, from, from, breaks_[i].indent, mark.line};
    }
    line.last = count(), line.to = text_.size();
    result.push_back(line);
    return result;
  }

  // Counts characters, not bytes.
  std::size_t columns(std::size_t from, std::size_t to) const { return characters_in(text_.substr(from, to - from)); }

  // Splits `line` if it is too long, and the resulting lines again.
  void fit(const Line& line, std::size_t limit, int steps) {
    if (line.to <= line.from || line.indent + (line.to - line.from) <= limit || steps > steps_max) return;
    if (line.indent + columns(line.from, line.to) <= limit) return;
    // A line with a string over several lines cannot be measured, so it stays as it is.
    if (text_.substr(line.from, line.to - line.from).find('\n') != text_.npos) return;
    if (!split_at_separators(line, limit, steps) && !split_at_group(line, limit, steps) &&
        line.indent + columns(line.from, line.to) > std::max(limit, longest_line))
      split_in_open_group(line, limit, steps);
  }

  // Splits a line within the outermost brackets that do not close in it and hold a separator. The source broke the line
  // further on:
  //   f(a, b, g(          ->   f(a,
  //                              b, g(
  void split_in_open_group(const Line& line, std::size_t limit, int steps) {
    int open = -1, highest = attribute_priority;
    auto is_direct = [&](int i) { return marks_[i].kind == Kind::separator && breaks_[i].partner == open; };
    for (int at = line.first; at < line.last && highest == attribute_priority; ++at) {
      if (marks_[at].kind != Kind::open || breaks_[at].partner < line.last) continue;
      open = at;
      for (int i = open + 1; i < line.last; ++i)
        if (is_direct(i)) highest = std::max(highest, int(marks_[i].priority));
    }
    if (highest == attribute_priority) return;
    const std::size_t column = line.indent + (marks_[open].at - line.from) + (marks_[open].optional ? 1 : 0);
    const std::size_t indent = std::min(column, deepest_indent(limit));
    Line part = line;
    for (int i = open + 1; i < line.last; ++i) {
      if (!is_direct(i) || marks_[i].priority != highest) continue;
      breaks_[i] = {State::apart, open, indent};
      part.last = i, part.to = marks_[i].at;
      fit(part, limit, steps + 1);
      part.first = i + 1, part.from = marks_[i].at + (text_[marks_[i].at] == ' ' ? 1 : 0), part.indent = indent;
    }
    part.last = line.last, part.to = line.to;
    fit(part, limit, steps + 1);
  }

  // Splits a line at all separators of its loosest kind. Returns false if it has none outside of brackets:
  //   a + b or c + d   ->   a + b
  //                         or c + d
  bool split_at_separators(const Line& line, std::size_t limit, int steps) {
    int level = 0, highest = 0;
    // Returns true if the mark is a separator outside of the brackets in this line.
    auto direct = [&](int i) {
      if (marks_[i].kind == Kind::open) ++level;
      if (marks_[i].kind == Kind::close) level = std::max(level - 1, 0);
      return marks_[i].kind == Kind::separator && level == 0 && breaks_[i].partner >= 0;
    };
    for (int i = line.first; i < line.last; ++i)
      if (direct(i)) highest = std::max(highest, int(marks_[i].priority));
    if (highest == 0) return false;
    Line part = line;
    level = 0;
    for (int i = line.first; i < line.last; ++i) {
      if (!direct(i) || marks_[i].priority != highest) continue;
      breaks_[i] = {State::apart, breaks_[i].partner, line.indent};
      part.last = i, part.to = marks_[i].at;
      fit(part, limit, steps + 1);
      part.first = i + 1, part.from = marks_[i].at + (text_[marks_[i].at] == ' ' ? 1 : 0);
    }
    part.last = line.last, part.to = line.to;
    fit(part, limit, steps + 1);
    return true;
  }

  // Splits a line at its longest outermost brackets. If these brackets are optional, brackets inside that end at the
  // same place are preferred. Returns false if it has none that help.
  bool split_at_group(const Line& line, std::size_t limit, int steps) {
    int chosen = -1;
    for (int i = line.first; i < line.last; ++i) {
      if (marks_[i].kind != Kind::open || breaks_[i].partner < 0 || breaks_[i].partner >= line.last) continue;
      if (length(i) > 0 && (chosen < 0 || length(i) >= length(chosen))) chosen = i;
      i = breaks_[i].partner;
    }
    if (chosen < 0) return false;
    if (marks_[chosen].optional) chosen = without_optional(line, chosen, limit);
    const int close = breaks_[chosen].partner;
    // Brackets around text that cannot be split further, and that is too long even alone, do not help.
    if (marks_[chosen].optional && close == chosen + 1 && line.indent + indentation + length(chosen) > limit)
      return false;
    // The line becomes three: the text up to the bracket, the indented content, and the text from the closing bracket
    // on.
    const std::size_t inner = std::max(line.indent, std::min(line.indent + indentation, deepest_indent(limit)));
    breaks_[chosen] = {State::apart, close, inner};
    breaks_[close] = {State::apart, chosen, line.indent};
    fit({line.first, chosen, line.from, marks_[chosen].at, line.indent, line.source}, limit, steps + 1);
    fit({chosen + 1, close, marks_[chosen].at, marks_[close].at, inner, line.source}, limit, steps + 1);
    fit({close + 1, line.last, marks_[close].at, line.to, line.indent, line.source}, limit, steps + 1);
    return true;
  }

  // The number of bytes between the brackets that open at the mark `open`.
  std::size_t length(int open) const { return marks_[breaks_[open].partner].at - marks_[open].at; }

  // Returns the brackets that end together with the optional brackets, if breaking them makes the line short enough.
  // Otherwise it returns `optional`.
  int without_optional(const Line& line, int optional, std::size_t limit) const {
    const int close = breaks_[optional].partner;
    int separators = 0, last = -1;
    for (int i = optional + 1; i < close; ++i) {
      if (marks_[i].kind == Kind::separator && breaks_[i].partner == optional) ++separators;
      if (marks_[i].kind == Kind::open && breaks_[i].partner > 0 && breaks_[i].partner < close) {
        if (marks_[breaks_[i].partner].at + 1 == marks_[close].at && length(i) > 0) last = i;
        i = breaks_[i].partner;
      }
    }
    const bool fits = last >= 0 && separators <= 1 && line.indent + (marks_[last].at - line.from) <= limit;
    return fits ? last : optional;
  }

  // Returns for each mark whether it opens optional brackets that must be written, because a line breaks within them.
  Table<bool> written() const {
    Table<bool> result(marks_.size(), false);
    for (int i = 0; i < count(); ++i) {
      if (breaks_[i].state != State::apart) continue;
      result[marks_[i].kind == Kind::open ? i : std::max(breaks_[i].partner, 0)] = true;
    }
    return result;
  }

  // Builds the final text from the states of the marks.
  std::string render() const {
    const Table<bool> is_written = written();
    std::string result;
    std::size_t at = 0;
    std::vector<int> last_separator;  // for each open bracket: the mark of its last comma, -1 if there is none
    auto copy_to = [&](std::size_t end) {
      if (end > at) result += text_.substr(at, end - at), at = end;
    };
    for (int i = 0; i < count(); ++i) {
      const Mark& mark = marks_[i];
      const Break& here = breaks_[i];
      copy_to(mark.at);
      const bool apart = here.state == State::apart;
      if (mark.kind == Kind::open) {
        last_separator.push_back(-1);
        if (mark.optional && is_written[i]) result += '(';
      } else if (mark.kind == Kind::separator) {
        if (!last_separator.empty() && mark.priority == comma_priority) last_separator.back() = i;
        // A closing bracket on a line of its own gets a trailing comma, if the items stand on lines of their own.
      } else if (apart && !last_separator.empty() && last_separator.back() >= 0 &&
                 breaks_[last_separator.back()].state == State::apart && !result.ends_with(',')) {
        result += ',';
      }
      if (apart) {
        result += '\n';
        result.append(here.indent, ' ');
        // A blank at a line break is dropped.
        if (mark.kind != Kind::close && at < text_.size() && text_[at] == ' ') ++at;
      }
      if (mark.kind == Kind::close) {
        if (!last_separator.empty()) last_separator.pop_back();
        if (mark.optional && here.partner >= 0 && is_written[here.partner]) result += ')';
      }
    }
    copy_to(text_.size());
    return result;
  }

  int count() const { return int(marks_.size()); }

  std::string_view text_;
  Table<Mark> marks_;
  const std::vector<Anchor>& anchors_;
  const Lines& lines_;
  Table<Break> breaks_;
};

}  // namespace

std::string with_breaks(std::string_view text, std::vector<Mark> marks, const std::vector<Anchor>& anchors,
                        const Lines& lines) {
  return Layout(text, std::move(marks), anchors, lines).run();
}

}  // namespace depyf::print
