// Joins tests that share a target into one test, and values that depend on the path to a block into one expression.
//
//   `a; POP_JUMP_IF_FALSE n; b; POP_JUMP_IF_FALSE n` is a test of `a and b`.
//   `a; POP_JUMP_IF_TRUE m; b; POP_JUMP_IF_FALSE n; m:` is a test of `a or b`.
//   `a; JUMP_IF_TRUE_OR_POP m; b; m:` is the value `a or b`.
//   `c; POP_JUMP_IF_FALSE n; a; JUMP m; n: b; m:` is the value `a if c else b`.
//   `c; POP_JUMP_IF_FALSE n; a; POP_JUMP_IF_FALSE F; JUMP T; n: b; POP_JUMP_IF_FALSE F; T:` tests `a if c else b`.
#include <algorithm>
#include <iterator>
#include <ranges>

#include "decode/op.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/conditions.h"
#include "lift/edges.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// Returns `left or right` or `left and right` with `left` as one operand, if `left` was computed as a value and then
// tested. For example, `(a or b) or c` tests the value of `a or b` once more. Returns null if `left` was not computed
// as a value before the test, or if `left` is no `and` or `or` expression with the operator of the result.
Expr* with_tested(Context& context, bool is_or, Expr* left, Expr* right, bool left_is_value) {
  auto* chain = as<BoolOp>(left);
  if (!left_is_value || !chain || chain->is_or != is_or) return nullptr;
  return context.expr(BoolOp{is_or, context.list({left, right})}, left->offset, left->line);
}

// True if the node `node` does nothing but push one value on the stack that the node `test` leaves.
bool pushes_one(LiftedGraph& graph, NodeIndex node, int test) {
  const auto &stack = graph.states[node].stack, &before = graph.states[test].stack;
  if (graph.nodes[node].end != Node::End::go || !graph.nodes[node].statements.empty() ||
      stack.size() != before.size() + 1)
    return false;
  for (std::size_t index = 0; index < before.size(); ++index)
    if (stack[index].expr != before[index].expr) return false;
  auto* internal = as<Internal>(stack.back().expr);
  return graph.nodes[node].region == graph.nodes[test].region && (!internal || internal->marker == Marker::function);
}

// Returns `left or right` or `left and right`. Even if `right` has the operator of the result, `right` stays one
// operand: `a or (b or c) or d` tests the value of `b or c` once more.
Expr* with_operand(Context& context, bool is_or, Expr* left, Expr* right) {
  auto* chain = as<BoolOp>(left);
  const List<Expr*> values = chain && chain->is_or == is_or ? chain->values : context.list({left});
  return context.expr(BoolOp{is_or, context.arena.append(values, right)}, left->offset, left->line);
}

// Returns `left or right` or `left and right`. If `left` or `right` has the operator of the result, the operands of
// `left` or `right` become operands of the result.
Expr* bool_op(Context& context, bool is_or, Expr* left, Expr* right) {
  auto* more = as<BoolOp>(right);
  if (!more || more->is_or != is_or) return with_operand(context, is_or, left, right);
  for (Expr* value : more->values) left = with_operand(context, is_or, left, value);
  return left;
}

// Returns `(left or x) or y` if `right` is `x or y`, and `(left and x) and y` if `right` is `x and y`. If `right` does
// not have the operator of the result, returns the result of `bool_op`.
Expr* grouped(Context& context, bool is_or, Expr* left, Expr* right) {
  auto* chain = as<BoolOp>(right);
  if (!chain || chain->is_or != is_or) return bool_op(context, is_or, left, right);
  auto* group = as<BoolOp>(chain->values[0]);
  Expr* first = group && group->is_or == is_or
                    ? grouped(context, is_or, left, chain->values[0])
                    : context.expr(BoolOp{is_or, context.list({left, chain->values[0]})}, left->offset, left->line);
  List<Expr*> values = context.list({first});
  for (Expr* value : chain->values.subspan(1)) values = context.arena.append(values, value);
  return context.expr(BoolOp{is_or, values}, left->offset, left->line);
}

// Returns `if_true if test else if_false`, or the equivalent expression with the negation of `test`. The alternative
// that is first in the bytecode (`if_true` if `true_first` is set) is also first in the expression, unless the negation
// of the test needs another instruction.
Expr* conditional(Context& context, Expr* test, Expr* if_true, Expr* if_false, bool true_first) {
  if (!true_first && !negation_changes(context, test))
    return context.expr(IfExp{negate(context, test), if_false, if_true}, test->offset, test->line);
  return context.expr(IfExp{test, if_true, if_false}, test->offset, test->line);
}

// Where a test sends a value, and whether the value stays on the stack.
struct Way {
  NodeIndex to;
  bool keeps;
  bool operator==(const Way&) const = default;
};

// Returns where the only operation of `block`, a test of the value on top of the stack, sends a value whose truth is
// `truth`; nothing if the block does anything else.
std::optional<Way> way_behind(const Cursor& cursor, NodeIndex block, bool truth) {
  const BasicBlock& info = cursor.cfg.blocks[block];
  int at = info.begin;
  while (at + 1 < info.end && (cursor.code[at].op == Op::nop_ || cursor.code[at].op == Op::to_bool_)) ++at;
  if (at + 1 != info.end) return std::nullopt;
  const Op op = cursor.code[at].op;
  const bool keeps = op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_;
  if (!keeps && op != Op::pop_jump_if_true_ && op != Op::pop_jump_if_false_) return std::nullopt;
  const bool jumps = truth == (op == Op::jump_if_true_or_pop_ || op == Op::pop_jump_if_true_);
  return Way{jumps ? info.jump : info.next, keeps && jumps};
}

// True if the source node of `edge` has no statements and no branch, so that the node may do nothing but push a value.
bool may_push_one(const Cfg& cfg, const LiftedGraph& graph, Edge edge) {
  const Node& node = graph.nodes[edge.first];
  return node.end == Node::End::go && node.statements.empty() && !cfg.blocks[edge.first].is_loop_header;
}
}  // namespace

// The sources of edges are visited from the last to the first in reverse postorder, so that inner expressions are
// joined first.
bool reduce_values(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex block,
                   const Table<Edge>& edges) {
  if (edges.size() < 2) return false;
  Table<Edge> pushing;
  std::ranges::copy_if(edges, std::back_inserter(pushing),
                       [&](Edge edge) { return may_push_one(cursor.cfg, graph, edge); });
  std::ranges::sort(pushing, std::ranges::greater(), [&](Edge edge) { return cursor.cfg.order_index[edge.first]; });
  for (const NodeIndex node : std::views::keys(pushing)) {
    const auto from = only_edge_to(cursor, graph, node);
    if (!from) continue;
    const NodeIndex test = from->first;
    Node& branch = graph.nodes[test];
    if (branch.end != Node::End::branch || !pushes_one(graph, node, test)) continue;
    Expr* value = graph.states[node].stack.back().expr;
    Expr* made = nullptr;
    NodeIndex other;
    // For JUMP_IF_x_OR_POP, the value along one edge to `block` is the tested value, and the value along the other edge
    // is the value that `node` pushes.
    if (branch.a == block && branch.b == node && graph.states[test].keep_a) {
      made = with_tested(context, true, branch.value, value, branch.inherited || branch.is_bracketed);
      if (!made) made = (branch.is_grouped ? grouped : bool_op)(context, true, branch.value, value);
    } else if (branch.b == block && branch.a == node && graph.states[test].keep_b) {
      made = with_tested(context, false, branch.value, value, branch.inherited || branch.is_bracketed);
      if (!made) made = (branch.is_grouped ? grouped : bool_op)(context, false, branch.value, value);
      // The compiler lets a jump to a test whose result is known skip this test: in `(x if c else (a and b)) or y`, the
      // jump behind a leads to y, although the value of `a and b` is tested by the `or`.
    } else if (branch.a == node && way_behind(cursor, block, false) == Way{branch.b, graph.states[test].keep_b}) {
      made = bool_op(context, false, branch.value, value);
    } else if (branch.b == node && way_behind(cursor, block, true) == Way{branch.a, graph.states[test].keep_a}) {
      made = bool_op(context, true, branch.value, value);
      // Two nodes push one value each, and a test chooses between them.
    } else {
      other = branch.a == node ? branch.b : branch.a;
      if (other == block || other == node || other < 0 || graph.states[other].alias >= 0 ||
          graph.nodes[other].a != block)
        continue;
      if (!graph.states[other].lifted || !only_edge_to(cursor, graph, other) || !pushes_one(graph, other, test) ||
          cursor.cfg.blocks[other].is_loop_header)
        continue;
      if (graph.states[test].keep_a || graph.states[test].keep_b) continue;
      Expr* alternative = graph.states[other].stack.back().expr;
      made = conditional(context, branch.value, branch.a == node ? value : alternative,
                         branch.a == node ? alternative : value,
                         cursor.cfg.blocks[branch.a].begin < cursor.cfg.blocks[branch.b].begin);
    }
    // Merges `node`, and `other` if it is set, into the node of the test, which pushes the joined value from now on.
    for (const NodeIndex gone : {node, other})
      if (gone >= 0) graph.nodes[gone].end = Node::End::none, graph.states[gone].alias = test;
    branch.inherited = false;
    branch.end = Node::End::go, branch.value = nullptr, branch.a = block, branch.b = -1;
    graph.states[test].keep_a = graph.states[test].keep_b = false;
    graph.states[test].stack.push_back({made, test, -1});
    return true;
  }
  return false;
}

namespace {

// Two branches: the node `before` ends in the first branch, and `node` ends in the second branch. Only one edge of the
// first branch leads to `node`, and no other edge of the graph does.
class BranchPair {
 public:
  BranchPair(Context& context, const Cursor& cursor, LiftedGraph& graph, int before, bool along_b, NodeIndex node)
      : context_(context),
        cursor_(cursor),
        graph_(graph),
        before_(before),
        node_(node),
        along_b_(along_b),
        first_(graph.nodes[before]),
        second_(graph.nodes[node]),
        first_state_(graph.states[before]),
        second_state_(graph.states[node]) {}

  // True if the two branches have equal stacks below the tested values, and may be parts of one condition.
  bool may_be_joined() const {
    if (first_.end != Node::End::branch || first_.region != second_.region || first_.a == first_.b) return false;
    if (along_b_ ? first_state_.keep_b : first_state_.keep_a) return false;
    if (!has_same_stack() || is_clause(first_.value) || is_clause(second_.value)) return false;
    // The compiler copies the test of a while loop to the end of the loop; a test in front of the copy is not part of
    // the loop's condition.
    if (second_.line >= 0 && second_.line < first_.line && (goes_back(second_.a) || goes_back(second_.b))) return false;
    // If the compiler did not replace a conditional backward jump by its opposite, the jump is a separate statement:
    // `if c: continue`. A conditional backward jump that the compiler replaced by its opposite does not come from a
    // `continue`. So the test in front of such a jump is not joined with a second test whose jump comes from a
    // `continue`.
    const int far = along_b_ ? first_.a : first_.b;
    if (far < 0 || cursor_.cfg.order_index[far] < 0 || !cursor_.cfg.is_back_edge(before_, far)) return true;
    const bool continues = second_.turned != Turned::unknown && second_.turned != Turned::yes;
    return first_.turned != Turned::no && !(first_.turned == Turned::yes && continues);
  }

  // Joins the two branches into one condition. Returns false if the branches cannot be joined, for example because they
  // have no common target.
  bool join() {
    const State &one = first_state_, &two = second_state_;
    if (!along_b_ && first_.b == second_.b && one.keep_b == two.keep_b) {
      join_alike(false);
      return true;
    }
    if (along_b_ && first_.a == second_.a && one.keep_a == two.keep_a) {
      join_alike(true);
      return true;
    }
    if ((!along_b_ && first_.b == second_.a && !one.keep_b && !two.keep_a) ||
        (along_b_ && first_.a == second_.b && !one.keep_a && !two.keep_b))
      return join_negated();
    return join_with_other_way();
  }

 private:
  bool has_same_stack() const {
    return std::ranges::equal(first_state_.stack, second_state_.stack, {}, &Entry::expr, &Entry::expr);
  }

  // Returns `left or t` or `left and t`, where t is the test of the second branch.
  Expr* joined(bool is_or, Expr* left) const {
    return (second_.inherited ? with_operand : bool_op)(context_, is_or, left, second_.value);
  }

  // Joins the tests of the two branches to `first or second` or `first and second`.
  void join_alike(bool is_or) {
    Expr* made = with_tested(context_, is_or, first_.value, second_.value, first_.inherited || first_.is_bracketed);
    if (!made) made = joined(is_or, first_.value);
    first_.is_bracketed = first_.is_grouped, first_.is_grouped = second_.is_grouped;
    absorb(made, second_.a, second_state_.keep_a, second_.b, second_state_.keep_b);
  }

  // True if `test` is the test of an except clause or of a case clause, which cannot be part of a condition.
  static bool is_clause(const Expr* test) {
    auto* internal = as<Internal>(test);
    return internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match ||
                        internal->marker == Marker::match_case);
  }

  // True if the edge from the second branch to `to` is a back edge and `to` is not the head of a for loop.
  bool goes_back(int to) const {
    if (to < 0 || cursor_.cfg.order_index[to] < 0 || !cursor_.cfg.is_back_edge(node_, to)) return false;
    int start = cursor_.cfg.blocks[to].begin;
    while (start + 1 < cursor_.cfg.blocks[to].end && cursor_.code[start].op == Op::nop_) ++start;
    return cursor_.code[start].op != Op::for_iter_;
  }

  // True if the path on which the first branch skips the second test starts with a jump, which may be the code of a
  // `pass` or `continue`.
  bool has_statement_between() const {
    const int jump = cursor_.cfg.blocks[before_].end - 1, second = cursor_.cfg.blocks[node_].begin;
    const int target = cursor_.code[jump].target;
    int past = target == second ? jump + 1 : target;
    if (past < 0) return true;
    while (past + 1 < int(cursor_.code.size()) && cursor_.code[past].op == Op::nop_) ++past;
    return cursor_.code[past].op == Op::jump_;
  }

  // Joins the tests of the two branches, one of which has to be negated. If possible, negates the one of the two tests
  // whose negation compiles without another instruction. If the joined condition is true, control goes to the code that
  // comes first in the bytecode.
  bool join_negated() {
    const int shared = along_b_ ? first_.a : first_.b, rest = along_b_ ? second_.a : second_.b;
    const bool keep_rest = along_b_ ? second_state_.keep_a : second_state_.keep_b;
    const bool changes_first = negation_changes(context_, first_.value);
    const bool changes_second = negation_changes(context_, second_.value);
    // If neither test can be negated without another instruction, the tests belong to two statements. From 3.14 on,
    // `not a in b` compiles to the opposite jump, so two tests like `a in b` belong to one statement if no `pass` or
    // `continue` is between the tests.
    const bool changes_both = changes_first && changes_second;
    if (changes_both && (!dialect_of(context_.version).negation_turns_jumps || has_statement_between())) return false;
    const int cost_first = negation_cost(context_, first_.value), cost_second = negation_cost(context_, second_.value);
    const bool by_cost = cost_first >= other_operator || cost_second >= other_operator;
    bool negate_first = by_cost && !changes_both ? cost_first < cost_second
                        : along_b_               ? cursor_.cfg.blocks[rest].begin < cursor_.cfg.blocks[shared].begin
                                                 : cursor_.cfg.blocks[shared].begin < cursor_.cfg.blocks[rest].begin;
    if (changes_first != changes_second) negate_first = changes_second;
    if (keep_rest) negate_first = true;
    if (negate_first) {
      Expr* left = negate(context_, first_.value);
      absorb(joined(!along_b_, left), second_.a, second_state_.keep_a, second_.b, second_state_.keep_b);
    } else {
      second_.value = negate(context_, second_.value);
      absorb(bool_op(context_, along_b_, first_.value, second_.value), second_.b, false, second_.a, false);
    }
    return true;
  }

  // Joins three tests to `x if c else y`, if the edges of the first test c lead to tests x and y with equal targets.
  // If the true edge of each of the tests x and y leads to the target of the false edge of the other, x or y is
  // negated: `not x if c else y`.
  bool join_with_other_way() {
    const int other = along_b_ ? first_.a : first_.b;
    if (other < 0 || other == node_ || !graph_.states[other].lifted || graph_.states[other].alias >= 0) return false;
    Node& third = graph_.nodes[other];
    State& third_state = graph_.states[other];
    if (third.end != Node::End::branch || !third.statements.empty() || third.region != first_.region ||
        cursor_.cfg.blocks[other].is_loop_header)
      return false;
    if (!only_edge_to(cursor_, graph_, other) || first_state_.keep_a || first_state_.keep_b) return false;
    const bool alike = third.a == second_.a && third.b == second_.b && second_state_.keep_a == third_state.keep_a &&
                       second_state_.keep_b == third_state.keep_b;
    if (third_state.stack.size() != first_state_.stack.size()) return false;
    if (!alike && !turn_crossed(third, third_state)) return false;
    Expr* test = conditional(context_, first_.value, along_b_ ? third.value : second_.value,
                             along_b_ ? second_.value : third.value,
                             cursor_.cfg.blocks[first_.a].begin < cursor_.cfg.blocks[first_.b].begin);
    third.end = Node::End::none;
    third_state.alias = before_;
    absorb(test, second_.a, second_state_.keep_a, second_.b, second_state_.keep_b);
    return true;
  }

  // Negates one of the tests x and y of the condition `x if c else y`, if x and y have the same targets in the opposite
  // order. Returns false, and changes nothing, if the targets differ or both negations need other instructions. If the
  // joined condition is true, control goes to the target that comes first in the bytecode, unless that target is the
  // start of the loop around the tests.
  bool turn_crossed(Node& third, const State& third_state) {
    const bool keeps = second_state_.keep_a || second_state_.keep_b || third_state.keep_a || third_state.keep_b;
    if (keeps || third.a != second_.b || third.b != second_.a || second_.a < 0 || second_.b < 0) return false;
    const bool changes_second = negation_changes(context_, second_.value);
    const bool changes_third = negation_changes(context_, third.value);
    if (changes_second && changes_third) return false;
    const auto starts_again = [&](int to) {
      return cursor_.cfg.order_index[to] >= 0 && cursor_.cfg.is_back_edge(node_, to);
    };
    const auto begin = [&](int to) { return cursor_.cfg.blocks[to].begin; };
    const bool b_first = starts_again(second_.a) != starts_again(second_.b) ? starts_again(second_.a)
                                                                            : begin(second_.b) < begin(second_.a);
    if (changes_second != changes_third ? changes_third : b_first) {
      second_.value = negate(context_, second_.value);
      std::swap(second_.a, second_.b);
    } else {
      third.value = negate(context_, third.value);
    }
    return true;
  }

  // Merges the second branch into the first. The merged branch tests `test`, and leads to `a` if it is true and to `b`
  // if it is false.
  void absorb(Expr* test, int a, bool keep_a, int b, bool keep_b) {
    first_.inherited = false;
    first_.value = test, first_.a = a, first_.b = b, first_.turned = second_.turned;
    first_state_.keep_a = keep_a, first_state_.keep_b = keep_b;
    second_.end = Node::End::none;
    second_state_.alias = before_;
  }

  Context& context_;
  const Cursor& cursor_;
  LiftedGraph& graph_;
  const int before_, node_;
  const bool along_b_;  // true if the first branch leads to the second one when its test is false
  Node &first_, &second_;
  State &first_state_, &second_state_;
};

}  // namespace

// Joins the branch that `node` ends in with the branch in front of it, as long as the two branches can be joined.
bool merge_condition(Context& context, const Cursor& cursor, LiftedGraph& graph, NodeIndex node) {
  bool changed = false;
  while (graph.nodes[node].end == Node::End::branch) {
    if (!graph.nodes[node].statements.empty() || cursor.cfg.blocks[node].is_loop_header) break;
    const auto from = only_edge_to(cursor, graph, node);
    if (!from) break;
    const auto [before, along_b] = *from;
    BranchPair pair(context, cursor, graph, before, along_b, node);
    if (!pair.may_be_joined() || !pair.join()) break;
    node = before;
    changed = true;
  }
  return changed;
}

}  // namespace depyf::lifting
