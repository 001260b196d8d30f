// Lifts each block separately, for the state machine. Between blocks, the stack is kept in the locals `__stack_0`,
// `__stack_1` and so on.
#include <algorithm>

#include "flow/cfg.h"
#include "lift/lifter.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// Returns the name of the local that holds the stack slot `slot` between blocks.
std::string slot_name(std::size_t slot) { return "__stack_" + std::to_string(slot); }
}  // namespace

Expr* Lifter::slot(std::size_t index) {
  std::string_view id = context_.arena.copy(slot_name(index));
  sim_.names.note(id);
  return context_.name(id);
}

// Sets the stack at the start of `block`, unless that stack is set already. Each entry of the stack is one of the
// locals `__stack_0`, `__stack_1` and so on, or an `ast::Internal` marker, which no local contains.
void Lifter::flat_enter(NodeIndex block, Table<Expr*> stack) {
  if (block < 0 || flat_->stacks[block]) return;
  flat_->stacks[block] = std::move(stack);
  flat_->todo.push_back(block);
}

// Lifts the reachable blocks. The stack at the start of a block is the stack along the edge by which this function
// first reaches the block.
Lifted Lifter::run_flat() {
  FlatBlocks blocks;
  blocks.stacks.resize(cursor_.cfg.blocks.size());
  flat_ = &blocks;
  flat_enter(cursor_.cfg.entry, {});
  while (!blocks.todo.empty()) {
    NodeIndex block = blocks.todo.back();
    blocks.todo.pop_back();
    // The handler of a protected block starts with the stack cut to the region's depth, and with the exception on top.
    // A region without a handler block contains only NOPs, which cannot raise, so no path leads to its handler.
    const int index = cursor_.cfg.blocks[block].region;
    if (index >= 0 && cursor_.cfg.regions[index].handler >= 0) {
      const Region& region = cursor_.cfg.regions[index];
      Table<Expr*> stack;
      for (int depth = 0; depth < region.depth + region.lasti + 1; ++depth) {
        const auto& here = *blocks.stacks[block];
        bool marker = depth < region.depth && depth < int(here.size()) && is<Internal>(here[depth]);
        stack.push_back(marker ? here[depth] : slot(std::size_t(depth)));
      }
      flat_enter(region.handler, std::move(stack));
    }
    stack_.clear();
    for (Expr* expr : *blocks.stacks[block]) stack_.push_back({context_.expr(expr->node), block, -1});
    lift_block(block);
  }
  Lifted lifted;
  lifted.entry = cursor_.cfg.entry;
  lifted.nodes = std::move(graph_.nodes);
  return lifted;
}

// Assigns the values on the stack to the locals `__stack_0`, `__stack_1` and so on, and records the stacks with which
// the successors of `block` start.
void Lifter::flat_end(NodeIndex block) {
  Node& node = graph_.nodes[block];
  if (node.end == Node::End::leave || node.end == Node::End::stop) return;
  Stack stack = stack_;
  bool loop = node.end == Node::End::loop;
  if (loop) stack.pop_back();  // the item is the target of the loop
  State& state = graph_.states[block];
  bool keeps = node.end == Node::End::branch && (state.keep_a || state.keep_b);
  stack_ = stack;
  if (node.end == Node::End::branch) sim_.push(node.value);
  sim_.spill_all(stack_.size());
  if (node.end == Node::End::branch) node.value = stack_.back().expr, stack_.pop_back();
  // One statement assigns all locals `__stack_n` whose stack slots change. The slot of the tested value is assigned too
  // if the tested value stays on the stack along an edge.
  Table<Expr*> targets, values, after;
  Stack entries = stack_;
  if (keeps) entries.push_back({node.value, block, -1});
  for (std::size_t index = 0; index < entries.size(); ++index) {
    Expr* expr = entries[index].expr;
    if (is<Internal>(expr)) {
      // A marker is not stored in a local, unless the marker is that of a function, which `settle` replaces by an
      // expression.
      Internal marker = *as<Internal>(expr);
      if (marker.marker == Marker::function) sim_.settle(expr);
      else {
        after.push_back(expr);
        continue;
      }
    }
    after.push_back(slot(index));
    if (auto* name = as<Name>(expr); name && name->id == slot_name(index)) continue;
    targets.push_back(slot(index)), values.push_back(expr);
  }
  if (node.end == Node::End::branch && !is<ConstantExpr>(node.value) && !targets.empty()) {
    // The test of the branch may read a slot that the assignment of the slots changes, so the tested value is stored in
    // a temporary in front of this assignment.
    std::string_view id = sim_.names.fresh_name();
    node.statements.push_back(
        context_.arena, context_.stmt(Assign{context_.list({context_.name(id)}), node.value}, node.offset, node.line));
    if (keeps)
      values.back() =
          targets.size() == values.size() && values.back() == node.value ? context_.name(id) : values.back();
    node.value = context_.name(id);
  }
  if (targets.size() == 1) {
    node.statements.push_back(context_.arena,
                              context_.stmt(Assign{context_.list({targets[0]}), values[0]}, node.offset, node.line));
  } else if (!targets.empty()) {
    Expr* left = context_.expr(Tuple{context_.arena.copy(targets)});
    node.statements.push_back(
        context_.arena, context_.stmt(Assign{context_.list({left}), context_.expr(Tuple{context_.arena.copy(values)})},
                                      node.offset, node.line));
  }
  Table<Expr*> along_a = after, along_b = after;
  if (keeps) (state.keep_a ? along_b : along_a).pop_back();
  if (loop) {
    node.target = slot(after.size());
    along_a.push_back(slot(after.size()));
    along_b.pop_back();
    node.value = after.back();
  }
  flat_enter(node.a, along_a);
  flat_enter(node.b, along_b);
}

}  // namespace depyf::lifting

namespace depyf {

Lifted lift_flat(Context& context, const DecodedCode& decoded, const Cfg& cfg) {
  std::set<int> literal;
  try {
    return lifting::Lifter(context, decoded, cfg, true, literal).run_flat();
    // Lifting is not started again. The first attempt already simulated all instructions literally (it stored all moved
    // values in temporaries), so a second attempt would fail in the same way.
  } catch (const lifting::Restart& restart) {
    const bool known = restart.at >= 0 && restart.at < int(cfg.code.size());
    throw InternalError{"values cross on the stack", known ? cfg.code[std::size_t(restart.at)].offset : 0};
  }
}

}  // namespace depyf
