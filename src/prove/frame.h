// The frame of one side while an instruction runs: its stack, its locals and the objects that it alone has seen.
#pragma once

#include <vector>

#include "decode/instruction.h"
#include "prove/effect.h"
#include "prove/state.h"

namespace depyf {

using Parts = std::vector<Symbol>;

class Frame {
 public:
  Frame(Symbols& symbols, int number) : symbols_(symbols), number_(number) {}

  // The state in which instructions run from now on.
  void enter(State& state) { state_ = &state; }
  const State& state() const { return *state_; }
  Side& side() { return state_->sides[number_]; }
  const Side& side() const { return state_->sides[number_]; }
  const Side& side_in(const State& state) const { return state.sides[number_]; }

  // What a silent instruction gives: control goes to the next one, or to `target`.
  Step silent() { return ++side().at, Step::silent; }
  Step go(int target) { return side().at = target, Step::silent; }

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

  Symbol make(Object::Kind kind, Parts items, Parts keys = {});
  // The object that only this frame has seen; null: others may have.
  Object* object(Symbol symbol);
  // A tuple or list whose items are known.
  bool sequence(Symbol symbol, Parts& items);
  Exact exact_type_of(Symbol symbol) const;
  // The truth of a boolean on which the execution has branched; else the boolean itself.
  Symbol fact(Symbol boolean) const;

 private:
  Symbols& symbols_;
  const int number_;
  State* state_ = nullptr;
};

}  // namespace depyf
