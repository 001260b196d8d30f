// Comparisons.
//
//   a; b; COMPARE_OP <                                                                                    a < b
//   a; b; SWAP 2; COPY 2; COMPARE_OP; JUMP_IF_FALSE cleanup; c; COMPARE_OP; ...; cleanup: POP_TOP         a < b < c
//   a; POP_JUMP_IF_NONE                                                                                   a is None
#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

// a; b; SWAP 2; COPY 2; COMPARE_OP; JUMP_IF_FALSE cleanup; c; COMPARE_OP: the middle is copied, cleaned up where it fails.
// `copied`: the right side is a copy of what lies below: the chain goes on.
void Lifter::compare(CompareOp op) {
  auto longer = [&](const Compare& chain, Expr* comparator) {
    return Compare{chain.left, context_.arena.append(chain.ops, op),
                   context_.arena.append(chain.comparators, comparator)};
  };
  Entry right = pop_entry();
  auto* copied = as<Internal>(right.expr);
  int test = skip(at_ + 1);
  bool goes_on = copied && copied->marker == Marker::copied && test < end_ && !literal_here() &&
                 (code_[test].op == Op::jump_if_false_or_pop_ || code_[test].op == Op::pop_jump_if_false_) &&
                 stack_.size() >= 2 && stack_[stack_.size() - 2].expr == copied->value;
  if (!goes_on) {
    stack_.push_back(right);
    Expr* value = pop();
    Entry left = pop_entry();
    auto* chain = as<Internal>(left.expr);
    if (chain && chain->marker == Marker::chain) return push(longer(*as<Compare>(chain->value), value));
    if (left.mover >= 0 && !stable(left.expr)) throw Restart{left.mover};
    return push(Compare{left.expr, context_.list({op}), context_.list({value})});
  }
  // ..., b, a, copy of b
  Entry left = pop_entry(), middle = pop_entry();
  Expr* so_far;
  auto* chain = as<Internal>(left.expr);
  if (chain && chain->marker == Marker::chain) so_far = make(longer(*as<Compare>(chain->value), middle.expr));
  else so_far = make(Compare{left.expr, context_.list({op}), context_.list({middle.expr})});
  // The jump is dropped: where it leads, only the middle is thrown away.
  int cleanup = code_[test].target, next = cleanup;
  auto at = [&](int index) {
    while (index < int(code_.size()) && code_[index].op == Op::nop_) ++index;
    return index;
  };
  next = at(next);
  bool value_kept = code_[test].op == Op::jump_if_false_or_pop_;
  if (value_kept) {
    if (code_[next].op != Op::swap_ && code_[next].op != Op::rotate_) throw Restart{copied->index};
    next = at(next + 1);
  }
  if (code_[next].op != Op::pop_top_) throw Restart{copied->index};
  const int failed = cfg_.blocks[current_block_].jump;
  chains_.insert(failed);
  chain_fails_ = failed >= 0 ? cfg_.blocks[failed].next : -1;
  push(Internal{Marker::chain, copied->index, so_far});
  stack_.back().mover = -1;
  Node& node = nodes_[node_];
  node.end = Node::End::go, node.a = cfg_.blocks[current_block_].next;
  ended_ = true;
  at_ = test;
}

// POP_JUMP_IF_NONE and POP_JUMP_IF_NOT_NONE: compares the top with None; does the jump lead to where that holds? At the end of
// a chain `is` is told from `is not` by where the chain goes when an earlier part fails.
bool Lifter::test_for_none(bool jumps_on_none) {
  CompareOp op = CompareOp::is;
  auto* chain = as<Internal>(peek(1).expr);
  if (chain && chain->marker == Marker::chain) {
    const BasicBlock& block = cfg_.blocks[current_block_];
    const bool jumps_on_true = chain_fails_ >= 0 && chain_fails_ == block.next;
    if (jumps_on_none != jumps_on_true) op = CompareOp::is_not;
    jumps_on_none = jumps_on_true;
  }
  push(context_.none());
  compare(op);
  return jumps_on_none;
}

}  // namespace depyf
