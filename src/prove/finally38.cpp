// 3.8 runs the body of a finally as a subroutine: what is on top of the stack when it starts says how it goes on: NULL:
// behind it; an address: there; an exception: it is raised again.
#include <charconv>

#include "prove/machine.h"

namespace depyf {
namespace {

constexpr std::string_view address = "return to ";

}  // namespace

bool is_return_address(const SymbolInfo& info) {
  return info.kind == SymbolInfo::Kind::known && info.text.starts_with(address);
}

// The exception whose class is on top, or -1.
Symbol Machine::exception_on_top() const {
  if (depth() < 6) return -1;
  const SymbolInfo& info = symbols_[peek(1)];
  return info.kind == SymbolInfo::Kind::term && info.text == "type of" ? info.args[0] : -1;
}

int Machine::address_on_top() const {
  const SymbolInfo& info = symbols_[peek(1)];
  if (!is_return_address(info)) return -1;
  int target = -1;
  std::from_chars(info.text.data() + address.size(), info.text.data() + info.text.size(), target);
  return target;
}

// Leaves the handler that is running: what was handled before is so again.
bool Machine::leave_handler(int& level) {
  Side& side = frame();
  if (side.blocks.empty() || side.blocks.back().target >= 0) return false;
  level = side.blocks.back().level;
  if (level < 0 || level + 3 > depth()) return false;
  side.handled = side.stack[static_cast<std::size_t>(level) + 1];
  side.blocks.pop_back();
  return true;
}

Step Machine::finally38(const Instruction& it) {
  Side& side = frame();
  const Symbol none = symbols_.none();
  int level = 0;
  if (it.op == Op::begin_finally_) return push(Symbols::null), silent();
  if (it.op == Op::call_finally_) {
    push(symbols_.known(std::string(address) + std::to_string(side.at + 1)));
    return go(it.target);
  }
  const int least = it.op == Op::end_finally_ ? 1 : it.op == Op::pop_finally_ ? 1 + (it.arg != 0) : 2;
  if (depth() < least) return stuck("the stack is too short");
  static constexpr const char* not_understood = "a finally that is not understood";
  if (it.op == Op::end_finally_) {
    if (peek(1) == Symbols::null) return pop(), silent();
    if (int target = address_on_top(); target >= 0) return pop(), go(target);
    if (Symbol exception = exception_on_top(); exception >= 0) return throw_now(exception);
    return stuck(not_understood);
  }
  if (it.op == Op::pop_finally_) {
    Symbol result = it.arg ? pop() : -1;
    if (peek(1) == Symbols::null || address_on_top() >= 0) {
      pop();
    } else {
      if (exception_on_top() < 0 || !leave_handler(level)) return stuck(not_understood);
      drop(6);
    }
    if (it.arg) push(result);
    return silent();
  }
  if (it.op == Op::with_cleanup_start_) {
    if (side.second) {  // the exit function is on top, below it what it gets
      Symbol exit = peek(1), type = peek(2);
      if (symbols_.may_be_null(exit)) return stuck("no value where one is needed");
      Effect made{.op = Op::call_, .operands = {exit, none, none, none}};
      if (type != none) made = {.op = Op::with_except_start_, .operands = {exit, symbols_[type].args[0]}};
      made.pops = 1, made.results = 1;
      return effect(std::move(made));
    }
    std::size_t exit_depth = 2;
    Symbol type = none;
    if (exception_on_top() >= 0) {
      if (depth() < 7 || side.blocks.empty() || side.blocks.back().target >= 0) return stuck(not_understood);
      exit_depth = 7, type = peek(1);
      --side.blocks.back().level;
      if (side.blocks.back().level < 0) return stuck(not_understood);
    } else if (peek(1) != Symbols::null && address_on_top() < 0) {
      return stuck(not_understood);
    }
    auto at = side.stack.end() - static_cast<std::ptrdiff_t>(exit_depth);
    Symbol exit = *at;
    at = side.stack.erase(at);
    if (exit_depth == 7) side.stack.insert(at + 3, Symbols::null);
    push(type);
    push(exit);
    side.second = true;
    return Step::silent;
  }
  if (it.op == Op::with_cleanup_finish_) {
    if (peek(2) == none) return drop(2), silent();
    Step step = Step::silent;
    Symbol swallowed = truth(peek(1), step);
    if (swallowed < 0) return step;
    if (swallowed == symbols_.boolean(false)) return drop(2), silent();
    if (swallowed != symbols_.boolean(true)) {
      outcome_.split = swallowed;
      return Step::split;
    }
    if (!leave_handler(level)) return stuck(not_understood);
    side.stack.resize(static_cast<std::size_t>(level));
    push(Symbols::null);
    return silent();
  }
  return stuck(not_understood);
}

}  // namespace depyf
