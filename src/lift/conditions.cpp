// Tests that share a target become one, and values that differ by the way taken one expression.
//
//   a; POP_JUMP_IF_FALSE n; b; POP_JUMP_IF_FALSE n                        a and b
//   a; POP_JUMP_IF_TRUE m; b; POP_JUMP_IF_FALSE n; m:                     a or b
//   a; JUMP_IF_TRUE_OR_POP m; b; m:                                       a or b, as a value
//   c; POP_JUMP_IF_FALSE n; a; JUMP m; n: b; m:                           a if c else b
//   c; POP_JUMP_IF_FALSE n; a; POP_JUMP_IF_FALSE F; JUMP T; n: b; POP_JUMP_IF_FALSE F; T:       (a if c else b), as a test
#include <algorithm>

#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

bool Lifter::pushes_one(int node, int test) {
  const auto &stack = states_[node].stack, &before = states_[test].stack;
  if (nodes_[node].end != Node::End::go || !nodes_[node].statements.empty() || stack.size() != before.size() + 1)
    return false;
  for (std::size_t index = 0; index < before.size(); ++index)
    if (stack[index].expr != before[index].expr) return false;
  auto* internal = as<Internal>(stack.back().expr);
  return nodes_[node].region == nodes_[test].region && (!internal || internal->marker == Marker::function);
}

// `left or right` or `left and right`, as one list where either is of the same kind.
Expr* Lifter::bool_op(bool is_or, Expr* left, Expr* right) {
  auto* chain = as<BoolOp>(left);
  List<Expr*> values = chain && chain->is_or == is_or ? chain->values : context_.list({left});
  auto* more = as<BoolOp>(right);
  if (more && more->is_or == is_or)
    for (Expr* value : more->values) values = context_.arena.append(values, value);
  else values = context_.arena.append(values, right);
  return context_.expr(BoolOp{is_or, values}, left->offset, left->line);
}

namespace {
// The same where `left` may have been a value before it was tested: `(a or b) or c` tests what `a or b` gives once more.
Expr* with_tested(Context& context, bool is_or, Expr* left, Expr* right, bool left_is_value) {
  auto* chain = as<BoolOp>(left);
  if (!left_is_value || !chain || chain->is_or != is_or) return nullptr;
  return context.expr(BoolOp{is_or, context.list({left, right})}, left->offset, left->line);
}
}  // namespace

// What stands first in the code stands first in the expression.
Expr* Lifter::conditional(Expr* test, Expr* if_true, Expr* if_false, bool true_first) {
  if (!true_first && !negation_changes(context_, test))
    return context_.expr(IfExp{negate(context_, test), if_false, if_true}, test->offset, test->line);
  return context_.expr(IfExp{test, if_true, if_false}, test->offset, test->line);
}

// One step towards a single value where ways to `block` meet.
bool Lifter::reduce_values(int block) {
  if (cfg_.blocks[block].preds.size() < 2) return false;
  auto edges = edges_to(block);
  if (edges.size() < 2) return false;
  std::sort(edges.begin(), edges.end(),
            [&](auto a, auto b) { return cfg_.order_index[a.first] > cfg_.order_index[b.first]; });
  for (auto [node, along_b] : edges) {
    if (nodes_[node].end != Node::End::go || !nodes_[node].statements.empty() || is_loop_header(node)) continue;
    const auto from = only_edge_to(node);
    if (!from) continue;
    int test = from->first;
    Node& branch = nodes_[test];
    if (branch.end != Node::End::branch || !pushes_one(node, test)) continue;
    Expr* value = states_[node].stack.back().expr;
    Expr* made = nullptr;
    int other = -1;
    if (branch.a == block && branch.b == node && states_[test].keep_a) {
      made = with_tested(context_, true, branch.value, value, branch.inherited);
      if (!made) made = bool_op(true, branch.value, value);
    } else if (branch.b == block && branch.a == node && states_[test].keep_b) {
      made = with_tested(context_, false, branch.value, value, branch.inherited);
      if (!made) made = bool_op(false, branch.value, value);
    } else {
      other = branch.a == node ? branch.b : branch.a;
      if (other == block || other == node || other < 0 || states_[other].alias >= 0 || nodes_[other].a != block)
        continue;
      if (!states_[other].lifted || !only_edge_to(other) || !pushes_one(other, test) || is_loop_header(other)) continue;
      if (states_[test].keep_a || states_[test].keep_b) continue;
      Expr* alternative = states_[other].stack.back().expr;
      made = conditional(branch.value, branch.a == node ? value : alternative, branch.a == node ? alternative : value,
                         cfg_.blocks[branch.a].begin < cfg_.blocks[branch.b].begin);
    }
    for (int gone : {node, other})
      if (gone >= 0) nodes_[gone].end = Node::End::none, states_[gone].alias = test;
    branch.inherited = false;
    branch.end = Node::End::go, branch.value = nullptr, branch.a = block, branch.b = -1;
    states_[test].keep_a = states_[test].keep_b = false;
    states_[test].stack.push_back({made, test, -1});
    return true;
  }
  return false;
}

// `node` has become a branch: is it part of the condition before it?
bool Lifter::merge_condition(int node) {
  bool changed = false;
  while (nodes_[node].end == Node::End::branch) {
    Node& second = nodes_[node];
    if (!second.statements.empty() || is_loop_header(node)) break;
    const auto from = only_edge_to(node);
    if (!from) break;
    const auto [before, along_b] = *from;
    Node& first = nodes_[before];
    State &one = states_[before], &two = states_[node];
    if (first.end != Node::End::branch || first.region != second.region || first.a == first.b) break;
    if (along_b ? one.keep_b : one.keep_a) break;
    if (one.stack.size() != two.stack.size()) break;
    bool same_stack = true;
    for (std::size_t index = 0; index < one.stack.size(); ++index)
      same_stack &= one.stack[index].expr == two.stack[index].expr;
    if (!same_stack) break;
    auto handles = [](const Expr* test) {
      auto* internal = as<Internal>(test);
      return internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match ||
                          internal->marker == Marker::match_case);
    };
    if (handles(first.value) || handles(second.value)) break;
    // The test of a while loop stands again at its end: what comes before it there is another statement.
    auto goes_back = [&](int to) {
      if (to < 0 || cfg_.order_index[to] < 0 || !cfg_.is_back_edge(node, to)) return false;
      int start = cfg_.blocks[to].begin;
      while (start + 1 < cfg_.blocks[to].end && code_[start].op == Op::nop_) ++start;
      return code_[start].op != Op::for_iter_;
    };
    if (second.line >= 0 && second.line < first.line && (goes_back(second.a) || goes_back(second.b))) break;
    // A jump back that was not turned around stands for itself: `if c: continue`, then another statement.
    if (const int far = along_b ? first.a : first.b;
        first.turned == Turned::no && far >= 0 && cfg_.order_index[far] >= 0 && cfg_.is_back_edge(before, far))
      break;
    auto absorb = [&](Expr* test, int a, bool keep_a, int b, bool keep_b) {
      first.inherited = false;
      first.value = test, first.a = a, first.b = b, first.turned = second.turned;
      one.keep_a = keep_a, one.keep_b = keep_b;
      second.end = Node::End::none;
      two.alias = before;
      node = before;
      changed = true;
    };
    if (!along_b && first.b == second.b && one.keep_b == two.keep_b) {
      absorb(bool_op(false, first.value, second.value), second.a, two.keep_a, second.b, two.keep_b);
    } else if (along_b && first.a == second.a && one.keep_a == two.keep_a) {
      absorb(bool_op(true, first.value, second.value), second.a, two.keep_a, second.b, two.keep_b);
    } else if ((!along_b && first.b == second.a && !one.keep_b && !two.keep_a) ||
               (along_b && first.a == second.b && !one.keep_a && !two.keep_b)) {
      // One of the two is negated: the one that can be; the condition is true where what stands first in the code runs.
      int shared = along_b ? first.a : first.b, rest = along_b ? second.a : second.b;
      bool keep_rest = along_b ? two.keep_a : two.keep_b;
      int cost_first = negation_cost(context_, first.value), cost_second = negation_cost(context_, second.value);
      const bool changes_first = negation_changes(context_, first.value);
      const bool changes_second = negation_changes(context_, second.value);
      // Neither can be negated without another instruction: two statements. From 3.14 on `not a in b` turns the jump: that is
      // one statement where the rest jumps over an else.
      if (changes_first && changes_second) {
        const int end = cfg_.blocks[shared].begin - 1;
        const bool over = end >= 0 && code_[end].op == Op::jump_ && code_[end].target > end;
        if (!dialect_of(context_.version).negation_turns_jumps || !over) break;
      }
      bool negate_first = cost_first >= other_operator || cost_second >= other_operator ? cost_first < cost_second
                          : along_b ? cfg_.blocks[rest].begin < cfg_.blocks[shared].begin
                                    : cfg_.blocks[shared].begin < cfg_.blocks[rest].begin;
      if (changes_first != changes_second) negate_first = changes_second;
      if (keep_rest) negate_first = true;
      if (negate_first) {
        Expr* left = negate(context_, first.value);
        absorb(bool_op(!along_b, left, second.value), second.a, two.keep_a, second.b, two.keep_b);
      } else {
        second.value = negate(context_, second.value);
        absorb(bool_op(along_b, first.value, second.value), second.b, false, second.a, false);
      }
    } else {
      // c ? (x: T, F) : (y: T, F)
      int other = along_b ? first.a : first.b;
      if (other < 0 || other == node || !states_[other].lifted || states_[other].alias >= 0) break;
      Node& third = nodes_[other];
      State& three = states_[other];
      if (third.end != Node::End::branch || !third.statements.empty() || third.region != first.region ||
          is_loop_header(other))
        break;
      if (!only_edge_to(other) || one.keep_a || one.keep_b) break;
      if (third.a != second.a || third.b != second.b || two.keep_a != three.keep_a || two.keep_b != three.keep_b) break;
      if (three.stack.size() != one.stack.size()) break;
      Expr* test = conditional(first.value, along_b ? third.value : second.value, along_b ? second.value : third.value,
                               cfg_.blocks[first.a].begin < cfg_.blocks[first.b].begin);
      third.end = Node::End::none;
      three.alias = before;
      absorb(test, second.a, two.keep_a, second.b, two.keep_b);
    }
  }
  return changed;
}

}  // namespace depyf
