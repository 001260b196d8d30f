// The exact style: what an instruction gives gets a name where making it did something.
//
//   a.b(c)     ->     t = a.b
//                     u = t(c)
#include <algorithm>

#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/definitions.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// A test that runs only after another: what follows an `and` or `or`.
bool part_of_condition(const Cursor& cursor) {
  auto tests = [&](int block) { return cursor.cfg.blocks[block].jump >= 0 && cursor.cfg.blocks[block].next >= 0; };
  const BasicBlock& block = cursor.cfg.blocks[cursor.block];
  return block.kind == BasicBlock::Kind::code && tests(cursor.block) && !block.preds.empty() &&
         std::ranges::all_of(block.preds, tests);
}

}  // namespace

// What the instruction gave gets a name where making it did something; what waits below it is made before. Displays of
// what has a name wait: nobody sees when they are made.
void name_effects(Simulation& sim) {
  if (sim.cursor.now().op == Op::load_closure_) return;  // the cell of a function that is about to be made
  if (sim.cursor.split == Split::effects && part_of_condition(sim.cursor)) return;
  auto definition = [&](const Expr* expr) {
    auto* call = as<Call>(expr);
    if (auto* name = call ? as<Name>(call->func) : nullptr; name && name->id == "AssertionError")
      return true;  // assert
    while (!is_function(sim.context, expr) && !is_class(expr)) {
      auto* decorated = as<Call>(expr);
      if (!decorated || decorated->args.size() != 1) return false;
      expr = decorated->args[0];
    }
    return true;
  };
  auto named = [&](Expr* part) { return !part || sim.names.stable(part); };
  auto pure = [&](const Expr* expr) {
    if (auto* list = as<ListExpr>(expr)) return std::ranges::all_of(list->elts, named);
    if (auto* dict = as<Dict>(expr))
      return std::ranges::all_of(dict->keys, [&](Expr* key) { return key && sim.names.stable(key); }) &&
             std::ranges::all_of(dict->values, named);
    return sim.names.stable(expr) || is<Internal>(expr) || is<Slice>(expr) || is<Tuple>(expr) || definition(expr);
  };
  auto waits = [&](const Expr* expr) {
    return pure(expr) || is<ListExpr>(expr) || is<SetExpr>(expr) || is<Dict>(expr) || is<JoinedStr>(expr);
  };
  std::size_t count = sim.stack.size(), lowest = count - std::min<std::size_t>(count, 2);
  while (count > lowest && waits(sim.stack[count - 1].expr)) --count;
  if (count == lowest) return;
  // What lies above is evaluated within the same statement: bases of a class, message of an assertion, parts of an f-string
  // or of a chained comparison.
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
