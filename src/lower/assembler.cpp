#include "lower/assembler.h"

#include <algorithm>

#include "decode/op_info.h"
#include "lower/lower.h"

namespace depyf::lowering {
using namespace ast;

Assembler::Assembler(LoweredCode& result, std::int64_t& bytes_left)
    : result_(result), code_(result.decoded.instructions), bytes_left_(bytes_left) {
  constexpr std::size_t usual = 32;  // instructions of a short function
  code_.reserve(usual), handler_of_.reserve(usual);
}

Instruction& Assembler::emit(Op op, std::int32_t arg, std::int32_t aux) {
  take(sizeof(Instruction) + sizeof(int));
  Instruction instruction{.op = op, .size = 2, .arg = arg, .aux = aux};
  instruction.offset = static_cast<std::uint32_t>(2 * code_.size());
  const StackEffect effect = stack_effect(instruction, result_.code.version, false);
  depth += effect.pushes - effect.pops;
  // A margin for the values with which handlers start.
  deepest_ = std::max(deepest_, depth + 8);
  handler_of_.push_back(handler);
  return code_.emplace_back(instruction);
}

void Assembler::jump(Op op, Label label, std::int32_t aux) {
  Instruction& instruction = emit(op, 0, aux);
  // The depth after a jump differs from the depth behind it. The depth was already changed by the way without the jump.
  const StackEffect fall = stack_effect(instruction, result_.code.version, false);
  const StackEffect effect = stack_effect(instruction, result_.code.version, true);
  instruction.target = label;
  const auto index = static_cast<std::size_t>(label);
  if (label_depth_[index] < 0) label_depth_[index] = depth - (fall.pushes - fall.pops) + effect.pushes - effect.pops;
}

Label Assembler::label() {
  label_at_.push_back(-1);
  label_depth_.push_back(-1);
  return static_cast<Label>(label_at_.size() - 1);
}

// Behind an unconditional jump, the depth at a label is known from the jumps to it.
void Assembler::place(Label label) {
  const auto index = static_cast<std::size_t>(label);
  label_at_[index] = static_cast<std::int32_t>(code_.size());
  if (label_depth_[index] >= 0) depth = label_depth_[index];
  else label_depth_[index] = depth;
}

int Assembler::protect(Label label, int below, bool lasti) {
  handlers_.push_back({label, below, lasti});
  // A handler starts with the exception on the stack and, if `lasti` is set, the offset of the instruction that raised.
  label_depth_[static_cast<std::size_t>(label)] = below + 1 + lasti;
  return static_cast<int>(handlers_.size()) - 1;
}

// Each use of a constant counts, as a tree may contain a constant many times.
void Assembler::take(std::size_t bytes) {
  bytes_left_ -= static_cast<std::int64_t>(bytes);
  if (bytes_left_ < 0) fail("more memory than the limit");
}

void Assembler::take(const Constant& value) {
  take(sizeof(Constant) + value.text.size());
  for (const Constant& item : value.items) take(item);
}

std::int32_t Assembler::constant(const Constant& value) {
  take(value);
  std::vector<Constant>& constants = result_.code.constants;
  constants.push_back(value);
  return static_cast<std::int32_t>(constants.size()) - 1;
}

std::int32_t Assembler::name_index(const NameKey& name) {
  std::vector<std::string>& names = result_.code.names;
  const std::size_t index = names_.number(name);
  if (index == names.size()) names.emplace_back(name.text());
  return static_cast<std::int32_t>(index);
}

void Assembler::load(const Constant& value) { emit(Op::load_const_, constant(value)); }

void Assembler::load_none() { load(Constant{}); }

void Assembler::load_string(std::string_view text) {
  Constant value;
  value.kind = Constant::Kind::string;
  value.text = text;
  load(value);
}

void Assembler::load_integer(std::int64_t number) {
  Constant value;
  value.kind = Constant::Kind::integer;
  value.text = std::to_string(number);
  load(value);
}

void Assembler::find_targets() {
  for (Instruction& instruction : code_) {
    if (instruction.target < 0) continue;
    const std::int32_t at = label_at_[static_cast<std::size_t>(instruction.target)];
    if (at < 0) fail("a label that was not placed");
    instruction.target = at;
  }
  for (std::int32_t at : label_at_)
    if (at >= static_cast<std::int32_t>(code_.size())) fail("a label behind the end");
}

void Assembler::find_ranges() {
  const std::int32_t count = static_cast<std::int32_t>(code_.size());
  for (std::int32_t begin = 0; begin < count;) {
    std::int32_t end = begin + 1;
    const int index = handler_of_[static_cast<std::size_t>(begin)];
    while (end < count && handler_of_[static_cast<std::size_t>(end)] == index) ++end;
    if (index >= 0) {
      const Handler& it = handlers_[static_cast<std::size_t>(index)];
      const std::int32_t target = label_at_[static_cast<std::size_t>(it.label)];
      if (target < 0) fail("a handler that was not placed");
      result_.decoded.ranges.push_back({begin, end, target, it.depth, it.lasti, false});
    }
    begin = end;
  }
}

void Assembler::finish() {
  find_targets();
  find_ranges();
  DecodedCode& decoded = result_.decoded;
  result_.code.stacksize = deepest_;
  // Free variables come behind all others.
  decoded.first_free = static_cast<std::int32_t>(decoded.localsplus.size());
  for (const std::string& name : result_.code.freevars) {
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
  for (Instruction& instruction : code_)
    if (instruction.arg <= free_marker && uses_cell(instruction.op))
      instruction.arg = decoded.first_free + (free_marker - instruction.arg);
}

}  // namespace depyf::lowering
