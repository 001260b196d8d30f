// The instructions of a pattern take the subject from the top of the stack, and jump away where a test fails (see
// compiler_pattern and the functions around it in CPython's Python/compile.c):
//
//   value       <value>; COMPARE_OP ==; POP_JUMP_IF_FALSE F     None, True: LOAD_CONST; IS_OP (or POP_JUMP_IF_NOT_NONE)
//   name        [SWAP n ...]; after all tests: STORE name             _: POP_TOP
//   p as name   COPY 1; p; as name
//   p | q       COPY 1; p; JUMP E; COPY 1; q; JUMP E; POP_TOP; JUMP F; E: [SWAP n ...]; POP_TOP
//   [p, q]      MATCH_SEQUENCE; GET_LEN; 2; COMPARE_OP ==; UNPACK_SEQUENCE 2; p; q        with a star: >=, UNPACK_EX
//   [p, *_, q]  the same, for each item: COPY 1; 0; BINARY_SUBSCR or COPY 1; GET_LEN; 1; BINARY_OP -; BINARY_SUBSCR
//   {k: p}      MATCH_MAPPING; GET_LEN; 1; COMPARE_OP >=; k; BUILD_TUPLE; MATCH_KEYS; COPY 1; POP_JUMP_IF_NONE F;
//               UNPACK_SEQUENCE 1; p; POP_TOP; POP_TOP
//   {**rest}    BUILD_MAP 0; SWAP 3; DICT_UPDATE 2; UNPACK_SEQUENCE; each key: COPY n; SWAP 2; DELETE_SUBSCR
//   C(p, a=q)   C; ('a',); MATCH_CLASS 1; COPY 1; POP_JUMP_IF_NONE F; UNPACK_SEQUENCE 2; p; q
//               3.10: MATCH_CLASS; POP_JUMP_IF_FALSE F; COPY 1; 0; BINARY_SUBSCR; p; COPY 1; 1; BINARY_SUBSCR; q
//
// Dynamo writes POP_JUMP_IF_NONE as LOAD_CONST None; IS_OP; POP_JUMP_IF_TRUE, and POP_JUMP_IF_NOT_NONE in the same way.
//
// The jump of a failed test leads into a row of POP_TOP instructions (F), so that all values that lie on the stack at
// the test are popped. The compiler's optimisations move stores and swaps, so the code is executed symbolically, and
// each symbol on the stack states which part of the subject it represents. A pattern binds its names after all of its
// tests.
#include "flow/pattern_parser.h"

#include <algorithm>

#include "decode/op.h"
#include "flow/pattern_execution.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {

// Parses the case that starts at `at` into `parsed`. Returns false if the code has another shape.
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

// True if the code at `one` and at `two` does the same and then leaves the function, since the compiler copies short
// exits.
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

// Follows all failures down the row of POP_TOP instructions until `depth` values are left on the stack. `found` is set
// to the instruction where all failures arrive; returns false if they arrive at different instructions.
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

// Runs the instructions from `at` on until the pattern is complete. The whole pattern is complete when the stack is
// empty. An alternative, for which `floor` is the depth of the stack below it, is complete when only values to be bound
// to names lie above that depth. Returns the instruction where control continues, or -1 if the code has another shape.
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

// True if the alternative above `floor` is complete, and `at` is the jump to the end of all alternatives, the first
// store, or the first move of values below `floor`.
bool PatternExecution::ends_alternative(int at, const State& state, int floor) const {
  const Instruction& instruction = code_[at];
  int above = int(state.stack.size()) - floor;
  if (instruction.op == Op::jump_ || is_store_name(instruction.op)) return true;
  if (instruction.op == Op::swap_ || instruction.op == Op::rotate_) return instruction.arg > above;
  return above == 0;
}

// Parses alternatives, COPY 1; p; JUMP E; COPY 1; q; JUMP E; POP_TOP; JUMP F. Returns the first instruction behind the
// alternatives `p | q`, or -1 if the code at `at` is not compiled from alternatives.
int PatternExecution::alternatives(int at, State& state) {
  if (state.stack.empty() || state.stack.back().is != Value::Is::node || nesting_ > search_limits::pattern_nesting)
    return -1;
  const std::size_t before = nodes_.size();
  ++nesting_;
  // If the code contains no alternatives, the nodes that the attempt added are removed.
  int after = try_alternatives(at, state);
  --nesting_;
  if (after < 0) nodes_.resize(before);
  return after;
}

// Runs each alternative on a state of its own, and joins the states.
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
    // An alternative without failures matches everything, so it is the last one.
    if (inner.failures.empty()) break;
    if (!resolve(inner.failures, floor, at)) return -1;
    at = skip(at);
    if (code_[at].op == Op::copy_ && code_[at].arg == 1) continue;
    if (code_[at].op != Op::pop_top_) return -1;
    rest = at + 1;
    break;
  }
  if (choices.size() < 2) return -1;
  // The last alternative provides the names of all alternatives: a name that is bound to a part of the last alternative
  // is bound to the parts in the same stack slots of the other alternatives as well.
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
