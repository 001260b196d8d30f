// COPY, SWAP and ROTATE: what takes values out of the order of evaluation. The Python they stand for is known only by what
// follows, so a copy is a mark that it finds and a value that was moved says by what; where nothing that is known follows,
// lifting starts again with the instruction taken literally.
//
//   v; COPY 1; STORE a; STORE b                                                  a = b = v             (stores.cpp)
//   x; y; SWAP 2; STORE a; STORE b                                               a, b = x, y           (stores.cpp)
//   a; COPY 1; LOAD_ATTR x; v; BINARY_OP +=; SWAP 2; STORE_ATTR x                a.x += v              (stores.cpp)
//   a; b; SWAP 2; COPY 2; COMPARE_OP; ...                                        a < b < c             (comparisons.cpp)
//   anything else; SWAP 2                                                        t = a; u = b; ... u, t
#include <algorithm>

#include "depyf/code_object.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

void Lifter::copy(int n) {
  Entry& source = peek(n);
  auto* internal = as<Internal>(source.expr);
  bool marker = internal && internal->marker != Marker::copied && internal->marker != Marker::unpacked &&
                internal->marker != Marker::iterator && internal->marker != Marker::awaitable &&
                internal->marker != Marker::item && internal->marker != Marker::chain &&
                internal->marker != Marker::enter_result && internal->marker != Marker::function;
  if (marker) return stack_.push_back({source.expr, node_, -1});
  if (internal && internal->marker == Marker::item && flat_) fail("copy of an item");
  if (internal && (internal->marker == Marker::unpacked || internal->marker == Marker::item)) {
    // A value that several stores take, as in `for a.b = c in ...`; it needs a name.
    if (internal->marker == Marker::unpacked) flush_unpackings();
    else {
      Expr* name = fresh();
      Entry item = source;
      nodes_[internal->index].target = name;
      *item.expr = Expr{name->node, item.expr->offset, item.expr->line};
    }
    return push(make(stack_[stack_.size() - n].expr->node));
  }
  int next = skip(at_ + 1);
  bool trivial = is<ConstantExpr>(source.expr) || (is<Name>(source.expr) && stable(source.expr));
  if (trivial && next < end_ && (code_[next].op == Op::load_attr_ || code_[next].op == Op::load_method_))
    return push(make(source.expr->node));
  bool to_store =
      n == 1 && next < end_ &&
      (is_store_name(code_[next].op) || code_[next].op == Op::unpack_sequence_ || code_[next].op == Op::unpack_ex_);
  if (literal_here()) {
    if (!trivial) spill_all(stack_.size() - n + 1);
    // A function counts as stable, as making it later changes nothing; making it twice does.
    if (Entry& copied = peek(n); is<Internal>(copied.expr) && as<Internal>(copied.expr)->marker == Marker::function)
      spill(copied);
    return push(make(stack_[stack_.size() - n].expr->node));
  }
  // The middle of a chained comparison: `compare` looks for the copy.
  int after = skip(next + 1);
  bool chained =
      n == 2 && next < end_ && after < end_ &&
      (code_[next].op == Op::compare_op_ || code_[next].op == Op::is_op_ || code_[next].op == Op::contains_op_) &&
      (code_[after].op == Op::jump_if_false_or_pop_ || code_[after].op == Op::pop_jump_if_false_);
  if (trivial && !to_store && !chained && n != 1) return push(make(source.expr->node));
  push(Internal{Marker::copied, at_, source.expr});
}

void Lifter::swap(int n) {
  if (n < 2) return;
  peek(n);
  std::size_t low = stack_.size() - n;
  // SWAP n and n stores: a tuple assignment without its tuple
  int unstable = 0;
  bool markers = false;
  for (std::size_t index = low; index < stack_.size(); ++index) {
    unstable += !stable(stack_[index].expr);
    auto* internal = as<Internal>(stack_[index].expr);
    markers |= internal && internal->marker != Marker::function;
  }
  if (literal_here()) {
    spill_all(stack_.size());
    std::swap(stack_[low], stack_.back());
    return;
  }
  int next = skip(at_ + 1);
  if (!markers && next < end_ && (n == 2 || n == 3) && swap_starts_stores(n)) {
    SwapGroup group;
    for (std::size_t index = low; index < stack_.size(); ++index) {
      group.values.push_back(stack_[index].expr);
      swap_of_[stack_[index].expr] = int(swaps_.size());
    }
    swaps_.push_back(group);
    std::swap(stack_[low], stack_.back());
    stack_[low].mover = stack_.back().mover = at_;
    return;
  }
  const bool defaults = before_generic(next) || is_generic(stack_.back().expr);  // of a function with type parameters
  std::swap(stack_[low], stack_.back());
  if (unstable > 1 && !defaults)
    for (std::size_t index = low; index < stack_.size(); ++index) stack_[index].mover = at_;
}

// Do the instructions that follow store the top n values, one after the other, or what these hold?
bool Lifter::swap_starts_stores(int n) const {
  int open = n, depth = 0;  // values that wait for a target; what targets push
  for (int at = at_ + 1; at < end_; ++at) {
    const Instruction& instruction = code_[at];
    constexpr OpSet ignored = {Op::nop_}, moves = {Op::pop_top_, Op::copy_, Op::swap_, Op::rotate_},
                    stores_into = {Op::store_attr_, Op::store_subscr_, Op::store_slice_},
                    unpacks = {Op::unpack_sequence_, Op::unpack_ex_};
    const Op op = instruction.op;
    if (ignored.has(op)) continue;
    if (moves.has(op)) return false;
    const StackEffect effect = stack_effect(instruction, decoded_.code->version, false);
    if (is_store_name(op) || stores_into.has(op)) {
      // All but the value is what the target itself pushed.
      if (depth != effect.pops - 1) return false;
      depth = 0, --open;
    } else if (unpacks.has(op)) {
      constexpr int targets_max = 1000;  // that are looked at; the compiler has no bound of its own
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

void Lifter::rotate(int n) {
  if (n < 2) return;
  peek(n);
  std::size_t low = stack_.size() - n;
  int unstable = 0;
  for (std::size_t index = low; index < stack_.size(); ++index) unstable += !stable(stack_[index].expr);
  if (literal_here()) spill_all(stack_.size());
  std::rotate(stack_.begin() + low, stack_.end() - 1, stack_.end());
  if (unstable > 1 && !literal_here())
    for (std::size_t index = low; index < stack_.size(); ++index) stack_[index].mover = at_;
}

}  // namespace depyf
