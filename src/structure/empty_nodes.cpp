#include "structure/empty_nodes.h"

#include <algorithm>
#include <optional>

#include "structure/graph.h"

namespace depyf {
using namespace ast;

bool only_markers(const Node& node) {
  return std::all_of(node.statements.begin(), node.statements.end(), [](const Stmt* stmt) {
    auto* internal = as<InternalStmt>(stmt);
    return internal && (internal->marker == StmtMarker::pop_except || internal->marker == StmtMarker::with_exit);
  });
}

Shape shape_of(const Table<Node, NodeIndex>& nodes) {
  Shape shape;
  for (const Node& node : nodes) {
    if (node.end == Node::End::none) continue;
    if (leads_back(nodes, node, node.a)) shape.back_targets.push_back(node.a);
    if (leads_back(nodes, node, node.b)) shape.back_targets.push_back(node.b);
    shape.has_ends |= node.left_by_statement || node.else_clause;
  }
  return shape;
}

namespace {

// True if the node only pops the exception of a finally clause, and calls __exit__ before, on the path of a `return`
// that stands within a statement of the clause.
bool returns_from_finally(const Lifted& lifted, const Node& node) {
  const bool is_clause = std::ranges::any_of(
      lifted.finally_ends, [&](const std::pair<RegionIndex, NodeIndex>& end) { return end.first == node.region; });
  if (!is_clause || node.a < 0 || lifted.nodes[node.a].region == node.region) return false;
  NodeIndex last = node.a;
  for (std::size_t steps = 0; steps < lifted.nodes.size() && last >= 0; ++steps, last = lifted.nodes[last].a)
    if (lifted.nodes[last].end != Node::End::go || !only_markers(lifted.nodes[last])) break;
  return last >= 0 && lifted.nodes[last].end == Node::End::leave && only_markers(lifted.nodes[last]) &&
         std::ranges::all_of(node.statements, [](const Stmt* stmt) {
           auto* internal = as<InternalStmt>(stmt);
           return internal &&
                  (internal->marker == StmtMarker::pop_except || internal->marker == StmtMarker::with_exit ||
                   (internal->marker == StmtMarker::bind_exception && !internal->value));
         });
}

// Restricts `left_by_statement` to nodes that may be a `continue`: nodes that leave a statement or are a whole else
// clause, have no other effect, and lead back to earlier code.
void settle_ends_of_statements(Table<Node, NodeIndex>& nodes) {
  // An else clause may start with a statement whose setup is a node of its own.
  for (const Node& node : nodes)
    if (node.else_clause && node.end == Node::End::go && node.statements.empty() && node.a >= 0 &&
        nodes[node.a].end == Node::End::setup)
      nodes[node.a].else_clause = true;
  for (Node& node : nodes)
    node.left_by_statement = (node.left_by_statement || (node.else_clause && !node.statements.empty())) &&
                             node.end == Node::End::go && only_markers(node) && leads_back(nodes, node, node.a);
}

// Finds the empty headers of loops whose body starts with a for loop, without which the loop and the for loop would
// have the same header.
class OuterHeaders {
 public:
  explicit OuterHeaders(Lifted& lifted) : lifted_(lifted) {}

  bool contains(NodeIndex node) {
    const auto& nodes = lifted_.nodes;
    if (nodes[node].a < 0 || nodes[nodes[node].a].end != Node::End::loop) return false;
    if (may_head_.empty()) find_heads();
    if (!may_head_[node]) return false;
    if (!graph_) graph_.emplace(lifted_.nodes, lifted_.entry);
    return graph_->order(node) >= 0 && graph_->is_header(node);
  }

 private:
  void find_heads() {
    may_head_.resize(lifted_.nodes.size());
    for (const Node& node : lifted_.nodes)
      for (NodeIndex to : {node.a, node.b})
        if (node.end != Node::End::none && leads_back(lifted_.nodes, node, to)) may_head_[to] = true;
  }

  Lifted& lifted_;
  Table<char> may_head_;  // by node: a back edge may lead to it; empty until it is needed
  std::optional<Graph> graph_;
};

}  // namespace

void skip_empty(Lifted& lifted, const Shape& shape) {
  auto& nodes = lifted.nodes;
  if (shape.has_ends) settle_ends_of_statements(nodes);
  Table<char> handlers;  // by node: a handler starts there; empty without finally clauses
  if (!lifted.finally_ends.empty()) {
    handlers.resize(nodes.size());
    for (const Node& node : nodes)
      if (node.end == Node::End::setup && node.b >= 0) handlers[node.b] = true;
  }
  OuterHeaders outer_headers(lifted);
  auto is_needed = [&](NodeIndex node) {
    // The node computes a value within a statement, and a return behind the statement uses the value.
    if (nodes[node].carries) return true;
    return nodes[node].else_break || nodes[node].left_by_statement || outer_headers.contains(node);
  };
  auto does_nothing = [&](NodeIndex node) {
    if (only_markers(nodes[node])) return true;
    return !handlers.empty() && !handlers[node] && returns_from_finally(lifted, nodes[node]);
  };
  const int count = int(nodes.size());
  auto may_be_skipped = [&](NodeIndex node) { return node >= 0 && nodes[node].end == Node::End::go; };
  // Redirects an edge past nodes that do nothing.
  auto redirect = [&](NodeIndex& edge) {
    for (int steps = 0; steps < count && may_be_skipped(edge); ++steps) {
      const NodeIndex next = nodes[edge].a;
      if (next == edge || !does_nothing(edge) || is_needed(edge)) break;
      edge = next;
    }
  };
  for (Node& node : nodes) {
    if (node.end == Node::End::none) continue;
    // The first node in the body of a try or with statement stays, even if it is empty, because the node behind it may
    // not be in the body.
    if (node.end != Node::End::setup && may_be_skipped(node.a)) redirect(node.a);
    if (may_be_skipped(node.b)) redirect(node.b);
  }
  redirect(lifted.entry);
}

}  // namespace depyf
