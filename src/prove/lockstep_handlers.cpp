#include "prove/lockstep_handlers.h"

#include <algorithm>
#include <ranges>

namespace depyf::lockstep {

bool Handlers::enter(const Frames& frames, Value exception, std::vector<Frames>& ahead) {
  if (exception == 0) {
    // The latest situations match most often.
    for (const Situation& situation : known_ | std::views::reverse)
      if (is_in(situation, frames)) return true;
    note(frames);
    exception = values_.fresh();
  }
  Frames unwound = frames;
  for (int side = 0; side < 2; ++side)
    if (!silent_.unwind(side, unwound.sides[side], exception)) return false;
  ahead.push_back(std::move(unwound));
  return true;
}

// Returns the values that stay below an exception on one side.
std::span<const Value> Handlers::below(int side, const Frame& frame) const {
  std::size_t depth = 0;
  const int range = codes_[side].handler_at(frame.at);
  if (range >= 0) depth = std::size_t(codes_[side].decoded.ranges[std::size_t(range)].depth);
  // A running handler keeps the exception handled before it in the slots above its level.
  if (!frame.blocks.empty())
    depth = std::size_t(std::max(frame.blocks.back().level, 0)) +
            (frame.blocks.back().target == is_running ? exception_values : 0);
  return std::span(frame.stack).first(std::min(depth, frame.stack.size()));
}

bool Handlers::is_in(const Situation& situation, const Frames& frames) const {
  for (int side = 0; side < 2; ++side) {
    const Frame& frame = frames.sides[side];
    if (situation.ranges[side] != codes_[side].handler_at(frame.at) || situation.handled[side] != frame.handled ||
        situation.blocks[side] != frame.blocks || !std::ranges::equal(situation.below[side], below(side, frame)))
      return false;
  }
  return situation.shadows == frames.shadows;
}

void Handlers::note(const Frames& frames) {
  Situation& situation = known_.emplace_back();
  situation.shadows = frames.shadows;
  for (int side = 0; side < 2; ++side) {
    const Frame& frame = frames.sides[side];
    situation.ranges[side] = codes_[side].handler_at(frame.at);
    situation.handled[side] = frame.handled;
    situation.blocks[side] = frame.blocks;
    const std::span<const Value> values = below(side, frame);
    situation.below[side].assign(values.begin(), values.end());
  }
}

}  // namespace depyf::lockstep
