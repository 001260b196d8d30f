// Verifies the properties of bytecode that CPython relies on without a check when it runs a code object.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/recode.h"
#include "recode/nested.h"

namespace depyf {
namespace {

bool leaves(Op op) { return leaves_function(op) || op == Op::jump_; }

// The largest number of times that an operation may be reached with more values on the stack than before. In code of
// CPython's compiler, each operation is reached with one stack depth, or with a few depths where a finally clause of
// 3.8 begins. Without the limit, the walk through a loop that leaves a value on the stack would never end.
constexpr int raises_max = 64;

// Walks along all paths through the operations and counts the values on the stack. A path that reaches an operation
// again is followed further only if it has more values on the stack than before.
class StackDepths {
 public:
  explicit StackDepths(const DecodedCode& decoded)
      : decoded_(decoded),
        deepest_(decoded.instructions.size(), not_reached),
        raises_(decoded.instructions.size(), 0) {}

  std::string problem() {
    reach(0, 0);
    for (const ProtectedRange& range : decoded_.ranges)  // a handler's stack has the exception and perhaps `lasti`
      reach(range.target, range.depth + 1 + range.lasti);
    while (problem_.empty() && !todo_.empty()) {
      const std::int32_t index = todo_.back();
      todo_.pop_back();
      follow(index, deepest_[std::size_t(index)]);
    }
    return problem_;
  }

 private:
  static constexpr std::int32_t not_reached = -1;

  const Instruction& at(std::int32_t index) const { return decoded_.instructions[std::size_t(index)]; }

  std::string place(std::int32_t index) const { return "offset " + std::to_string(at(index).offset) + ": "; }

  void reach(std::int32_t index, std::int32_t depth) {
    std::int32_t& known = deepest_[std::size_t(index)];
    if (known >= depth) return;
    if (++raises_[std::size_t(index)] > raises_max) {
      problem_ = place(index) + "a loop leaves values on the stack";
      return;
    }
    known = depth;
    todo_.push_back(index);
  }

  // One instruction of CPython may become several operations, between which the stack may be deeper than in CPython, so
  // the depth is checked only at the start of an instruction.
  bool begins_instruction(std::int32_t index) const { return index == 0 || at(index).offset != at(index - 1).offset; }

  void follow(std::int32_t index, std::int32_t depth) {
    const Instruction& instruction = at(index);
    if (instruction.offset >= decoded_.code->bytecode.size()) {
      problem_ = "control runs past the end of the code";
      return;
    }
    if (begins_instruction(index) && depth > decoded_.code->stacksize) {
      problem_ = place(index) + std::to_string(depth) + " values exceed the stack size of " +
                 std::to_string(decoded_.code->stacksize);
      return;
    }
    if (instruction.target >= 0) step(index, instruction.target, depth, true);
    if (!leaves(instruction.op)) step(index, index + 1, depth, false);
  }

  void step(std::int32_t index, std::int32_t next, std::int32_t depth, bool jump) {
    const StackEffect effect = stack_effect(at(index), decoded_.version, jump);
    if (effect.pops > depth) {
      if (problem_.empty())
        problem_ = place(index) + std::string(op_name(at(index).op)) + " takes more values than the stack holds";
      return;
    }
    const std::int64_t after = std::int64_t{depth} - effect.pops + effect.pushes;
    reach(next, static_cast<std::int32_t>(std::min<std::int64_t>(after, std::numeric_limits<std::int32_t>::max())));
  }

  const DecodedCode& decoded_;
  std::vector<std::int32_t> deepest_;  // the greatest stack depth so far at the start of each operation
  std::vector<int> raises_;  // the number of times that each operation's entry in `deepest_` has grown
  std::vector<std::int32_t> todo_;
  std::string problem_;
};

}  // namespace

std::string problem(const CodeObject& code) {
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) return "offset " + std::to_string(decoded.error().offset) + ": " + decoded.error().message;
  return StackDepths(*decoded).problem();
}

NestedProblem first_problem(const CodeObject& code) {
  NestedProblem first;
  for_each_code(code, [&](const CodeObject& each) {
    if (!first.words.empty()) return;
    first = {each.name, problem(each)};
  });
  return first;
}

}  // namespace depyf
