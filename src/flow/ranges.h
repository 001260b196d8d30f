// Looks up exception ranges, and removes those whose handlers belong to no statement of the source.
#pragma once
#include <algorithm>
#include "decode/instruction.h"
#include "support/table.h"
namespace depyf {

// Returns for each of `count` instructions the index of the first range in `ranges` that covers it and for which
// `wanted` returns true, or -1 if no range does.
template <class Predicate>
Table<int> first_cover(const Table<ProtectedRange>& ranges, std::size_t count, Predicate wanted) {
  Table<int> cover(count, -1);
  for (int index = int(ranges.size()) - 1; index >= 0; --index)
    if (wanted(ranges[index]))
      for (int at = ranges[index].begin; at < ranges[index].end && at < int(count); ++at) cover[at] = index;
  return cover;
}

// Removes the ranges for which `gone` returns true. If a remaining range covers the handler of a removed range, the
// handler of the remaining range also protects the instructions of the removed range.
template <class Predicate>
void drop_handlers(Table<ProtectedRange>& ranges, std::size_t count, Predicate gone) {
  if (std::none_of(ranges.begin(), ranges.end(), gone)) return;
  const Table<int> cover = first_cover(ranges, count, [&](const ProtectedRange& range) { return !gone(range); });
  Table<ProtectedRange> kept;
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
