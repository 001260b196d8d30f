// Lifts binary operations.
//
//   `a; b; BINARY_OP +` is `a + b`.
//   `a; b; BINARY_OP +=; STORE a` is `a += b` (see stores.cpp).
//   `a; b; BINARY_OP +=` without a store to `a` behind it is `t = a; t += b`, and `t` is the value on the stack.
#include <algorithm>

#include "dialect/dialect.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// True if the compiler (3.11 and later) would turn `left % right` into an f-string, as it does for '%s and %r' % (a,
// b). If the compiler could turn `left % right` into an f-string but did not, `left` was an f-string without fields in
// the source, as in f'%s and %r' % (a, b).
bool would_be_fstring(const Expr* left, const Expr* right) {
  const Constant* text = constant_of(left, Constant::Kind::string);
  auto* items = as<Tuple>(right);
  if (!text || !items) return false;
  const std::string& format = text->text;
  std::size_t count = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') continue;
    // Only the formats `%s`, `%r` and `%a`, without a width, are turned into f-strings.
    const char kind = ++at < format.size() ? format[at] : 0;
    if (kind != '%' && kind != 's' && kind != 'r' && kind != 'a') return false;
    count += kind != '%';
  }
  return count == items->elts.size() &&
         std::none_of(items->elts.begin(), items->elts.end(), [](const Expr* item) { return is<Starred>(item); });
}
}  // namespace

void binary(Simulation& sim, BinaryOp op, bool in_place) {
  Expr* right = sim.pop();
  // The left operand of an in-place operation may be a copy, as in `a.x += v`, so `pop_entry` pops the left operand
  // without a check of the order of evaluation.
  Expr* left = sim.pop_entry().expr;
  if (!in_place) {
    sim.stack.push_back({left, sim.graph.node, -1});
    left = sim.pop();
    if (op == BinaryOp::remainder && dialect_of(sim.context.version).percent_formats && would_be_fstring(left, right))
      left = sim.cursor.make(JoinedStr{sim.context.list({left})});
    return sim.push(BinOp{left, op, right, false});
  }
  if (sim.cursor.literal_here()) {
    // Emits the statements `t = left; t op= right`, and pushes t.
    sim.stack.push_back({left, sim.graph.node, -1});
    sim.stack.push_back({right, sim.graph.node, -1});
    sim.spill_all(sim.stack.size());
    right = sim.pop(), left = sim.pop();
    Expr* name = sim.names.fresh();
    sim.emit(Assign{sim.context.list({name}), left});
    sim.emit(AugAssign{sim.cursor.make(name->node), op, right});
    return sim.push(sim.cursor.make(name->node));
  }
  sim.push(BinOp{left, op, right, true});
}

}  // namespace depyf::lifting
