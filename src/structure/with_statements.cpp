// Writes with statements:
//
//   setup of a manager; <region>; exit(None, None, None)         with manager as target: ...
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
  // The node behind the statement may stand elsewhere if it is a return, because that can be copied.
  bool tail = own && (claims_.claimed[follow] || !cfg_.inside(nodes_[follow].region, place.region));
  if (tail && !outline_.trivial_tail(follow)) fail("a with statement that ends elsewhere", setup);
  if (own && !tail) claims_.claimed[follow] = 1, after.push_back(follow);
  for (NodeIndex node : merges(setup, place)) claims_.claimed[node] = 1, after.push_back(node);
  if (const Table<NodeIndex> exits = exits_of(region, info.a, place); !exits.empty()) {
    // The end of the body may be a `break` out of a `while True:` block that runs once, and in which code follows the
    // with statement for exceptions that are suppressed.
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
