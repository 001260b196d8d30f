#include "prove/equal.h"
#include "depyf/code_object.h"

#include <algorithm>

namespace depyf {
namespace {

// Returns the Object of `symbol` if only the frame `side` (0 or 1) has seen the object; null for any other symbol.
const Object* object_of(const State& state, int side, Symbol symbol) {
  auto found = state.sides[side].objects.find(symbol);
  return found == state.sides[side].objects.end() ? nullptr : &found->second;
}

}  // namespace

bool Pairing::add(const std::vector<Symbol>& one, const std::vector<Symbol>& two) {
  if (one.size() != two.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!add(one[i], two[i])) return false;
  }
  return true;
}

// Compares values with a work list instead of recursion, because objects may contain each other.
bool Pairing::add(Symbol one, Symbol two) {
  todo_.emplace_back(one, two);
  while (!todo_.empty()) {
    auto [a, b] = todo_.back();
    todo_.pop_back();
    if (a == b && !symbols_.is_object(a)) {
      if (!stands_for(a, a)) return false;
      continue;
    }
    const SymbolInfo &left = symbols_[a], &right = symbols_[b];
    if (left.code && right.code) {
      codes_.emplace_back(left.code, right.code);
      continue;
    }
    if (!symbols_.is_object(a) && !symbols_.is_object(b)) return false;
    // An object may be paired only once: two references to one object are not equal to references to two objects.
    auto forth = forth_.find(a), back = back_.find(b);
    if (forth != forth_.end() && forth->second == b) continue;
    if (back != back_.end() && back->second == a && !symbols_.is_object(a)) continue;
    if ((forth != forth_.end() && symbols_.is_object(a)) || (back != back_.end() && symbols_.is_object(b)))
      return false;
    if (!add_objects(a, b)) return false;
  }
  return true;
}

// Returns true if `constant` is no tuple, or if it has been paired only with `tuple`. A constant tuple is one object,
// so only one tuple object of the other code object can stand for it. The first call for a constant tuple pairs it with
// `tuple`.
bool Pairing::stands_for(Symbol constant, Symbol tuple) {
  const Constant* value = symbols_.value(constant);
  if (!value || value->kind != Constant::Kind::tuple) return true;
  return constants_.try_emplace(constant, tuple).first->second == tuple;
}

bool Pairing::add_objects(Symbol a, Symbol b) {
  const Object *one = object_of(state_, 0, a), *two = object_of(state_, 1, b);
  // Some compiler versions fold a tuple or slice into a constant, and other versions build it at run time. A program
  // must not rely on whether the compiler folds a tuple or slice, so a constant tuple or slice equals an object that
  // is built from the same items.
  auto with_constant = [&](const Object& built, Symbol symbol, bool first) {
    const Constant* constant = symbols_.value(symbol);
    if (!constant || built.items.size() != constant->items.size()) return false;
    bool same = (built.kind == Object::Kind::tuple && constant->kind == Constant::Kind::tuple) ||
                (built.kind == Object::Kind::slice && constant->kind == Constant::Kind::slice);
    if (!same || !stands_for(symbol, first ? a : b)) return false;
    for (std::size_t i = 0; i < built.items.size(); ++i) {
      Symbol item = symbols_.constant(constant->items[i]);
      if (first) todo_.emplace_back(built.items[i], item);
      else todo_.emplace_back(item, built.items[i]);
    }
    return true;
  };
  if (!one || !two) {
    if (one && !with_constant(*one, b, true)) return false;
    if (two && !with_constant(*two, a, false)) return false;
    if (!one && !two) return false;
    if (one) forth_[a] = b;
    else back_[b] = a;
    return true;
  }
  if (one->kind != two->kind || one->keys != two->keys || one->items.size() != two->items.size()) return false;
  forth_[a] = b;
  back_[b] = a;
  if (one->kind == Object::Kind::function) return add_functions(*one, *two);
  for (std::size_t i = 0; i < one->items.size(); ++i) todo_.emplace_back(one->items[i], two->items[i]);
  return true;
}

// Compares two functions part by part. The cells of the two closures are matched by the names of free variables,
// because the order of the cells is the compiler's choice.
bool Pairing::add_functions(const Object& one, const Object& two) {
  for (std::size_t part = 0; part < function_parts; ++part) {
    if (part != function_closure) todo_.emplace_back(one.items[part], two.items[part]);
  }
  Symbol a = one.items[function_closure], b = two.items[function_closure];
  if (a == b && !symbols_.is_object(a)) return true;
  const Object *left = object_of(state_, 0, a), *right = object_of(state_, 1, b);
  const CodeObject *code = symbols_[one.items[function_code]].code, *other = symbols_[two.items[function_code]].code;
  if (!left || !right || !code || !other || left->items.size() != code->freevars.size() ||
      right->items.size() != other->freevars.size() || left->items.size() != right->items.size()) {
    return false;
  }
  if (forth_.contains(a) || back_.contains(b)) return false;
  forth_[a] = b;
  back_[b] = a;
  for (std::size_t i = 0; i < code->freevars.size(); ++i) {
    auto found = std::find(other->freevars.begin(), other->freevars.end(), code->freevars[i]);
    if (found == other->freevars.end()) return false;
    todo_.emplace_back(left->items[i], right->items[static_cast<std::size_t>(found - other->freevars.begin())]);
  }
  return true;
}

bool Pairing::publish(State& state) const {
  if (forth_.empty() && back_.empty()) return false;
  // Each pair of objects is replaced by one unknown value in both frames; an object that is paired with a constant is
  // replaced by the constant.
  std::map<Symbol, Symbol> by;
  for (auto [one, two] : forth_) {
    if (!symbols_.is_object(two)) {
      by[one] = two;
    } else {
      const Object* object = object_of(state, 0, one);
      by[one] = by[two] =
          symbols_.opaque("an object built here", false, false, object ? exact_type(object->kind) : Exact::unknown);
    }
  }
  for (auto [two, one] : back_) {
    if (!symbols_.is_object(one)) by[two] = one;
  }
  substitute(state, symbols_, by);
  for (Side& side : state.sides) {
    std::erase_if(side.objects, [&](const auto& entry) { return by.contains(entry.first); });
  }
  return true;
}

}  // namespace depyf
