#include "structure/structurer.h"

#include <algorithm>
#include <set>

#include "structure/handlers.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {
// The largest depth of nesting, which is high because each `elif` of a chain is nested in the `if` before it.
constexpr int depth_max = 4000;
// The largest number of `while True:` blocks that are added because paths meet where no statement ends.
constexpr int blocks_max = 16;
}  // namespace

Structurer::Structurer(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return, const BlockEnds& block_ends)
    : context_(context),
      outline_(context.version, lifted, cfg, may_return),
      nodes_(lifted.nodes),
      cfg_(cfg),
      finally_ends_(lifted.finally_ends),
      block_ends_(block_ends),
      claims_(lifted.nodes.size()) {}

void Structurer::fail(const char* what, NodeIndex node) const {
  throw InternalError{what, node >= 0 ? nodes_[node].offset : 0};
}

// Writes all nodes as statements, from the entry node on.
Structured Structurer::run() {
  if (outline_.irreducible()) fail("a loop with two entries", outline_.entry);
  Statements out;
  emit(outline_.entry, Place{}, out);
  return {block(out), std::move(returns_)};
}

// Control never reaches the end of a match statement if the last case matches everything and control reaches the end
// of no case. Control never reaches the end of a try statement if it reaches neither the end of the body (or else
// clause) nor the end of a handler.
bool leaves(std::span<Stmt* const> out) {
  if (out.empty()) return false;
  const Stmt* last = out.back();
  if (is<Return>(last) || is<Raise>(last) || is<Break>(last) || is<Continue>(last)) return true;
  if (auto* internal = as<InternalStmt>(last)) return internal->marker == StmtMarker::reraise;
  auto all = [&](Block body) { return leaves(body); };
  if (auto* branch = as<If>(last)) return !branch->orelse.empty() && all(branch->body) && all(branch->orelse);
  if (auto* match = as<Match>(last)) {
    auto* rest = as<MatchAs>(match->cases.back().pattern);
    return rest && !rest->pattern && !match->cases.back().guard &&
           std::all_of(match->cases.begin(), match->cases.end(), [&](const MatchCase& each) { return all(each.body); });
  }
  if (auto* attempt = as<Try>(last)) {
    if (!attempt->finalbody.empty() && all(attempt->finalbody)) return true;
    if (!(attempt->orelse.empty() ? all(attempt->body) : all(attempt->orelse))) return false;
    return std::all_of(attempt->handlers.begin(), attempt->handlers.end(),
                       [&](const ExceptHandler& h) { return all(h.body); });
  }
  return false;
}

// Returns the nodes at which paths from `node` meet and which have to be written behind the statement of `node`, in
// reverse postorder.
Table<NodeIndex> Structurer::merges(NodeIndex node, const Place& place) {
  Table<NodeIndex> found;
  for (NodeIndex other : outline_.merges_of(node)) {
    // A node that has been claimed is written at another place.
    if (claims_[other].claimed) continue;
    // In 3.8, the node of a return at the end of a handler lies outside of the handler's region, because the node
    // starts by leaving the handler.
    const bool ends_handler =
        nodes_[other].ends_handler && place.region >= 0 && cfg_.regions[place.region].parent == nodes_[other].region;
    // The node of a `continue` that leaves statements lies in the region around these statements.
    const bool continues = nodes_[other].left_by_statement && cfg_.inside(place.region, nodes_[other].region);
    if (!ends_handler && !continues && !cfg_.inside(nodes_[other].region, place.region)) continue;
    found.push_back(other);
  }
  return found;
}

// Returns the nodes outside `region`, dominated by `first`, to which edges from within the region lead. Two kinds
// of nodes are left out: nodes that only return, because copies of them can be written, and nodes that control reaches
// from `place` without a statement, or by `continue` or `break`.
Table<NodeIndex> Structurer::exits_of(RegionIndex region, NodeIndex first, const Place& place) const {
  if (region < 0) return {};
  std::set<int> found;  // positions in reverse postorder
  for (NodeIndex pred : outline_.regions().of(region))
    for (NodeIndex node : outline_.successors(pred)) {
      if (outline_.order(pred) >= outline_.order(node) || cfg_.inside(nodes_[node].region, region)) continue;
      if (claims_[node].claimed || nodes_[node].left_by_statement || !outline_.dominates(first, node)) continue;
      // In 3.8, the node of a return at the end of a handler lies outside of the handler's region. If `region` is the
      // region of the handler, the return is written in the handler, behind an inner try statement, and is left out
      // here.
      const bool ends_handler = nodes_[node].ends_handler && cfg_.regions[region].parent == nodes_[node].region;
      if (outline_.trivial_tail(node) && (!nodes_[node].behind_handlers || ends_handler)) continue;
      found.insert(outline_.order(node));
    }
  Table<NodeIndex> nodes;
  for (int order : found)
    if (NodeIndex node = outline_.sequence()[order]; !place.leads_to(node)) nodes.push_back(node);
  return nodes;
}

// Writes `node` and the nodes that come after it, until no further node has to be written at `place`.
void Structurer::emit(NodeIndex node, Place place, Statements& out) {
  if (++depth_ > depth_max) fail("nested too deeply", node);
  while (node >= 0) {
    if (outline_.is_header(node) && place.cont != node) {
      // The function `loop` also places the code behind the loop.
      node = step_to(loop(node, place, out), place);
      continue;
    }
    if (end_of_block(node) >= 0 && !claims_[node].opened) {
      node = step_to(single_pass(node, place, out), place);
      continue;
    }
    if (claims_[node].emitted) fail("a block in two places", node);
    claims_[node].emitted = true;
    append(out, nodes_[node].statements);
    NodeIndex next = -1;
    const Node::End end = nodes_[node].end;
    if (end == Node::End::loop) {
      next = loop(node, place, out);
    } else if (end == Node::End::setup) {
      next = protect(node, place, out);
    } else if (end == Node::End::branch && outline_.is_case(node)) {
      next = match(node, place, out);
    } else if (nodes_[node].left_by_statement && nodes_[node].a == place.cont) {
      out.push_back(make(Continue{}, nodes_[node]));
    } else {
      // The first node where paths from `node` meet follows the statement of `node`, so the paths fall through to it.
      Table<NodeIndex> after;
      if (!outline_.merges_of(node).empty()) after = merges(node, place);
      for (NodeIndex other : after) claims_[other].claimed = true;
      Place inner = place;
      if (!after.empty()) inner.next = after[0];
      next = terminator(node, inner, out, after.empty());
      if (!after.empty()) next = place_all(after, place, out);
    }
    node = step_to(next, place);
  }
  --depth_;
}

// Sets `place.loop` to the loop around the node, or to -1 if the node is in no loop. A node from which control does not
// return to a loop may still be written inside of the loop, as the `return` in `if c: ...; return`.
void Structurer::leave_loop(NodeIndex node, Place& place) const {
  place.loop = outline_.loop_of(node);
  if (place.loop == node) place.loop = outline_.outer_loop(node);
}

void Structurer::place_node(NodeIndex node, Place place, Statements& out) {
  step_to(node, place);
  emit(node, place, out);
}

// Writes all `nodes` but the last node, and returns the last node.
NodeIndex Structurer::place_all(const Table<NodeIndex>& nodes, const Place& place, Statements& out) {
  for (std::size_t index = 0; index + 1 < nodes.size(); ++index) {
    Place step = place;
    step.next = nodes[index + 1];
    place_node(nodes[index], step, out);
  }
  return nodes.empty() ? NodeIndex() : nodes.back();
}

// Writes the end of a node that starts no loop, try or with statement.
NodeIndex Structurer::terminator(NodeIndex node, const Place& place, Statements& out, bool tail) {
  const Node& info = nodes_[node];
  switch (info.end) {
    case Node::End::go: return go(info.a, place, out, tail);
    case Node::End::branch: return branch(node, place, out, tail);
    case Node::End::leave: out.push_back(make(Return{info.value}, info)); return -1;
    case Node::End::none:
    case Node::End::loop:
    case Node::End::stop:
    case Node::End::setup: return -1;
  }
  return -1;
}

// The edge to `target` is written as nothing, as `continue`, as `break`, as a copy of a return, or as the statements
// of the target.
NodeIndex Structurer::go(NodeIndex target, const Place& place, Statements& out, bool tail) {
  if (target >= 0 && nodes_[target].left_by_statement && target != place.next && target != place.brk) {
    // `skip_empty` has kept the node because the source may have a `continue` at this place, even if control would
    // reach the target of the `continue` without the statement.
    const Node& statement = nodes_[target];
    claims_[target].emitted = true;
    if (statement.a == place.cont) return out.push_back(make(Continue{}, statement)), -1;
    target = statement.a;
  }
  if (target == place.next) return -1;
  if (target == place.cont) {
    out.push_back(context_.stmt(Continue{}, nodes_[target].offset, nodes_[target].line));
    return -1;
  }
  if (target == place.brk) {
    out.push_back(context_.stmt(Break{}, nodes_[target].offset, nodes_[target].line));
    return -1;
  }
  if (target < 0) fail("control goes nowhere", target);
  const Node& info = nodes_[target];
  // True if no other edge leads to the node `target`, and `target` has been neither written nor reserved by another
  // place.
  bool first = !claims_[target].emitted && !claims_[target].claimed && outline_.forward_preds(target) == 1;
  if ((!first || !cfg_.inside(info.region, place.region)) && outline_.trivial_tail(target)) {
    append(out, info.statements);
    out.push_back(make(Return{info.value}, info));
    return -1;
  }
  if (!first) throw WaysMeet{{"ways meet where no statement ends", nodes_[target].offset}, target};
  if (!cfg_.inside(info.region, place.region)) fail("a way out of a statement", target);
  if (tail) return target;
  place_node(target, place, out);
  return -1;
}

// The body of a statement is empty if the first node of the body is the node behind the statement.
void Structurer::go_into(NodeIndex node, const Place& place, Statements& out) {
  if (node == place.next) return;
  if (claims_[node].emitted) fail("a block in two places", node);
  emit(node, place, out);
}

namespace {

// Returns the statements of code that is a single node, which needs no nesting.
Structured statements_of(Context& context, Node& node) {
  Table<Stmt*> returns;
  if (node.end == Node::End::leave) {
    returns.push_back(context.stmt(Return{node.value}, node.offset, node.line, node.column, node.width));
    node.statements.push_back(context.arena, returns[0]);
  }
  return {node.statements.block(), std::move(returns)};
}

Structured nested(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return) {
  BlockEnds block_ends;
  for (int blocks = 0;; ++blocks) {
    Structurer structurer(context, lifted, cfg, may_return, block_ends);
    try {
      return structurer.run();
    } catch (const WaysMeet& meeting) {
      const NodeIndex start = structurer.start_of_block(meeting.node);
      if (start < 0 || blocks == blocks_max) throw;
      block_ends.resize(lifted.nodes.size());
      std::ranges::replace(block_ends, meeting.node, NodeIndex());
      block_ends[start] = meeting.node;
    }
  }
}

}  // namespace

Structured structure(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return) {
  Structured result =
      is_one_node(lifted) ? statements_of(context, lifted.nodes[0]) : nested(context, lifted, cfg, may_return);
  if (context.stmt_kinds.has(StmtKinds::of<InternalStmt>())) result.body = clean(context, result.body);
  return result;
}

}  // namespace depyf
