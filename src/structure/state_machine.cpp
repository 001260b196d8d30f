// Writes any graph at all as a state machine: the variable `__state` contains the number of the current block, and a
// `while True:` loop contains an `if` for each block, which is called the arm of the block.
//
//   The arm of block 0 is `if __state == 0:` with the statements of the block, and ends by setting the next state.
//   The arm of a block that ends in a branch ends in an assignment such as `__state = 3 if test else 1`.
//   A module or class cannot return, so its state machine leaves the loop by `break`.
//   If the code has handlers, a try statement with `except BaseException as __exception:` is around the arms.
//   In the except clause, `if __state in (1, 2): __stack_0 = __exception; __state = 7` enters the handler of blocks 1
//   and 2, and `else: raise` raises the exception of a block without a handler again.
//   Behind the `if` in the except clause, the loop `while __state in (7, 8):` contains the blocks that run while the
//   exception is being handled, in the same form as the outer loop contains its blocks.
//
// The blocks of a handler stand in the except clause, so that the exceptions that they raise get the right context, and
// so that a bare `raise` and sys.exc_info() find the handled exception.
//
// Blocks that do nothing are left out. A block to which only one other block leads becomes part of the arm of that
// other block. Only the blocks that have an arm of their own get a number for `__state`. The numbers are consecutive,
// and differ from the numbers of the blocks in the control flow graph, which have no meaning for readers of the source.
#include <algorithm>
#include <map>

#include "ast/visit.h"
#include "decode/op.h"
#include "flow/cfg.h"
#include "structure/structure.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {

// The largest number of exceptions that are handled at a time, one within the handler of another, which is far more
// than real code needs.
constexpr int level_max = 20;

// Builds the loop of the state machine from the nodes that `lift_flat` returns.
class StateMachine {
 public:
  StateMachine(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return)
      : context_(context), lifted_(lifted), cfg_(cfg), may_return_(may_return) {}

  Block run() {
    find_levels();
    skip_empty();
    drop_unreached();
    merge_chains();
    number_states();
    forget_lines();
    Table<Stmt*> statements{set(number(lifted_.entry), lifted_.nodes[std::size_t(lifted_.entry)])};
    statements.push_back(level(0));
    return context_.arena.copy(statements);
  }

 private:
  int count() const { return int(lifted_.nodes.size()); }
  bool is_state(NodeIndex node) const { return lifted_.nodes[node].end != Node::End::none; }
  // Returns the number of the state that runs a block, as an expression.
  Expr* number(NodeIndex block) { return context_.constant(Constant::Kind::integer, std::to_string(numbers_[block])); }
  // Returns the statement that sets `__state` to `value`.
  Stmt* set(Expr* value, const Node& node) {
    return context_.stmt(Assign{context_.list({context_.name("__state")}), value}, node.offset, node.line);
  }

  // True if the first instruction of the block, apart from NOPs, is PUSH_EXC_INFO.
  bool begins_handler(NodeIndex block) const {
    const BasicBlock& info = cfg_.blocks[block];
    for (int at = info.begin; at < info.end; ++at) {
      const Op op = cfg_.code[std::size_t(at)].op;
      if (op != Op::nop_) return op == Op::push_exc_info_;
    }
    return false;
  }

  // Finds for each block how many exceptions are being handled while it runs.
  void find_levels() {
    running_.assign(std::size_t(count()), -1);
    // Pairs of a block and the number of exceptions that are being handled where it begins.
    Table<std::pair<int, int>> todo{{lifted_.entry, 0}};
    while (!todo.empty()) {
      const auto [block, before] = todo.back();
      todo.pop_back();
      if (block < 0 || block >= count() || running_[block] >= 0) continue;
      const int running = std::min(before + begins_handler(block), level_max);
      running_[block] = running;
      const BasicBlock& info = cfg_.blocks[block];
      int after = running;
      for (int at = info.begin; at < info.end; ++at)
        after -= cfg_.code[std::size_t(at)].op == Op::pop_except_ && after > 0;
      todo.push_back({info.next, after});
      todo.push_back({info.jump, after});
      // An exception in a handler leads to cleanup code, in which the exception of the handler is still being handled.
      if (info.region >= 0) todo.push_back({cfg_.regions[std::size_t(info.region)].handler, running});
    }
  }

  Table<Node, NodeIndex>& nodes() { return lifted_.nodes; }

  // Returns pointers to the successors of a node, which do not include its exception handler.
  static Table<NodeIndex*> ways_of(Node& node) {
    switch (node.end) {
      case Node::End::go: return {&node.a};
      case Node::End::branch:
      case Node::End::loop: return {&node.a, &node.b};
      case Node::End::none:
      case Node::End::leave:
      case Node::End::stop:
      case Node::End::setup: return {};
    }
    return {};
  }

  // Redirects edges and handlers past blocks that do nothing.
  void skip_empty() {
    const auto behind = [&](NodeIndex block) {
      for (int steps = 0; steps < count(); ++steps) {
        const Node& node = nodes()[block];
        if (node.end != Node::End::go || !node.statements.empty() || node.a < 0) break;
        block = node.a;
      }
      return block;
    };
    lifted_.entry = behind(lifted_.entry);
    for (const Region& region : cfg_.regions)
      handlers_.push_back(region.handler < 0 ? BlockIndex() : behind(region.handler));
    for (Node& node : nodes())
      for (NodeIndex* way : ways_of(node))
        if (*way >= 0) *way = behind(*way);
  }

  // Returns the block to which an exception in `block` leads; -1 if no handler covers `block`.
  NodeIndex handler_of(NodeIndex block) const {
    const RegionIndex region = cfg_.blocks[block].region;
    return region < 0 ? NodeIndex() : handlers_[region];
  }

  // Removes blocks that cannot be reached.
  void drop_unreached() {
    reached_.assign(std::size_t(count()), false);
    Table<NodeIndex> todo{lifted_.entry};
    while (!todo.empty()) {
      const NodeIndex block = todo.back();
      todo.pop_back();
      if (block < 0 || block >= count() || reached_[block]) continue;
      reached_[block] = true;
      for (const NodeIndex* way : ways_of(nodes()[block])) todo.push_back(*way);
      todo.push_back(handler_of(block));
    }
    for (NodeIndex block = 0; block < count(); ++block)
      if (!reached_[block]) nodes()[block].end = Node::End::none;
  }

  // Appends each block to its predecessor if no other edge leads to the block, both blocks are in the same region, and
  // the same number of exceptions is being handled in both blocks.
  void merge_chains() {
    Table<int, NodeIndex> leading(std::size_t(count()), 0);  // the number of edges to each block
    ++leading[std::size_t(lifted_.entry)];
    for (NodeIndex block = 0; block < count(); ++block) {
      if (!reached_[block]) continue;
      for (const NodeIndex* way : ways_of(nodes()[block]))
        if (*way >= 0) ++leading[std::size_t(*way)];
      // A handler stays a block of its own, however few edges lead to it.
      if (const NodeIndex handler = handler_of(block); handler >= 0) leading[handler] += 2;
    }
    for (NodeIndex block = 0; block < count(); ++block) {
      Node& node = nodes()[block];
      while (node.end == Node::End::go && node.a >= 0 && node.a != block && leading[std::size_t(node.a)] == 1 &&
             running(node.a) == running(block) &&
             cfg_.blocks[std::size_t(node.a)].region == cfg_.blocks[block].region) {
        Node& next = nodes()[std::size_t(node.a)];
        node.statements.append(context_.arena, next.statements);
        node.end = next.end, node.value = next.value, node.target = next.target, node.is_async = next.is_async;
        node.a = next.a, node.b = next.b;
        next.end = Node::End::none;
      }
    }
  }

  // Numbers the blocks that have been neither removed nor merged.
  void number_states() {
    numbers_.assign(std::size_t(count()), 0);
    int states = 0;
    for (NodeIndex block = 0; block < count(); ++block)
      if (is_state(block)) numbers_[block] = states++;
  }

  // Removes the lines of all expressions, because the statements of the state machine are not those of the source.
  void forget_lines() {
    for (Node& node : nodes()) {
      for (Stmt* stmt : node.statements) for_each_expr(stmt, [&](Expr*& expr) { forget_line(expr, 0); });
      forget_line(node.value, 0);
      forget_line(node.target, 0);
    }
  }
  static void forget_line(Expr* expr, int depth) {
    if (!expr || depth > level_max * 10) return;
    expr->line = -1;
    for_each_child(expr, [&](Expr*& child) { forget_line(child, depth + 1); });
  }

  int running(NodeIndex block) const { return running_[block]; }

  // Returns `__state in (...)`, or `__state == n` for a single state.
  Expr* is_any_of(const Table<int>& states) {
    Table<Expr*> numbers;
    for (int state : states) numbers.push_back(number(state));
    const bool single = numbers.size() == 1;
    Expr* right = single ? numbers[0] : context_.expr(Tuple{context_.arena.copy(numbers)});
    return context_.expr(Compare{context_.name("__state"), context_.list({single ? CompareOp::eq : CompareOp::in}),
                                 context_.list({right})});
  }

  // Returns the arm of a block: an `if` on the state with the statements of the block, which end by setting the next
  // state.
  Stmt* arm(int index) {
    Node& node = lifted_.nodes[index];
    Table<Stmt*> body(node.statements.begin(), node.statements.end());
    switch (node.end) {
      case Node::End::go: body.push_back(set(number(node.a), node)); break;
      case Node::End::branch:
        body.push_back(set(context_.expr(IfExp{node.value, number(node.a), number(node.b)}), node));
        break;
      case Node::End::loop: {
        Table<Stmt*> next_item{set(number(node.a), node), context_.stmt(Break{})}, exhausted{set(number(node.b), node)};
        body.push_back(context_.stmt(
            For{node.target, node.value, context_.arena.copy(next_item), context_.arena.copy(exhausted), node.is_async},
            node.offset, node.line));
        break;
      }
      case Node::End::leave:
        if (may_return_) {
          // An asynchronous generator may not return a value, not even None.
          body.push_back(context_.stmt(Return{is_none(node.value) ? nullptr : node.value}, node.offset, node.line));
        } else {
          if (!is<ConstantExpr>(node.value))
            body.push_back(context_.stmt(ExprStmt{node.value}, node.offset, node.line));
          body.push_back(context_.stmt(Break{}, node.offset, node.line));
        }
        break;
      case Node::End::none:
      case Node::End::stop:
      case Node::End::setup: break;
    }
    if (body.empty()) body.push_back(context_.stmt(Pass{}));
    return context_.stmt(If{is_any_of({index}), context_.arena.copy(body), {}}, node.offset, node.line);
  }

  // Returns the loop over the blocks that run while `depth` exceptions are being handled. The blocks that run while
  // more than `depth` exceptions are being handled are in the except clause of the loop.
  Stmt* level(int depth) {
    Table<Stmt*> arms;
    std::map<int, Table<int>> by_region;
    for (int index = 0; index < count(); ++index) {
      if (!is_state(index) || running(index) != depth) continue;
      arms.push_back(arm(index));
      // A region without a handler contains only NOPs, which cannot raise (see `run_flat`).
      if (handler_of(index) >= 0) by_region[cfg_.blocks[index].region].push_back(index);
    }
    Block body = context_.arena.copy(arms);
    if (!by_region.empty()) body = context_.list({protect(body, by_region, depth)});
    if (depth == 0) return context_.stmt(While{context_.constant(Constant::Kind::true_), body, {}});
    return context_.stmt(While{is_any_of(states_from(depth)), body, {}});
  }

  // Returns the states that run while at least `depth` exceptions are being handled.
  Table<int> states_from(int depth) const {
    Table<int> states;
    for (int index = 0; index < count(); ++index)
      if (is_state(index) && running(index) >= depth) states.push_back(index);
    return states;
  }

  // Returns a try statement around `body`, which contains the arms of blocks. The except clause stores the exception in
  // the variable for the stack slot where the handler expects it, and sets `__state` to the number of the block that
  // starts the handler. The region of the block that raised the exception determines the handler.
  Stmt* protect(Block body, const std::map<int, Table<int>>& by_region, int depth) {
    auto slot = [&](int at) { return context_.name(context_.arena.copy("__stack_" + std::to_string(at))); };
    std::string_view exception = "__exception";
    if (depth > 0) exception = context_.arena.copy("__exception_" + std::to_string(depth));
    Block ways = context_.list({context_.stmt(Raise{nullptr, nullptr})});
    for (auto entry = by_region.rbegin(); entry != by_region.rend(); ++entry) {
      const Region& region = cfg_.regions[std::size_t(entry->first)];
      Table<Stmt*> enter;
      if (region.lasti) enter.push_back(context_.stmt(Assign{context_.list({slot(region.depth)}), context_.none()}));
      enter.push_back(
          context_.stmt(Assign{context_.list({slot(region.depth + region.lasti)}), context_.name(exception)}));
      enter.push_back(context_.stmt(
          Assign{context_.list({context_.name("__state")}), number(handlers_[std::size_t(entry->first)])}));
      ways = context_.list({context_.stmt(If{is_any_of(entry->second), context_.arena.copy(enter), ways})});
    }
    if (depth < level_max && !states_from(depth + 1).empty()) {
      Table<Stmt*> handled(ways.begin(), ways.end());
      handled.push_back(level(depth + 1));
      ways = context_.arena.copy(handled);
    }
    ExceptHandler clause{context_.name("BaseException"), exception, ways};
    return context_.stmt(Try{body, context_.list({clause}), {}, {}, false});
  }

  Context& context_;
  Lifted& lifted_;
  const Cfg& cfg_;
  const bool may_return_;
  Table<NodeIndex, RegionIndex> handlers_;  // the block that starts the handler of each region
  Table<bool> reached_;  // by block: true if the block can be reached
  Table<int, NodeIndex> numbers_;  // the number of the state of each block
  // By block: the number of exceptions that are being handled while the block runs; -1 if the block never runs.
  Table<int, NodeIndex> running_;
};

}  // namespace

Block state_machine(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return) {
  return StateMachine(context, lifted, cfg, may_return).run();
}

}  // namespace depyf
