// Lifts comparisons.
//
//   `a; b; COMPARE_OP <` is `a < b`.
//   `a; POP_JUMP_IF_NONE` is a test of `a is None`.
//   `a; b; SWAP 2; COPY 2; COMPARE_OP; JUMP_IF_FALSE cleanup; c; COMPARE_OP` is `a < b < c`, where the code at the
//   label `cleanup` drops b with POP_TOP.
#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

// Compares the two values on top of the stack. At the first comparison of the chain `a < b < c`, the top of the stack
// consists of b, a and, topmost, a copy of b. If `a < b` is true, the chain continues with b; if `a < b` is false, the
// code at the jump target pops b.
void compare(Simulation& sim, CompareOp op) {
  auto longer = [&](const Compare& chain, Expr* comparator) {
    return Compare{chain.left, sim.context.arena.append(chain.ops, op),
                   sim.context.arena.append(chain.comparators, comparator)};
  };
  Entry right = sim.pop_entry();
  auto* copied = as<Internal>(right.expr);
  int test = sim.cursor.skip(sim.cursor.at + 1);
  bool goes_on =
      copied && copied->marker == Marker::copied && test < sim.cursor.end && !sim.cursor.literal_here() &&
      (sim.cursor.code[test].op == Op::jump_if_false_or_pop_ || sim.cursor.code[test].op == Op::pop_jump_if_false_) &&
      sim.stack.size() >= 2 && sim.stack[sim.stack.size() - 2].expr == copied->value;
  if (!goes_on) {
    sim.stack.push_back(right);
    Expr* value = sim.pop();
    Entry left = sim.pop_entry();
    auto* chain = as<Internal>(left.expr);
    if (chain && chain->marker == Marker::chain) return sim.push(longer(*as<Compare>(chain->value), value));
    if (left.mover >= 0 && !sim.names.stable(left.expr)) throw Restart{left.mover};
    return sim.push(Compare{left.expr, sim.context.list({op}), sim.context.list({value})});
  }
  // For `a < b < c`, the copy of b has been popped already; the top of the stack is a, with b below it.
  Entry left = sim.pop_entry(), middle = sim.pop_entry();
  Expr* so_far;
  auto* chain = as<Internal>(left.expr);
  if (chain && chain->marker == Marker::chain)
    so_far = sim.cursor.make(longer(*as<Compare>(chain->value), middle.expr));
  else so_far = sim.cursor.make(Compare{left.expr, sim.context.list({op}), sim.context.list({middle.expr})});
  // The jump of a chained comparison becomes no branch, because the code at the jump target only pops the middle
  // operand.
  int cleanup = sim.cursor.code[test].target, next = cleanup;
  auto at = [&](int index) {
    while (index < int(sim.cursor.code.size()) && sim.cursor.code[index].op == Op::nop_) ++index;
    return index;
  };
  next = at(next);
  bool value_kept = sim.cursor.code[test].op == Op::jump_if_false_or_pop_;
  if (value_kept) {
    if (sim.cursor.code[next].op != Op::swap_ && sim.cursor.code[next].op != Op::rotate_) throw Restart{copied->index};
    next = at(next + 1);
  }
  if (sim.cursor.code[next].op != Op::pop_top_) throw Restart{copied->index};
  const NodeIndex failed = sim.cursor.cfg.blocks[sim.cursor.block].jump;
  if (failed >= 0) sim.graph.states[failed].is_chain_end = true;
  sim.chains.have_ends = true;
  sim.chains.fails = failed >= 0 ? sim.cursor.cfg.blocks[failed].next : NodeIndex();
  sim.push(Internal{Marker::chain, copied->index, so_far});
  sim.stack.back().mover = -1;
  Node& node = sim.graph.nodes[sim.graph.node];
  node.end = Node::End::go, node.a = sim.cursor.cfg.blocks[sim.cursor.block].next;
  sim.graph.ended = true;
  sim.cursor.at = test;
}

// Compares the top of the stack with None, for POP_JUMP_IF_NONE and POP_JUMP_IF_NOT_NONE. Returns true if the jump is
// taken when the comparison is true. A chained comparison may end in `is None` or `is not None`. In a chained
// comparison, every comparison that is false leads to the same block, so the edge to that block shows whether the
// operator of the last comparison is `is` or `is not`.
bool test_for_none(Simulation& sim, bool jumps_on_none) {
  CompareOp op = CompareOp::is;
  auto* chain = as<Internal>(sim.peek(1).expr);
  if (chain && chain->marker == Marker::chain) {
    const BasicBlock& block = sim.cursor.cfg.blocks[sim.cursor.block];
    const bool jumps_on_true = sim.chains.fails >= 0 && sim.chains.fails == block.next;
    if (jumps_on_none != jumps_on_true) op = CompareOp::is_not;
    jumps_on_none = jumps_on_true;
  }
  sim.push(sim.context.none());
  compare(sim, op);
  return jumps_on_none;
}

}  // namespace depyf::lifting
