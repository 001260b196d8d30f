// What one point of an execution knows: the frames of both sides over symbols.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "prove/symbols.h"

namespace depyf {

// A tuple, list ... that only its frame has seen. Its identity is that of its symbol, which belongs to one side.
struct Object {
  // `outputs`: a tuple or a list, which of them is not known.
  enum class Kind : std::uint8_t { tuple, list, dict, slice, cell, function, method, wrapped, outputs };
  Kind kind = Kind::tuple;
  std::vector<Symbol> keys = {};   // of a dict: constants, each once
  std::vector<Symbol> items = {};  // of a dict: values; of a function: see FunctionPart; of a method: self, name
  friend bool operator==(const Object&, const Object&) = default;
};

inline bool is_sequence(Object::Kind kind) {
  return kind == Object::Kind::tuple || kind == Object::Kind::list || kind == Object::Kind::outputs;
}

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

// The type that everybody sees once the object is no longer this frame's alone.
inline Exact exact_type(Object::Kind kind) {
  return kind == Object::Kind::list ? Exact::list : kind == Object::Kind::dict ? Exact::dict : Exact::unknown;
}

// To 3.10: an entry of the block stack.
struct Block {
  int target = -1;  // -1: a handler is running
  int level = 0;    // of the stack
  friend auto operator<=>(const Block&, const Block&) = default;
};

struct Side {
  static constexpr int left = -1;  // `at` once an exception has left the frame; it alone is on the stack

  int at = 0;           // instruction
  bool second = false;  // the second half of an instruction that has two effects
  bool asked = false;   // the last effect was the test of this instruction, or of one that jumps straight here
  std::vector<Symbol> locals, stack;
  std::vector<Block> blocks;
  Symbol handled = Symbols::null;  // what sys.exception() gives
  std::map<Symbol, Object> objects;

  friend bool operator==(const Side&, const Side&) = default;
};

struct State {
  Side sides[2];
  // The last effect was a test of `tested`, which gave `truth`. Who asks again makes another effect: an object may count.
  Symbol tested = Symbols::null, truth = Symbols::null;
  std::vector<std::pair<Symbol, bool>> facts;  // terms on which the execution has branched
};

// Replaces symbols everywhere. Terms that hold them are made anew; one that cannot be is replaced by an unknown value.
void substitute(State& state, Symbols& symbols, const std::map<Symbol, Symbol>& by);

// Drops objects that nothing refers to.
void collect(Side& side, const Symbols& symbols);

// Calls `visit` for each symbol that a side holds outside its objects.
template <class F>
void for_each_root(Side& side, F&& visit) {
  for (Symbol& symbol : side.locals) visit(symbol);
  for (Symbol& symbol : side.stack) visit(symbol);
  visit(side.handled);
}

}  // namespace depyf
