// Turns the graph into nested statements.
#pragma once
#include "ast/visit.h"
#include "lift/lift.h"
namespace depyf {
// Nested statements, and the kinds that occur among them. Some of the kinds may not occur.
struct Structured {
  ast::Block body;
  ast::StmtKinds kinds;
};
// Returns the statements of Python that the graph stands for. Throws InternalError if no nesting fits; the state
// machine takes over then. `may_return` is false for modules and class bodies, which control leaves only at their end.
Structured structure(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// Returns `while True:` over the number of a block, which expresses any graph. `lifted` comes from `lift_flat`, and
// `cfg` was built with structured = false.
ast::Block state_machine(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// Removes what compilers add: empty blocks, and the copy of a while loop's test at the end of the loop (3.10 and
// later).
void simplify_graph(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// True if the code goes straight to its end, so that there is nothing to simplify or nest.
inline bool is_one_node(const Lifted& lifted) {
  if (lifted.nodes.size() != 1) return false;
  const Node& node = lifted.nodes[0];
  return node.a < 0 && (node.end == Node::End::leave || node.end == Node::End::stop);
}
}  // namespace depyf
