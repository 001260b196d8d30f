#include "prove/state.h"

#include <set>

namespace depyf {
namespace {

// Replaces symbols, and remembers the terms that it has rebuilt.
class Substitution {
 public:
  Substitution(Symbols& symbols, const std::map<Symbol, Symbol>& by) : symbols_(symbols), by_(by) {}

  Symbol operator()(Symbol symbol) {
    if (auto found = by_.find(symbol); found != by_.end()) return found->second;
    if (!symbols_.is_term(symbol)) return symbol;
    if (auto found = terms_.find(symbol); found != terms_.end()) return found->second;
    Symbol made = rebuild(symbol);
    terms_.emplace(symbol, made);
    return made;
  }

 private:
  // Returns the term `symbol` with the replacements of `by_` in its arguments. The recursion ends because terms have a
  // limited nesting depth.
  Symbol rebuild(Symbol symbol) {
    const SymbolInfo& info = symbols_[symbol];
    std::vector<Symbol> args = info.args;
    bool changed = false;
    for (Symbol& arg : args) {
      Symbol to = (*this)(arg);
      changed |= to != arg;
      arg = to;
    }
    if (!changed) return symbol;
    Symbol made = -1;
    // After arguments have been replaced, the result of an identity test or a negation may be constant, so the result
    // is computed again.
    if (info.text == "is") {
      made = symbols_.is(args[0], args[1]);
    } else if (info.text == "not" && symbols_[args[0]].boolean) {
      made = symbols_.negation(args[0]);
    } else {
      made = symbols_.term(info.text, std::move(args), info.boolean);
    }
    return made >= 0 ? made : symbols_.opaque("an unknown value", symbols_[symbol].boolean);
  }

  Symbols& symbols_;
  const std::map<Symbol, Symbol>& by_;
  std::map<Symbol, Symbol> terms_;
};

}  // namespace

void substitute(State& state, Symbols& symbols, const std::map<Symbol, Symbol>& by) {
  if (by.empty()) return;
  Substitution replace(symbols, by);
  for (Side& side : state.sides) {
    for_each_root(side, [&](Symbol& symbol) { symbol = replace(symbol); });
    for (auto& [symbol, object] : side.objects) {
      for (Symbol& item : object.items) item = replace(item);
    }
  }
  state.tested = replace(state.tested);
  state.truth = replace(state.truth);
  for (auto& [term, truth] : state.facts) term = replace(term);
}

// Marks the objects that are reachable from the locals, the stack and the handled exception, and removes all others.
void collect(Side& side, const Symbols& symbols) {
  if (side.objects.empty()) return;
  std::set<Symbol> seen;
  std::vector<Symbol> todo;
  auto visit = [&](Symbol symbol) {
    if (symbols.is_object(symbol) && seen.insert(symbol).second) todo.push_back(symbol);
  };
  for_each_root(side, visit);
  while (!todo.empty()) {
    auto found = side.objects.find(todo.back());
    todo.pop_back();
    if (found == side.objects.end()) continue;
    for (Symbol item : found->second.items) visit(item);
  }
  std::erase_if(side.objects, [&](const auto& entry) { return !seen.contains(entry.first); });
}

}  // namespace depyf
