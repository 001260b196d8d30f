// Decides whether a value in the frame of the first code object equals a value in the frame of the second code
// object.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "prove/state.h"

namespace depyf {

using CodePair = std::pair<const CodeObject*, const CodeObject*>;

// Pairs the objects in the first frame with equal objects in the second frame. Two objects are equal if they hold
// equal values and every reference to one is matched by a reference to the other.
class Pairing {
 public:
  Pairing(const State& state, Symbols& symbols) : state_(state), symbols_(symbols) {}

  // Requires that `one` equals `two`, and pairs the objects in the two values. Returns false if `one` and `two` differ;
  // after that, the pairing must not be used any more.
  bool add(Symbol one, Symbol two);
  bool add(const std::vector<Symbol>& one, const std::vector<Symbol>& two);

  // Returns the pairs of code objects that must be proved equal for the values to be equal.
  const std::vector<CodePair>& codes() const { return codes_; }

  // Marks the paired objects as seen by other code: each pair is replaced by one symbol of unknown content, which
  // both frames share. Returns false if no objects are paired.
  bool publish(State& state) const;

 private:
  bool add_objects(Symbol one, Symbol two);
  bool add_functions(const Object& one, const Object& two);
  bool stands_for(Symbol constant, Symbol tuple);

  const State& state_;
  Symbols& symbols_;
  std::map<Symbol, Symbol> forth_, back_, constants_;
  std::vector<std::pair<Symbol, Symbol>> todo_;
  std::vector<CodePair> codes_;
};

}  // namespace depyf
