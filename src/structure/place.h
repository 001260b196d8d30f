// Where a statement is placed, and which nodes have their place.
#pragma once

#include <vector>

namespace depyf {

// Where control goes from the place at work without a jump, by `continue`, by `break`; the region and the loop it lies in.
struct Place {
  int next = -1, cont = -1, brk = -1, region = -1, loop = -1;
  bool jumps_to(int node) const { return node == cont || node == brk; }
  bool leads_to(int node) const { return node == next || jumps_to(node); }
};

// By node.
struct Claims {
  explicit Claims(std::size_t nodes) : claimed(nodes), emitted(nodes) {}
  std::vector<char> claimed;  // some place has it already
  std::vector<char> emitted;
};

}  // namespace depyf
