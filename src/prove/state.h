// Describes the state of a proof at one point: the frames of both code objects, whose values are symbols.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "prove/symbols.h"

namespace depyf {

// A tuple, list or other object to which only its frame has a reference. The symbol of an Object is its identity, and
// belongs to only one of the two frames.
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

// Returns the exact type of an object of this kind, which stays known after other code has seen the object;
// Exact::unknown if the kind is not a list or dict.
inline Exact exact_type(Object::Kind kind) {
  return kind == Object::Kind::list ? Exact::list : kind == Object::Kind::dict ? Exact::dict : Exact::unknown;
}

// An entry of the block stack (up to 3.10).
struct Block {
  int target = -1;  // the handler's first instruction; -1 while the handler is running
  int level = 0;  // the depth of the value stack
  friend auto operator<=>(const Block&, const Block&) = default;
};

// The frame of one of the two code objects at one moment.
struct Side {
  // The value of `at` after an exception has left the frame; the stack of the frame then contains only the exception.
  static constexpr int left = -1;

  int at = 0;  // the index of the next instruction
  bool second = false;  // true before the second half of an instruction that has two effects
  // True if the last effect was a truth test by the instruction `at`, or by a jump that led straight to `at`.
  bool asked = false;
  std::vector<Symbol> locals, stack;
  std::vector<Block> blocks;
  Symbol handled = Symbols::null;  // the exception that sys.exception() returns
  std::map<Symbol, Object> objects;

  friend bool operator==(const Side&, const Side&) = default;
};

// The frames of both code objects, and the facts that are known on the path to this point.
struct State {
  Side sides[2];
  // The operand and the result of the last effect if it was a truth test; null if it was any other effect. A second
  // test of the same value is an effect of its own, because `__bool__` of an object may count its calls.
  Symbol tested = Symbols::null, truth = Symbols::null;
  std::vector<std::pair<Symbol, bool>> facts;  // booleans on which the execution has branched, with their outcomes
};

// Replaces symbols in all places of `state`. Terms that contain replaced symbols are rebuilt; a term that cannot be
// rebuilt becomes an unknown value.
void substitute(State& state, Symbols& symbols, const std::map<Symbol, Symbol>& by);

// Removes the objects that cannot be reached from the locals, the stack and the handled exception of the frame.
void collect(Side& side, const Symbols& symbols);

// Calls `visit` for each symbol in a local or on the stack of the frame, and for the handled exception. The items of
// objects are not visited.
template <class F>
void for_each_root(Side& side, F&& visit) {
  for (Symbol& symbol : side.locals) visit(symbol);
  for (Symbol& symbol : side.stack) visit(symbol);
  visit(side.handled);
}

}  // namespace depyf
