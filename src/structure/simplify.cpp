// Simplifies the lifted graph before structuring. From 3.10 on, the compiler tests the condition of a while loop once
// in front of the loop and again at the end of the loop. The pass joins the test in front of the loop and the test at
// the end of the loop, so that `if c:` around a loop that tests c at its end becomes `while c: body`.
#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "ast/equal.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "structure/empty_nodes.h"
#include "structure/graph.h"
#include "structure/structure.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// True if the node only leaves a statement, as a `return` does for each statement around it, and falls through to the
// next node. For a node with a call of `__exit__`, the result is true only if `left_by_statement` is set, because a
// with statement ends in a call of `__exit__` even without a `return`.
bool leaves_statement(const Lifted& lifted, const Cfg& cfg, NodeIndex index) {
  const Node& node = lifted.nodes[index];
  if (node.end != Node::End::go || node.carries || node.else_break || !only_markers(node)) return false;
  if (index >= int(cfg.blocks.size()) || node.a >= int(cfg.blocks.size())) return false;
  const bool ends_with = std::ranges::any_of(
      node.statements, [](const Stmt* stmt) { return as<InternalStmt>(stmt)->marker == StmtMarker::with_exit; });
  const BasicBlock& block = cfg.blocks[index];
  return (!ends_with || node.left_by_statement) && block.kind == BasicBlock::Kind::code &&
         block.end == cfg.blocks[node.a].begin && cfg.code[block.end - 1].op != Op::jump_;
}

// In 3.8, the compiler copies no return, so paths meet at a return only where the return stands in the source. A return
// out of several statements follows code that leaves these statements, the innermost first. The code that leaves a
// statement lies in the region of the statement. For example, if `return 1` follows an inner try statement in an outer
// one, POP_BLOCK is in the region of the outer try statement, and `LOAD_CONST; RETURN` is outside of that region. The
// node that leaves the innermost statement becomes the return, so that the return is placed where it stands in the
// source.
void move_returns(Context& context, Lifted& lifted, const Cfg& cfg) {
  auto& nodes = lifted.nodes;
  for (NodeIndex index = 0; index < int(cfg.blocks.size()); ++index) {
    NodeIndex last = index;
    for (int steps = 0; steps < int(nodes.size()) && leaves_statement(lifted, cfg, last); ++steps) last = nodes[last].a;
    Node& node = nodes[index];
    const Node& leave = nodes[last];
    if (leave.end != Node::End::leave || leave.region == node.region || !only_markers(leave)) continue;
    if (leave.inherited || !is<ConstantExpr>(leave.value)) continue;
    node.end = Node::End::leave, node.a = -1;
    node.value = leave.value, node.line = leave.line, node.column = leave.column, node.width = leave.width;
    node.left_by_statement = false;
    node.statements.append(context.arena, leave.statements);
  }
}

// True if `one` and `two` are the same node, or nodes with equal statements and ends, which may be copies of the same
// code.
bool same_target(const Table<Node, NodeIndex>& nodes, int one, int two) {
  if (one == two) return true;
  if (one < 0 || two < 0) return false;
  const Node &a = nodes[one], &b = nodes[two];
  if (a.end != b.end || a.statements.size() != b.statements.size()) return false;
  for (std::size_t index = 0; index < a.statements.size(); ++index)
    if (!equal(a.statements[index], b.statements[index])) return false;
  if (a.end == Node::End::leave) return equal(a.value, b.value);
  if (a.end == Node::End::go) return a.a == b.a;
  return false;
}

// True if the last operands of `test` are the operands of `wanted`. `prefix` is set to the condition of those operands
// of `test` that precede the operands of `wanted`, or to null if `test` has no other operands.
bool split_suffix(Context& context, Expr* test, const Expr* wanted, bool is_or, Expr*& prefix) {
  prefix = nullptr;
  if (equal(test, wanted)) return true;
  auto* chain = as<BoolOp>(test);
  if (!chain || chain->is_or != is_or) return false;
  Table<Expr*> values(chain->values.begin(), chain->values.end());
  auto* tail = as<BoolOp>(wanted);
  std::size_t count = tail && tail->is_or == is_or ? tail->values.size() : 1;
  if (count >= values.size()) return false;
  for (std::size_t index = 0; index < count; ++index) {
    const Expr* part = count == 1 ? wanted : tail->values[index];
    if (!equal(values[values.size() - count + index], part)) return false;
  }
  values.resize(values.size() - count);
  prefix = values.size() == 1 ? values[0]
                              : context.expr(BoolOp{is_or, context.arena.copy(values)}, test->offset, test->line);
  return true;
}

// Returns the line of the last operand of a test. The copy of a while loop's test has the same line as the original
// test.
std::int32_t last_line(const Expr* test) {
  while (auto* chain = as<BoolOp>(test)) test = chain->values.back();
  return test->line;
}

// Each pair consists of the node with the first part and the node with the second part of a test. A test is split into
// two nodes if another edge leads to its second part.
using Splits = Table<std::pair<int, int>>;

// Joins the two parts of each split test again if only the first part leads to the second part.
void unite_tests(Context& context, Lifted& lifted, const Splits& splits) {
  const Graph graph(lifted.nodes, lifted.entry);
  for (auto split = splits.rbegin(); split != splits.rend(); ++split) {
    Node &first = lifted.nodes[std::size_t(split->first)], &second = lifted.nodes[std::size_t(split->second)];
    if (first.end != Node::End::branch || second.end != Node::End::branch || !second.statements.empty()) continue;
    const bool on_true = first.a == split->second;
    if (!on_true && first.b != split->second) continue;
    if ((on_true ? first.b != second.b : first.a != second.a) || first.region != second.region) continue;
    if (graph.order(split->second) < 0 || graph.preds(split->second).size() != 1) continue;
    Table<Expr*> values;
    for (Expr* part : {first.value, second.value}) {
      auto* chain = as<BoolOp>(part);
      if (chain && chain->is_or == !on_true) values.insert(values.end(), chain->values.begin(), chain->values.end());
      else values.push_back(part);
    }
    first.value = context.expr(BoolOp{!on_true, context.arena.copy(values)}, first.value->offset, first.value->line);
    first.a = second.a, first.b = second.b, first.turned = second.turned;
    second.end = Node::End::none;
  }
}

// Joins the test in front of the loop at `header` with the copy of the test at the end of the loop. Returns false if
// the loop has no copied test. The facts in `graph` about loops other than the loop at `header` stay true.
bool join_loop_test(Context& context, Lifted& lifted, const Graph& graph, NodeIndex header, Splits& splits) {
  auto& nodes = lifted.nodes;
  // The test in front of a for loop has no copy at the end of the loop.
  if (nodes[header].end == Node::End::loop) return false;
  // A latch, which ends in the copy of the test, leads back to the header or out of the loop.
  for (NodeIndex latch : graph.preds(header)) {
    if (graph.order(latch) < graph.order(header) || nodes[latch].end != Node::End::branch) continue;
    if (nodes[latch].a != header && nodes[latch].b != header) continue;
    bool on_true = nodes[latch].a == header;
    NodeIndex leave = on_true ? nodes[latch].b : nodes[latch].a;
    // The original test of a while loop stands in front of the loop, and has the same successors as the copy of the
    // test in `latch`.
    for (NodeIndex before : graph.preds(header)) {
      if (graph.order(before) >= graph.order(header) || nodes[before].end != Node::End::branch || before == latch)
        continue;
      if ((on_true ? nodes[before].a : nodes[before].b) != header || nodes[before].region != nodes[latch].region)
        continue;
      NodeIndex other = on_true ? nodes[before].b : nodes[before].a;
      Expr *prefix, *break_test = nullptr;
      if (last_line(nodes[before].value) != last_line(nodes[latch].value)) continue;
      if (!same_target(nodes, leave, other)) continue;
      // If `if t: break` at the end of the body leaves the loop to the same node as the copy of the test, lifting has
      // joined t and the copy of the test into one condition.
      if (!split_suffix(context, nodes[before].value, nodes[latch].value, !on_true, prefix) &&
          !split_suffix(context, nodes[latch].value, nodes[before].value, !on_true, break_test))
        continue;
      NodeIndex test = before;
      // The test needs a node of its own if the node in front of the loop also has statements or other conditions.
      if (prefix || !nodes[before].statements.empty()) {
        test = int(nodes.size());
        Node made = nodes[before];
        made.statements.clear();
        made.value = break_test ? nodes[before].value : nodes[latch].value, made.offset = made.value->offset;
        nodes.push_back(made);
        Node& first = nodes[before];
        if (prefix) {
          first.value = prefix;
          (on_true ? first.a : first.b) = test;
          splits.push_back({before, test});
        } else {
          first.end = Node::End::go, first.a = test, first.b = -1;
          made.offset = first.offset;
        }
        nodes[test].offset = nodes[before].value ? nodes[before].value->offset : nodes[before].offset;
      }
      if (break_test) {
        nodes[latch].value = break_test;
        (on_true ? nodes[latch].a : nodes[latch].b) = test;
      } else {
        nodes[latch].end = Node::End::go, nodes[latch].a = test, nodes[latch].b = -1, nodes[latch].value = nullptr;
      }
      return true;
    }
  }
  return false;
}

// Joins the original and the copied test of each loop, in one pass over all loops. Returns true if the test of any loop
// was joined with its copy.
bool join_loop_tests(Context& context, Lifted& lifted, const Graph& graph, Splits& splits) {
  bool joined = false;
  for (NodeIndex header : graph.sequence())
    if (graph.is_header(header)) joined |= join_loop_test(context, lifted, graph, header, splits);
  return joined;
}

// Joins all returns of None in a module or class body to one node, the end, which lies behind all other code.
void join_ends(Context& context, Lifted& lifted, const Cfg& cfg) {
  Node end;
  end.end = Node::End::leave, end.value = context.none(), end.offset = cfg.code.back().offset;
  int last = int(lifted.nodes.size());
  for (Node& node : lifted.nodes) {
    auto* value = node.end == Node::End::leave ? as<ConstantExpr>(node.value) : nullptr;
    if (value && value->value->kind == Constant::Kind::none)
      node.end = Node::End::go, node.a = last, node.value = nullptr;
  }
  lifted.nodes.push_back(end);
}

// Joins the nodes that raise the exception again at the end of a finally body, so that the body has one end.
void join_finally_ends(Lifted& lifted, const Cfg& cfg) {
  if (std::ranges::none_of(cfg.regions, [](const Region& region) { return region.kind == Region::Kind::try_finally; }))
    return;
  std::unordered_map<int, Table<NodeIndex>> raising;  // by region: the nodes that end in a reraise
  for (int index = 0; index < int(lifted.nodes.size()); ++index) {
    const Node& node = lifted.nodes[index];
    if (node.end != Node::End::stop || node.statements.empty()) continue;
    auto* marker = as<InternalStmt>(node.statements.back());
    if (marker && marker->marker == StmtMarker::reraise) raising[node.region].push_back(index);
  }
  for (const Region& region : cfg.regions) {
    if (region.kind != Region::Kind::try_finally || region.handler < 0) continue;
    const RegionIndex scope = cfg.blocks[region.handler].region;
    const NodeIndex last = int(lifted.nodes.size());
    Node end;
    end.end = Node::End::stop, end.region = scope;
    for (int index : std::exchange(raising[scope], {})) {
      Node& node = lifted.nodes[index];
      node.statements.pop_back();
      if (node.a >= 0) end.a = node.a;
      node.end = Node::End::go, node.a = last;
      end.offset = std::max(end.offset, node.offset);
    }
    lifted.nodes.push_back(end);
    lifted.finally_ends.push_back({scope, last});
  }
}

// Splits a block that contains both GET_ITER and the header of a for loop, if a back edge leads to the block. Control
// that goes back to GET_ITER creates a new iterator, so the back edge belongs to an outer loop, whose body starts with
// a for loop that never iterates twice.
void split_loop_starts(Lifted& lifted, const Cfg& cfg, Table<NodeIndex> starts) {
  auto& nodes = lifted.nodes;
  auto makes_iterator = [&](NodeIndex index) {
    if (index >= int(cfg.blocks.size())) return false;
    const BasicBlock& block = cfg.blocks[index];
    OpSet ops;
    for (int at = block.begin; at < block.end; ++at) ops.add(cfg.code[at].op);
    // Lifting joins the blocks of an expression such as `a if b else c` in front of GET_ITER into one node.
    return ops.has(Op::get_iter_, Op::get_aiter_) || (block.begin < block.end && !ops.has(Op::for_iter_));
  };
  std::erase_if(starts, [&](NodeIndex to) { return nodes[to].end != Node::End::loop || !makes_iterator(to); });
  std::ranges::sort(starts);
  for (const NodeIndex index : starts) {
    if (nodes[index].end != Node::End::loop) continue;  // the node has been split already
    Node loop = nodes[index];
    loop.statements.clear();
    Node& start = nodes[index];
    start.end = Node::End::go, start.a = int(nodes.size()), start.b = -1;
    start.value = start.target = nullptr;
    nodes.push_back(std::move(loop));
  }
}

// True if several branches lead to the header of some while loop, at least one of them by a back edge. The function is
// a cheap test of whether `join_loop_tests` may change the graph: the result is true whenever a loop has a copied test,
// and may be true for other graphs.
bool may_join_loop_tests(const Lifted& lifted) {
  const auto& nodes = lifted.nodes;
  Table<NodeIndex> backward;
  for (const Node& node : nodes) {
    // Most nodes do not end in a branch with an edge that leads back, and a single `if` skips these nodes.
    const bool is_branch = node.end == Node::End::branch;
    const bool back_a = is_branch & leads_back(nodes, node, node.a);
    const bool back_b = is_branch & leads_back(nodes, node, node.b);
    if (int{back_a} + int{back_b} == 0) continue;
    if (back_a && nodes[node.a].end != Node::End::loop) backward.push_back(node.a);
    if (back_b && nodes[node.b].end != Node::End::loop) backward.push_back(node.b);
  }
  if (backward.empty()) return false;
  Table<int, NodeIndex> branches(nodes.size());
  for (const Node& node : nodes)
    for (NodeIndex to : {node.a, node.b})
      if (node.end == Node::End::branch && to >= 0) ++branches[to];
  return std::ranges::any_of(backward, [&](NodeIndex to) { return branches[to] > 1; });
}

}  // namespace

void simplify_graph(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return) {
  if (is_one_node(lifted)) return;
  join_finally_ends(lifted, cfg);
  if (!may_return) join_ends(context, lifted, cfg);
  const Shape shape = shape_of(lifted.nodes, cfg);
  if (!shape.back_targets.empty()) split_loop_starts(lifted, cfg, shape.back_targets);
  if (dialect_of(context.version).finally_subroutines) move_returns(context, lifted, cfg);
  skip_empty(lifted, shape);
  if (shape.back_targets.empty()) return;
  Splits splits;
  for (int rounds = 0; rounds < search_limits::loop_test_rounds && may_join_loop_tests(lifted); ++rounds) {
    Graph graph(lifted.nodes, lifted.entry);
    if (graph.irreducible() || !join_loop_tests(context, lifted, graph, splits)) break;
    // The nodes whose tests were joined with other tests are empty now, so edges are redirected past these nodes.
    skip_empty(lifted, shape);
  }
  if (!splits.empty()) unite_tests(context, lifted, splits);
}

}  // namespace depyf
