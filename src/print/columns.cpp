// Decides by the columns of positions (3.11 and later) at which marks (places where a line may break) the source had
// line breaks. Between two parts of a statement whose places in the source are known (anchors), each choice of line
// breaks at the marks puts the second anchor into some column. For each pair of neighbouring anchors, this file
// chooses the line breaks that put the second anchor into the column that it had in the source.
//
// For example, if `second` in `value = first and (second or third)` starts in line 2 at column 4, the source broke the
// line behind the bracket. If the source had broken the line before `and (second`, `second` would start further right.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>

#include "print/layout.h"

namespace depyf::print {

namespace {

// The two bounds below limit the work that a hostile file can cause.
constexpr std::size_t most_choices = 8;  // the most marks between two anchors that are tried with and without a break
constexpr std::size_t deepest = 50;  // the most open brackets around marks whose breaks are chosen

// Anchors are parts of the text whose places in the source are known. For each pair of neighbouring anchors, tries each
// choice of line breaks between the two anchors, and sets the states of the marks between them.
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
  }

 private:
  // The state of the layout at some place in the text; the struct is small, because it is copied for each choice of
  // breaks.
  struct Place {
    std::uint32_t indent = 0;  // indentation of the current line
    std::int32_t group = -1;  // the mark that opens the innermost bracket pair around the place; -1 if there is none
    std::uint32_t depth = 0;  // the number of bracket pairs around the place
  };
  // A bracket pair, stored at the index of its opening mark. A `Place` contains only the index of its innermost pair,
  // and a `Group` contains the place around its pair. So no list of pairs is copied with a `Place`.
  struct Group {
    Place around;  // the place of the opening bracket
    bool is_apart = false;  // true if the line breaks behind the opening bracket
    // True for redundant brackets, which are written only if columns prove that the source had them.
    bool is_hint = false;
  };

  // Moves `place_`, the state of the layout, to the mark `end`, and changes no state of a mark. This function is called
  // only in front of an anchor whose column has to be examined: in front of most anchors, the source lines alone decide
  // about all breaks.
  void replay(std::size_t end) {
    for (; replayed_ < end; ++replayed_) step(place_, replayed_, states_[replayed_].is_apart());
  }

  // Moves `place` past the mark `index`, at which the line breaks if `breaks` is true. Returns false if `breaks`
  // contradicts the style of formatting that the source is assumed to have.
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
  // Returns true if the line breaks behind the innermost opening bracket in front of `place` that is still open; false
  // if no bracket is open.
  bool is_apart(const Place& place) const { return place.group >= 0 && group(place.group).is_apart; }

  // Returns the mark that opens the innermost bracket pair to which a separator at `place` belongs; -1 if it belongs
  // to no brackets. Separators never belong to redundant brackets that are not written.
  std::int32_t innermost(const Place& place) const {
    std::int32_t open = place.group;
    while (open >= 0 && !group(open).is_apart && group(open).is_hint) open = group(open).around.group;
    return open;
  }

  // A separator that the layout has passed; `breaks` is true if the line breaks at the separator.
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
  // has the indentation `indent`. If `mark` is -1, the line does not break, and the offset `at` is the column.
  std::size_t column(std::size_t indent, std::int32_t mark, std::size_t at) const {
    if (mark < 0) return at;
    const std::size_t from = marks_[std::size_t(mark)].at;
    return indent + (at - from) - (from < at && text_[from] == ' ' ? 1 : 0);
  }

  // Chooses the breaks at the marks `begin` to `end`, which all stand before `anchor`, the next part of the text whose
  // place in the source is known.
  void decide(std::size_t begin, std::size_t end, const Anchor& anchor) {
    // The bytecode gives an `if` statement the line of its test, so a line break between the keyword and the test shows
    // only in columns.
    const bool is_first = begin == 0;
    const std::int32_t before = marks_[begin].before;
    const std::int32_t gap = before < 0 || anchor.line < 0 ? -1 : anchor.line - before;
    const bool is_decided = (gap == 0) & !is_first;
    if (is_decided | (gap < 0) | (anchor.column < 0)) return;
    replay(begin);
    if (place_.depth > deepest || !find_choices(begin, end)) return;

    const std::optional<std::size_t> best = best_choice(begin, end, anchor, gap);
    if (!best) return;
    for (std::size_t choice = 0; replayed_ < end; ++replayed_) {
      const bool breaks = breaks_at(replayed_, place_, *best, choice);
      states_[replayed_].state = breaks ? BreakState::apart : BreakState::together;
      step(place_, replayed_, breaks);
    }
  }

  // Returns true if the line breaks at the mark `index`. Before a closing bracket, the line breaks if it breaks behind
  // the opening bracket. At any other mark, the line breaks if bit `choice` of `chosen` is set, and the function
  // increments `choice`.
  bool breaks_at(std::size_t index, const Place& place, std::size_t chosen, std::size_t& choice) const {
    const bool is_close = marks_[index].kind == Mark::Kind::close;
    return is_close ? is_apart(place) : (chosen >> choice++ & 1) != 0;
  }

  // Returns the best choice of breaks at the marks `begin` to `end`. Returns nothing if no choice puts `anchor` into
  // the column that it has in the source, `gap` lines below the text in front of the marks. Bit i of a choice is set if
  // the line breaks at the mark `choices_[i]`. All combinations of breaks are tried, because there are at most eight
  // marks to choose from. The combinations with the same last break are tried one after the other, because the place of
  // the last break alone shows for most of them that they do not fit.
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
          // Skips the choices with further lower bits, which break the line at even more marks.
          chosen += lowest_bit(chosen) - 1;
          continue;
        }
        const std::optional<std::int32_t> breaks = try_breaks(begin, end, anchor, chosen);
        if (!breaks || *breaks > most_breaks || (gap > 0 && *breaks == 0)) continue;
        // Prefers, in this order: fewer breaks before attributes (`.name`), fewer source lines that the breaks do not
        // explain, and earlier breaks. In sources, a break before an attribute is rarer than a comment inside a
        // statement, whose line no break explains.
        const std::int32_t left = gap == 0 ? *breaks : gap - *breaks;
        const std::int32_t attributes = attributes_ == 0 ? 0 : std::popcount(chosen & attributes_);
        const bool is_better = !best || attributes < best_attributes ||
                               (attributes == best_attributes && left < best_left) ||
                               (attributes == best_attributes && left == best_left && is_earlier(chosen, *best));
        if (is_better) best = chosen, best_left = left, best_attributes = attributes;
        if (gap == 0 && chosen == 0) return best;  // no choice is better than a line without breaks
        // If a single break at the first mark explains all lines, no other choice is better, because each other choice
        // breaks later or more often.
        if (left == 0 && attributes == 0 && chosen == 1) return best;
      }
    }
    return best;
  }

  // Collects in `choices_` the marks from `begin` to `end` at which the line may or may not break. Returns false if
  // there are more than `most_choices` marks at which the line may or may not break. The line breaks before a closing
  // bracket if it breaks behind the opening bracket, so closing brackets are not collected.
  bool find_choices(std::size_t begin, std::size_t end) {
    last_close_ = -1;
    choice_count_ = separators_ = attributes_ = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Mark& mark = marks_[i];
      const bool is_close = mark.kind == Mark::Kind::close, is_separator = mark.kind == Mark::Kind::separator;
      const bool is_attribute = is_separator & (mark.priority == attribute_priority);
      last_close_ = select(is_close, std::int32_t(i), last_close_);
      separators_ |= std::size_t{is_separator} << choice_count_;
      attributes_ |= std::size_t{is_attribute} << choice_count_;
      choices_[choice_count_] = i;  // if the mark is a closing bracket, the next mark overwrites it
      choice_count_ += std::size_t{!is_close};
      if (choice_count_ > most_choices) return false;
    }
    return true;
  }

  // Returns false if `anchor` certainly gets another column than in the source when the last break before it is at the
  // mark `last` (-1: no break). The test takes little time and excludes most choices, because the text behind the last
  // break must be indented by a multiple of `indentation`.
  bool may_fit(const Anchor& anchor, std::int32_t gap, std::int32_t last) const {
    if (last < last_close_) return true;  // the line may break at the closing bracket
    const std::size_t behind = column(indent_, last, anchor.at), anchored = std::size_t(anchor.column);
    if (last < 0) return gap == 0 && anchored == behind;
    return anchored >= behind && (anchored - behind) % indentation == 0;
  }

  // Returns true if, at the first mark where the two choices differ, `chosen` breaks and `than` does not.
  static bool is_earlier(std::size_t chosen, std::size_t than) { return (chosen & lowest_bit(chosen ^ than)) != 0; }
  static std::size_t lowest_bit(std::size_t bits) { return bits & (~bits + 1); }

  // Returns the number of line breaks at the marks `begin` to `end` for the choice `chosen`. Returns nothing if the
  // choice puts `anchor` into another column than it had in the source, or if no formatter breaks lines as the choice
  // does.
  std::optional<std::int32_t> try_breaks(std::size_t begin, std::size_t end, const Anchor& anchor, std::size_t chosen) {
    Place place = place_;
    std::int32_t count = 0, last = -1;
    std::size_t choice = 0, separators = 0;
    std::size_t written = 0;  // 1 if the last break is followed by an optional closing bracket, which `text_` lacks
    // `breaks_tighter_first` need not examine the separators if the line breaks at all of them or at none of them.
    const std::size_t broken = chosen & separators_;
    const bool is_ordered = (broken == 0) | (broken == separators_);
    for (std::size_t i = begin; i < end; ++i) {
      const Mark& mark = marks_[i];
      const bool breaks = breaks_at(i, place, chosen, choice);
      if (!is_ordered && mark.kind == Mark::Kind::separator)
        passed_[separators++] = {innermost(place), mark.priority, breaks};
      if (!step(place, i, breaks)) return std::nullopt;
      if (!breaks) continue;
      ++count, last = std::int32_t(i), written = (mark.kind == Mark::Kind::close) & mark.optional;
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
  std::size_t replayed_ = 0;  // the number of marks that `place_` has passed
  std::array<std::size_t, most_choices + 1> choices_;  // the marks at which `decide` may break the line
  std::size_t choice_count_ = 0;  // the number of marks in `choices_`
  std::size_t separators_ = 0;  // bit i is set if the mark `choices_[i]` is a separator
  std::size_t attributes_ = 0;  // bit i is set if the mark `choices_[i]` stands before the dot of an attribute
  std::int32_t last_close_ = -1;  // the last mark of a closing bracket between the anchors; -1 if there is none
  // The separators that `try_breaks` has passed between the previous and the next anchor; there are no more separators
  // than marks at which the line may break.
  std::array<Passed, most_choices> passed_;
};

}  // namespace

void follow_columns(std::string_view text, std::span<const Mark> marks, std::span<const Anchor> anchors,
                    std::size_t indent, std::span<MarkState> states) {
  Columns(text, marks, anchors, indent, states).run();
}

}  // namespace depyf::print
