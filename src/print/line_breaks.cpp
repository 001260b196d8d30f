// Decides by the source lines of positions at which marks (places where a line may break) the source had line breaks.
#include <vector>

#include "print/layout.h"

namespace depyf::print {

namespace {

// Decides at which marks the line breaks: first at each mark between two texts whose source lines are known, and then
// before items whose source lines are unknown.
class LineBreaks {
 public:
  LineBreaks(std::span<const Mark> marks, std::span<MarkState> states) : marks_(marks), states_(states) {}

  // Breaks at each mark whose two sides stood on different lines of the source. A line cannot break at a mark outside
  // of all brackets.
  void run() {
    const int count = int(marks_.size());
    bool some_unknown = false;  // true if some brackets need `decide_unknown_items`; few statements have such brackets
    Pairing pairs(states_);
    for (int i = 0; i < count; ++i) {
      const Mark& mark = this->mark(i);
      const int open = pairs.add(i, mark.kind);
      if (open < 0) {
        state(i).state = BreakState::together;
        continue;
      }
      // The processor could not predict branches on the kinds and lines of the marks, so the states are computed
      // without branches.
      MarkState& brackets = state(open);
      const bool is_comma = mark.is_comma(), is_close = mark.kind == Mark::Kind::close;
      const bool is_known = (mark.line >= 0) & (mark.before >= 0);
      const BreakState known = select(mark.line > mark.before, BreakState::apart, BreakState::together);
      state(i).state = select(is_known, known, BreakState::unknown);
      brackets.last_comma = select(is_comma, i, brackets.last_comma);
      brackets.has_unknown = brackets.has_unknown | ((!is_known) & ((i == open) | is_comma));
      some_unknown = some_unknown | (is_close & brackets.has_unknown & (brackets.last_comma >= 0));
    }
    pairs.finish();
    for (int i = 0; some_unknown && i < count; ++i)
      if (state(i).has_unknown && state(i).last_comma >= 0 && state(i).partner >= 0) decide_unknown_items(i);
  }

 private:
  // Decides for items without positions, such as parameters, whether the line breaks before them. The number of source
  // lines between items with positions shows whether the items in between stand on lines of their own.
  void decide_unknown_items(int open) {
    unknown_.clear();
    bool all_apart = true, any_known = false;
    const int close = state(open).partner;
    // Sets the marks in front of all undecided items to the state `settled`.
    auto settle = [&](BreakState settled) {
      for (const int i : unknown_) state(i).state = settled;
      unknown_.clear();
    };
    for (int i = open; i < close; ++i) {
      // Only the marks of the opening bracket and of the commas directly within the pair of brackets are examined.
      if (i != open && mark(i).kind == Mark::Kind::open) i = state(i).partner;
      if (i != open && !mark(i).is_comma()) continue;
      if (state(i).state == BreakState::unknown) {
        unknown_.push_back(i);
        continue;
      }
      any_known = true;
      const std::int32_t gap = mark(i).line - mark(i).before;
      if (unknown_.empty() || mark(i).line < 0) {
        all_apart = all_apart && state(i).state == BreakState::apart;
        // There are enough lines for each item without a position to stand on its own line.
      } else if (gap > std::int32_t(unknown_.size())) {
        settle(BreakState::apart);
        // The items without positions are the first ones, and share the line below the opening bracket.
      } else if (gap > 0 && unknown_[0] == open) {
        settle(BreakState::together);
        state(open).state = BreakState::apart;
        state(i).state = BreakState::together;
        all_apart = false;
      } else {
        all_apart = all_apart && gap > 0;
        settle(BreakState::together);
      }
    }
    // The line of the closing bracket may show where the last items stand.
    const std::int32_t left = mark(close).line < 0 ? -1 : mark(close).line - mark(close).before;
    if (any_known && left >= 0) settle(left > std::int32_t(unknown_.size()) ? BreakState::apart : BreakState::together);
    if (any_known)
      settle(all_apart && state(open).state == BreakState::apart ? BreakState::apart : BreakState::together);
  }

  const Mark& mark(int i) const { return marks_[std::size_t(i)]; }
  MarkState& state(int i) { return states_[std::size_t(i)]; }

  std::span<const Mark> marks_;
  std::span<MarkState> states_;
  std::vector<int> unknown_;  // the marks in front of undecided items
};

}  // namespace

void follow_lines(std::span<const Mark> marks, std::span<MarkState> states) { LineBreaks(marks, states).run(); }

}  // namespace depyf::print
