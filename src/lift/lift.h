// Lifts code for a stack into a graph of statements over expressions.
#pragma once

#include <string_view>

#include "flow/numbers.h"
#include "lift/context.h"
#include "support/table.h"

namespace depyf {

struct Cfg;

// The number of a node, which is that of its block.
using NodeIndex = BlockIndex;

// A block without a stack: its statements and how it ends. Blocks keep the numbers that they have in the control flow
// graph.
struct Node {
  enum class End : std::uint8_t {
    none,  // not part of the graph: merged into another node
    go,  // goes to a
    branch,  // tests value: to a if it is true, to b if it is false
    // The head of a for loop over value: to a with the next item bound to target, to b when the loop is exhausted.
    loop,
    leave,  // returns value
    // Its last statement does not go on (raise, reraise). `a` is the node that only this way leads to, or -1.
    stop,
    // Enters region `index`: a is the body, b the handler (for `with`: the code behind it). For `with`, value is the
    // manager and target the name behind `as`.
    setup,
  };
  End end = End::none;
  Table<ast::Stmt*> statements;
  ast::Expr *value = nullptr, *target = nullptr;
  NodeIndex a, b;
  RegionIndex index;
  RegionIndex region;  // the innermost region around the node
  std::int32_t line = -1;
  std::int32_t column = -1, width = -1;  // leave: see Stmt
  std::uint32_t offset = 0;
  // In 3.8, for `stop`: the offset where the try statement ends that the node belongs to, or 0 if it is unknown.
  std::uint32_t end_offset = 0;
  // The number of iterators of for loops on the stack at its start, without those that it pops at once.
  int iterators = 0;
  bool is_async = false;
  // True if a value that is made here is used by the next node, which lies in another region.
  bool carries = false;
  // True if the node starts where `break` has just left a for loop.
  bool pops_iterator = false;
  // True if the node follows a try statement, whatever the graph suggests.
  bool behind_handlers = false;
  // In 3.8: that statement ends a handler, which the node leaves at once.
  bool ends_handler = false;
  // In 3.8: `break`, `continue` or `return` leaves a handler or a with statement in this node, and not its end.
  bool left_by_statement = false;
  // In 3.8: `break` right behind handlers, which is the else clause of their statement.
  bool else_break = false;
  // In 3.8: the node starts the else clause of a try statement.
  bool else_clause = false;
  // For `branch`: whether the compiler turned the last jump in it around.
  Turned turned = Turned::unknown;
  bool is_grouped = false;    // see Instruction
  bool is_bracketed = false;  // the tested value is such a group
  // For `leave`: the value was made in the block in front. For `branch`: the value is an `and` or `or` that was joined
  // before.
  bool inherited = false;
};

// The graph that lifting returns.
struct Lifted {
  Table<Node, NodeIndex> nodes;
  NodeIndex entry = 0;
  // Pairs of the region of a finally body (a handler) and the node where the body ends.
  Table<std::pair<RegionIndex, NodeIndex>> finally_ends;
  // True if lifting stored values in temporaries. Later passes may remove these.
  bool has_temporaries = false;
};

// Says which parts of expressions become statements of their own.
enum class Split : std::uint8_t {
  none,
  // Effects get a statement of their own, except inside a condition after its first operand.
  effects,
  // All effects do, and there is no `and`, `or` or conditional expression: each test is a branch.
  effects_and_tests,
};

// Lifts the whole graph for structuring. Throws InternalError.
Lifted lift(Context& context, const DecodedCode& decoded, const Cfg& cfg, Split split);

// Lifts each block by itself, for the state machine. Between blocks, the values on the stack are kept in the locals
// `__stack_0`, `__stack_1`, ... Throws InternalError.
Lifted lift_flat(Context& context, const DecodedCode& decoded, const Cfg& cfg);

}  // namespace depyf
