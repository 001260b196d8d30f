// Implements the exact style: the result of an instruction with a side effect is assigned to a temporary at once. For
// example, `a.b(c)` becomes `t = a.b; u = t(c)`.
#include <algorithm>

#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/definitions.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// True if the current block ends in a test that runs only after another test, as the right operand of `and` or `or`
// does.
bool part_of_condition(const Cursor& cursor) {
  auto tests = [&](NodeIndex block) {
    return cursor.cfg.blocks[block].jump >= 0 && cursor.cfg.blocks[block].next >= 0;
  };
  const BasicBlock& block = cursor.cfg.blocks[cursor.block];
  return block.kind == BasicBlock::Kind::code && tests(cursor.block) && !block.preds.empty() &&
         std::ranges::all_of(block.preds, tests);
}

}  // namespace

// Assigns the result of the current instruction to a temporary if the instruction had a side effect. Values below the
// result on the stack were evaluated before the result, so these values are assigned to temporaries first. Displays of
// stable values stay on the stack, because no code can observe when they are created.
void name_effects(Simulation& sim) {
  // LOAD_CLOSURE has no side effect: it only loads a cell for the function that the next instructions create.
  if (sim.cursor.now().op == Op::load_closure_) return;
  if (sim.cursor.split == Split::effects && part_of_condition(sim.cursor)) return;
  // True if `expr` is a definition, with or without decorators, or the exception of an assert statement.
  auto definition = [&](const Expr* expr) {
    auto* call = as<Call>(expr);
    // The compiler turns the message of `assert` into an argument of a call of AssertionError.
    if (auto* name = call ? as<Name>(call->func) : nullptr; name && name->id == "AssertionError") return true;
    while (!is_function(sim.context, expr) && !is_class(expr)) {
      auto* decorated = as<Call>(expr);
      if (!decorated || decorated->args.size() != 1) return false;
      expr = decorated->args[0];
    }
    return true;
  };
  auto named = [&](Expr* part) { return !part || sim.names.stable(part); };
  // True if the evaluation of the expression has no side effect.
  auto pure = [&](const Expr* expr) {
    if (auto* list = as<ListExpr>(expr)) return std::ranges::all_of(list->elts, named);
    if (auto* dict = as<Dict>(expr))
      return std::ranges::all_of(dict->keys, [&](Expr* key) { return key && sim.names.stable(key); }) &&
             std::ranges::all_of(dict->values, named);
    return sim.names.stable(expr) || is<Internal>(expr) || is<Slice>(expr) || is<Tuple>(expr) || definition(expr);
  };
  // True if the evaluation of the expression can be delayed until the instruction that uses it.
  auto waits = [&](const Expr* expr) {
    return pure(expr) || is<ListExpr>(expr) || is<SetExpr>(expr) || is<Dict>(expr) || is<JoinedStr>(expr);
  };
  // Only the two topmost values on the stack can be results of the current instruction.
  std::size_t count = sim.stack.size(), lowest = count - std::min<std::size_t>(count, 2);
  while (count > lowest && waits(sim.stack[count - 1].expr)) --count;
  if (count == lowest) return;
  // True for a stack entry whose statement must not be split: a class with its bases, an assertion with its message, or
  // the parts of an f-string or of a chained comparison.
  auto goes_on = [](const Entry& entry) {
    auto* internal = as<Internal>(entry.expr);
    auto* name = as<Name>(entry.expr);
    return (internal && (internal->marker == Marker::build_class || internal->marker == Marker::chain)) ||
           (name && name->id == "AssertionError") || is<JoinedStr>(entry.expr);
  };
  if (std::ranges::any_of(sim.stack, goes_on)) return;
  for (std::size_t index = 0; index < count; ++index) {
    Entry& entry = sim.stack[index];
    if (pure(entry.expr)) continue;
    if (sim.graph.find(entry.block) != sim.graph.node) sim.spill_at_end(sim.graph.find(entry.block), sim.stack.size());
    if (!pure(entry.expr)) sim.spill(entry);
  }
}

}  // namespace depyf::lifting
