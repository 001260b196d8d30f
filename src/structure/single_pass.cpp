// Several paths can meet at a node although no `if`, no loop and no other compound statement ends there. The functions
// in this file then write a `while True:` block that runs once and ends in front of the node, so that the paths reach
// the node by `break`. For example, `if x: goto c; if y: goto c; return; c: rest` becomes `while True:` with the body
// `if x: break; if y: break; return`, followed by `rest`.
//
// Parsers contain `while True:` loops that run once, and generated parsers, for example those that Snowball generates,
// consist of these loops. The bytecode of a loop that runs once has no back edge, so only the paths that meet at the
// end of the loop reveal the loop.
#include <algorithm>

#include "structure/structurer.h"

namespace depyf {
using namespace ast;

// Returns the node where a `while True:` block that ends at `end` starts; -1 if no node can start this block. The
// returned node is the nearest dominator of `end` that is in the same region and loop as `end`, and starts neither
// another `while True:` block nor a loop.
NodeIndex Structurer::start_of_block(NodeIndex end) const {
  NodeIndex above = end;
  // If an earlier attempt had a block that ends at `end`, that block was too small, so only the dominators of its start
  // are searched.
  if (const auto known = std::ranges::find(block_ends_, end); known != block_ends_.end())
    above = int(known - block_ends_.begin());
  // If `end` is the header of a loop, the `while True:` block is in the loop around the loop of `end`.
  const int loop = outline_.is_header(end) ? outline_.outer_loop(end) : outline_.loop_of(end);
  for (NodeIndex node = outline_.idom(above); node >= 0 && node != above; above = node, node = outline_.idom(node))
    if (nodes_[node].region == nodes_[end].region && outline_.loop_of(node) == loop && !outline_.is_header(node) &&
        end_of_block(node) < 0)
      return node;
  return -1;
}

NodeIndex Structurer::single_pass(NodeIndex start, const Place& place, Statements& out) {
  const NodeIndex end = block_ends_[start];
  if (claims_[end].claimed) fail("a block that ends in two places", end);
  claims_[end].claimed = true;
  claims_[start].opened = true;
  Place inner = place;
  inner.next = inner.brk = end, inner.cont = -2;
  Statements body;
  emit(start, inner, body);
  if (!leaves(body)) body.push_back(make(Break{}, nodes_[start]));
  out.push_back(make(While{context_.constant(Constant::Kind::true_), block(body), {}}, nodes_[start]));
  return end;
}

}  // namespace depyf
