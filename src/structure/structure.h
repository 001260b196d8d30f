// Turns the lifted control flow graph of a code object into nested statements.
#pragma once
#include "lift/lift.h"
#include "support/table.h"
namespace depyf {
// Nested statements, and all return statements among them.
struct Structured {
  ast::Block body;
  Table<ast::Stmt*> returns;
};
// Returns nested Python statements that are equivalent to the graph `lifted`. Throws InternalError if the graph cannot
// be written as nested statements; in this case, callers use `state_machine`. `may_return` is false for modules and
// class bodies, which control leaves only at their end.
Structured structure(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// Returns statements that can express any graph: an assignment to the variable `__state`, and a loop `while True:` that
// dispatches on the number of the current block in `__state`. `lifted` comes from `lift_flat`, and `cfg` has the form
// GraphForm::instructions.
ast::Block state_machine(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// Removes code that compilers add: empty blocks, and the copy of a while loop's test at the end of the loop (3.10 and
// later).
void simplify_graph(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// True if the code is a single node, so that there is nothing to simplify or nest.
inline bool is_one_node(const Lifted& lifted) {
  if (lifted.nodes.size() != 1) return false;
  const Node& node = lifted.nodes[0];
  return node.a < 0 && (node.end == Node::End::leave || node.end == Node::End::stop);
}
}  // namespace depyf
