// The exact style: what an instruction gives gets a name where making it did something.
//
//   a.b(c)     ->     t = a.b
//                     u = t(c)
#include <algorithm>

#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

// A test that runs only after another: what follows an `and` or `or`.
bool Lifter::part_of_condition() const {
  auto tests = [&](int block) { return cfg_.blocks[block].jump >= 0 && cfg_.blocks[block].next >= 0; };
  const BasicBlock& block = cfg_.blocks[current_block_];
  return block.kind == BasicBlock::Kind::code && tests(current_block_) && !block.preds.empty() &&
         std::ranges::all_of(block.preds, tests);
}

// What the instruction gave gets a name where making it did something; what waits below it is made before. Displays of
// what has a name wait: nobody sees when they are made.
void Lifter::name_effects() {
  if (now().op == Op::load_closure_) return;  // the cell of a function that is about to be made
  if (split_ == Split::effects && part_of_condition()) return;
  auto definition = [&](const Expr* expr) {
    auto* call = as<Call>(expr);
    if (auto* name = call ? as<Name>(call->func) : nullptr; name && name->id == "AssertionError")
      return true;  // assert
    while (!is_function(expr) && !is_class(expr)) {
      auto* decorated = as<Call>(expr);
      if (!decorated || decorated->args.size() != 1) return false;
      expr = decorated->args[0];
    }
    return true;
  };
  auto named = [&](Expr* part) { return !part || stable(part); };
  auto pure = [&](const Expr* expr) {
    if (auto* list = as<ListExpr>(expr)) return std::ranges::all_of(list->elts, named);
    if (auto* dict = as<Dict>(expr))
      return std::ranges::all_of(dict->keys, [&](Expr* key) { return key && stable(key); }) &&
             std::ranges::all_of(dict->values, named);
    return stable(expr) || is<Internal>(expr) || is<Slice>(expr) || is<Tuple>(expr) || definition(expr);
  };
  auto waits = [&](const Expr* expr) {
    return pure(expr) || is<ListExpr>(expr) || is<SetExpr>(expr) || is<Dict>(expr) || is<JoinedStr>(expr);
  };
  std::size_t count = stack_.size(), lowest = count - std::min<std::size_t>(count, 2);
  while (count > lowest && waits(stack_[count - 1].expr)) --count;
  if (count == lowest) return;
  // What lies above is evaluated within the same statement: bases of a class, message of an assertion, parts of an f-string
  // or of a chained comparison.
  auto goes_on = [](const Entry& entry) {
    auto* internal = as<Internal>(entry.expr);
    auto* name = as<Name>(entry.expr);
    return (internal && (internal->marker == Marker::build_class || internal->marker == Marker::chain)) ||
           (name && name->id == "AssertionError") || is<JoinedStr>(entry.expr);
  };
  if (std::ranges::any_of(stack_, goes_on)) return;
  for (std::size_t index = 0; index < count; ++index) {
    Entry& entry = stack_[index];
    if (pure(entry.expr)) continue;
    if (find(entry.block) != node_) spill_at_end(find(entry.block), stack_.size());
    if (!pure(entry.expr)) spill(entry);
  }
}

}  // namespace depyf
