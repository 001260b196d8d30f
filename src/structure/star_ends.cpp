// A clause of `except*` must not contain `return`, so a `return` to which the clauses go on is placed behind the
// statement:
//
//     with a:                       with a:
//         try: ...                      try: ...
//         except* E: b; return          except* E: b
//     return                        return            the with statement ends there as well
#include <algorithm>

#include "ast/equal.h"
#include "structure/outline.h"

namespace depyf {
using namespace ast;

// Finds the nodes at which `except*` clauses go on. A node that only returns a value is replaced by the code behind an
// enclosing with statement if that code returns the same value; for all other nodes, `after_star_` records that a
// return in the node must not be copied into an `except*` clause.
void Outline::find_star_ends() {
  if (std::ranges::none_of(cfg_.regions, &Region::is_star)) return;
  after_star_.resize(nodes.size());
  bool changed = false;
  for (int index = 0; index < int(nodes.size()); ++index) {
    const Node& setup = nodes[index];
    if (setup.end != Node::End::setup || setup.b < 0 || !cfg_.regions[setup.index].is_star) continue;
    RegionIndex scope = nodes[setup.b].region;
    if (scope < 0) continue;
    for (NodeIndex node : regions_.of(scope)) {
      for (NodeIndex next : successors(node)) {
        if (next < 0 || cfg_.inside(nodes[next].region, scope) || after_star_[next]) continue;
        if (trivial_tail(next) && end_with(setup.index, next)) changed = true;
        else after_star_[next] = 1;
      }
    }
  }
  if (!changed) return;
  analyse();
  find_regions();
}

// If the code behind a with statement around `region` returns the same value as the node `tail`, redirects all edges to
// `tail` to this code and returns true; otherwise returns false.
bool Outline::end_with(RegionIndex region, NodeIndex tail) {
  for (RegionIndex with = cfg_.regions[region].parent; with >= 0; with = cfg_.regions[with].parent) {
    const Region& outer = cfg_.regions[with];
    if (outer.kind != Region::Kind::with || cfg_.inside(nodes[tail].region, with)) continue;
    for (const Node& node : nodes) {
      if (node.end != Node::End::setup || node.index != with || node.b < 0 || node.b == tail || !trivial_tail(node.b))
        continue;
      if (!equal(nodes[tail].value, nodes[node.b].value)) return false;
      const NodeIndex end = node.b;
      for (Node& before : nodes)
        for (NodeIndex* to : {&before.a, &before.b})
          if (*to == tail) *to = end;
      return true;
    }
  }
  return false;
}

}  // namespace depyf
