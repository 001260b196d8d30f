// Stack code to a graph of statements over expressions.
#pragma once

#include <string_view>
#include <vector>

#include "lift/context.h"

namespace depyf {

struct Cfg;

// A block without a stack: statements and how it ends. Blocks keep the numbers they have in the control flow graph.
struct Node {
  enum class End : std::uint8_t {
    none,      // not part of the graph: merged into another
    go,        // to a
    branch,    // on value: to a where true, to b where false
    loop,      // for: to a with the next item bound to target, to b when exhausted; value: the iterable
    leave,     // return value
    stop,      // its last statement does not go on (raise, reraise); a: what only this way leads to, -1: nothing
    setup,  // enters region `index`: a is the body, b the handler (with: what follows); value: the manager, target: as
  };
  End end = End::none;
  std::vector<ast::Stmt*> statements;
  ast::Expr *value = nullptr, *target = nullptr;
  int a = -1, b = -1;
  int index = -1;
  int region = -1;
  bool is_async = false;
  bool carries = false;  // a value made here is used by the next node, which has another region
  bool pops_iterator = false;  // starts where `break` has just left a for loop
  int iterators = 0;  // of for loops on the stack at its start, those popped at once not counted
  bool behind_handlers = false;  // follows a try statement, wherever else it might stand
  bool else_break = false;  // 3.8: `break` right behind handlers, as the else clause of their statement
  bool else_clause = false;  // 3.8: starts the else clause of a try statement
  std::uint32_t end_offset = 0;  // stop, 3.8: where the try statement ends that it belongs to, 0: unknown
  Turned turned = Turned::unknown;  // branch: of the last jump in it
  bool inherited = false;  // leave: the value was made in the block before
  std::uint32_t offset = 0;
  std::int32_t line = -1;
  std::int32_t column = -1, width = -1;  // leave: see Stmt
};

struct Lifted {
  std::vector<Node> nodes;
  int entry = 0;
  std::vector<std::pair<int, int>> finally_ends;  // region of a finally body (a handler), node where that body ends
};

// What becomes a statement of its own, where it could be part of an expression.
enum class Split : std::uint8_t {
  none,
  effects,  // but for those in a condition after its first test
  effects_and_tests,  // no `and`, `or`, `if-else`: each test is a branch
};

// Lifts the whole graph for structuring. Throws InternalError.
Lifted lift(Context& context, const DecodedCode& decoded, const Cfg& cfg, Split split);

// Lifts each block by itself: what lies on the stack between blocks is kept in locals `__stack_0`, `__stack_1`, ...
// For the state machine; Throws InternalError.
Lifted lift_flat(Context& context, const DecodedCode& decoded, const Cfg& cfg);

}  // namespace depyf
