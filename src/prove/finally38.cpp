// Models finally clauses of 3.8, whose bodies are subroutines. The top of the stack at the start of a finally body
// decides where control goes after the body. Each finally body ends with END_FINALLY. If END_FINALLY finds a NULL on
// top of the stack, control continues with the instruction behind END_FINALLY. If END_FINALLY finds a return address on
// top of the stack, control returns to the address. If END_FINALLY finds an exception on top of the stack, it raises
// the exception again.
#include <charconv>

#include "decode/op.h"
#include "prove/exceptions.h"
#include "prove/finally38.h"

namespace depyf {
namespace {

// A return address is a symbol of the kind `known`, with the index of the instruction in its text.
constexpr std::string_view address = "return to ";

}  // namespace

bool is_return_address(const SymbolInfo& info) {
  return info.kind == SymbolInfo::Kind::known && info.text.starts_with(address);
}

namespace operations {
namespace {

// Returns the exception whose class is on top of the stack; -1 if the top is not the class of an exception.
Symbol exception_on_top(const Symbols& symbols, const Frame& frame) {
  if (frame.depth() < 6) return -1;
  const SymbolInfo& info = symbols[frame.peek(1)];
  return info.kind == SymbolInfo::Kind::term && info.text == "type of" ? info.args[0] : -1;
}

// Returns the index of the instruction to which control returns by the return address on top of the stack; -1 if the
// top of the stack is no return address.
int address_on_top(const Symbols& symbols, const Frame& frame) {
  const SymbolInfo& info = symbols[frame.peek(1)];
  if (!is_return_address(info)) return -1;
  int target = -1;
  std::from_chars(info.text.data() + address.size(), info.text.data() + info.text.size(), target);
  return target;
}

// Leaves the running handler, restores the exception that was handled before it, and stores the level of the handler's
// block in `level`. Returns false if no handler is running, or if the stack is too short.
bool leave_handler(Frame& frame, int& level) {
  Side& side = frame.side();
  if (side.blocks.empty() || side.blocks.back().target >= 0) return false;
  level = side.blocks.back().level;
  if (level < 0 || level + 3 > frame.depth()) return false;
  side.handled = side.stack[static_cast<std::size_t>(level) + 1];
  side.blocks.pop_back();
  return true;
}

}  // namespace

Step finally38(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  const Symbol none = run.symbols.none();
  int level = 0;
  if (it.op == Op::begin_finally_) return run.frame.push(Symbols::null), run.frame.silent();
  if (it.op == Op::call_finally_) {
    run.frame.push(run.symbols.known(std::string(address) + std::to_string(side.at + 1)));
    return run.frame.go(it.target);
  }
  // The smallest number of stack slots that the instruction reads.
  const int least = it.op == Op::end_finally_ ? 1 : it.op == Op::pop_finally_ ? 1 + (it.arg != 0) : 2;
  if (run.frame.depth() < least) return run.stuck("the stack is too short");
  static constexpr const char* not_understood = "a finally clause that the prover does not know";
  if (it.op == Op::end_finally_) {
    if (run.frame.peek(1) == Symbols::null) return run.frame.pop(), run.frame.silent();
    if (int target = address_on_top(run.symbols, run.frame); target >= 0) return run.frame.pop(), run.frame.go(target);
    if (Symbol exception = exception_on_top(run.symbols, run.frame); exception >= 0) return throw_now(run, exception);
    return run.stuck(not_understood);
  }
  if (it.op == Op::pop_finally_) {
    // Where a `return` or `break` leaves a finally clause, POP_FINALLY removes the NULL, return address or exception
    // that would decide where control goes after the clause.
    Symbol result = it.arg ? run.frame.pop() : -1;
    if (run.frame.peek(1) == Symbols::null || address_on_top(run.symbols, run.frame) >= 0) {
      run.frame.pop();
    } else {
      if (exception_on_top(run.symbols, run.frame) < 0 || !leave_handler(run.frame, level))
        return run.stuck(not_understood);
      run.frame.drop(6);
    }
    if (it.arg) run.frame.push(result);
    return run.frame.silent();
  }
  if (it.op == Op::with_cleanup_start_) {
    if (side.second) {  // in the second half of the instruction, `__exit__` is on top, above None or a class
      Symbol exit = run.frame.peek(1), type = run.frame.peek(2);
      if (run.symbols.may_be_null(exit)) return run.stuck("no value where one is needed");
      Effect made{.op = Op::call_, .operands = {exit, none, none, none}};
      if (type != none) made = {.op = Op::with_except_start_, .operands = {exit, run.symbols[type].args[0]}};
      made.pops = 1, made.results = 1;
      return run.effect(std::move(made));
    }
    std::size_t exit_depth = 2;
    Symbol type = none;
    // While an exception is handled, `__exit__` lies below the six values of two exceptions.
    if (exception_on_top(run.symbols, run.frame) >= 0) {
      if (run.frame.depth() < 7 || side.blocks.empty() || side.blocks.back().target >= 0)
        return run.stuck(not_understood);
      exit_depth = 7, type = run.frame.peek(1);
      --side.blocks.back().level;
      if (side.blocks.back().level < 0) return run.stuck(not_understood);
    } else if (run.frame.peek(1) != Symbols::null && address_on_top(run.symbols, run.frame) < 0) {
      return run.stuck(not_understood);
    }
    auto at = side.stack.end() - static_cast<std::ptrdiff_t>(exit_depth);
    Symbol exit = *at;
    at = side.stack.erase(at);
    // As in CPython, the values of the handled exception move down into the slot of `__exit__`, and a NULL fills the
    // gap.
    if (exit_depth == 7) side.stack.insert(at + 3, Symbols::null);
    run.frame.push(type);
    run.frame.push(exit);
    side.second = true;
    return Step::silent;
  }
  if (it.op == Op::with_cleanup_finish_) {
    // If no exception was raised, the result of the exit function is ignored.
    if (run.frame.peek(2) == none) return run.frame.drop(2), run.frame.silent();
    Step step = Step::silent;
    Symbol swallowed = run.truth(run.frame.peek(1), step);
    if (swallowed < 0) return step;
    if (swallowed == run.symbols.boolean(false)) return run.frame.drop(2), run.frame.silent();
    if (swallowed != run.symbols.boolean(true)) {
      run.outcome.split = swallowed;
      return Step::split;
    }
    if (!leave_handler(run.frame, level)) return run.stuck(not_understood);
    side.stack.resize(static_cast<std::size_t>(level));
    run.frame.push(Symbols::null);
    return run.frame.silent();
  }
  return run.stuck(not_understood);
}

}  // namespace operations
}  // namespace depyf
