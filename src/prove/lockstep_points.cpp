#include "prove/lockstep_points.h"

namespace depyf::lockstep {

bool VisitedPoints::arrive(Frames& frames, bool& known) {
  set_pattern(frames);
  int& first = first_point_[std::size_t(frames.sides[0].at + 1)];
  int index = first;
  while (index >= 0 && points_[std::size_t(index)].at != frames.sides[1].at) index = points_[std::size_t(index)].next;
  if (index < 0) {
    points_.push_back({frames.sides[1].at, first, pattern_});
    first = int(points_.size()) - 1;
    return true;
  }
  std::vector<Value>& visited = points_[std::size_t(index)].pattern;
  known = visited == pattern_;
  if (known) return true;
  if (!generalise(frames, visited)) return false;
  set_pattern(frames);
  known = visited == pattern_;
  if (!known) visited = pattern_;
  return true;
}

// Stores the pattern of `frames` in `pattern_`: values are numbered in the order of their first occurrence.
void VisitedPoints::set_pattern(const Frames& frames) {
  pattern_.clear();
  numbered_.clear();
  for (const Frame& frame : frames.sides) {
    pattern_.push_back(frame.phase);
    pattern_.push_back(Value(frame.stack.size()));
    pattern_.push_back(Value(frame.blocks.size()));
    for (const Block& block : frame.blocks) pattern_.insert(pattern_.end(), {block.target, block.level});
    pattern_.push_back(number(frame.handled, frames.shadows));
    for (Value value : frame.stack) pattern_.push_back(number(value, frames.shadows));
  }
  for (const Shadow& shadow : frames.shadows)
    pattern_.insert(pattern_.end(), {shadow.slot, shadow.saved != 0, shadow.partner});
}

// `pattern_` is the pattern of `frames`, and `visited` is the pattern of an earlier visit of the same places. Makes
// `frames` more general, so that they stand for the earlier visit, too. Returns false if no frames can stand for both
// visits.
bool VisitedPoints::generalise(Frames& frames, const std::vector<Value>& visited) {
  if (visited.size() != pattern_.size()) return false;
  merged_.clear();
  std::size_t at = 0;
  for (Frame& frame : frames.sides) {
    // The first entries are the shape of the frame, which cannot be generalised: its phase, its depths and its
    // blocks.
    const std::size_t shapes = 3 + 2 * frame.blocks.size();
    for (std::size_t same = 0; same < shapes; ++same, ++at)
      if (visited[at] != pattern_[at]) return false;
    if (!merge(frame.handled, visited[at], pattern_[at])) return false;
    ++at;
    for (Value& value : frame.stack) {
      if (!merge(value, visited[at], pattern_[at])) return false;
      ++at;
    }
  }
  for (Shadow& shadow : frames.shadows) {
    for (int same = 0; same < 2; ++same, ++at)
      if (visited[at] != pattern_[at]) return false;
    // The partner of a comprehension's local is the second code object's local with the same value. If the two visits
    // have different partners, no partner is known.
    if (visited[at] != pattern_[at]) shadow.partner = -1;
    ++at;
  }
  return true;
}

// Sets `value` to a value that stands for `one` and `two`, which are the numbers of `value` in the patterns of two
// visits. During one generalisation, two calls with the same `one` and `two` set the same value.
bool VisitedPoints::merge(Value& value, Value one, Value two) {
  if (one == two && one < first_fresh) return true;
  if (!may_merge(one) || !may_merge(two)) return false;
  // Parts of values, such as the class of an exception, merge only with the same part of another value.
  const Value part = !is_whole(one) ? one % parts : !is_whole(two) ? two % parts : 0;
  if (part && one % parts != two % parts) return false;
  one -= part;
  two -= part;
  for (const Merged& merged : merged_)
    if (merged.one == one && merged.two == two) {
      value = merged.value + part;
      return true;
    }
  // The merged value is a boolean if both values are; it may be a tuple of constants if one of them is.
  const std::uint8_t flags[] = {flags_in_pattern(one), flags_in_pattern(two)};
  value =
      values_.fresh(std::uint8_t((flags[0] & flags[1] & is_boolean) | ((flags[0] | flags[1]) & is_tuple_of_constants)));
  merged_.push_back({one, two, value});
  value += part;
  return true;
}

// Returns false for values that cannot be merged with other values: return addresses, saved values of locals that a
// comprehension uses, and fixed values other than None, True, False and the caller's exception.
bool VisitedPoints::may_merge(Value value) {
  if (value % parts == address_part) return false;
  return value >= first_fresh || value / parts == callers_exception / parts || value == none_value ||
         value / parts == true_value / parts;
}

// Returns the number that stands for `value` in a pattern. A value is the sum of a base and a part, and the base is
// replaced by its index in the order of first occurrence, combined with its flags.
Value VisitedPoints::number(Value value, const std::vector<Shadow>& shadows) {
  if (value < 0)
    for (std::size_t index = 0; index < shadows.size(); ++index)
      if (shadows[index].saved == value) return -parts * Value(index + 1);
  if (value < first_fresh || value % parts == address_part) return value;
  const Value base = value / parts;
  std::size_t index = 0;
  while (index < numbered_.size() && numbered_[index] != base) ++index;
  if (index == numbered_.size()) numbered_.push_back(base);
  return first_fresh + (Value(index) * flag_values + values_.flags_of(value)) * parts + value % parts;
}

std::uint8_t VisitedPoints::flags_in_pattern(Value value) const {
  return value < first_fresh ? values_.flags_of(value) : std::uint8_t((value - first_fresh) / parts % flag_values);
}

}  // namespace depyf::lockstep
