#include "prove/lockstep_handlers.h"

#include <algorithm>
#include <ranges>

namespace depyf::lockstep {

bool Handlers::enter(const Frames& frames, Value exception, std::vector<Frames>& ahead) {
  if (exception == 0) {
    // A Situation is a state in which an exception has already led to handlers. The search starts with the situation
    // that was recorded last, because the latest situations match most often.
    std::vector<Situation>& known = known_[codes_[0].handler_at(frames.sides[0].at)];
    for (const Situation& situation : known | std::views::reverse)
      if (is_in(situation, frames)) return true;
    known.push_back(situation_of(frames));
    exception = values_.fresh();
  }
  Frames unwound = frames;
  for (int side = 0; side < 2; ++side)
    if (!silent_.unwind(side, unwound.sides[side], exception)) return false;
  ahead.push_back(std::move(unwound));
  return true;
}

// Returns the values of the stack that stay below the exception when a handler of one code object starts.
std::span<const Value> Handlers::below(int side, const Frame& frame) const {
  std::size_t depth = 0;
  const int range = codes_[side].handler_at(frame.at);
  if (range >= 0) depth = std::size_t(codes_[side].decoded.ranges[std::size_t(range)].depth);
  // A running handler keeps the previously handled exception in the slots above its level.
  if (!frame.blocks.empty())
    depth = std::size_t(std::max(frame.blocks.back().level, 0)) +
            (frame.blocks.back().target == is_running ? exception_values : 0);
  return std::span(frame.stack).first(std::min(depth, frame.stack.size()));
}

// Returns true if an exception in `frames` would reach the same handlers in the same state as in `situation`. The
// caller has already compared the protected range of the first code object.
bool Handlers::is_in(const Situation& situation, const Frames& frames) const {
  if (situation.range_of_other != codes_[1].handler_at(frames.sides[1].at)) return false;
  for (int side = 0; side < 2; ++side) {
    const Frame& frame = frames.sides[side];
    if (situation.handled[side] != frame.handled || situation.blocks[side] != frame.blocks ||
        !std::ranges::equal(situation.below[side], below(side, frame)))
      return false;
  }
  return situation.shadows == frames.shadows;
}

Handlers::Situation Handlers::situation_of(const Frames& frames) const {
  Situation situation;
  situation.range_of_other = codes_[1].handler_at(frames.sides[1].at);
  situation.shadows = frames.shadows;
  for (int side = 0; side < 2; ++side) {
    const Frame& frame = frames.sides[side];
    situation.handled[side] = frame.handled;
    situation.blocks[side] = frame.blocks;
    const std::span<const Value> values = below(side, frame);
    situation.below[side].assign(values.begin(), values.end());
  }
  return situation;
}

}  // namespace depyf::lockstep
