// Lifts bytecode, whose instructions work on an operand stack, into a graph whose nodes contain Python statements.
#pragma once

#include <string_view>

#include "flow/numbers.h"
#include "lift/context.h"
#include "lift/statement_list.h"
#include "support/table.h"

namespace depyf {

struct Cfg;

// The number of a node, which is equal to the number of its block.
using NodeIndex = BlockIndex;

// A lifted basic block: statements that do not use the operand stack, and the way in which the block ends. A node has
// the number that its block has in the control flow graph.
struct Node {
  enum class End : std::uint8_t {
    none,  // not part of the graph: the block was merged into another node, or not lifted
    go,  // control goes to node `a`
    branch,  // tests `value`: control goes to node `a` if it is true, and to node `b` if it is false
    // The head of a for loop over `value`: control goes to node `a` with the next item bound to `target`, and to node
    // `b` if the iterator is exhausted.
    loop,
    leave,  // returns `value` from the function
    // The last statement of the node does not complete normally: it is a `raise`, or raises the handled exception
    // again. In 3.8, `a` is the node of the code behind the handlers; `a` is -1 if that node is unknown, and in all
    // other versions.
    stop,
    // Enters region `index`: node `a` starts the body, and node `b` the handler of a try statement or the code behind a
    // with statement. For a with statement, `value` is the context manager, and `target` is the target behind `as`, or
    // null.
    setup,
  };
  // Because the struct has a constructor of its own, a new node is not filled with zeros before its members are set.
  Node() {}

  End end = End::none;
  StatementList statements;
  ast::Expr *value = nullptr, *target = nullptr;
  NodeIndex a, b;
  RegionIndex index;
  RegionIndex region;  // the innermost region that contains the node, or -1
  std::int32_t line = -1;
  std::int32_t column = -1, width = -1;  // see ast::Stmt; `column` is set for `leave` and `loop`, `width` for `leave`
  std::uint32_t offset = 0;
  // In 3.8, for `stop`: the bytecode offset of the end of the try statement that contains the node, or 0 if it is
  // unknown.
  std::uint32_t end_offset = 0;
  // The number of iterators of for loops on the stack at the start of the node, after the node has popped the iterators
  // of loops that a `break` leaves.
  int iterators = 0;
  bool is_async = false;
  // True if a value that this node computes is on the stack at its end, so that the next node uses it.
  bool carries = false;
  // True if a `break` leaves a for loop at the start of the node or directly in front of the node: a POP_TOP pops the
  // iterator of the loop.
  bool pops_iterator = false;
  // In 3.8: true if the node follows the handlers of a try statement, even if no edge of the graph shows it.
  bool behind_handlers = false;
  // In 3.8: true if the node follows a try statement and starts with POP_EXCEPT, so that the try statement is the last
  // statement of a handler.
  bool ends_handler = false;
  // In 3.8: true if a `break`, `continue` or `return` in the node leaves a handler or a with statement before its end.
  bool left_by_statement = false;
  // In 3.8: true if the node is a `break` behind the handlers of a try statement, and the `break` is the whole else
  // clause.
  bool else_break = false;
  // In 3.8: true if the node starts the else clause of a try statement.
  bool else_clause = false;
  // For `branch`: states whether the compiler replaced the last conditional jump of the node by its opposite.
  Turned turned = Turned::unknown;
  bool is_grouped = false;  // see Instruction::is_grouped
  // True if the tested value is an `and` or `or` expression in parentheses.
  bool is_bracketed = false;
  // For `leave`: true if another node computed the returned value. For `branch`: true if the tested value is an `and`
  // or `or` expression that was joined to one value before the test.
  bool inherited = false;
};

// The graph of statements that lifting returns.
struct Lifted {
  Table<Node, NodeIndex> nodes;
  NodeIndex entry = 0;
  // Pairs of a region that is the body of a finally clause, and the node where that body ends.
  Table<std::pair<RegionIndex, NodeIndex>> finally_ends;
  // True if lifting stored values in temporaries, which later passes may remove.
  bool has_temporaries = false;
};

// Selects the parts of expressions that become separate statements.
enum class Split : std::uint8_t {
  none,
  // Each operation with a side effect becomes a separate statement, except inside a condition after its first operand.
  effects,
  // Each operation with a side effect becomes a separate statement, and each test is a branch: there is no `and`, `or`
  // or conditional expression.
  effects_and_tests,
};

// Lifts the whole control flow graph for the passes of src/structure. Throws InternalError if the code cannot be
// lifted.
Lifted lift(Context& context, const DecodedCode& decoded, const Cfg& cfg, Split split);

// Lifts each block separately, for code that is printed as a state machine. Between blocks, the values on the stack are
// kept in the locals `__stack_0`, `__stack_1` and so on. Throws InternalError if the code cannot be lifted.
Lifted lift_flat(Context& context, const DecodedCode& decoded, const Cfg& cfg);

}  // namespace depyf
