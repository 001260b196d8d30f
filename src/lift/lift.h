// Lifts bytecode, which works on a stack, into a graph of statements over expressions.
#pragma once

#include <string_view>

#include "flow/numbers.h"
#include "lift/context.h"
#include "support/table.h"

namespace depyf {

struct Cfg;

// The number of a node, which is that of its block.
using NodeIndex = BlockIndex;

// A lifted basic block: its statements, which use no stack, and how it ends. A node has the number that its block has
// in the control flow graph.
struct Node {
  enum class End : std::uint8_t {
    none,  // not part of the graph: merged into another node
    go,  // goes to `a`
    branch,  // tests `value`: goes to `a` if it is true, to `b` if it is false
    // The head of a for loop over `value`: goes to `a` with the next item bound to `target`, to `b` if there is no
    // further item.
    loop,
    leave,  // returns `value`
    // The last statement of the node does not complete normally (`raise`, or raising the handled exception again). For
    // `stop`, `a` is the node of the code behind the handlers if it is known (only in 3.8), or -1.
    stop,
    // Enters region `index`: `a` is the body, `b` the handler (for a with statement: the code behind the statement).
    // For a with statement, `value` is the context manager and `target` the target behind `as`, or null.
    setup,
  };
  End end = End::none;
  Table<ast::Stmt*> statements;
  ast::Expr *value = nullptr, *target = nullptr;
  NodeIndex a, b;
  RegionIndex index;
  RegionIndex region;  // the innermost try or with region that contains the node, or -1
  std::int32_t line = -1;
  std::int32_t column = -1, width = -1;  // leave: see Stmt
  std::uint32_t offset = 0;
  // In 3.8, for `stop`: the offset where the try statement ends that the node belongs to, or 0 if it is unknown.
  std::uint32_t end_offset = 0;
  // The number of for loop iterators on the stack at the start of the node, without those that the node pops first.
  int iterators = 0;
  bool is_async = false;
  // True if a value that this node computes is on the stack at its end, so that the next node uses it.
  bool carries = false;
  // True if a `break` leaves a for loop (POP_TOP of its iterator) at the start of the node or right in front of it.
  bool pops_iterator = false;
  // In 3.8: true if the node follows the handlers of a try statement, even if no edge of the graph shows it.
  bool behind_handlers = false;
  // In 3.8: true if the node follows a try statement and starts with POP_EXCEPT, so that the try statement is the last
  // statement of a handler.
  bool ends_handler = false;
  // In 3.8: true if the node leaves a handler or a with statement by `break`, `continue` or `return`, and not at its
  // end.
  bool left_by_statement = false;
  // In 3.8: true if the node is a `break` behind the handlers of a try statement that is the whole else clause of the
  // statement.
  bool else_break = false;
  // In 3.8: true if the node starts the else clause of a try statement.
  bool else_clause = false;
  // For `branch`: whether the compiler replaced the last conditional jump of the node by its opposite.
  Turned turned = Turned::unknown;
  bool is_grouped = false;  // see Instruction
  // True if the tested value is an `and` or `or` expression in parentheses.
  bool is_bracketed = false;
  // For `leave`: true if another node computed the returned value. For `branch`: true if the tested value is an `and`
  // or `or` expression that was joined to one value before the test.
  bool inherited = false;
};

// The graph that lifting returns.
struct Lifted {
  Table<Node, NodeIndex> nodes;
  NodeIndex entry = 0;
  // Pairs of the region of a finally body (a handler) and the node where the body ends.
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

// Lifts the whole control flow graph for the passes of src/structure. Throws InternalError.
Lifted lift(Context& context, const DecodedCode& decoded, const Cfg& cfg, Split split);

// Lifts each block separately, for code that is printed as a state machine. Between blocks, the values on the stack are
// kept in the locals `__stack_0`, `__stack_1`, ... Throws InternalError.
Lifted lift_flat(Context& context, const DecodedCode& decoded, const Cfg& cfg);

}  // namespace depyf
