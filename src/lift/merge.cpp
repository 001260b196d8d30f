// Merges blocks. Blocks in a straight line become one node, and conditions are joined (conditions.cpp). If a value on
// the stack depends on the edge to a block, the source node of each edge assigns the value along this edge to a
// temporary, which is common to all edges.
#include <algorithm>

#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/conditions.h"
#include "lift/edges.h"
#include "lift/lifter.h"
#include "lift/restarts.h"
#include "lift/stores.h"
#include "support/branch_free.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// True if the source node of `edge` ends in `go` or `branch` and the stack along `edge` is empty, which is by far the
// most frequent case.
bool brings_empty_stack(const LiftedGraph& graph, Edge edge) {
  const auto [node, along_b] = edge;
  const State& state = graph.states[node];
  const Node::End end = graph.nodes[node].end;
  const bool is_kept = along_b ? state.keep_b : state.keep_a;
  return state.stack.empty() & ((end == Node::End::go) | ((end == Node::End::branch) & !is_kept));
}
}  // namespace

// If the only edge to `block` comes from a node of the same region that does not branch, `block` is merged into that
// node.
void Lifter::enter(NodeIndex block) {
  const BasicBlock& info = cursor_.cfg.blocks[block];
  Node& fresh_node = graph_.nodes[block];
  fresh_node.region = info.region;
  if (info.begin < int(cursor_.code.size()))
    fresh_node.offset = cursor_.code[info.begin].offset, fresh_node.line = cursor_.code[info.begin].line;
  sim_.stores.unpackings.clear();
  // Without predecessors, `block` is the entry of the code, where the stack is empty.
  if (cursor_.flat || info.preds.empty()) {
    graph_.node = block;
    return;
  }
  find_edges(cursor_, graph_, block, edges_);
  // With Split::effects_and_tests, each test stays a branch.
  if (edges_.size() > 1 && cursor_.split != Split::effects_and_tests)
    while (reduce_values(context_, cursor_, graph_, block, edges_)) find_edges(cursor_, graph_, block, edges_);
  if (edges_.size() == 1 && may_follow(block)) {
    const NodeIndex node = edges_[0].first;
    // If a `break` leads to the block, the block is the code behind a loop, and stays a separate node.
    if (ends_in_break(cursor_, graph_, node, info.preds[0])) {
      graph_.nodes[block].pops_iterator = true;
    } else {
      graph_.states[block].alias = node;
      graph_.node = node;
      graph_.nodes[node].end = Node::End::none;
      stack_ = graph_.states[node].stack;
      return;
    }
  }
  graph_.node = block;
  stack_.clear();
  auto brings_nothing = [&](Edge edge) { return brings_empty_stack(graph_, edge); };
  if (!std::ranges::all_of(edges_, brings_nothing)) enter_merge(block, edges_);
}

// True if `block`, to which only one edge leads, may be merged into the source node of that edge.
bool Lifter::may_follow(NodeIndex block) const {
  const BasicBlock& info = cursor_.cfg.blocks[block];
  const Node& node = graph_.nodes[edges_[0].first];
  if (info.is_loop_header || info.kind != BasicBlock::Kind::code) return false;
  if (node.end != Node::End::go || node.region != info.region) return false;
  // In 3.8, the code behind the else clause of a try statement stays a separate node, so that it can be placed behind
  // the statement.
  const Instruction* first = info.begin < info.end ? &cursor_.code[info.begin] : nullptr;
  const bool ends_else = first && first->op == Op::behind_handlers_ && (first->arg & behind_else_end) != 0;
  return !ends_else && !breaks_out_of_handler(cursor_, info.preds[0], block) &&
         !breaks_out_of_while(cursor_, info.preds[0], block);
}

// Stores the values that stay on the stack during a loop in temporaries, because the loop does not change the
// temporaries.
void Lifter::name_values_below_loop(NodeIndex block, const Table<Edge>& edges) {
  int first = cursor_.cfg.blocks[block].begin;
  while (first < cursor_.cfg.blocks[block].end && cursor_.code[first].op == Op::nop_) ++first;
  const bool is_for = first < cursor_.cfg.blocks[block].end && cursor_.code[first].op == Op::for_iter_;
  for (auto [node, along_b] : edges) {
    Stack& stack = graph_.states[node].stack;
    std::size_t keep = is_for && edges.size() == 1 && graph_.nodes[node].end == Node::End::go ? 1 : 0;
    for (std::size_t index = 0; index + keep < stack.size(); ++index) {
      Entry& entry = stack[index];
      // In a comprehension, an empty display that stays on the stack during the loop is the result of the
      // comprehension.
      if (comprehension_) {
        auto* list = as<ListExpr>(entry.expr);
        auto* set = as<SetExpr>(entry.expr);
        auto* dict = as<Dict>(entry.expr);
        if ((list && list->elts.empty()) || (set && set->elts.empty()) || (dict && dict->keys.empty()))
          *entry.expr = Expr{Internal{Marker::result, 0, nullptr}, entry.expr->offset, entry.expr->line};
      }
      // A local on the stack is copied to a temporary, because the loop may change the local.
      auto* name = as<Name>(entry.expr);
      bool local = name && !name->id.starts_with("__temp_");
      if (local && sim_.names.stable(entry.expr)) {
        std::string_view id = sim_.names.fresh_name();
        auto* value = context_.arena.make<Expr>(*entry.expr);
        *entry.expr = Expr{Name{id}, value->offset, value->line};
        graph_.nodes[node].statements.push_back(
            context_.arena,
            context_.stmt(Assign{context_.list({context_.name(id)}), value}, value->offset, value->line));
      }
    }
    sim_.spill_at_end(node, stack.size() - std::min(keep, stack.size()));
  }
}

// Creates the stack at the start of a block that is not merged into a preceding node.
void Lifter::enter_merge(NodeIndex block, const Table<Edge>& edges) {
  if (cursor_.cfg.blocks[block].is_loop_header) name_values_below_loop(block, edges);
  if (edges.size() == 1) return copy_stack(sim_, edges[0], stack_);
  // The stacks along all edges must have equal depth. A slot in which the stacks differ becomes a temporary.
  Table<Stack> stacks(edges.size());
  for (std::size_t way = 0; way < edges.size(); ++way) copy_stack(sim_, edges[way], stacks[way]);
  stack_ = stacks[0];
  for (const auto& other : stacks)
    if (other.size() != stack_.size())
      throw InternalError{"paths meet with stacks of different depth", graph_.nodes[block].offset};
  for (std::size_t slot = 0; slot < stack_.size(); ++slot) {
    bool same = true;
    for (const auto& other : stacks) {
      if (other[slot].expr == stack_[slot].expr) continue;
      auto *a = as<Internal>(other[slot].expr), *b = as<Internal>(stack_[slot].expr);
      if (a && b && a->marker == b->marker && !a->value && !b->value) continue;
      auto *x = as<Name>(other[slot].expr), *y = as<Name>(stack_[slot].expr);
      if (x && y && x->id == y->id && x->id.starts_with("__temp_")) continue;
      same = false;
    }
    if (same) continue;
    // In the source node of each edge, the value that the stack slot has along the edge is assigned to the temporary.
    std::string_view id = sim_.names.fresh_name();
    for (std::size_t way = 0; way < edges.size(); ++way) {
      NodeIndex node = edges[way].first;
      Entry entry = stacks[way][slot];
      if (as<Internal>(entry.expr) && as<Internal>(entry.expr)->marker == Marker::null)
        throw InternalError{"NULL on one way only", graph_.nodes[block].offset};
      if (slot < graph_.states[node].stack.size() && graph_.find(entry.block) == node) sim_.spill_at_end(node, slot);
      if (!sim_.names.stable(entry.expr) && graph_.find(entry.block) != node)
        sim_.spill_at_end(graph_.find(entry.block), graph_.states[graph_.find(entry.block)].stack.size());
      if (entry.mover >= 0 && !sim_.names.stable(entry.expr)) throw Restart{entry.mover};
      Expr* value = context_.arena.make<Expr>(*entry.expr);
      NodeIndex saved = graph_.node;
      graph_.node = node;
      sim_.settle(value);
      graph_.node = saved;
      graph_.nodes[node].statements.push_back(
          context_.arena, context_.stmt(Assign{context_.list({context_.name(id)}), value}, value->offset, value->line));
      // The assignment to the temporary evaluates the value, so the stack at the end of the node contains the temporary
      // instead of the value.
      if (slot < graph_.states[node].stack.size() && graph_.states[node].stack[slot].expr == entry.expr)
        graph_.states[node].stack[slot] = {context_.name(id), node, -1};
    }
    stack_[slot] = {context_.name(id), graph_.node, -1};
  }
}

// Sets `Node::end` of the node into which `block` was lifted, unless an instruction has set it, and joins the node's
// test with earlier tests.
void Lifter::finish_block(NodeIndex block) {
  const bool has_unpackings = !sim_.stores.unpackings.empty();
  if (has_unpackings && (!graph_.ended || graph_.nodes[graph_.node].end != Node::End::none)) flush_unpackings(sim_);
  Node& node = graph_.nodes[graph_.node];
  State& state = graph_.states[graph_.node];
  const NodeIndex next = cursor_.cfg.blocks[block].next;
  const int end = select(next >= 0, int(Node::End::go), int(Node::End::stop));
  node.a = select(graph_.ended, node.a, next);
  node.end = Node::End(select(graph_.ended, int(node.end), end));
  if (stack_.size() + state.stack.size() > 0) state.stack = stack_, sim_.keep_unsettled();
  keeps_values_ |= !stack_.empty() | state.keep_a | state.keep_b;
  if (!sim_.stores.swaps.empty()) sim_.rare->swap_of.clear(), sim_.stores.swaps.clear();
  if (cursor_.flat) return flat_end(block);
  // An edge can be a back edge only if its target has been lifted, so the cheap test of `is_lifted` comes first.
  const bool is_lifted = graph_.states[or_zero(node.a)].lifted;
  if (int{node.end == Node::End::go} + int{is_lifted} == 2 && cursor_.cfg.order_index[node.a] >= 0 &&
      cursor_.cfg.is_back_edge(block, node.a))
    check_back_edge();
  if (node.end == Node::End::branch && cursor_.split != Split::effects_and_tests)
    merge_condition(context_, cursor_, graph_, graph_.node);
}

// At a back edge, the stack must be equal to the stack at the loop header. If a slot of the header's stack contains a
// temporary, the value at the back edge is assigned to the temporary.
void Lifter::check_back_edge() {
  Node& node = graph_.nodes[graph_.node];
  NodeIndex header = graph_.find(node.a);
  if (header != node.a) throw InternalError{"a loop into the middle of a block", node.offset};
  const Stack& wanted = sim_.rare->header_stacks[header];
  if (wanted.size() != stack_.size()) throw InternalError{"a loop changes the depth of the stack", node.offset};
  for (std::size_t slot = 0; slot < stack_.size(); ++slot) {
    if (wanted[slot].expr == stack_[slot].expr) continue;
    auto *a = as<Internal>(wanted[slot].expr), *b = as<Internal>(stack_[slot].expr);
    if (a && b && a->marker == b->marker) continue;
    // The `ast::Internal` marker of the loop's iterator has a value at the loop header, but no value inside the loop.
    if (b && b->marker == Marker::iterator && !b->value) continue;
    auto *x = as<Name>(wanted[slot].expr), *y = as<Name>(stack_[slot].expr);
    if (x && y && x->id == y->id) continue;
    if (!x) throw InternalError{"a loop changes the stack", node.offset};
    sim_.spill_at_end(graph_.node, slot);
    Expr* value = context_.arena.make<Expr>(*stack_[slot].expr);
    sim_.settle(value);
    node.statements.push_back(context_.arena, context_.stmt(Assign{context_.list({context_.name(x->id)}), value},
                                                            value->offset, value->line));
  }
}

// Stores values that are still on the stack at the end of a node in temporaries, if the node branches, enters a region
// or is the head of a for loop, or if the next node is in another region.
void Lifter::settle_ends() {
  if (!keeps_values_) return;
  const int count = int(graph_.nodes.size());
  for (int index = 0; index < count; ++index) {
    Node& node = graph_.nodes[index];
    const State& state = graph_.states[index];
    if (state.stack.empty() & !state.keep_a & !state.keep_b) continue;
    graph_.node = index;
    if (node.end == Node::End::branch) {
      for (bool along_b : {false, true})
        if (along_b ? graph_.states[index].keep_b : graph_.states[index].keep_a) {
          Stack stack;
          copy_stack(sim_, {index, along_b}, stack);  // creates a temporary for the kept value
          (along_b ? graph_.states[index].keep_b : graph_.states[index].keep_a) = false;
        }
      sim_.spill_at_end(index, graph_.states[index].stack.size());
    } else if (node.end == Node::End::setup) {
      sim_.spill_at_end(index, graph_.states[index].stack.size());
    } else if (node.end == Node::End::loop) {
      const std::size_t depth = graph_.states[index].stack.size();
      sim_.spill_at_end(index, depth >= 2 ? depth - 2 : 0);
    } else if (node.end == Node::End::go) {
      int to = graph_.find(node.a);
      const Node& next = graph_.nodes[to];
      // The next node may only end a with statement and return a value of the current node; that value needs no
      // temporary.
      bool markers = std::all_of(next.statements.begin(), next.statements.end(),
                                 [](const Stmt* s) { return is<InternalStmt>(s); });
      bool tail = markers && ((next.end == Node::End::leave && next.inherited) || next.end == Node::End::go);
      if (next.region != node.region && !tail) sim_.spill_at_end(index, graph_.states[index].stack.size());
      for (const Entry& entry : graph_.states[index].stack)
        node.carries |= graph_.find(entry.block) == index && !is<Internal>(entry.expr) && !is<ConstantExpr>(entry.expr);
    }
  }
  if (sim_.items.empty()) return;  // there is no for loop
  for (int index = 0; index < count; ++index) {
    Node& node = graph_.nodes[index];
    if (node.end != Node::End::loop) continue;
    if (auto* internal = as<Internal>(node.value); internal && internal->marker == Marker::iterator && internal->value)
      node.value = internal->value;
    if (!node.target) {
      // No store takes the item of the loop from the stack, so a temporary becomes the target of the loop.
      for (Expr* item : sim_.items)
        if (auto* internal = as<Internal>(item);
            internal && internal->marker == Marker::item && internal->index == index) {
          std::string_view id = sim_.names.fresh_name();
          *item = Expr{Name{id}, item->offset, item->line};
          node.target = context_.name(id);
        }
    }
  }
}

}  // namespace depyf::lifting

namespace depyf {

Lifted lift(Context& context, const DecodedCode& decoded, const Cfg& cfg, Split split) {
  return with_restarts(context, cfg, [&](const std::set<int>& literal) {
    return lifting::Lifter(context, decoded, cfg, false, literal, split).run();
  });
}

}  // namespace depyf
