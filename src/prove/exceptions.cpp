// Exceptions: by exception table from 3.11, by block stack before. An exception is one symbol; where versions keep three
// values of it on the stack, the other two are terms of it.
#include "dialect/dialect.h"
#include "prove/machine.h"
#include "support/search_limits.h"

namespace depyf {
namespace {

constexpr int exception_values = 3;

}  // namespace

bool Machine::unwind(Side& side, Symbol exception) {
  side.second = side.asked = false;
  if (program_.has_table()) {
    int index = side.at >= 0 ? program_.handler_of[static_cast<std::size_t>(side.at)] : -1;
    if (index < 0) {
      side.stack = {exception};
      side.at = Side::left;
      return true;
    }
    const ProtectedRange& range = program_.decoded.ranges[static_cast<std::size_t>(index)];
    auto level = static_cast<std::size_t>(range.depth);
    if (level > side.stack.size()) return false;
    side.stack.resize(level);
    if (range.lasti) side.stack.push_back(symbols_.known("where it was raised"));
    side.stack.push_back(exception);
    side.at = range.target;
    return true;
  }
  while (!side.blocks.empty()) {
    Block block = side.blocks.back();
    side.blocks.pop_back();
    auto level = static_cast<std::size_t>(block.level);
    if (level > side.stack.size()) return false;
    if (block.target < 0) {
      if (level + exception_values > side.stack.size()) return false;
      side.handled = side.stack[level + 1];
      side.stack.resize(level);
      continue;
    }
    side.stack.resize(level);
    side.blocks.push_back({-1, block.level});
    for (Symbol it : {side.handled, exception}) {
      Symbol traceback = symbols_.part("traceback of", it), type = symbols_.part("type of", it);
      if (traceback < 0 || type < 0) return false;
      side.stack.insert(side.stack.end(), {traceback, it, type});
    }
    side.handled = exception;
    side.at = block.target;
    return true;
  }
  side.stack = {exception};
  side.at = Side::left;
  return true;
}

Step Machine::throw_now(Symbol exception) {
  if (symbols_.may_be_null(exception) || symbols_.is_object(exception)) return stuck("an exception that is none");
  return unwind(frame(), exception) ? Step::silent : stuck("the stack is too short");
}

Step Machine::reraise(const Instruction&) { return throw_now(program_.has_table() ? peek(1) : peek(2)); }

Step Machine::pop_except() {
  Side& side = frame();
  if (program_.has_table()) {
    side.handled = pop();
    return symbols_.may_be_null(side.handled) ? stuck("no exception where one is needed") : silent();
  }
  if (side.blocks.empty() || side.blocks.back().target >= 0 || side.blocks.back().level + exception_values > depth()) {
    return stuck("the end of a handler that is none");
  }
  side.handled = peek(2);  // a value to return may lie below
  side.blocks.pop_back();
  drop(exception_values);
  return silent();
}

Step Machine::exception_match(const Instruction& it) {
  if (depth() < 2) return stuck("the stack is too short");  // the exception stays
  Symbol exception = peek(2);
  if (!program_.has_table()) {
    const SymbolInfo& info = symbols_[exception];
    if (info.kind != SymbolInfo::Kind::term || info.text != "type of") return stuck("the class of an exception");
    exception = info.args[0];
  }
  if (symbols_.may_be_null(exception) || symbols_.may_be_null(peek(1))) return stuck("no value where one is needed");
  Effect made{.op = it.op, .operands = {exception, peek(1)}};
  made.pops = program_.has_table() ? 1 : 2, made.results = 1, made.boolean = true;
  return effect(std::move(made));
}

// Is the exception the one that ends a loop or a delegation? No effect: these classes have plain instances.
Step Machine::end_async_for() {
  Side& side = frame();
  bool table = program_.has_table();
  Symbol exception = peek(table ? 1 : 2);
  Symbol test = symbols_.term("is StopAsyncIteration", {exception}, true);
  if (test < 0) return stuck("an exception that is none");
  test = fact(test);
  if (test == symbols_.boolean(false)) return throw_now(exception);
  if (test != symbols_.boolean(true)) {
    outcome_.split = test;
    return Step::split;
  }
  if (table) {
    drop(2);
    return silent();
  }
  if (side.blocks.empty() || side.blocks.back().target >= 0) return stuck("the end of a handler that is none");
  auto level = static_cast<std::size_t>(side.blocks.back().level);
  if (level < 1 || level + exception_values > side.stack.size()) return stuck("the stack is too short");
  side.handled = side.stack[level + 1];
  side.blocks.pop_back();
  side.stack.resize(level - 1);
  return silent();
}

Step Machine::cleanup_throw() {
  Symbol exception = peek(1);
  Symbol test = symbols_.term("is StopIteration", {exception}, true);
  if (test < 0) return stuck("an exception that is none");
  test = fact(test);
  if (test == symbols_.boolean(false)) return throw_now(exception);
  if (test != symbols_.boolean(true)) {
    outcome_.split = test;
    return Step::split;
  }
  drop(3);
  push(symbols_.none());
  push(symbols_.part("value of", exception));
  return silent();
}

Step Machine::with_except_start() {
  const Dialect& dialect = program_.dialect();
  const int exit = dialect.exit_with_self ? 5 : dialect.exception_table ? 4 : 7;
  if (depth() < exit) return stuck("the stack is too short");
  Effect made{.op = Op::with_except_start_, .operands = {peek(exit), peek(program_.has_table() ? 1 : 2)}};
  if (dialect.exit_with_self) made.operands.push_back(peek(4));
  for (Symbol operand : made.operands) {
    if (symbols_.may_be_null(operand)) return stuck("no value where one is needed");
  }
  made.results = 1;
  return effect(std::move(made));
}

Step Machine::blocks(const Instruction& it) {
  Side& side = frame();
  if (program_.has_table()) return stuck("a block stack in a version without one");
  if (side.blocks.size() > search_limits::open_blocks) return stuck("blocks nest too deep");
  if (it.op == Op::setup_finally_) {
    side.blocks.push_back({it.target, depth()});
    return silent();
  }
  if (it.op == Op::setup_async_with_) {
    side.blocks.push_back({it.target, depth() - 1});
    return depth() < 1 ? stuck("the stack is too short") : silent();
  }
  if (it.op == Op::setup_with_) {
    Effect entered{.op = Op::before_with_, .operands = top(1)};
    entered.then = Effect::Then::with, entered.pops = 1, entered.results = 2;
    return effect(std::move(entered));
  }
  if (side.blocks.empty() || side.blocks.back().target < 0) return stuck("the end of a block that is none");
  side.blocks.pop_back();
  return silent();
}

}  // namespace depyf
