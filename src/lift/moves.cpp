// Behind a COPY, SWAP or ROTATE, the values on the stack are not in the order in which they were computed. Only the
// instructions behind a COPY, SWAP or ROTATE show which Python construct the COPY, SWAP or ROTATE implements. COPY
// pushes an `ast::Internal` node as a marker, and SWAP and ROTATE record the index of the instruction in each stack
// entry that they move (`Entry::mover`). An instruction that pops a marker or a moved value checks whether the code
// matches one of the patterns below. In the patterns below, a name such as `v` denotes the instructions that push `v`.
//
//   `v; COPY 1; STORE a; STORE b` is `a = b = v` (see stores.cpp).
//   `x; y; SWAP 2; STORE a; STORE b` is `a, b = x, y` (see stores.cpp).
//   `a; COPY 1; LOAD_ATTR x; v; BINARY_OP +=; SWAP 2; STORE_ATTR x` is `a.x += v` (see stores.cpp).
//   `a; b; SWAP 2; COPY 2; COMPARE_OP` is the start of `a < b < c` (see comparisons.cpp).
//
// If no known pattern follows a COPY, SWAP or ROTATE, lifting restarts and simulates that instruction literally, with
// temporaries. If the stack ends with a and b, a literal `SWAP 2` is `t = a; u = b`, and leaves u and, on top, t.
#include <algorithm>

#include "decode/op.h"
#include "lift/generics.h"
#include "lift/operations.h"
#include "lift/stores.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// True if the next instructions store the top n values of the stack one after the other, or unpack these values into
// targets.
bool swap_starts_stores(const Cursor& cursor, int n) {
  // `open` counts the values that wait for a target. `depth` counts the values that the code of the current target has
  // pushed.
  int open = n, depth = 0;
  for (int at = cursor.at + 1; at < cursor.end; ++at) {
    const Instruction& instruction = cursor.code[at];
    constexpr OpSet ignored = {Op::nop_}, moves = {Op::pop_top_, Op::copy_, Op::swap_, Op::rotate_},
                    stores_into = {Op::store_attr_, Op::store_subscr_, Op::store_slice_},
                    unpacks = {Op::unpack_sequence_, Op::unpack_ex_};
    const Op op = instruction.op;
    if (ignored.has(op)) continue;
    if (moves.has(op)) return false;
    const StackEffect effect = stack_effect(instruction, cursor.decoded.version, false);
    if (is_store_name(op) || stores_into.has(op)) {
      // Besides the value that it stores, a store pops exactly the values that its own target has pushed.
      if (depth != effect.pops - 1) return false;
      depth = 0, --open;
    } else if (unpacks.has(op)) {
      // The limit on the number of targets guards against corrupt code; the compiler has no limit.
      constexpr int targets_max = 1000;
      if (depth != 0 || instruction.arg < 0 || instruction.arg > targets_max) return false;
      open += effect.pushes - 1;
    } else {
      if (instruction.target >= 0 || effect.pops > depth) return false;
      depth += effect.pushes - effect.pops;
    }
    if (open == 0) return true;
  }
  return false;
}

}  // namespace

// Handles COPY n.
void copy(Simulation& sim, int n) {
  Entry& source = sim.peek(n);
  auto* internal = as<Internal>(source.expr);
  bool marker = internal && internal->marker != Marker::copied && internal->marker != Marker::unpacked &&
                internal->marker != Marker::iterator && internal->marker != Marker::awaitable &&
                internal->marker != Marker::item && internal->marker != Marker::chain &&
                internal->marker != Marker::enter_result && internal->marker != Marker::function;
  // If an `ast::Internal` marker represents an internal value of the compiler, the copy of the marker is the marker
  // itself.
  if (marker) return sim.stack.push_back({source.expr, sim.graph.node, -1});
  if (internal && internal->marker == Marker::item && sim.cursor.flat) sim.cursor.fail("copy of an item");
  if (internal && (internal->marker == Marker::unpacked || internal->marker == Marker::item)) {
    // An item of an unpacking or of a for loop that is used more than once is stored in a temporary.
    if (internal->marker == Marker::unpacked) flush_unpackings(sim);
    else {
      Expr* name = sim.names.fresh();
      Entry item = source;
      sim.graph.nodes[internal->index].target = name;
      *item.expr = Expr{name->node, item.expr->offset, item.expr->line};
    }
    return sim.push(sim.cursor.make(sim.stack.end()[-n].expr->node));
  }
  int next = sim.cursor.skip(sim.cursor.at + 1);
  bool trivial = is<ConstantExpr>(source.expr) || (is<Name>(source.expr) && sim.names.stable(source.expr));
  if (trivial && next < sim.cursor.end &&
      (sim.cursor.code[next].op == Op::load_attr_ || sim.cursor.code[next].op == Op::load_method_))
    // A variable or constant that is copied in front of LOAD_ATTR or LOAD_METHOD needs no marker, because the source
    // can contain the variable or constant twice.
    return sim.push(sim.cursor.make(source.expr->node));
  bool to_store = n == 1 && next < sim.cursor.end &&
                  (is_store_name(sim.cursor.code[next].op) || sim.cursor.code[next].op == Op::unpack_sequence_ ||
                   sim.cursor.code[next].op == Op::unpack_ex_);
  if (sim.cursor.literal_here()) {
    if (!trivial) sim.spill_all(sim.stack.size() - std::size_t(n) + 1);
    // A copied function is stored in a temporary: its creation may be delayed, because it is `stable`, but a second
    // creation would produce another function.
    if (Entry& copied = sim.peek(n); is<Internal>(copied.expr) && as<Internal>(copied.expr)->marker == Marker::function)
      sim.spill(copied);
    return sim.push(sim.cursor.make(sim.stack.end()[-n].expr->node));
  }
  // COPY 2 in front of a comparison and a jump may copy the middle operand of a chained comparison. The function
  // `compare` recognises a chained comparison by the marker of the copied operand (`Marker::copied`).
  int after = sim.cursor.skip(next + 1);
  bool chained =
      n == 2 && next < sim.cursor.end && after < sim.cursor.end &&
      (sim.cursor.code[next].op == Op::compare_op_ || sim.cursor.code[next].op == Op::is_op_ ||
       sim.cursor.code[next].op == Op::contains_op_) &&
      (sim.cursor.code[after].op == Op::jump_if_false_or_pop_ || sim.cursor.code[after].op == Op::pop_jump_if_false_);
  if (trivial && !to_store && !chained && n != 1) return sim.push(sim.cursor.make(source.expr->node));
  sim.push(Internal{Marker::copied, sim.cursor.at, source.expr});
}

// Handles SWAP n.
void swap(Simulation& sim, int n) {
  if (n < 2) return;
  sim.peek(n);
  std::size_t low = sim.stack.size() - std::size_t(n);
  // SWAP n in front of n stores implements a tuple assignment, from which the compiler removed the tuple.
  int unstable = 0;
  bool markers = false;
  for (std::size_t index = low; index < sim.stack.size(); ++index) {
    unstable += !sim.names.stable(sim.stack[index].expr);
    auto* internal = as<Internal>(sim.stack[index].expr);
    markers |= internal && internal->marker != Marker::function;
  }
  if (sim.cursor.literal_here()) {
    sim.spill_all(sim.stack.size());
    std::swap(sim.stack[low], sim.stack.back());
    return;
  }
  int next = sim.cursor.skip(sim.cursor.at + 1);
  if (!markers && next < sim.cursor.end && (n == 2 || n == 3) && swap_starts_stores(sim.cursor, n)) {
    SwapGroup group;
    for (std::size_t index = low; index < sim.stack.size(); ++index) {
      group.values.push_back(sim.stack[index].expr);
      sim.rare->swap_of[sim.stack[index].expr] = int(sim.stores.swaps.size());
    }
    sim.stores.swaps.push_back(group);
    std::swap(sim.stack[low], sim.stack.back());
    sim.stack[low].mover = sim.stack.back().mover = sim.cursor.at;
    return;
  }
  // For a function with type parameters, the compiler moves the defaults into place by SWAP.
  const bool defaults = before_generic(sim.cursor, next) || is_generic(sim.context, sim.stack.back().expr);
  std::swap(sim.stack[low], sim.stack.back());
  // If at most one of the moved values depends on the order of evaluation, the values may be used in any order.
  if (unstable > 1 && !defaults)
    for (std::size_t index = low; index < sim.stack.size(); ++index) sim.stack[index].mover = sim.cursor.at;
}

// Handles ROT_THREE, ROT_FOUR and ROT_N (to 3.10).
void rotate(Simulation& sim, int n) {
  if (n < 2) return;
  sim.peek(n);
  std::size_t low = sim.stack.size() - std::size_t(n);
  int unstable = 0;
  for (std::size_t index = low; index < sim.stack.size(); ++index) unstable += !sim.names.stable(sim.stack[index].expr);
  if (sim.cursor.literal_here()) sim.spill_all(sim.stack.size());
  std::rotate(sim.stack.end() - n, sim.stack.end() - 1, sim.stack.end());
  if (unstable > 1 && !sim.cursor.literal_here())
    for (std::size_t index = low; index < sim.stack.size(); ++index) sim.stack[index].mover = sim.cursor.at;
}

}  // namespace depyf::lifting
