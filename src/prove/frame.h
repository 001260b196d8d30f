// Describes the frame of one of the two compared code objects while an instruction runs: its stack, its locals, and the
// objects to which no other code has a reference.
#pragma once

#include <vector>

#include "decode/instruction.h"
#include "prove/effect.h"
#include "prove/state.h"

namespace depyf {

using Parts = std::vector<Symbol>;

// Gives the functions that execute operations access to the frame of one code object. The frame is part of the current
// `State`, which holds the frames of both code objects.
class Frame {
 public:
  Frame(Symbols& symbols, int number) : symbols_(symbols), number_(number) {}

  // Sets the state in which the following instructions run.
  void enter(State& state) { state_ = &state; }
  const State& state() const { return *state_; }
  Side& side() { return state_->sides[number_]; }
  const Side& side() const { return state_->sides[number_]; }
  const Side& side_in(const State& state) const { return state.sides[number_]; }

  // Ends a silent instruction: control goes to the next instruction, or to `target`.
  Step silent() { return ++side().at, Step::silent; }
  Step go(int target) { return side().at = target, Step::silent; }

  // Slots of the stack are counted from the top, starting at 1.
  int depth() const { return static_cast<int>(side().stack.size()); }
  Symbol peek(int n) const { return side().stack[side().stack.size() - static_cast<std::size_t>(n)]; }
  void push(Symbol symbol) { side().stack.push_back(symbol); }
  Symbol pop() {
    Symbol top = side().stack.back();
    side().stack.pop_back();
    return top;
  }
  void drop(int n) { side().stack.resize(side().stack.size() - static_cast<std::size_t>(n)); }
  Parts top(int n) const { return {side().stack.end() - n, side().stack.end()}; }
  Symbol& local(const Instruction& it) { return side().locals[static_cast<std::size_t>(it.arg)]; }

  // Creates an object to which only this frame has a reference, and returns its symbol.
  Symbol make(Object::Kind kind, Parts items, Parts keys = {});
  // Returns the object of `symbol` if only this frame has a reference to it; null if other code may have one.
  Object* object(Symbol symbol);
  // Stores the items of a tuple or list in `items`. Returns false if the items are unknown.
  bool sequence(Symbol symbol, Parts& items);
  // Returns the exact type of the value; Exact::unknown if the type is unknown or may be a subclass.
  Exact exact_type_of(Symbol symbol) const;
  // Returns the truth of a boolean on which the execution has branched before; otherwise the boolean itself.
  Symbol fact(Symbol boolean) const;

 private:
  Symbols& symbols_;
  const int number_;
  State* state_ = nullptr;
};

}  // namespace depyf
