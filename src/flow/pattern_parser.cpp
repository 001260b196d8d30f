// The instructions of a pattern take the subject from the top of the stack, and jump to the label `fail` if a test
// fails (see compiler_pattern and the functions around it in CPython's Python/compile.c). In the following code, p and
// q stand for patterns.
//
//   A value pattern compiles to <value>; COMPARE_OP ==; POP_JUMP_IF_FALSE fail.
//   `None` and `True` compile to LOAD_CONST; IS_OP; POP_JUMP_IF_FALSE fail (or POP_JUMP_IF_NOT_NONE fail).
//   A name compiles to [SWAP n ...] and, behind all tests, STORE name; the wildcard `_` compiles to POP_TOP.
//   `p as name` compiles to COPY 1; p; <code of the name>.
//   `p | q` compiles to COPY 1; p; JUMP end; COPY 1; q; JUMP end; POP_TOP; JUMP fail; end: [SWAP n ...]; POP_TOP.
//   `[p, q]` compiles to MATCH_SEQUENCE; GET_LEN; 2; COMPARE_OP ==; UNPACK_SEQUENCE 2; p; q.
//   `[p, *q]` compiles to COMPARE_OP >= and UNPACK_EX in place of COMPARE_OP == and UNPACK_SEQUENCE.
//   `[p, *_, q]` takes its first item by COPY 1; 0; BINARY_SUBSCR instead of unpacking the sequence.
//   `[p, *_, q]` takes its last item by COPY 1; GET_LEN; 1; BINARY_OP -; BINARY_SUBSCR.
//   `{k: p}` compiles to MATCH_MAPPING; GET_LEN; 1; COMPARE_OP >=; k; BUILD_TUPLE; MATCH_KEYS; COPY 1;
//   POP_JUMP_IF_NONE fail; UNPACK_SEQUENCE 1; p; POP_TOP; POP_TOP.
//   `**rest` in a mapping compiles to BUILD_MAP 0; SWAP 3; DICT_UPDATE 2; UNPACK_SEQUENCE and, for each key, COPY n;
//   SWAP 2; DELETE_SUBSCR.
//   `C(p, a=q)` compiles to C; ('a',); MATCH_CLASS 1; COPY 1; POP_JUMP_IF_NONE fail; UNPACK_SEQUENCE 2; p; q.
//   `C(p, a=q)` compiles in 3.10 to C; ('a',); MATCH_CLASS 1; POP_JUMP_IF_FALSE fail; COPY 1; 0; BINARY_SUBSCR; p;
//   COPY 1; 1; BINARY_SUBSCR; q.
//
// Dynamo writes POP_JUMP_IF_NONE as LOAD_CONST None; IS_OP 0; POP_JUMP_IF_TRUE, and POP_JUMP_IF_NOT_NONE as LOAD_CONST
// None; IS_OP 1; POP_JUMP_IF_TRUE.
//
// The jump of a failed test leads into a row of POP_TOP instructions (to the label `fail`), so that all values that lie
// on the stack at the test are popped. The compiler's optimisations move stores and swaps, so the code is executed
// symbolically, and each symbol on the stack states which part of the subject it represents. A pattern binds its names
// after all of its tests.
#include "flow/pattern_parser.h"

#include <algorithm>

#include "decode/op.h"
#include "flow/pattern_execution.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {

// Parses the case that starts at `at` into `parsed`. Returns false if the code at `at` is not that of a case.
bool PatternExecution::run(int at, bool keeps, ParsedCase& parsed) {
  nodes_.assign(1, {});
  State state;
  state.stack.push_back(part(0));
  parsed.begin = at;
  if (keeps) ++at;
  parsed.success = walk(at, state, -1);
  if (parsed.success < 0) return false;
  // A pattern without jumps of failed tests always matches.
  parsed.failure = -1;
  if (!state.failures.empty() && !resolve(state.failures, 0, parsed.failure)) return false;
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    if (!finish(int(node))) return false;
  Names names;
  if (!check(0, names)) return false;
  parsed.pattern.nodes = std::move(nodes_);
  return true;
}

// True if the code at `one` and at `two` does the same until it leaves the function or reaches one common instruction.
// Copies of a short exit of the function, for example, do the same.
bool PatternExecution::same_end(int one, int two) const {
  for (int steps = 0; steps < 8; ++steps) {
    one = follow(one), two = follow(two);
    if (one == two) return true;
    if (one < 0 || two < 0 || one >= size() || two >= size()) return false;
    const Instruction &a = code_[one], &b = code_[two];
    if (a.op != b.op || a.arg != b.arg || a.aux != b.aux || a.target >= 0 || b.target >= 0) return false;
    if (leaves_function(a.op)) return true;
    ++one, ++two;
  }
  return false;
}

// Follows the jump of each failed test through the row of POP_TOP instructions until `depth` values are left on the
// stack. `found` is set to the instruction that the first jump reaches. Returns false if another jump reaches code that
// does not do the same as the code at `found`, or if POP_TOP instructions are missing.
bool PatternExecution::resolve(const Table<Failure>& failures, int depth, int& found) const {
  found = -1;
  for (const Failure& failure : failures) {
    int at = failure.target;
    for (int pops = failure.depth - depth; pops > 0; --pops) {
      at = follow(at);
      if (at < 0 || at >= size() || code_[at].op != Op::pop_top_) return false;
      ++at;
    }
    while (at >= 0 && at < size() && code_[at].op == Op::jump_ && code_[at].target >= 0 && at != code_[at].target)
      at = code_[at].target;
    if (found < 0) found = at;
    else if (found != at && !same_end(found, at)) return false;
  }
  return found >= 0 && found < size();
}

// Runs the instructions from `at` on until the pattern is complete. For the whole pattern, `floor` is -1, and the
// pattern is complete when the stack is empty. If the pattern is an alternative (as p in `p | q`), `floor` is the depth
// of the stack below the values of the alternative. An alternative is complete when only values to be bound to names
// lie above `floor`. Returns the instruction where control continues, or -1 if the code is not that of a pattern.
int PatternExecution::walk(int at, State& state, int floor) {
  for (;;) {
    at = skip(at);
    if (at >= size() - 1 || ++steps_ > search_limits::pattern_steps) return -1;
    if (floor < 0 && state.stack.empty()) return at;
    if (floor >= 0 && ends_alternative(at, state, floor))
      return code_[at].op == Op::jump_ ? code_[at].target : InstructionIndex(at);
    if (code_[at].op == Op::copy_ && code_[at].arg == 1 && !state.stored) {
      int after = alternatives(at, state);
      if (after >= 0) {
        at = after;
        continue;
      }
    }
    at = step(at, state);
    if (at < 0) return -1;
  }
}

// True if an alternative, whose values lie above the stack depth `floor`, ends in front of `at`. An alternative ends
// when no value lies above `floor`, or in front of the jump to the end of all alternatives, the first store, or the
// first move of values below `floor`.
bool PatternExecution::ends_alternative(int at, const State& state, int floor) const {
  const Instruction& instruction = code_[at];
  int above = int(state.stack.size()) - floor;
  if (instruction.op == Op::jump_ || is_store_name(instruction.op)) return true;
  if (instruction.op == Op::swap_ || instruction.op == Op::rotate_) return instruction.arg > above;
  return above == 0;
}

// Parses the code of alternatives `p | q`, which is COPY 1; p; JUMP end; COPY 1; q; JUMP end; POP_TOP; JUMP fail.
// Returns the first instruction behind the alternatives, or -1 if the code at `at` is not compiled from alternatives.
int PatternExecution::alternatives(int at, State& state) {
  if (state.stack.empty() || state.stack.back().is != Value::Is::node || nesting_ > search_limits::pattern_nesting)
    return -1;
  const std::size_t before = nodes_.size();
  ++nesting_;
  // If the code at `at` is not compiled from alternatives, the nodes that `try_alternatives` added are removed.
  int after = try_alternatives(at, state);
  --nesting_;
  if (after < 0) nodes_.resize(before);
  return after;
}

// Executes each alternative of a pattern on its own copy of the state, and joins the resulting states.
int PatternExecution::try_alternatives(int at, State& state) {
  const int whole = state.stack.back().node, floor = int(state.stack.size());
  if (!plain(whole)) return -1;
  Table<int> choices, ends;
  Table<Table<Value>> captured;
  int rest = -1;  // the instruction where control continues if no alternative matched
  for (;;) {
    State inner;
    inner.stack = state.stack;
    choices.push_back(fresh());
    inner.stack.push_back(part(choices.back()));
    ends.push_back(walk(at + 1, inner, floor));
    if (ends.back() < 0 || !same_end(ends.front(), ends.back())) return -1;
    captured.push_back({inner.stack.begin() + floor, inner.stack.end()});
    // An alternative without jumps of failed tests matches everything, so it is the last alternative.
    if (inner.failures.empty()) break;
    if (!resolve(inner.failures, floor, at)) return -1;
    at = skip(at);
    if (code_[at].op == Op::copy_ && code_[at].arg == 1) continue;
    if (code_[at].op != Op::pop_top_) return -1;
    rest = at + 1;
    break;
  }
  if (choices.size() < 2) return -1;
  // The code binds names to parts of the last alternative. Each name is also bound to the parts in the same stack slot
  // of the other alternatives.
  for (std::size_t index = 0; index + 1 < choices.size(); ++index) {
    if (!same_end(ends[index], ends.back()) || captured[index].size() != captured.back().size()) return -1;
    for (std::size_t slot = 0; slot < captured[index].size(); ++slot) {
      const Value &one = captured[index][slot], &last = captured.back()[slot];
      if (one.is != last.is || (one.is != Value::Is::node && one.is != Value::Is::rest)) return -1;
      (one.is == Value::Is::node ? nodes_[last.node].same : nodes_[last.node].same_rest).push_back(one.node);
    }
  }
  if (rest >= 0) state.failures.push_back({rest, floor - 1});
  nodes_[whole].kind = Kind::alternatives, nodes_[whole].children = choices;
  state.stack.insert(state.stack.end(), captured.back().begin(), captured.back().end());
  return *std::max_element(ends.begin(), ends.end());
}

bool parse_case(const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code, int at, bool keeps,
                ParsedCase& parsed) {
  return PatternExecution(decoded, code).run(at, keeps, parsed);
}

}  // namespace depyf
