// Decides whether the second code object keeps a value alive longer than the first, by comparing the values that the
// two frames hold.
#include "prove/held.h"

#include "decode/op.h"

#include <algorithm>
#include <set>
#include <utility>

namespace depyf {
namespace {

// Returns true for a value whose release other code may notice, by the memory that becomes free or by a finalizer that
// runs.
bool counts(const SymbolInfo& info) {
  switch (info.kind) {
    case SymbolInfo::Kind::null:
    case SymbolInfo::Kind::constant:
    case SymbolInfo::Kind::code: return false;
    case SymbolInfo::Kind::known: return info.text.starts_with(argument_prefix);
    case SymbolInfo::Kind::opaque:
    case SymbolInfo::Kind::term: return !info.boolean;
    case SymbolInfo::Kind::object: return false;  // the values in the object are examined instead
  }
  return false;
}

// Collects the values that a frame keeps alive by holding some symbols. In place of a container that no other code has
// seen, the values in the container are collected.
class Holdings {
 public:
  Holdings(const Side& side, const Symbols& symbols) : side_(side), symbols_(symbols) {}

  // Adds the values that `symbol` keeps alive. Objects may contain each other, so each object is visited only once.
  void add(Symbol symbol) {
    todo_.push_back(symbol);
    while (!todo_.empty()) {
      const Symbol now = todo_.back();
      todo_.pop_back();
      const SymbolInfo& info = symbols_[now];
      if (info.kind == SymbolInfo::Kind::object) {
        auto found = side_.objects.find(now);
        if (found == side_.objects.end() || !objects_.insert(now).second) continue;
        todo_.insert(todo_.end(), found->second.items.begin(), found->second.items.end());
        // The self of a loaded method is collected as the method itself, because a bound method keeps its object
        // alive.
      } else if (info.kind == SymbolInfo::Kind::term && info.text == self_of) {
        todo_.push_back(info.args[0]);
      } else if (counts(info)) {
        values_.push_back(now);
      }
    }
  }

  // Returns the values that have been added since the last call, in ascending order and without duplicates.
  std::vector<Symbol> take() {
    objects_.clear();
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    return std::exchange(values_, {});
  }

 private:
  const Side& side_;
  const Symbols& symbols_;
  std::vector<Symbol> todo_, values_;
  std::set<Symbol> objects_;
};

// Returns true if the sorted list `by` contains `value`, or all values from which `value` is computed. A term is the
// result of a pure function, so a frame that holds the arguments of a term may hold the term as well.
bool covered(Symbol value, const std::vector<Symbol>& by, const Symbols& symbols) {
  if (std::binary_search(by.begin(), by.end(), value) || !counts(symbols[value])) return true;
  if (!symbols.is_term(value)) return false;
  for (Symbol argument : symbols[value].args) {
    if (!covered(argument, by, symbols)) return false;
  }
  return true;
}

}  // namespace

bool lets_time_pass(const Effect& effect) {
  if (effect.then == Effect::Then::end || effect.then == Effect::Then::bound) return false;
  // If a StopIteration leaves a generator, its conversion to a RuntimeError runs no other code before the frame ends.
  const bool leaves =
      effect.op == Op::intrinsic_1_ && effect.detail == static_cast<int>(Intrinsic1::stopiteration_error);
  return !leaves && effect.op != Op::load_global_ && effect.op != Op::load_deref_;
}

bool hands_operands_over(const Effect& effect, bool calls_keep_operands) {
  if (effect.op == Op::yield_value_) return true;
  return (effect.op == Op::call_ || effect.op == Op::call_function_ex_) && !calls_keep_operands;
}

// All values of the first frame are collected, and then each slot of the second frame is compared with them.
std::vector<Held> held_too_long(const State& state, const Symbols& symbols, int popped_one, int popped_two,
                                const std::vector<Symbol>& also_held) {
  const Side &one = state.sides[0], &two = state.sides[1];
  Holdings first(one, symbols);
  for (Symbol symbol : one.locals) first.add(symbol);
  for (std::size_t i = 0; i + static_cast<std::size_t>(popped_one) < one.stack.size(); ++i) first.add(one.stack[i]);
  first.add(one.handled);
  for (Symbol symbol : also_held) first.add(symbol);
  const std::vector<Symbol> values_of_first = first.take();
  std::vector<Held> result;
  Holdings second(two, symbols);
  auto look = [&](Symbol symbol, int local) {
    second.add(symbol);
    for (Symbol value : second.take()) {
      if (covered(value, values_of_first, symbols)) continue;
      result.push_back({local, value});
      return;
    }
  };
  for (std::size_t i = 0; i < two.locals.size(); ++i) look(two.locals[i], static_cast<int>(i));
  for (std::size_t i = 0; i + static_cast<std::size_t>(popped_two) < two.stack.size(); ++i) look(two.stack[i], -1);
  return result;
}

}  // namespace depyf
