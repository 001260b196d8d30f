// Are two values the same, one of each side?
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "prove/state.h"

namespace depyf {

using CodePair = std::pair<const CodeObject*, const CodeObject*>;

// Pairs objects of one side with those of the other that hold equal values and have met the same references.
class Pairing {
 public:
  Pairing(const State& state, Symbols& symbols) : state_(state), symbols_(symbols) {}

  // False: `one` and `two` differ; the pairing is then of no use any more.
  bool add(Symbol one, Symbol two);
  bool add(const std::vector<Symbol>& one, const std::vector<Symbol>& two);

  // Code objects that must be proved for the values to be equal.
  const std::vector<CodePair>& codes() const { return codes_; }

  // Everybody may have seen the paired objects: nothing is known of their content from now on, but that both sides
  // have the same.
  bool publish(State& state) const;  // false: there are none

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
