#include "structure/outline.h"

#include "decode/folded_constants.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "support/branch_free.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

// Computes the members in an order in which each member depends only on members that have been computed before.
Outline::Outline(Version version, Lifted& lifted, const Cfg& cfg, bool may_return)
    : Graph(lifted.nodes, lifted.entry), version_(version), cfg_(cfg), may_return_(may_return) {
  find_loop_ends();
  if (cfg_.regions.empty()) return;  // the members that are computed below are only used for code with regions
  find_regions();
  for (NodeIndex node : sequence())
    if (nodes[node].end == Node::End::stop && nodes[node].a >= 0) dead_ends_.push_back(node);
  if (!dead_ends_.empty())
    for (NodeIndex node : sequence()) node_at_.emplace(start_of(node), node);
  find_star_ends();
}

// Groups the nodes by region.
void Outline::find_regions() {
  regions_ = Forest<RegionIndex, NodeIndex>(
      cfg_.regions.size(), [&](RegionIndex region) { return cfg_.regions[region].parent; }, sequence(),
      [&](NodeIndex node) { return nodes[node].region; });
}

// Finds the last jump back to each block. The jumps of the bytecode are searched instead of the edges of the graph,
// because unreachable jumps count too.
void Outline::find_loop_ends() {
  if (!has_loops()) return;
  // By target instruction: the offset of the last jump back to the instruction. A jump that does not lead back sets the
  // additional last element of the table, so that the loop needs no branch.
  Table<std::uint32_t> last(cfg_.code.size() + 1);
  for (const InstructionIndex at : cfg_.jumps) {
    const Instruction& it = cfg_.code[at];
    const bool leads_back = (it.op == Op::jump_) & (it.target >= 0) & (it.target <= at);
    last[select(leads_back, it.target, int(cfg_.code.size()))] = it.offset;
  }
  loop_end_.resize(nodes.size());
  for (NodeIndex block = 0; block < int(cfg_.blocks.size()); ++block)
    if (int begin = cfg_.blocks[block].begin; begin < int(cfg_.code.size())) loop_end_[block] = last[begin];
}

// A node is a trivial tail if it only returns a value that an earlier node has computed, or a constant that the
// compiler loads right before it returns.
bool Outline::trivial_tail(NodeIndex node) const {
  const Node& info = nodes[node];
  if (info.end != Node::End::leave || !may_return_) return false;
  if (!after_star_.empty() && after_star_[node]) return false;
  for (const Stmt* stmt : info.statements) {
    auto* internal = as<InternalStmt>(stmt);
    if (!internal || (internal->marker != StmtMarker::pop_except && internal->marker != StmtMarker::with_exit))
      return false;
  }
  return info.inherited || is_kept_back(info.value);
}

// True if `value` is a constant that `return` loads after the cleanup code of an enclosing `finally` or `with`, so that
// the load does not show whether the return is within the statement. From 3.14 on, the result is false for folded
// constants, because the compiler folds them after it has placed the load.
bool Outline::is_kept_back(const Expr* value) const {
  auto* node = as<ConstantExpr>(value);
  return node && !(dialect_of(version_).late_folding && is_folded(*node->value));
}

bool Outline::is_case(NodeIndex node) const {
  if (node < 0 || nodes[node].end != Node::End::branch) return false;
  auto* internal = as<Internal>(nodes[node].value);
  return internal && internal->marker == Marker::match_case;
}

// A node that `simplify_graph` has added has no basic block, and its number is at least the number of basic blocks.
std::uint32_t Outline::start_of(NodeIndex node) const {
  if (node >= int(cfg_.blocks.size())) return nodes[node].offset;
  return cfg_.code[cfg_.blocks[node].begin].offset;
}

NodeIndex Outline::node_at(std::uint32_t offset) const {
  const auto found = node_at_.find(offset);
  return found != node_at_.end() ? found->second : NodeIndex();
}

NodeIndex Outline::dead_end_of(RegionIndex scope) const {
  if (dead_ends_.empty() || scope < 0) return -1;
  for (NodeIndex node : regions_.of(scope))
    if (nodes[node].region == scope && nodes[node].end == Node::End::stop && nodes[node].a >= 0) return node;
  return -1;
}

}  // namespace depyf
