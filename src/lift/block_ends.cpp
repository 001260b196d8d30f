#include <algorithm>

#include "decode/op.h"
#include "decode/op_info.h"
#include "depyf/position.h"
#include "lift/block_ends.h"
#include "lift/operations.h"
#include "lift/stores.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// Returns the column of the keyword `for`, which is four less than the column of the loop's target; -1 if it is
// unknown. `body` is the block behind FOR_ITER, which starts with the code of the target.
std::int32_t column_of_for(const Cursor& cursor, const Instruction& instruction, int body) {
  const std::span<const Position> positions = cursor.decoded.positions;
  const int first = cursor.cfg.blocks[body].begin;
  const std::size_t unit = first < int(cursor.code.size()) ? cursor.code[first].offset / 2 : positions.size();
  if (unit >= positions.size() || positions[unit].line != instruction.line || instruction.aux == 2) return -1;
  return positions[unit].column < 4 ? -1 : positions[unit].column - 4;
}

}  // namespace

void stop(LiftedGraph& graph) {
  graph.nodes[graph.node].end = Node::End::stop, graph.nodes[graph.node].a = graph.nodes[graph.node].b = -1;
  graph.ended = true;
}

// Ends the block with a test of the value on top of the stack.
void branch(Simulation& sim, const Instruction& instruction) {
  flush_unpackings(sim);
  // JUMP_IF_x_OR_POP leaves the value on the stack along its jump.
  const bool keeps = info_of(instruction.op).control == Control::keeping_test;
  bool on_true = instruction.op == Op::pop_jump_if_true_ || instruction.op == Op::pop_jump_if_none_ ||
                 instruction.op == Op::jump_if_true_or_pop_;
  if (instruction.op == Op::pop_jump_if_none_ || instruction.op == Op::pop_jump_if_not_none_)
    on_true = test_for_none(sim, on_true);
  Expr* test = sim.pop();
  const BasicBlock& block = sim.cursor.cfg.blocks[sim.cursor.block];
  sim.settle(test);
  Node& node = sim.graph.nodes[sim.graph.node];
  node.end = Node::End::branch, node.value = test;
  node.a = on_true ? block.jump : block.next, node.b = on_true ? block.next : block.jump;
  node.line = instruction.line, node.turned = keeps ? Turned::unknown : instruction.turned;
  node.is_grouped = instruction.is_grouped;
  // If the tested value is an `and` or `or` expression, its operands were joined to one value before the test.
  node.inherited = is<BoolOp>(test);
  sim.graph.states[sim.graph.node].keep_a = keeps && on_true,
  sim.graph.states[sim.graph.node].keep_b = keeps && !on_true;
  sim.graph.ended = true;
}

// Ends the block with the head of a for loop.
void loop(Simulation& sim, const Instruction& instruction) {
  const BasicBlock& block = sim.cursor.cfg.blocks[sim.cursor.block];
  Entry iterator = sim.pop_entry();
  Node& node = sim.graph.nodes[sim.graph.node];
  node.end = Node::End::loop, node.a = block.next, node.b = block.jump, node.line = instruction.line;
  node.is_async = instruction.aux == 2;
  node.column = column_of_for(sim.cursor, instruction, block.next);
  auto* internal = as<Internal>(iterator.expr);
  if (internal && internal->marker == Marker::iterator && internal->value) sim.settle(internal->value);
  else sim.settle(iterator.expr);
  node.value = iterator.expr;
  // The iterator stays on the stack during the loop, below the item.
  sim.push(Internal{Marker::iterator, sim.cursor.block, nullptr});
  if (sim.cursor.flat) sim.stack.back() = iterator;
  sim.push(Internal{Marker::item, sim.graph.node, nullptr});
  sim.items.push_back(sim.stack.back().expr);
  sim.graph.ended = true;
}

// Ends the block with a return of the value on top of the stack.
void leave(Simulation& sim, const Instruction& instruction) {
  flush_unpackings(sim);
  // True if another node computed the returned value.
  bool inherited = !sim.stack.empty() && sim.graph.find(sim.stack.back().block) != sim.graph.node;
  Expr* value = sim.pop();
  // A function that evaluates type parameters returns a definition, whose `ast::Internal` markers are replaced later.
  if (!sim.generics.is_open) sim.settle(value);
  sim.graph.nodes[sim.graph.node].value = value;
  sim.graph.nodes[sim.graph.node].inherited = inherited;
  sim.graph.nodes[sim.graph.node].end = Node::End::leave;
  sim.graph.nodes[sim.graph.node].line = instruction.line;
  sim.graph.nodes[sim.graph.node].offset = sim.cursor.first_offset;
  sim.graph.nodes[sim.graph.node].column = sim.cursor.first_column();
  // The width of the position of RETURN_VALUE shows whether the source contains the `return` (see
  // refine/implicit_return.cpp).
  if (const std::size_t unit = instruction.offset / 2; unit < sim.cursor.decoded.positions.size()) {
    const Position& position = sim.cursor.decoded.positions[unit];
    if (position.end_line == position.line)
      sim.graph.nodes[sim.graph.node].width = position.end_column - position.column;
  }
  sim.graph.ended = true;
}

}  // namespace depyf::lifting
