// Describes what is known at one point of an execution: the frames of both sides, over symbols.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "prove/symbols.h"

namespace depyf {

// A tuple, list or other object that only its frame has seen. The identity of an Object is that of its symbol, which
// belongs to one side.
struct Object {
  // The kind `outputs` is a tuple or a list; which one is unknown.
  enum class Kind : std::uint8_t { tuple, list, dict, slice, cell, function, method, wrapped, outputs };
  Kind kind = Kind::tuple;
  std::vector<Symbol> keys = {};   // keys of a dict: constants without duplicates
  std::vector<Symbol> items = {};  // items, dict values, parts of a function (FunctionPart), self and name of a method
  friend bool operator==(const Object&, const Object&) = default;
};

// Returns true for kinds whose items have an order and can be unpacked.
inline bool is_sequence(Object::Kind kind) {
  return kind == Object::Kind::tuple || kind == Object::Kind::list || kind == Object::Kind::outputs;
}

// The indices of a function's parts in `Object::items`.
enum FunctionPart {
  function_code,
  function_name,
  function_defaults,
  function_kwdefaults,
  function_annotations,
  function_closure,
  function_annotate,
  function_parts
};

// Returns the exact type that is known of the object after other code has seen it.
inline Exact exact_type(Object::Kind kind) {
  return kind == Object::Kind::list ? Exact::list : kind == Object::Kind::dict ? Exact::dict : Exact::unknown;
}

// An entry of the block stack (until 3.10).
struct Block {
  int target = -1;  // the handler's first instruction; -1 while the handler is running
  int level = 0;  // the depth of the value stack
  friend auto operator<=>(const Block&, const Block&) = default;
};

// The frame of one side at one moment.
struct Side {
  // The value of `at` after an exception has left the frame; the stack then contains only the exception.
  static constexpr int left = -1;

  int at = 0;  // the index of the next instruction
  bool second = false;  // true before the second half of an instruction that has two effects
  bool asked = false;  // true if the last effect was the truth test of this instruction, or of a jump straight to it
  std::vector<Symbol> locals, stack;
  std::vector<Block> blocks;
  Symbol handled = Symbols::null;  // the exception that sys.exception() returns
  std::map<Symbol, Object> objects;

  friend bool operator==(const Side&, const Side&) = default;
};

// The frames of both sides, and the facts that are known on the path to this point.
struct State {
  Side sides[2];
  // The operand and the result of the last effect if it was a truth test; otherwise null. Testing the value again is
  // another effect, because an object may count its tests.
  Symbol tested = Symbols::null, truth = Symbols::null;
  std::vector<std::pair<Symbol, bool>> facts;  // booleans on which the execution has branched, with their outcomes
};

// Replaces symbols in all places of `state`. Terms that contain replaced symbols are rebuilt; a term that cannot be
// rebuilt becomes an unknown value.
void substitute(State& state, Symbols& symbols, const std::map<Symbol, Symbol>& by);

// Removes objects to which nothing refers.
void collect(Side& side, const Symbols& symbols);

// Calls `visit` for each symbol that the side holds outside of its objects.
template <class F>
void for_each_root(Side& side, F&& visit) {
  for (Symbol& symbol : side.locals) visit(symbol);
  for (Symbol& symbol : side.stack) visit(symbol);
  visit(side.handled);
}

}  // namespace depyf
