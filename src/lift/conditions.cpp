// Joins tests that share a target into one test, and values that differ by the way to a block into one expression:
//
//   a; POP_JUMP_IF_FALSE n; b; POP_JUMP_IF_FALSE n                        a and b
//   a; POP_JUMP_IF_TRUE m; b; POP_JUMP_IF_FALSE n; m:                     a or b
//   a; JUMP_IF_TRUE_OR_POP m; b; m:                                       a or b, as a value
//   c; POP_JUMP_IF_FALSE n; a; JUMP m; n: b; m:                           a if c else b
//   c; POP_JUMP_IF_FALSE n; a; POP_JUMP_IF_FALSE F; JUMP T; n: b; POP_JUMP_IF_FALSE F; T:    (a if c else b), as a test
#include <algorithm>

#include "decode/op.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/conditions.h"
#include "lift/edges.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// Returns `left or right` with `left` as one operand, if `left` was a value before it was tested: `(a or b) or c` tests
// the value of `a or b` once more. Returns null if `left` was no such value.
Expr* with_tested(Context& context, bool is_or, Expr* left, Expr* right, bool left_is_value) {
  auto* chain = as<BoolOp>(left);
  if (!left_is_value || !chain || chain->is_or != is_or) return nullptr;
  return context.expr(BoolOp{is_or, context.list({left, right})}, left->offset, left->line);
}

// True if `node` does nothing but push one value on the stack that `test` left.
bool pushes_one(LiftedGraph& graph, int node, int test) {
  const auto &stack = graph.states[node].stack, &before = graph.states[test].stack;
  if (graph.nodes[node].end != Node::End::go || !graph.nodes[node].statements.empty() ||
      stack.size() != before.size() + 1)
    return false;
  for (std::size_t index = 0; index < before.size(); ++index)
    if (stack[index].expr != before[index].expr) return false;
  auto* internal = as<Internal>(stack.back().expr);
  return graph.nodes[node].region == graph.nodes[test].region && (!internal || internal->marker == Marker::function);
}

// Returns `left or right` or `left and right` as one list, if either is of the same kind.
Expr* bool_op(Context& context, bool is_or, Expr* left, Expr* right) {
  auto* chain = as<BoolOp>(left);
  List<Expr*> values = chain && chain->is_or == is_or ? chain->values : context.list({left});
  auto* more = as<BoolOp>(right);
  if (more && more->is_or == is_or)
    for (Expr* value : more->values) values = context.arena.append(values, value);
  else values = context.arena.append(values, right);
  return context.expr(BoolOp{is_or, values}, left->offset, left->line);
}

// Returns the conditional expression. The alternative that stands first in the code stands first in the expression.
Expr* conditional(Context& context, Expr* test, Expr* if_true, Expr* if_false, bool true_first) {
  if (!true_first && !negation_changes(context, test))
    return context.expr(IfExp{negate(context, test), if_false, if_true}, test->offset, test->line);
  return context.expr(IfExp{test, if_true, if_false}, test->offset, test->line);
}

}  // namespace

// The sources of edges are visited from the last to the first, so that inner expressions are joined first.
bool reduce_values(Context& context, const Cursor& cursor, LiftedGraph& graph, int block) {
  if (cursor.cfg.blocks[block].preds.size() < 2) return false;
  auto edges = edges_to(cursor, graph, block);
  if (edges.size() < 2) return false;
  std::sort(edges.begin(), edges.end(),
            [&](auto a, auto b) { return cursor.cfg.order_index[a.first] > cursor.cfg.order_index[b.first]; });
  for (auto [node, along_b] : edges) {
    if (graph.nodes[node].end != Node::End::go || !graph.nodes[node].statements.empty() || is_loop_header(cursor, node))
      continue;
    const auto from = only_edge_to(cursor, graph, node);
    if (!from) continue;
    int test = from->first;
    Node& branch = graph.nodes[test];
    if (branch.end != Node::End::branch || !pushes_one(graph, node, test)) continue;
    Expr* value = graph.states[node].stack.back().expr;
    Expr* made = nullptr;
    int other = -1;
    // JUMP_IF_x_OR_POP: one way brings the tested value, the other the value of `node`.
    if (branch.a == block && branch.b == node && graph.states[test].keep_a) {
      made = with_tested(context, true, branch.value, value, branch.inherited);
      if (!made) made = bool_op(context, true, branch.value, value);
    } else if (branch.b == block && branch.a == node && graph.states[test].keep_b) {
      made = with_tested(context, false, branch.value, value, branch.inherited);
      if (!made) made = bool_op(context, false, branch.value, value);
      // Two nodes push one value each, and a test chooses between them.
    } else {
      other = branch.a == node ? branch.b : branch.a;
      if (other == block || other == node || other < 0 || graph.states[other].alias >= 0 ||
          graph.nodes[other].a != block)
        continue;
      if (!graph.states[other].lifted || !only_edge_to(cursor, graph, other) || !pushes_one(graph, other, test) ||
          is_loop_header(cursor, other))
        continue;
      if (graph.states[test].keep_a || graph.states[test].keep_b) continue;
      Expr* alternative = graph.states[other].stack.back().expr;
      made = conditional(context, branch.value, branch.a == node ? value : alternative,
                         branch.a == node ? alternative : value,
                         cursor.cfg.blocks[branch.a].begin < cursor.cfg.blocks[branch.b].begin);
    }
    // Both nodes are merged into the test, which pushes the value.
    for (int gone : {node, other})
      if (gone >= 0) graph.nodes[gone].end = Node::End::none, graph.states[gone].alias = test;
    branch.inherited = false;
    branch.end = Node::End::go, branch.value = nullptr, branch.a = block, branch.b = -1;
    graph.states[test].keep_a = graph.states[test].keep_b = false;
    graph.states[test].stack.push_back({made, test, -1});
    return true;
  }
  return false;
}

// Joins the branch that `node` ends in with the branch in front of it, as long as both test the same stack.
bool merge_condition(Context& context, const Cursor& cursor, LiftedGraph& graph, int node) {
  bool changed = false;
  while (graph.nodes[node].end == Node::End::branch) {
    Node& second = graph.nodes[node];
    if (!second.statements.empty() || is_loop_header(cursor, node)) break;
    const auto from = only_edge_to(cursor, graph, node);
    if (!from) break;
    const auto [before, along_b] = *from;
    Node& first = graph.nodes[before];
    State &one = graph.states[before], &two = graph.states[node];
    if (first.end != Node::End::branch || first.region != second.region || first.a == first.b) break;
    if (along_b ? one.keep_b : one.keep_a) break;
    if (one.stack.size() != two.stack.size()) break;
    bool same_stack = true;
    for (std::size_t index = 0; index < one.stack.size(); ++index)
      same_stack &= one.stack[index].expr == two.stack[index].expr;
    if (!same_stack) break;
    // Tests of handlers and cases are no conditions.
    auto handles = [](const Expr* test) {
      auto* internal = as<Internal>(test);
      return internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match ||
                          internal->marker == Marker::match_case);
    };
    if (handles(first.value) || handles(second.value)) break;
    // The test of a while loop stands once more at the end of the loop. The test in front of that copy is another
    // statement.
    auto goes_back = [&](int to) {
      if (to < 0 || cursor.cfg.order_index[to] < 0 || !cursor.cfg.is_back_edge(node, to)) return false;
      int start = cursor.cfg.blocks[to].begin;
      while (start + 1 < cursor.cfg.blocks[to].end && cursor.code[start].op == Op::nop_) ++start;
      return cursor.code[start].op != Op::for_iter_;
    };
    if (second.line >= 0 && second.line < first.line && (goes_back(second.a) || goes_back(second.b))) break;
    // A jump back that the compiler did not turn around is a statement by itself: `if c: continue`, then another
    // statement.
    if (const int far = along_b ? first.a : first.b; first.turned == Turned::no && far >= 0 &&
                                                     cursor.cfg.order_index[far] >= 0 &&
                                                     cursor.cfg.is_back_edge(before, far))
      break;
    // Merges `node` into the branch in front of it.
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
      absorb(bool_op(context, false, first.value, second.value), second.a, two.keep_a, second.b, two.keep_b);
    } else if (along_b && first.a == second.a && one.keep_a == two.keep_a) {
      absorb(bool_op(context, true, first.value, second.value), second.a, two.keep_a, second.b, two.keep_b);
    } else if ((!along_b && first.b == second.a && !one.keep_b && !two.keep_a) ||
               (along_b && first.a == second.b && !one.keep_a && !two.keep_b)) {
      // One of the two tests has to be negated: the one for which no other instruction is needed. The condition is true
      // where the code that stands first runs.
      int shared = along_b ? first.a : first.b, rest = along_b ? second.a : second.b;
      bool keep_rest = along_b ? two.keep_a : two.keep_b;
      int cost_first = negation_cost(context, first.value), cost_second = negation_cost(context, second.value);
      const bool changes_first = negation_changes(context, first.value);
      const bool changes_second = negation_changes(context, second.value);
      // If neither test can be negated without another instruction, they are two statements. From 3.14 on, `not a in b`
      // is compiled to the opposite jump, so they are one statement if the rest jumps over an else clause.
      if (changes_first && changes_second) {
        const int end = cursor.cfg.blocks[shared].begin - 1;
        const bool over = end >= 0 && cursor.code[end].op == Op::jump_ && cursor.code[end].target > end;
        if (!dialect_of(context.version).negation_turns_jumps || !over) break;
      }
      bool negate_first = cost_first >= other_operator || cost_second >= other_operator ? cost_first < cost_second
                          : along_b ? cursor.cfg.blocks[rest].begin < cursor.cfg.blocks[shared].begin
                                    : cursor.cfg.blocks[shared].begin < cursor.cfg.blocks[rest].begin;
      if (changes_first != changes_second) negate_first = changes_second;
      if (keep_rest) negate_first = true;
      if (negate_first) {
        Expr* left = negate(context, first.value);
        absorb(bool_op(context, !along_b, left, second.value), second.a, two.keep_a, second.b, two.keep_b);
      } else {
        second.value = negate(context, second.value);
        absorb(bool_op(context, along_b, first.value, second.value), second.b, false, second.a, false);
      }
    } else {
      // Both ways of the first test lead to tests with equal targets: c ? (x: T, F) : (y: T, F).
      int other = along_b ? first.a : first.b;
      if (other < 0 || other == node || !graph.states[other].lifted || graph.states[other].alias >= 0) break;
      Node& third = graph.nodes[other];
      State& three = graph.states[other];
      if (third.end != Node::End::branch || !third.statements.empty() || third.region != first.region ||
          is_loop_header(cursor, other))
        break;
      if (!only_edge_to(cursor, graph, other) || one.keep_a || one.keep_b) break;
      if (third.a != second.a || third.b != second.b || two.keep_a != three.keep_a || two.keep_b != three.keep_b) break;
      if (three.stack.size() != one.stack.size()) break;
      Expr* test =
          conditional(context, first.value, along_b ? third.value : second.value, along_b ? second.value : third.value,
                      cursor.cfg.blocks[first.a].begin < cursor.cfg.blocks[first.b].begin);
      third.end = Node::End::none;
      three.alias = before;
      absorb(test, second.a, two.keep_a, second.b, two.keep_b);
    }
  }
  return changed;
}

}  // namespace depyf::lifting
