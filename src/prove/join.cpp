#include "prove/join.h"

#include <optional>
#include <set>

namespace depyf {
namespace {

// Two objects can merge only if they have the same kind, the same keys and the same number of items.
bool same_shape(const Object& one, const Object& two) {
  if (one.kind != two.kind || one.keys != two.keys || one.items.size() != two.items.size()) return false;
  // Two function objects merge only if they hold the same code symbol. Two code objects whose equality needs a proof
  // have different symbols.
  if (one.kind == Object::Kind::function) return one.items[function_code] == two.items[function_code];
  // The name of a method is a record of the prover and no value of the program, so it cannot become an unknown value.
  return one.kind != Object::Kind::method || one.items[1] == two.items[1];
}

// Returns the symbols in the locals, the stack and the handled exception, in an order that is the same for all states
// at one place.
std::vector<Symbol> roots(const Side& side) {
  std::vector<Symbol> result;
  for_each_root(const_cast<Side&>(side), [&](Symbol symbol) { result.push_back(symbol); });
  return result;
}

// Checks whether one state is an instance of a more general state: each value of the general state must stand for
// only one value of the other state.
class Cover {
 public:
  Cover(const State& general, const State& state, const Symbols& symbols)
      : general_(general), state_(state), symbols_(symbols) {}

  bool run() {
    for (int side = 0; side < 2; ++side) {
      std::vector<Symbol> a = roots(general_.sides[side]), b = roots(state_.sides[side]);
      if (a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); ++i) todo_.emplace_back(a[i], b[i]);
      if (!drain(side)) return false;
    }
    // A general state that knows the last tested value covers only states that know the last tested value, too.
    if (general_.tested == Symbols::null) return true;
    if (state_.tested == Symbols::null) return false;
    todo_ = {{general_.tested, state_.tested}, {general_.truth, state_.truth}};
    return drain(0);
  }

 private:
  // Compares all pairs in `todo_`. A pair consists of a value of the general state and the value of the other state at
  // the same place, and the contents of objects are read from the frame `side` of both states. Returns false if a pair
  // does not match.
  bool drain(int side) {
    while (!todo_.empty()) {
      auto [a, b] = todo_.back();
      todo_.pop_back();
      if (!one(side, a, b)) return false;
    }
    return true;
  }

  bool one(int side, Symbol a, Symbol b) {
    const SymbolInfo &info = symbols_[a], &other = symbols_[b];
    switch (info.kind) {
      // An unknown value stands for any value for which at least the same facts are known: bound, boolean, exact
      // type.
      case SymbolInfo::Kind::opaque: {
        auto [found, fresh] = values_.try_emplace(a, b);
        if (!fresh) return found->second == b;
        return other.kind != SymbolInfo::Kind::object && (info.maybe_null || !symbols_.may_be_null(b)) &&
               (!info.boolean || other.boolean) && (info.exact == Exact::unknown || info.exact == other.exact);
      }
      case SymbolInfo::Kind::term:
        if (other.kind != SymbolInfo::Kind::term || info.text != other.text || info.args.size() != other.args.size()) {
          return false;
        }
        for (std::size_t i = 0; i < info.args.size(); ++i) todo_.emplace_back(info.args[i], other.args[i]);
        return true;
      case SymbolInfo::Kind::object: {
        if (other.kind != SymbolInfo::Kind::object) return false;
        auto [found, fresh] = values_.try_emplace(a, b);
        if (!fresh) return found->second == b;
        // Two objects of the general state must not stand for one object, because later changes of the two objects
        // may differ.
        if (!objects_.insert(b).second) return false;
        auto left = general_.sides[side].objects.find(a), right = state_.sides[side].objects.find(b);
        if (left == general_.sides[side].objects.end() || right == state_.sides[side].objects.end() ||
            !same_shape(left->second, right->second)) {
          return false;
        }
        for (std::size_t i = 0; i < left->second.items.size(); ++i) {
          todo_.emplace_back(left->second.items[i], right->second.items[i]);
        }
        return true;
      }
      case SymbolInfo::Kind::null:
      case SymbolInfo::Kind::constant:
      case SymbolInfo::Kind::code:
      case SymbolInfo::Kind::known: return a == b;
    }
    return a == b;
  }

  const State &general_, &state_;
  const Symbols& symbols_;
  std::vector<std::pair<Symbol, Symbol>> todo_;
  std::map<Symbol, Symbol> values_;
  std::set<Symbol> objects_;
};

using Pair = std::pair<Symbol, Symbol>;

// Computes the least general state that stands for two states; `a_` becomes that state.
class Generaliser {
 public:
  Generaliser(State& a, State& b, Symbols& symbols, std::vector<CodePair>& codes)
      : a_(a), b_(b), symbols_(symbols), codes_(codes) {}

  // The objects in which the two states differ are replaced first, each by an unknown value, because all remaining
  // differences can be merged value by value.
  bool run() {
    while (publish_differing()) {}
    if (covers(a_, b_, symbols_)) return changed_;
    for (int side = 0; side < 2; ++side) merge(side);
    bool tested = a_.tested != Symbols::null && b_.tested != Symbols::null;
    a_.tested = tested ? value(a_.tested, b_.tested) : Symbols::null;
    a_.truth = tested ? value(a_.truth, b_.truth) : Symbols::null;
    return true;
  }

 private:
  // Replaces each object in which the two states differ by an unknown value. If an object of the first frame equals an
  // object of the second frame in both states, both frames get the same unknown value. Returns false if the two states
  // have no differing objects.
  bool publish_differing() {
    std::set<Pair> differing[2];
    for (int side = 0; side < 2; ++side) differing[side] = find_differing(side);
    if (differing[0].empty() && differing[1].empty()) return false;
    for (Pair one : differing[0]) {
      for (Pair two : differing[1]) {
        Pairing in_a(a_, symbols_), in_b(b_, symbols_);
        if (!in_a.add(one.first, two.first) || !in_b.add(one.second, two.second)) continue;
        for (const Pairing* pairing : {&in_a, &in_b}) {
          codes_.insert(codes_.end(), pairing->codes().begin(), pairing->codes().end());
        }
        changed_ = in_a.publish(a_) || changed_;
        in_b.publish(b_);
        return true;
      }
    }
    for (int side = 0; side < 2; ++side) {
      for (Pair pair : differing[side]) {
        changed_ = forget(a_, side, pair.first) || changed_;
        forget(b_, side, pair.second);
      }
    }
    return true;
  }

  // Returns pairs of symbols that stand at the same place in the two states. At least one symbol of each pair is an
  // object. A pair is returned if only one of its symbols is an object, if its two objects differ in shape
  // (`same_shape`), or if one state has one object at two places at which the other state has two different objects.
  std::set<Pair> find_differing(int side) {
    std::set<Pair> result, seen;
    std::map<Symbol, Symbol> forth, back;
    std::vector<Pair> todo;
    std::vector<Symbol> left = roots(a_.sides[side]), right = roots(b_.sides[side]);
    for (std::size_t i = 0; i < left.size(); ++i) todo.emplace_back(left[i], right[i]);
    while (!todo.empty()) {
      Pair pair = todo.back();
      todo.pop_back();
      bool one = symbols_.is_object(pair.first), two = symbols_.is_object(pair.second);
      if ((!one && !two) || !seen.insert(pair).second) continue;
      auto a = a_.sides[side].objects.find(pair.first);
      auto b = b_.sides[side].objects.find(pair.second);
      bool alike = one && two && a != a_.sides[side].objects.end() && b != b_.sides[side].objects.end() &&
                   same_shape(a->second, b->second) &&
                   forth.try_emplace(pair.first, pair.second).first->second == pair.second &&
                   back.try_emplace(pair.second, pair.first).first->second == pair.first;
      if (!alike) {
        result.insert(pair);
        continue;
      }
      for (std::size_t i = 0; i < a->second.items.size(); ++i)
        todo.emplace_back(a->second.items[i], b->second.items[i]);
    }
    return result;
  }

  // Replaces the object `symbol`, and all objects in it, by unknown values that are unequal to all values of the other
  // frame. Returns false if `symbol` is no object.
  bool forget(State& state, int side, Symbol symbol) {
    std::map<Symbol, Symbol> by;
    std::vector<Symbol> todo{symbol};
    while (!todo.empty()) {
      Symbol at = todo.back();
      todo.pop_back();
      if (!symbols_.is_object(at) || by.contains(at)) continue;
      auto found = state.sides[side].objects.find(at);
      bool known = found != state.sides[side].objects.end();
      by[at] = symbols_.opaque("an object built here", false, false,
                               known ? exact_type(found->second.kind) : Exact::unknown);
      if (!known) continue;
      todo.insert(todo.end(), found->second.items.begin(), found->second.items.end());
    }
    substitute(state, symbols_, by);
    for (auto [object, unused] : by) state.sides[side].objects.erase(object);
    return !by.empty();
  }

  // Merges the values of one frame, including the items of objects that both states have.
  void merge(int side) {
    std::vector<Symbol> other = roots(b_.sides[side]);
    std::size_t index = 0;
    for_each_root(a_.sides[side], [&](Symbol& symbol) { symbol = object_or_value(symbol, other[index++]); });
    std::set<Symbol> done;
    while (!objects_.empty()) {
      Pair pair = objects_.back();
      objects_.pop_back();
      if (!done.insert(pair.first).second) continue;
      auto& items = a_.sides[side].objects[pair.first].items;
      const auto& others = b_.sides[side].objects[pair.second].items;
      for (std::size_t i = 0; i < items.size(); ++i) items[i] = object_or_value(items[i], others[i]);
    }
  }

  Symbol object_or_value(Symbol a, Symbol b) {
    if (!symbols_.is_object(a)) return value(a, b);
    objects_.emplace_back(a, b);
    return a;
  }

  // Returns a value that stands for `a` and `b`. The same pair of `a` and `b` always gets the same value, which
  // preserves the equalities that are true in both states. The recursion ends because terms have a limited nesting
  // depth.
  Symbol value(Symbol a, Symbol b) {
    if (a == b) return a;
    auto found = values_.find({a, b});
    if (found != values_.end()) return found->second;
    Symbol made = -1;
    if (symbols_.is_term(a) && symbols_.is_term(b)) {
      std::string name = symbols_[a].text;
      std::vector<Symbol> args = symbols_[a].args, others = symbols_[b].args;
      if (name == symbols_[b].text && args.size() == others.size()) {
        for (std::size_t i = 0; i < args.size(); ++i) args[i] = value(args[i], others[i]);
        made = symbols_.term(name, std::move(args), symbols_[a].boolean);
      }
    }
    if (made < 0) {
      // A value that may be a function such as `locals` keeps its name, because calls of such functions compare all
      // locals.
      const std::string &one = symbols_[a].text, &two = symbols_[b].text;
      made = symbols_.opaque(one == two || looks_at_locals(one) ? one
                             : looks_at_locals(two)             ? two
                                                                : "a value",
                             symbols_[a].boolean && symbols_[b].boolean,
                             symbols_.may_be_null(a) || symbols_.may_be_null(b),
                             symbols_[a].exact == symbols_[b].exact ? symbols_[a].exact : Exact::unknown);
    }
    values_.emplace(Pair{a, b}, made);
    return made;
  }

  State &a_, &b_;
  Symbols& symbols_;
  std::vector<CodePair>& codes_;
  std::vector<Pair> objects_;
  std::map<Pair, Symbol> values_;
  bool changed_ = false;  // true if `a_` has lost knowledge
};

}  // namespace

bool covers(const State& general, const State& state, const Symbols& symbols) {
  return Cover(general, state, symbols).run();
}

bool generalise(State& general, State state, Symbols& symbols, std::vector<CodePair>& codes) {
  return Generaliser(general, state, symbols, codes).run();
}

}  // namespace depyf
