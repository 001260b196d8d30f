// Writes with statements. The setup of a context manager, the region of the body, and the call `exit(None, None, None)`
// behind the body become `with manager as target:` and the body.
#include "structure/structurer.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

// Writes the with statement that the node `setup` enters; `follow` is the node behind the statement.
NodeIndex Structurer::with(NodeIndex setup, const Place& place, Statements& out) {
  const Node& info = nodes_[setup];
  const RegionIndex region = info.index;
  const NodeIndex follow = info.b;
  Table<NodeIndex> after;
  const bool own = is_placed_behind(follow, place);
  // The node behind the with statement may be placed elsewhere if it only returns, because a return can be copied.
  bool tail = own && (claims_[follow].claimed || !cfg_.inside(nodes_[follow].region, place.region));
  if (tail && !outline_.trivial_tail(follow)) fail("a with statement that ends elsewhere", setup);
  if (own && !tail) claims_[follow].claimed = true, after.push_back(follow);
  for (NodeIndex node : merges(setup, place)) claims_[node].claimed = true, after.push_back(node);
  if (const Table<NodeIndex> exits = exits_of(region, info.a, place); !exits.empty()) {
    // If the body leads to a single node other than `follow`, WaysMeet requests a `while True:` block that ends at this
    // node, so that the body can go there by `break`. For example, the code at `follow` may run only if `__exit__`
    // suppresses an exception.
    constexpr const char* several = "a with statement with several ends";
    if (exits.size() == 1) throw WaysMeet{{several, nodes_[setup].offset}, exits[0]};
    fail(several, setup);
  }
  Place inner = place;
  inner.region = region;
  inner.next = follow;
  Statements body;
  go_into(info.a, inner, body);
  if (body.empty()) body.push_back(make(Pass{}, info));
  WithItem item{info.value, info.target};
  out.push_back(make(With{context_.list({item}), block(body), info.is_async}, info));
  if (after.empty()) return follow >= 0 && follow != place.next ? go(follow, place, out, true) : NodeIndex();
  return place_all(after, place, out);
}

}  // namespace depyf
