// Writes a `while True:` block that `break` leaves, for a node where several paths meet although no statement ends in
// front of it:
//
//     a: if x: goto c             while True:
//     b: if y: goto c                 if x: break
//        ...                  ->      if y: break
//        return                       ...
//     c: ...                          return
//                                 c: ...
//
// Parsers contain `while True:` loops that run once, and generated parsers (those of Snowball, for example) consist of
// them. The bytecode of a loop that runs once has no back edge, so only the paths that meet at its end reveal the loop.
#include <algorithm>

#include "structure/structurer.h"

namespace depyf {
using namespace ast;

// Returns the node where a `while True:` block that ends at `end` starts: the nearest dominator of `end` in the same
// region and loop that starts neither a block nor a loop; -1 if there is none.
NodeIndex Structurer::start_of_block(NodeIndex end) const {
  NodeIndex above = end;
  // If an earlier attempt had a block that ends at `end`, that block was too small, so the search starts above it.
  if (const auto known = std::ranges::find(block_ends_, end); known != block_ends_.end())
    above = int(known - block_ends_.begin());
  // If another loop starts at `end`, the block is in the loop around that one.
  const int loop = outline_.is_header(end) ? outline_.outer_loop(end) : outline_.loop_of(end);
  for (NodeIndex node = outline_.idom(above); node >= 0 && node != above; above = node, node = outline_.idom(node))
    if (nodes_[node].region == nodes_[end].region && outline_.loop_of(node) == loop && !outline_.is_header(node) &&
        block_ends_[node] < 0)
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
