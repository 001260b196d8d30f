// Decides by columns (3.11 and later) at which marks the source had line breaks. Between two parts of a statement whose
// places in the source are known (anchors), each choice of line breaks at the marks puts the second part into some
// column. The choice of breaks that puts the second part into its column in the source is taken.
//
// In the following statement, `second` starts in line 2 at column 4, so the line was broken behind the bracket and not
// before `and`, which would have put `second` further right:
//   value = first and (
//       second or third
//   )
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>

#include "print/layout.h"

namespace depyf::print {

namespace {

// The two bounds below limit the work that a hostile file can cause; real code stays far below them.
constexpr std::size_t most_choices = 8;  // marks between two anchors that are tried both ways; 2^8 combinations
constexpr std::size_t deepest = 50;  // open brackets around the marks

// Walks from anchor to anchor, lays the text between two anchors out with each choice of line breaks, and sets the
// states of the marks between them.
class Columns {
 public:
  Columns(std::string_view text, std::span<const Mark> marks, std::span<const Anchor> anchors, std::size_t indent,
          std::span<MarkState> states)
      : text_(text),
        marks_(marks),
        anchors_(anchors),
        states_(states),
        indent_(indent),
        place_{std::uint32_t(indent)},
        groups_(std::make_unique_for_overwrite<Group[]>(marks.size())) {}

  void run() {
    std::size_t mark = 0;
    for (const Anchor& anchor : anchors_) {
      decide(mark, anchor.marks, anchor);
      mark = anchor.marks;
    }
    replay(mark, marks_.size());
  }

 private:
  // The state of the layout at some place in the text; the struct is small, because it is copied for each choice of
  // breaks.
  struct Place {
    std::uint32_t indent = 0;  // indentation of the current line
    std::int32_t group = -1;  // the mark that opens the innermost bracket pair around the place; -1 if there is none
    std::uint32_t depth = 0;  // bracket pairs around the place
  };
  // A bracket pair, stored at the index of its opening mark. A `Place` refers only to its innermost pair, and each pair
  // to the place around it, so that copying a place copies no list of pairs.
  struct Group {
    Place around;  // the place of the opening bracket
    bool is_apart = false;  // true if the line breaks behind the opening bracket
    bool is_hint = false;  // true for redundant brackets, which are written only if columns prove them
  };

  // Updates the layout for marks whose states stay unchanged.
  void replay(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) step(place_, i, states_[i].is_apart());
  }

  // Moves the layout past one mark, where the line breaks if `breaks` is true. Returns false if the style that is
  // assumed for the source rules `breaks` out at this mark.
  bool step(Place& place, std::size_t index, bool breaks) {
    const Mark& mark = marks_[index];
    switch (mark.kind) {
      case Mark::Kind::open:
        groups_[index] = {place, breaks, mark.is_hint};
        place.group = std::int32_t(index), ++place.depth;
        if (breaks) place.indent += indentation;
        return true;
      case Mark::Kind::separator: {
        if (!breaks) return true;
        const std::int32_t open = innermost(place);
        if (open < 0) return false;
        place.indent = group(open).around.indent + indentation;
        return group(open).is_apart;
      }
      case Mark::Kind::close: {
        if (place.group < 0) return !breaks;
        const Group& closed = group(place.group);
        place.group = closed.around.group, --place.depth;
        if (breaks) place.indent = closed.around.indent;
        return breaks == closed.is_apart;
      }
    }
    return true;
  }

  const Group& group(std::int32_t open) const { return groups_[std::size_t(open)]; }
  // Returns true if the line breaks behind the innermost opening bracket.
  bool is_apart(const Place& place) const { return place.group >= 0 && group(place.group).is_apart; }

  // Returns the mark that opens the innermost bracket pair that separators belong to; -1 if there is none. Separators
  // never belong to redundant brackets that are not written.
  std::int32_t innermost(const Place& place) const {
    std::int32_t open = place.group;
    while (open >= 0 && !group(open).is_apart && group(open).is_hint) open = group(open).around.group;
    return open;
  }

  // A separator that the layout has passed, and whether the line breaks there.
  struct Passed {
    std::int32_t group = -1;  // the mark that opens the brackets around the separator
    std::uint8_t priority = 0;
    bool breaks = false;
  };
  // Returns true if, among the first `count` separators of `passed_`, the line breaks at an operator but not at a
  // looser operator in the same brackets. A formatter that breaks a line at an operator also breaks at every looser
  // operator in the same brackets.
  bool breaks_tighter_first(std::size_t count) const {
    const std::span passed(passed_.data(), count);
    return std::ranges::any_of(passed, [&](const Passed& each) {
      return each.breaks && std::ranges::any_of(passed, [&](const Passed& looser) {
               return !looser.breaks && looser.group == each.group && looser.priority > each.priority;
             });
    });
  }

  // Returns the column of the text at offset `at` if the last line break is at `mark`, and the line behind the break
  // has the indentation `indent`. Returns `at` itself for mark -1 (no break).
  std::size_t column(std::size_t indent, std::int32_t mark, std::size_t at) const {
    if (mark < 0) return at;
    const std::size_t from = marks_[std::size_t(mark)].at;
    return indent + (at - from) - (from < at && text_[from] == ' ' ? 1 : 0);
  }

  // Chooses the breaks at the marks `begin` to `end`, which all stand before `anchor`.
  void decide(std::size_t begin, std::size_t end, const Anchor& anchor) {
    // The bytecode gives an `if` statement the line of its test, so a line break between the keyword and the test shows
    // only in columns.
    const bool is_first = begin == 0;
    const std::int32_t before = marks_[begin].before;
    const std::int32_t gap = before < 0 || anchor.line < 0 ? -1 : anchor.line - before;
    const bool is_decided = gap == 0 && !is_first;
    if (is_decided || gap < 0 || anchor.column < 0 || place_.depth > deepest) return replay(begin, end);
    if (!find_choices(begin, end)) return replay(begin, end);

    const std::optional<std::size_t> best = best_choice(begin, end, anchor, gap);
    if (!best) return replay(begin, end);
    for (std::size_t i = begin, choice = 0; i < end; ++i) {
      const bool is_close = marks_[i].kind == Mark::Kind::close;
      const bool breaks = is_close ? is_apart(place_) : (*best >> choice++ & 1) != 0;
      states_[i].state = breaks ? BreakState::apart : BreakState::together;
      step(place_, i, breaks);
    }
  }

  // Returns the best choice of breaks at the marks `begin` to `end`; nothing if no choice explains the place of
  // `anchor`, which is `gap` lines below the text in front of the marks. Bit i of a choice is set if the line breaks at
  // the mark `choices_[i]`. All combinations of breaks are tried, because there are at most eight marks to choose from.
  // They are ordered by the last break, because its place alone excludes most of them.
  std::optional<std::size_t> best_choice(std::size_t begin, std::size_t end, const Anchor& anchor, std::int32_t gap) {
    const std::int32_t most_breaks = std::max(gap, 1);
    std::optional<std::size_t> best;
    std::int32_t best_left = 0, best_attributes = 0;
    for (std::int32_t last = -1; last < std::int32_t(choice_count_); ++last) {
      if (!may_fit(anchor, gap, last < 0 ? -1 : std::int32_t(choices_[std::size_t(last)]))) continue;
      const std::size_t first = last < 0 ? 0 : std::size_t{1} << last;
      const std::size_t behind = last < 0 || most_breaks == 1 ? first + 1 : 2 * first;
      for (std::size_t chosen = first; chosen < behind; ++chosen) {
        if (most_breaks > 1 && std::popcount(chosen) > most_breaks) {
          chosen += lowest_bit(chosen) - 1;  // skips all choices that add lower bits, which have too many breaks, too
          continue;
        }
        const std::optional<std::int32_t> breaks = try_breaks(begin, end, anchor, chosen);
        if (!breaks || *breaks > most_breaks || (gap > 0 && *breaks == 0)) continue;
        // Prefers, in this order, fewer breaks before attributes (`.name`), which are rarer than comment lines between
        // the anchors, then fewer source lines that the breaks do not explain, and then earlier breaks.
        const std::int32_t left = gap == 0 ? *breaks : gap - *breaks;
        const std::int32_t attributes = attributes_ == 0 ? 0 : std::popcount(chosen & attributes_);
        const bool is_better = !best || attributes < best_attributes ||
                               (attributes == best_attributes && left < best_left) ||
                               (attributes == best_attributes && left == best_left && is_earlier(chosen, *best));
        if (is_better) best = chosen, best_left = left, best_attributes = attributes;
        if (gap == 0 && chosen == 0) return best;  // no choice is better than a line without breaks
        // Nothing is better than a break at the first mark that explains all lines: other choices break later or too
        // often.
        if (left == 0 && attributes == 0 && chosen == 1) return best;
      }
    }
    return best;
  }

  // Finds the marks from `begin` to `end` at which a line break is optional. Returns false if there are too many. The
  // line breaks before a closing bracket if it breaks behind the opening bracket, so closing brackets are not choices.
  bool find_choices(std::size_t begin, std::size_t end) {
    last_close_ = -1;
    choice_count_ = separator_count_ = attributes_ = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Mark& mark = marks_[i];
      if (mark.kind == Mark::Kind::close) {
        last_close_ = std::int32_t(i);
        continue;
      }
      if (choice_count_ == most_choices) return false;
      if (mark.kind == Mark::Kind::separator) {
        ++separator_count_;
        if (mark.priority == attribute_priority) attributes_ |= std::size_t{1} << choice_count_;
      }
      choices_[choice_count_++] = i;
    }
    return true;
  }

  // Returns false if a last chosen break at the mark `last` (-1: no break) certainly puts the anchor into another
  // column than in the source. The test is cheap and excludes most choices: the text behind the last break is indented
  // by a multiple of `indentation`.
  bool may_fit(const Anchor& anchor, std::int32_t gap, std::int32_t last) const {
    if (last < last_close_) return true;  // the line may break at the closing bracket
    const std::size_t behind = column(indent_, last, anchor.at), anchored = std::size_t(anchor.column);
    if (last < 0) return gap == 0 && anchored == behind;
    return anchored >= behind && (anchored - behind) % indentation == 0;
  }

  // Returns true if, at the first mark where the two choices differ, `chosen` breaks and `than` does not.
  static bool is_earlier(std::size_t chosen, std::size_t than) { return (chosen & lowest_bit(chosen ^ than)) != 0; }
  static std::size_t lowest_bit(std::size_t bits) { return bits & (~bits + 1); }

  // Returns the number of line breaks between the anchors for the choice `chosen`; nothing if the choice puts the
  // second anchor into another column than the source had, or if no formatter breaks lines that way.
  std::optional<std::int32_t> try_breaks(std::size_t begin, std::size_t end, const Anchor& anchor, std::size_t chosen) {
    Place place = place_;
    std::int32_t count = 0, last = -1;
    std::size_t choice = 0, separators = 0;
    std::size_t written = 0;  // optional closing brackets since the last break, which `text_` lacks
    for (std::size_t i = begin; i < end; ++i) {
      const Mark& mark = marks_[i];
      const bool is_close = mark.kind == Mark::Kind::close;
      const bool breaks = is_close ? is_apart(place) : (chosen >> choice++ & 1) != 0;
      // The order of breaks at looser and tighter separators matters only if there are several separators.
      if (separator_count_ > 1 && mark.kind == Mark::Kind::separator)
        passed_[separators++] = {innermost(place), mark.priority, breaks};
      if (!step(place, i, breaks)) return std::nullopt;
      if (!breaks) continue;
      ++count, last = std::int32_t(i), written = is_close && mark.optional;
    }
    if (column(place.indent, last, anchor.at) + written != std::size_t(anchor.column)) return std::nullopt;
    if (breaks_tighter_first(separators)) return std::nullopt;
    return count;
  }

  std::string_view text_;
  std::span<const Mark> marks_;
  std::span<const Anchor> anchors_;
  std::span<MarkState> states_;
  const std::size_t indent_;  // indentation of the statement
  Place place_;
  std::unique_ptr<Group[]> groups_;  // indexed by the mark of the opening bracket
  std::array<std::size_t, most_choices> choices_;  // the marks at which `decide` may break the line
  std::size_t choice_count_ = 0, separator_count_ = 0;  // the number of choices, and of those that are separators
  std::size_t attributes_ = 0;  // the bits of the choices that stand before the dot of an attribute
  std::int32_t last_close_ = -1;  // the last mark of a closing bracket between the anchors; -1 if there is none
  // The separators between the anchors, for the breaks that are being tried; there are no more separators than choices.
  std::array<Passed, most_choices> passed_;
};

}  // namespace

void follow_columns(std::string_view text, std::span<const Mark> marks, std::span<const Anchor> anchors,
                    std::size_t indent, std::span<MarkState> states) {
  Columns(text, marks, anchors, indent, states).run();
}

}  // namespace depyf::print
