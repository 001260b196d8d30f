// A clause of `except*` must not contain `return`, so a `return` to which control goes from the end of a clause is
// placed behind the try statement. For example, if a with statement contains the clause `except* E: b; return`, and a
// `return` of the same value follows the with statement, the clause becomes `except* E: b`, behind which the with
// statement ends too.
#include <algorithm>

#include "ast/equal.h"
#include "structure/outline.h"

namespace depyf {
using namespace ast;

// Finds the nodes to which control goes from the ends of `except*` clauses. If a node behind an `except*` clause only
// returns a value, and the code behind an enclosing with statement returns the same value, the edges to the node are
// redirected to that code. `after_star_` records for each other node behind an `except*` clause that a return in the
// node must not be copied into an `except*` clause.
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

// If the code behind a with statement around `region` returns the same value as the node `tail`, makes every edge that
// leads to `tail` lead to the code behind the with statement, and returns true. Returns false, and changes no edges, if
// the code behind the with statements around `region` does not return the value of `tail`.
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
