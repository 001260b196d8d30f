// Exception ranges of handlers that stand for no statement.
#pragma once
#include <vector>
#include "decode/instruction.h"
namespace depyf {

// Removes the ranges for which `gone` holds. What was protected by a handler that is gone is protected by what protects that
// handler.
template <class Predicate>
void drop_handlers(std::vector<ProtectedRange>& ranges, Predicate gone) {
  std::vector<ProtectedRange> kept;
  for (const ProtectedRange& range : ranges) {
    if (!gone(range)) {
      kept.push_back(range);
      continue;
    }
    for (const ProtectedRange& outer : ranges)
      if (range.target >= outer.begin && range.target < outer.end && !gone(outer)) {
        ProtectedRange moved = outer;
        moved.begin = range.begin, moved.end = range.end;
        kept.push_back(moved);
        break;
      }
  }
  ranges = std::move(kept);
}

}  // namespace depyf
