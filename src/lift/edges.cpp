#include "lift/edges.h"

#include "decode/op.h"
#include "dialect/dialect.h"
#include "support/table.h"

#include <algorithm>

namespace depyf::lifting {
using namespace ast;

// If a predecessor of `block` was merged into a node, the edge starts at that node.
void find_edges(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block, Table<Edge>& edges) {
  edges.clear();
  // Several predecessors may have been merged into one node; the edge from that node is added only once.
  auto add = [&](Edge edge) {
    if (edges.empty() || std::ranges::find(edges, edge) == edges.end()) edges.push_back(edge);
  };
  for (NodeIndex pred : cursor.cfg.blocks[block].preds) {
    if (!graph.states[pred].lifted) continue;
    NodeIndex node = graph.find(pred);
    const Node& info = graph.nodes[node];
    if (info.end == Node::End::none) continue;
    const bool to_a = info.a == block, to_b = info.b == block;
    // Usually, exactly one of the edges `a` and `b` leads to `block`. The usual case contains no branch on `to_a`,
    // because the processor could not predict the branch.
    if (int{to_a} + int{to_b} == 1) {
      add({node, to_b});
    } else if (to_a) {
      // Both edges of a branch may lead to the same block.
      add({node, false});
      add({node, true});
    }
  }
}

std::optional<Edge> only_edge_to(const Cursor& cursor, const LiftedGraph& graph, NodeIndex block) {
  std::optional<Edge> only;
  for (NodeIndex pred : cursor.cfg.blocks[block].preds) {
    if (!graph.states[pred].lifted) continue;
    const NodeIndex node = graph.find(pred);
    const Node& info = graph.nodes[node];
    if (info.end == Node::End::none || (only && only->first == node)) continue;
    if ((info.a == block) + (info.b == block) == 0) continue;
    if (only || info.a == info.b) return std::nullopt;
    only = {node, info.b == block};
  }
  return only;
}

void copy_stack(Simulation& sim, Edge edge, Stack& stack) {
  const auto [node, along_b] = edge;
  stack = sim.graph.states[node].stack;
  Node& info = sim.graph.nodes[node];
  // Removes `count` values from the top of the copied stack.
  auto drop = [&](std::size_t count) {
    if (stack.size() < count) throw InternalError{"the stack is not that deep", info.offset};
    stack.shrink(stack.size() - count);
  };
  switch (info.end) {
    case Node::End::branch:
      // If the tested value stays on the stack along the edge, the node of the branch stores it in a temporary.
      if (along_b ? sim.graph.states[node].keep_b : sim.graph.states[node].keep_a) {
        std::string_view id = sim.names.fresh_name();
        auto* statement = sim.context.stmt(Assign{sim.context.list({sim.context.name(id)}), info.value},
                                           info.value->offset, info.value->line);
        info.statements.push_back(sim.context.arena, statement);
        info.value = sim.context.name(id);
        stack.push_back({sim.context.name(id), node, -1});
      }
      break;
    case Node::End::loop:
      // An exhausted for loop pops its iterator. At the end of the node of a for loop, the stack also contains the
      // item, so the edge to `b` drops two values.
      if (along_b) drop(2);
      break;
    case Node::End::setup:
      if (along_b) {
        const Region& region = sim.cursor.cfg.regions[info.index];
        if (region.kind == Region::Kind::with) {
          // The top of the stack consists of the exit method, in 3.14 its `self`, and the result of __enter__.
          auto* below = stack.size() < 2 ? nullptr : as<Internal>(stack[stack.size() - 2].expr);
          drop(below && below->marker == Marker::null ? 3 : 2);
        } else {
          if (int(stack.size()) < region.depth) throw InternalError{"the stack is not that deep", info.offset};
          stack.shrink(std::size_t(region.depth));
          if (region.lasti) stack.push_back({sim.context.expr(Internal{Marker::other, 0, nullptr}), node, -1});
          stack.push_back({sim.context.expr(Internal{Marker::exception, info.index, nullptr}), node, -1});
        }
      }
      break;
    case Node::End::none:
    case Node::End::go:
    case Node::End::leave:
    case Node::End::stop: break;
  }
}

// In 3.8, a `break` that leaves a handler compiles to `POP_EXCEPT; [CALL_FINALLY;] JUMP_ABSOLUTE`. A jump at the normal
// end of a handler leads to the operation `behind_handlers`, which starts the code behind the try statement.
bool breaks_out_of_handler(const Cursor& cursor, NodeIndex block, NodeIndex target) {
  if (!dialect_of(cursor.decoded.version).finally_subroutines) return false;
  const BasicBlock &from = cursor.cfg.blocks[block], &to = cursor.cfg.blocks[target];
  int at = from.end - 1;
  while (at > from.begin && (cursor.code[at].op == Op::nop_ || cursor.code[at].op == Op::jump_)) --at;
  int behind = at + 1;
  while (behind < to.begin && cursor.code[behind].op == Op::nop_) ++behind;
  return cursor.code[at].op == Op::pop_except_ && cursor.code[behind].op == Op::jump_ && to.begin > behind &&
         cursor.code[to.begin].op != Op::behind_handlers_;
}

// A `break` that leaves a `while True` pops no iterator. It jumps right behind the loop's last jump back:
//
//   <block>: ...; JUMP <target>; ...; JUMP <block or above>; <target>: ...
bool breaks_out_of_while(const Cursor& cursor, NodeIndex block, NodeIndex target) {
  const BasicBlock &from = cursor.cfg.blocks[block], &to = cursor.cfg.blocks[target];
  int before = to.begin - 1;
  while (before > from.end && cursor.code[before].op == Op::nop_) --before;
  const Instruction& last = cursor.code[std::max(before, 0)];
  return before >= from.end && last.op == Op::jump_ && last.target >= 0 && last.target <= from.begin;
}

// A `break` ends its node. The code behind the loop is a separate node even if only one `break` leads to that code, for
// example because the else clause of the loop returns.
bool ends_in_break(const Cursor& cursor, const LiftedGraph& graph, NodeIndex node, NodeIndex block) {
  if (graph.nodes[node].end != Node::End::go) return false;
  int at = cursor.cfg.blocks[block].end - 1;
  while (at >= cursor.cfg.blocks[block].begin && (cursor.code[at].op == Op::nop_ || cursor.code[at].op == Op::jump_))
    --at;
  if (at < cursor.cfg.blocks[block].begin || cursor.code[at].op != Op::pop_top_) return false;
  int iterators = 0;
  for (const Entry& entry : graph.states[node].stack) {
    auto* internal = as<Internal>(entry.expr);
    if (!internal) return false;
    iterators += internal->marker == Marker::iterator && !internal->value;
    // A `break` leaves fewer iterators on the stack than the node started with.
  }
  return iterators < graph.nodes[node].iterators;
}

}  // namespace depyf::lifting
