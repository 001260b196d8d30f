// Models how exceptions reach their handlers: by the exception table from 3.11 on, by the block stack in earlier
// versions. An exception is represented by one symbol. Up to 3.10 the class and the traceback of an exception are on
// the stack, too, and are represented by terms over the symbol of the exception.
#include "prove/exceptions.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "support/search_limits.h"

namespace depyf::operations {
namespace {

// Up to 3.10 an exception takes three stack slots: its traceback, the exception itself and its class.
constexpr int exception_values = 3;

}  // namespace

bool unwind(Symbols& symbols, const Program& program, Side& side, Symbol exception) {
  side.second = side.asked = false;
  // The exception table contains the handler, and the depth to which the stack is cut before the exception is pushed.
  if (program.has_table()) {
    int index = side.at >= 0 ? program.handler_of[static_cast<std::size_t>(side.at)] : -1;
    if (index < 0) {
      side.stack = {exception};
      side.at = Side::left;
      return true;
    }
    const ProtectedRange& range = program.decoded.ranges[static_cast<std::size_t>(index)];
    auto level = static_cast<std::size_t>(range.depth);
    if (level > side.stack.size()) return false;
    side.stack.resize(level);
    // Some handlers also get the index of the instruction that raised, which only RERAISE reads.
    if (range.lasti) side.stack.push_back(symbols.known("where it was raised"));
    side.stack.push_back(exception);
    side.at = range.target;
    return true;
  }
  // The block stack is searched from the top. The entry of a running handler, which has the target -1, is removed, and
  // the exception that was handled before this handler started becomes the handled exception again.
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
    // At the start of the handler the stack contains six more values: three for the previously handled exception, and
    // above them three for the raised exception.
    for (Symbol it : {side.handled, exception}) {
      Symbol traceback = symbols.part("traceback of", it), type = symbols.part("type of", it);
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

Step throw_now(Execution& run, Symbol exception) {
  if (run.symbols.may_be_null(exception) || run.symbols.is_object(exception))
    return run.stuck("a value that is no exception where an exception is needed");
  return unwind(run.symbols, run.program, run.frame.side(), exception) ? Step::silent
                                                                       : run.stuck("the stack is too short");
}

// Executes RERAISE, whose exception is on top of the stack, or below its class in versions up to 3.10.
Step reraise(Execution& run, const Instruction&) {
  return throw_now(run, run.program.has_table() ? run.frame.peek(1) : run.frame.peek(2));
}

Step pop_except(Execution& run) {
  Side& side = run.frame.side();
  if (run.program.has_table()) {
    side.handled = run.frame.pop();
    return run.symbols.may_be_null(side.handled) ? run.stuck("no exception where one is needed") : run.frame.silent();
  }
  if (side.blocks.empty() || side.blocks.back().target >= 0 ||
      side.blocks.back().level + exception_values > run.frame.depth()) {
    return run.stuck("the end of a handler outside of every handler");
  }
  side.handled = run.frame.peek(2);  // the slot is counted from the top, because a return value may lie below it
  side.blocks.pop_back();
  run.frame.drop(exception_values);
  return run.frame.silent();
}

Step exception_match(Execution& run, const Instruction& it) {
  if (run.frame.depth() < 2) return run.stuck("the stack is too short");
  Symbol exception = run.frame.peek(2);
  if (!run.program.has_table()) {
    const SymbolInfo& info = run.symbols[exception];
    if (info.kind != SymbolInfo::Kind::term || info.text != "type of") return run.stuck("the class of an exception");
    exception = info.args[0];
  }
  if (run.symbols.may_be_null(exception) || run.symbols.may_be_null(run.frame.peek(1)))
    return run.stuck("no value where one is needed");
  Effect made{.op = it.op, .operands = {exception, run.frame.peek(1)}};
  made.pops = run.program.has_table() ? 1 : 2, made.results = 1, made.boolean = true;
  return run.effect(std::move(made));
}

// Executes END_ASYNC_FOR, which ends the loop for a StopAsyncIteration and raises any other exception again. The test
// for StopAsyncIteration is no effect, because a match with a built-in exception class runs no other code.
Step end_async_for(Execution& run) {
  Side& side = run.frame.side();
  bool table = run.program.has_table();
  Symbol exception = run.frame.peek(table ? 1 : 2);
  Symbol test = run.symbols.term("is StopAsyncIteration", {exception}, true);
  if (test < 0) return run.stuck("a value that is no exception where an exception is needed");
  test = run.frame.fact(test);
  if (test == run.symbols.boolean(false)) return throw_now(run, exception);
  if (test != run.symbols.boolean(true)) {
    run.outcome.split = test;
    return Step::split;
  }
  if (table) {
    run.frame.drop(2);
    return run.frame.silent();
  }
  if (side.blocks.empty() || side.blocks.back().target >= 0)
    return run.stuck("the end of a handler outside of every handler");
  auto level = static_cast<std::size_t>(side.blocks.back().level);
  if (level < 1 || level + exception_values > side.stack.size()) return run.stuck("the stack is too short");
  side.handled = side.stack[level + 1];
  side.blocks.pop_back();
  side.stack.resize(level - 1);
  return run.frame.silent();
}

// Executes CLEANUP_THROW: the value of a StopIteration becomes the result of `await` or `yield from`, and any other
// exception is raised again.
Step cleanup_throw(Execution& run) {
  Symbol exception = run.frame.peek(1);
  Symbol test = run.symbols.term("is StopIteration", {exception}, true);
  if (test < 0) return run.stuck("a value that is no exception where an exception is needed");
  test = run.frame.fact(test);
  if (test == run.symbols.boolean(false)) return throw_now(run, exception);
  if (test != run.symbols.boolean(true)) {
    run.outcome.split = test;
    return Step::split;
  }
  run.frame.drop(3);
  run.frame.push(run.symbols.none());
  run.frame.push(run.symbols.part("value of", exception));
  return run.frame.silent();
}

// Executes WITH_EXCEPT_START, which calls `__exit__` with the exception. The position of the exit function on the stack
// depends on the version.
Step with_except_start(Execution& run) {
  const Dialect& dialect = run.program.dialect();
  const int exit = dialect.exit_with_self ? 5 : dialect.exception_table ? 4 : 7;
  if (run.frame.depth() < exit) return run.stuck("the stack is too short");
  Effect made{.op = Op::with_except_start_,
              .operands = {run.frame.peek(exit), run.frame.peek(run.program.has_table() ? 1 : 2)}};
  if (dialect.exit_with_self) made.operands.push_back(run.frame.peek(4));
  for (Symbol operand : made.operands) {
    if (run.symbols.may_be_null(operand)) return run.stuck("no value where one is needed");
  }
  made.results = 1;
  return run.effect(std::move(made));
}

// Executes the instructions of the block stack. A target of -1 marks the entry of a running handler.
Step blocks(Execution& run, const Instruction& it) {
  Side& side = run.frame.side();
  if (run.program.has_table()) return run.stuck("a block stack in a version without one");
  if (side.blocks.size() > search_limits::open_blocks) return run.stuck("blocks nest too deep");
  if (it.op == Op::setup_finally_) {
    side.blocks.push_back({it.target, run.frame.depth()});
    return run.frame.silent();
  }
  if (it.op == Op::setup_async_with_) {
    side.blocks.push_back({it.target, run.frame.depth() - 1});
    return run.frame.depth() < 1 ? run.stuck("the stack is too short") : run.frame.silent();
  }
  if (it.op == Op::setup_with_) {
    Effect entered{.op = Op::before_with_, .operands = run.frame.top(1)};
    entered.then = Effect::Then::with, entered.pops = 1, entered.results = 2;
    return run.effect(std::move(entered));
  }
  if (side.blocks.empty() || side.blocks.back().target < 0)
    return run.stuck("the end of a block outside of every block");
  side.blocks.pop_back();
  return run.frame.silent();
}

}  // namespace depyf::operations
