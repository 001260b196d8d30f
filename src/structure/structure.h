// The graph to nested statements.
#pragma once
#include "lift/lift.h"
namespace depyf {
// Statements of Python alone. Throws InternalError where no nesting fits; then the state machine does.
// `may_return`: false for modules and class bodies, where control leaves at the end alone.
ast::Block structure(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// `while True:` over a block number; always succeeds. From `lift_flat` and a graph built with structured = false.
ast::Block state_machine(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// Undoes what compilers copy: empty blocks, and the test of a while loop that stands again at its end (3.10 and later).
void simplify_graph(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return);
// Code that goes straight to its end: there is nothing to simplify, and no nesting.
inline bool is_one_node(const Lifted& lifted) {
  if (lifted.nodes.size() != 1) return false;
  const Node& node = lifted.nodes[0];
  return node.a < 0 && (node.end == Node::End::leave || node.end == Node::End::stop);
}
}  // namespace depyf
