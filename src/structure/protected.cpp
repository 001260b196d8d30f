// Writes try statements. A setup node enters the region of the body, and the handler is code outside of this region.
//
//   If the handler of a setup node consists of clauses, the node becomes a try statement with except clauses and maybe
//   an else clause.
//   If the handler of a setup node runs a body and raises the exception again, the node becomes a try statement with a
//   finally clause.
//
// The else clause of a try statement is the code that only the body leads to; handlers go on to the code behind the
// else clause.
#include <algorithm>

#include "structure/handlers.h"
#include "structure/structurer.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// True if some path through the handlers goes on to `place.next`, which then is the code behind the try statement.
bool handler_falls(const Outline& outline, NodeIndex handler, RegionIndex scope, const Place& place) {
  for (NodeIndex node : scope >= 0 ? outline.regions().of(scope) : Row<const NodeIndex>(outline.sequence())) {
    if (!outline.dominates(handler, node)) continue;
    for (NodeIndex next : outline.successors(node))
      if (next == place.next && next >= 0) return true;
  }
  return false;
}

// True if all edges to the node come from nodes that do not complete normally (Node::End::stop), so that the node never
// runs. In 3.8, such an edge leads to the code behind handlers that never complete.
bool is_dead(const Outline& outline, NodeIndex node) {
  return std::ranges::all_of(outline.preds(node),
                             [&](NodeIndex pred) { return outline.nodes[pred].end == Node::End::stop; });
}

// True if the node may be an else clause that never runs, because it is dead code right behind the handlers in the
// region `scope`.
bool is_dead_else(const Outline& outline, NodeIndex node, RegionIndex scope) {
  const NodeIndex dead_end = outline.dead_end_of(scope);
  return is_dead(outline, node) && (dead_end < 0 || outline.nodes[dead_end].a == node);
}

// Removes from `handler_exits` the jumps that never run and lead to one of the nodes `after`, which are placed behind
// the try statement. In 3.8, a jump behind handlers never runs if the handlers never complete.
void drop_dead_jumps(const Outline& outline, const Table<NodeIndex>& after, Table<NodeIndex>& handler_exits) {
  std::erase_if(handler_exits, [&](NodeIndex node) {
    const Node& exit = outline.nodes[node];
    return exit.statements.empty() && exit.end == Node::End::go && std::ranges::find(after, exit.a) != after.end() &&
           is_dead(outline, node);
  });
}

}  // namespace

// Throws an InternalError because the body of the try statement that `setup` enters leads to several nodes behind the
// body, one of which is `end`. If several paths meet at `end`, the error is a WaysMeet, because `end` may be the end of
// a `while True:` block that `break` leaves.
void Structurer::fail_of_ends(NodeIndex setup, NodeIndex end) const {
  if (outline_.forward_preds(end) > 1) throw WaysMeet{{"a try statement with several ends", nodes_[setup].offset}, end};
  fail("a try statement with several ends", setup);
}

// Returns the node behind a try statement whose else clause starts at `orelse`, if only the else clause leads to this
// node, because no handler completes. Returns -1 if the node behind the statement is unknown, has been claimed, or is
// reached without the else clause. In 3.8, the node `dead_end`, which ends the handlers, records the offset at which
// the try statement ends.
NodeIndex Structurer::behind_else(NodeIndex orelse, NodeIndex dead_end, const Place& place) const {
  const NodeIndex end = outline_.node_at(nodes_[dead_end].end_offset);
  if (orelse < 0 || end < 0 || end == orelse || claims_[end].claimed || place.leads_to(end)) return -1;
  return outline_.dominates(orelse, end) && cfg_.inside(nodes_[end].region, place.region) ? end : NodeIndex();
}

// Writes the try or with statement that the setup node enters.
NodeIndex Structurer::protect(NodeIndex setup, const Place& place, Statements& out) {
  const Node& info = nodes_[setup];
  RegionIndex region = info.index;
  const Region& kind = cfg_.regions[region];
  if (kind.kind == Region::Kind::with) return with(setup, place, out);
  if (info.b < 0) fail("a handler that is nowhere", setup);
  Table<NodeIndex> after = merges(setup, place);
  for (NodeIndex node : after) claims_[node].claimed = true;
  RegionIndex handler_scope = nodes_[info.b].region;
  const Table<NodeIndex> body_exits = exits_of(region, info.a, place);
  Table<NodeIndex> handler_exits = exits_of(handler_scope, info.b, place);
  bool is_finally = kind.kind == Region::Kind::try_finally;
  drop_dead_jumps(outline_, after, handler_exits);
  NodeIndex orelse_at = -1;
  // The body of a statement can end in one place only.
  if (body_exits.size() > 1) fail_of_ends(setup, body_exits.back());
  if (!body_exits.empty()) {
    claims_[body_exits[0]].claimed = true;
    bool joined = !after.empty() || !handler_exits.empty();
    // If a handler goes on behind the try statement, code that only the body reaches is the else clause.
    if (!is_finally &&
        (joined || nodes_[body_exits[0]].else_clause || handler_falls(outline_, info.b, handler_scope, place)))
      orelse_at = body_exits[0];
    else after.insert(after.begin(), body_exits[0]);
  }
  // In 3.8, if the handlers go on at another node, the node right behind the handlers may be an unreachable else clause.
  if (body_exits.empty() && !is_finally)
    for (std::size_t index = 0; index < handler_exits.size() && orelse_at < 0; ++index) {
      NodeIndex node = handler_exits[index];
      bool joined = !after.empty() || handler_exits.size() > 1 ||
                    (nodes_[node].else_break && nodes_[node].else_clause) ||
                    handler_falls(outline_, info.b, handler_scope, place);
      if (!is_dead_else(outline_, node, handler_scope) || !joined) continue;
      orelse_at = node, claims_[node].claimed = true;
      handler_exits.erase(handler_exits.begin() + std::ptrdiff_t(index));
    }
  // `goes_on` is the target of a jump right behind the try statement, and `else_jumps_to` is the target of a jump that
  // is the whole else clause; -1 if there is no such jump.
  NodeIndex goes_on = -1, else_jumps_to = -1;
  // In 3.8, the reraise behind the handlers has an edge to the code behind the try statement or to its else clause.
  const NodeIndex behind = is_finally ? NodeIndex() : outline_.dead_end_of(handler_scope);
  if (behind >= 0) {
    const NodeIndex at = nodes_[behind].a;
    const bool own = std::ranges::find(after, at) != after.end();
    const bool reached = std::ranges::any_of(outline_.preds(at), [&](NodeIndex pred) {
      return pred != behind && cfg_.inside(nodes_[pred].region, handler_scope);
    });
    const int behind_reraise = cfg_.blocks[behind].end;
    bool has_else = nodes_[at].else_clause || (behind_reraise < int(cfg_.code.size()) &&
                                               nodes_[behind].end_offset > cfg_.code[behind_reraise].offset);
    if (!nodes_[behind].end_offset && own && !has_else)
      has_else = after.size() > 1 || handler_falls(outline_, info.b, handler_scope, place);
    if (own && has_else && !reached && orelse_at < 0) {
      orelse_at = at;
      std::erase(after, at);
    } else if (!own && at != place.next && after.empty() && handler_exits.empty() && orelse_at < 0 &&
               place.jumps_to(at)) {
      (has_else ? else_jumps_to : goes_on) = at;
    }
    if (const NodeIndex end = behind_else(orelse_at, behind, place); end >= 0)
      claims_[end].claimed = true, after.push_back(end);
  }
  for (NodeIndex node : handler_exits) claims_[node].claimed = true, after.push_back(node);
  std::sort(after.begin(), after.end(), [&](int a, int b) { return outline_.order(a) < outline_.order(b); });
  Place inner = place;
  NodeIndex next = !after.empty() ? after[0] : goes_on >= 0 ? goes_on : place.next;
  inner.next = orelse_at >= 0 ? orelse_at : else_jumps_to >= 0 ? else_jumps_to : next;
  inner.region = region;
  Statements body, handler, orelse;
  go_into(info.a, inner, body);
  if (orelse_at >= 0) {
    Place step = place;
    step.next = next;
    place_node(orelse_at, step, orelse);
    // If the else clause is only `break`, a `break` that ends the body is the jump to that clause, and is removed.
    if (orelse.size() == 1 && is<Break>(orelse[0]) && body.size() > 1 && is<Break>(body.back())) body.pop_back();
  }
  if (else_jumps_to >= 0) go(else_jumps_to, place, orelse, false);
  Place step = place;
  step.next = next;
  if (is_finally) {
    step.next = -2;
    // The body of a finally clause ends in one node, which raises the exception again.
    for (auto [scope, end] : finally_ends_)
      if (scope == handler_scope) step.next = end, claims_[end].claimed = true;
  }
  step.region = handler_scope;
  go_into(info.b, step, handler);
  if (body.empty()) body.push_back(make(Pass{}, info));
  if (is_finally) {
    handler = without_exception(context_, handler);
    if (handler.empty()) handler.push_back(make(Pass{}, info));
    out.push_back(make(Try{block(body), {}, {}, block(handler), false}, info));
  } else {
    Table<ExceptHandler> clauses = except_clauses(context_, handler);
    out.push_back(make(Try{block(body), context_.arena.copy(clauses), block(orelse), {}, kind.is_star}, info));
  }
  if (goes_on >= 0) return go(goes_on, place, out, true);
  return place_all(after, place, out);
}

}  // namespace depyf
