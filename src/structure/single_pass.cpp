// Writes a block that `break` leaves, where ways meet behind statements that have no end there:
//
//     a: if x: goto c             while True:
//     b: if y: goto c                 if x: break
//        ...                  ->      if y: break
//        return                       ...
//     c: ...                          return
//                                 c: ...
//
// Programs write parsers in this way, and generated ones (those of Snowball, for example) consist of it. The loop has no way
// back to its start, so nothing but the ways to its end shows that it is there.
#include <algorithm>

#include "structure/structurer.h"

namespace depyf {
using namespace ast;

// Returns the node where a block starts that ends at `end`: the nearest dominator in the same region and loop that starts
// neither a block nor a loop. Returns -1 if there is none.
NodeIndex Structurer::start_of_block(NodeIndex end) const {
  NodeIndex above = end;
  // The block that was tried before was too small.
  if (const auto known = std::ranges::find(block_ends_, end); known != block_ends_.end())
    above = int(known - block_ends_.begin());
  for (NodeIndex node = outline_.idom(above); node >= 0 && node != above; above = node, node = outline_.idom(node))
    if (nodes_[node].region == nodes_[end].region && outline_.loop_of(node) == outline_.loop_of(end) &&
        !outline_.is_header(node) && block_ends_[node] < 0)
      return node;
  return -1;
}

NodeIndex Structurer::single_pass(NodeIndex start, const Place& place, Statements& out) {
  const NodeIndex end = block_ends_[start];
  if (claims_.claimed[end]) fail("a block that ends in two places", end);
  claims_.claimed[end] = 1;
  claims_.opened[start] = 1;
  Place inner = place;
  inner.next = inner.brk = end, inner.cont = -2;
  Statements body;
  emit(start, inner, body);
  if (!leaves(body)) body.push_back(make(Break{}, nodes_[start]));
  out.push_back(make(While{context_.constant(Constant::Kind::true_), block(body), {}}, nodes_[start]));
  return end;
}

}  // namespace depyf
