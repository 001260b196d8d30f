#include "lower/assembler.h"

#include <algorithm>

#include "decode/op_info.h"
#include "lower/lower.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Returns the change of the depth of the stack, on the way without a jump.
int change_of_depth(const Instruction& instruction, Version version) {
  const OpInfo& info = info_of(instruction.op);
  if (info.is_fixed) return info.pictures[0].pushes.fixed - info.pictures[0].pops.fixed;
  const StackEffect effect = stack_effect(instruction, version, false);
  return effect.pushes - effect.pops;
}

}  // namespace

Assembler::Assembler(LoweredCode& result, std::int64_t& bytes_left)
    : result_(result), code_(result.decoded.instructions), bytes_left_(bytes_left) {
  // A short function has so many of each.
  constexpr std::size_t usual_instructions = 32, usual = 8;
  code_.reserve(usual_instructions);
  result_.code.constants.reserve(usual), result_.code.names.reserve(usual);
}

Instruction& Assembler::emit(Op op, std::int32_t arg, std::int32_t aux) {
  take(sizeof(Instruction));
  const std::size_t index = code_.size();
  if (stretches_.empty() || stretches_.back().handler != handler)
    stretches_.push_back({static_cast<std::int32_t>(index), handler});
  Instruction& instruction = code_.emplace_back();
  instruction.op = op;
  instruction.arg = arg;
  instruction.aux = aux;
  instruction.offset = static_cast<std::uint32_t>(2 * index);
  depth += change_of_depth(instruction, result_.code.version);
  // A margin for the values with which handlers start.
  deepest_ = std::max(deepest_, depth + 8);
  return instruction;
}

void Assembler::jump(Op op, Label label, std::int32_t aux) {
  const int before = depth;
  jumps_.push_back(code_.size());
  Instruction& instruction = emit(op, 0, aux);
  instruction.target = label;
  // The depth after a jump differs from the depth behind it.
  const StackEffect effect = stack_effect(instruction, result_.code.version, true);
  if (labels_[label].depth < 0) labels_[label].depth = before + effect.pushes - effect.pops;
}

Label Assembler::label() {
  labels_.emplace_back();
  return static_cast<Label>(labels_.size() - 1);
}

// Behind an unconditional jump, the depth at a label is known from the jumps to it.
void Assembler::place(Label label) {
  Place& here = labels_[label];
  here.at = static_cast<std::int32_t>(code_.size());
  if (here.depth >= 0) depth = here.depth;
  else here.depth = depth;
}

int Assembler::protect(Label label, int below, bool lasti) {
  handlers_.push_back({label, below, lasti});
  // A handler starts with the exception on the stack and, if `lasti` is set, the offset of the instruction that raised.
  labels_[label].depth = below + 1 + lasti;
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
  for (std::size_t jump : jumps_) {
    Instruction& instruction = code_[jump];
    instruction.target = labels_[instruction.target].at;
    if (instruction.target < 0) fail("a label that was not placed");
  }
  for (const Place& label : labels_)
    if (label.at >= static_cast<std::int32_t>(code_.size())) fail("a label behind the end");
}

void Assembler::find_ranges() {
  stretches_.push_back({static_cast<std::int32_t>(code_.size()), -1});
  for (std::size_t i = 0; i + 1 < stretches_.size(); ++i) {
    const auto [begin, number] = stretches_[i];
    if (number < 0) continue;
    const Handler& protecting = handlers_[number];
    const std::int32_t target = labels_[protecting.label].at;
    if (target < 0) fail("a handler that was not placed");
    result_.decoded.ranges.push_back(
        {begin, stretches_[i + 1].begin, target, protecting.depth, protecting.lasti, false});
  }
}

void Assembler::place_free_variables() {
  DecodedCode& decoded = result_.decoded;
  decoded.first_free = static_cast<std::int32_t>(decoded.localsplus.size());
  if (result_.code.freevars.empty()) return;
  for (const std::string& name : result_.code.freevars) {
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
  for (Instruction& instruction : code_)
    if (instruction.arg <= free_marker && uses_cell(instruction.op))
      instruction.arg = decoded.first_free + (free_marker - instruction.arg);
}

void Assembler::finish() {
  find_targets();
  find_ranges();
  result_.code.stacksize = deepest_;
  place_free_variables();
}

}  // namespace depyf::lowering
