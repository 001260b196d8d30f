#include "structure/empty_nodes.h"

#include <algorithm>
#include <optional>

#include "flow/cfg.h"
#include "structure/graph.h"

namespace depyf {
using namespace ast;

bool only_markers(const Node& node) {
  return std::all_of(node.statements.begin(), node.statements.end(), [](const Stmt* stmt) {
    auto* internal = as<InternalStmt>(stmt);
    return internal && (internal->marker == StmtMarker::pop_except || internal->marker == StmtMarker::with_exit);
  });
}

Shape shape_of(const Table<Node, NodeIndex>& nodes, const Cfg& cfg) {
  Shape shape;
  shape.has_regions = !cfg.regions.empty();
  for (const Node& node : nodes) {
    const bool is_used = node.end != Node::End::none;
    shape.has_ends |= is_used & (node.left_by_statement | node.else_clause);
    // Most nodes have no edge that leads back. The sum is computed without a branch, so that a single `if` skips these
    // nodes.
    const bool back_a = is_used & leads_back(nodes, node, node.a), back_b = is_used & leads_back(nodes, node, node.b);
    if (int{back_a} + int{back_b} == 0) continue;
    if (back_a) shape.back_targets.push_back(node.a);
    if (back_b) shape.back_targets.push_back(node.b);
  }
  return shape;
}

namespace {

// True if the node lies on the path of a `return` out of a finally clause, and does nothing but leave the with
// statements in the clause and pop the exception that the clause handles.
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

// Sets `left_by_statement` of the nodes that may be a `continue`, and clears it for all other nodes. A node may be a
// `continue` if it leaves a statement or is a whole else clause, has no other effect, and leads back to earlier code.
void settle_ends_of_statements(Table<Node, NodeIndex>& nodes) {
  // If the node that starts an else clause is empty and leads to the setup node of a try or with statement, the setup
  // node starts the else clause too.
  for (const Node& node : nodes)
    if (node.else_clause && node.end == Node::End::go && node.statements.empty() && node.a >= 0 &&
        nodes[node.a].end == Node::End::setup)
      nodes[node.a].else_clause = true;
  for (Node& node : nodes)
    node.left_by_statement = (node.left_by_statement || (node.else_clause && !node.statements.empty())) &&
                             node.end == Node::End::go && only_markers(node) && leads_back(nodes, node, node.a);
}

// Finds the empty headers of loops whose body starts with a for loop. If the empty header of an outer loop in front of
// a for loop were removed, both loops would have the same header.
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
        may_head_[or_zero(to)] |= (node.end != Node::End::none) & leads_back(lifted_.nodes, node, to);
  }

  Lifted& lifted_;
  Table<char> may_head_;  // by node: true if a back edge may lead to the node; empty until needed
  std::optional<Graph> graph_;
};

}  // namespace

void skip_empty(Lifted& lifted, const Shape& shape) {
  auto& nodes = lifted.nodes;
  if (shape.has_ends) settle_ends_of_statements(nodes);
  Table<char> handlers;  // by node: true if a handler starts at the node; empty without finally clauses
  if (!lifted.finally_ends.empty()) {
    handlers.resize(nodes.size());
    for (const Node& node : nodes)
      if (node.end == Node::End::setup && node.b >= 0) handlers[node.b] = true;
  }
  OuterHeaders outer_headers(lifted);
  auto is_needed = [&](NodeIndex node) {
    // A node whose `carries` is set computes a value within a statement, and a return behind the statement uses the
    // value.
    if (nodes[node].carries) return true;
    return nodes[node].else_break || nodes[node].left_by_statement || outer_headers.contains(node);
  };
  auto does_nothing = [&](NodeIndex node) {
    if (only_markers(nodes[node])) return true;
    return !handlers.empty() && !handlers[node] && returns_from_finally(lifted, nodes[node]);
  };
  const int count = int(nodes.size());
  // Indexed by node: true if the node ends in a plain jump (End::go), and either has no statements or starts with a
  // marker (InternalStmt). The value is true for few nodes, and each node that does nothing is one of them.
  Table<char> may_do_nothing(count);
  bool is_possible = false;  // true if the table contains a value that is true
  for (int index = 0; index < count; ++index) {
    const Node& node = nodes[index];
    const bool is_plain = node.end == Node::End::go;
    may_do_nothing[index] = is_plain & node.statements.empty();
    if (shape.has_regions && is_plain && !node.statements.empty())
      may_do_nothing[index] = is<InternalStmt>(node.statements[0]);
    is_possible |= may_do_nothing[index] != 0;
  }
  if (!is_possible) return;
  auto may_be_skipped = [&](NodeIndex node) { return (node >= 0) & (may_do_nothing[or_zero(node)] != 0); };
  // Redirects an edge past nodes that do nothing.
  auto redirect = [&](NodeIndex& edge) {
    for (int steps = 0; steps < count && may_be_skipped(edge); ++steps) {
      const NodeIndex next = nodes[edge].a;
      if (next == edge || !does_nothing(edge) || is_needed(edge)) break;
      edge = next;
    }
  };
  for (Node& node : nodes) {
    const bool is_used = node.end != Node::End::none;
    // The first node in the body of a try or with statement stays, even if it is empty, because the node behind it may
    // not be in the body.
    if (is_used & (node.end != Node::End::setup) & may_be_skipped(node.a)) redirect(node.a);
    if (is_used & may_be_skipped(node.b)) redirect(node.b);
  }
  redirect(lifted.entry);
}

}  // namespace depyf
