// Decides by lines of the source at which marks the source had line breaks.
#include "print/layout.h"

namespace depyf::print {

namespace {

// Decides about each mark alone first, and then about the items whose lines are unknown.
class LineBreaks {
 public:
  LineBreaks(const Table<Mark>& marks, Table<BreakState>& states)
      : marks_(marks), states_(states), groups_(marks.size()), pairs_(marks.size()) {}

  // Breaks at each mark whose two sides stood on different lines of the source. A mark outside of all brackets cannot
  // break, and neither can brackets that were never closed.
  Pairing run() {
    const int count = int(marks_.size());
    for (int i = 0; i < count; ++i) {
      const Mark& mark = marks_[i];
      pairs_.add(i, mark.kind);
      const int open = pairs_.opening(i, mark.kind);
      const bool is_known = mark.line >= 0 && mark.before >= 0;
      states_[i] = open < 0                  ? BreakState::together
                   : !is_known               ? BreakState::unknown
                   : mark.line > mark.before ? BreakState::apart
                                             : BreakState::together;
      if (open < 0) continue;
      if (mark.is_comma()) groups_[open].has_commas = true;
      if (!is_known && (i == open || mark.is_comma())) groups_[open].has_unknown = true;
    }
    for (const int i : pairs_.unclosed()) states_[i] = BreakState::together;
    for (int i = 0; i < count; ++i)
      if (groups_[i].has_commas && groups_[i].has_unknown && pairs_.partner(i) >= 0) decide_unknown_items(i);
    return std::move(pairs_);
  }

 private:
  // A bracket pair, stored at the index of its opening mark: whether commas stand directly within the brackets, and
  // whether the source lines at the opening bracket or at such a comma are unknown.
  struct Group {
    bool has_commas = false, has_unknown = false;
  };

  // Decides about items without positions, such as parameters. The number of source lines between items with positions
  // shows whether the items in between stand on lines of their own.
  void decide_unknown_items(int open) {
    unknown_.clear();
    bool all_apart = true, any_known = false;
    const int close = pairs_.partner(open);
    // Sets the same state for all undecided items.
    auto settle = [&](BreakState state) {
      for (const int i : unknown_) states_[i] = state;
      unknown_.clear();
    };
    for (int i = open; i < close; ++i) {
      // Only the marks of the opening bracket and of the commas directly within this pair of brackets are examined.
      if (i != open && marks_[i].kind == Mark::Kind::open) i = pairs_.partner(i);
      if (i != open && !marks_[i].is_comma()) continue;
      if (states_[i] == BreakState::unknown) {
        unknown_.push_back(i);
        continue;
      }
      any_known = true;
      const std::int32_t gap = marks_[i].line - marks_[i].before;
      if (unknown_.empty() || marks_[i].line < 0) {
        all_apart = all_apart && states_[i] == BreakState::apart;
        // There are enough lines for each item without a position to stand on its own line.
      } else if (gap > std::int32_t(unknown_.size())) {
        settle(BreakState::apart);
        // The items without positions are the first ones, and share the line below the opening bracket.
      } else if (gap > 0 && unknown_[0] == open) {
        settle(BreakState::together);
        states_[open] = BreakState::apart;
        states_[i] = BreakState::together;
        all_apart = false;
      } else {
        all_apart = all_apart && gap > 0;
        settle(BreakState::together);
      }
    }
    // The line of the closing bracket may show where the last items stand.
    const std::int32_t left = marks_[close].line < 0 ? -1 : marks_[close].line - marks_[close].before;
    if (any_known && left >= 0) settle(left > std::int32_t(unknown_.size()) ? BreakState::apart : BreakState::together);
    if (any_known) settle(all_apart && states_[open] == BreakState::apart ? BreakState::apart : BreakState::together);
  }

  const Table<Mark>& marks_;
  Table<BreakState>& states_;
  Table<Group> groups_;
  Pairing pairs_;
  std::vector<int> unknown_;  // the marks in front of undecided items
};

}  // namespace

Pairing follow_lines(const Table<Mark>& marks, Table<BreakState>& states) { return LineBreaks(marks, states).run(); }

}  // namespace depyf::print
