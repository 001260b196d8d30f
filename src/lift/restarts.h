// Repeats lifting until no further instruction has to be simulated literally. If an instruction is simulated literally,
// the values that it moves are first stored in temporaries.
#pragma once
#include <set>
#include "decode/op.h"
#include "lift/simulation.h"
#include "support/search_limits.h"
namespace depyf {

// Calls `attempt` with the set of the instructions that have to be simulated literally, which is empty at first. For
// each instruction of the passed set, `attempt` first stores in temporaries the values that the instruction moves.
// Whenever `attempt` throws Restart, calls `attempt` again with a larger set of instructions. Returns the result of
// `attempt`, or throws InternalError after `search_limits::restarts` calls.
template <class Attempt>
auto with_restarts(Context& context, const Cfg& cfg, Attempt attempt) {
  std::set<int> literal;
  const std::size_t functions = context.functions.size(), named = context.named_constants.size();
  for (int tries = 0; tries < search_limits::restarts; ++tries) {
    try {
      return attempt(literal);
    } catch (const lifting::Restart& restart) {
      // Functions and constants that the failed attempt added are removed.
      context.functions.resize(functions);
      context.named_constants.resize(named);
      std::size_t before = literal.size();
      if (restart.at >= 0) literal.insert(restart.at);
      // Restart::at is the index of an instruction, or -1 - n for the expression with bytecode offset n.
      else
        for (int at = 0; at < int(cfg.code.size()); ++at)
          if (cfg.code[at].offset == std::uint32_t(-1 - restart.at)) literal.insert(at);
      // If literal simulation of single instructions does not suffice, all instructions that move or copy values and
      // all binary operations are simulated literally.
      if (literal.size() == before || tries > search_limits::restarts_one_by_one)
        for (int at = 0; at < int(cfg.code.size()); ++at) {
          Op op = cfg.code[at].op;
          if (op == Op::swap_ || op == Op::copy_ || op == Op::rotate_ || op == Op::binary_op_) literal.insert(at);
        }
    }
  }
  throw InternalError{"values cross on the stack", 0};
}

}  // namespace depyf
