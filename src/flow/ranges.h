// Exception ranges of handlers that stand for no statement.
#pragma once
#include <algorithm>
#include <vector>
#include "decode/instruction.h"
namespace depyf {

// By instruction, of which there are `count`: the first of those `ranges` for which `wanted` holds that covers it, -1: none.
template <class Predicate>
std::vector<int> first_cover(const std::vector<ProtectedRange>& ranges, std::size_t count, Predicate wanted) {
  std::vector<int> cover(count, -1);
  for (int index = int(ranges.size()) - 1; index >= 0; --index)
    if (wanted(ranges[index]))
      for (int at = ranges[index].begin; at < ranges[index].end && at < int(count); ++at) cover[at] = index;
  return cover;
}

// Removes the ranges for which `gone` holds. What was protected by a handler that is gone is protected by what protects that
// handler.
template <class Predicate>
void drop_handlers(std::vector<ProtectedRange>& ranges, std::size_t count, Predicate gone) {
  if (std::none_of(ranges.begin(), ranges.end(), gone)) return;
  const std::vector<int> cover = first_cover(ranges, count, [&](const ProtectedRange& range) { return !gone(range); });
  std::vector<ProtectedRange> kept;
  for (const ProtectedRange& range : ranges) {
    if (!gone(range)) {
      kept.push_back(range);
    } else if (const int outer = range.target < int(count) ? cover[range.target] : -1; outer >= 0) {
      ProtectedRange moved = ranges[outer];
      moved.begin = range.begin, moved.end = range.end;
      kept.push_back(moved);
    }
  }
  ranges = std::move(kept);
}

}  // namespace depyf
