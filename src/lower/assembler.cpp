#include "lower/assembler.h"

#include <algorithm>
#include <array>

#include "decode/op_info.h"
#include "lower/lower.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// The change of the stack depth that an operation causes when it does not jump.
struct Change {
  bool is_known = false;  // true if the stack change is the same in all versions, and depends only on `arg`
  std::int8_t fixed = 0, of_arg = 0;
};

constexpr auto changes = [] {
  using namespace op_rows;  // for the operators of Count
  std::array<Change, op_count> rows{};
  for (std::size_t op = 0; op < op_count; ++op) {
    const OpInfo& info = op_rows::all[op];
    const Count change = info.pictures[0].pushes + -1 * info.pictures[0].pops;
    const bool has_other_terms = change.arg_bits || change.aux || change.aux_bit || change.has_aux;
    if (info.pictures_count == 1 && !has_other_terms) rows[op] = {true, change.fixed, change.arg};
  }
  return rows;
}();

AssemblerLists& unused_lists(AssemblerSupplies& supplies) {
  if (supplies.lists_in_use == supplies.lists.size()) supplies.lists.emplace_back();
  AssemblerLists& lists = supplies.lists[supplies.lists_in_use];
  lists.clear();
  return lists;
}

}  // namespace

void AssemblerLists::clear() {
  stretches.clear(), handlers.clear(), labels.clear(), jumps.clear();
  names.clear();
}

Assembler::Assembler(LoweredCode& result, AssemblerSupplies& supplies)
    : result_(result), supplies_(supplies), lists_(unused_lists(supplies)), room_(lists_.code.size()) {
  begin_stretch();
  // A typical short function has at most `usual` constants and names.
  constexpr std::size_t usual = 8;
  result_.code.constants.reserve(usual), result_.code.names.reserve(usual);
  ++supplies_.lists_in_use;
}

// `emit` calls other functions only as the last step of rare paths, so that the usual path need not save registers.
Instruction& Assembler::emit(Op op, std::int32_t arg, std::int32_t aux) {
  if (lists_.stretches.back().handler != handler || count_ == room_) [[unlikely]]
    return emit_elsewhere(op, arg, aux);
  take(sizeof(Instruction));
  Instruction& instruction = lists_.code[count_];
  instruction = Instruction{.op = op, .size = 2, .arg = arg, .aux = aux, .target = {}};
  instruction.offset = static_cast<std::uint32_t>(2 * count_);
  ++count_;
  const Change& change = changes[static_cast<std::size_t>(op)];
  if (!change.is_known) [[unlikely]]
    return change_depth_by_version(instruction);
  change_depth(change.fixed + change.of_arg * arg);
  return instruction;
}

Instruction& Assembler::emit_elsewhere(Op op, std::int32_t arg, std::int32_t aux) {
  if (lists_.stretches.back().handler != handler) begin_stretch();
  if (count_ == room_) make_room();
  return emit(op, arg, aux);
}

Instruction& Assembler::change_depth_by_version(Instruction& instruction) {
  const StackEffect effect = stack_effect(instruction, result_.code.version, false);
  change_depth(effect.pushes - effect.pops);
  return instruction;
}

void Assembler::begin_stretch() { lists_.stretches.push_back({static_cast<std::int32_t>(count_), handler}); }

void Assembler::make_room() {
  constexpr std::size_t least = 64;
  room_ = std::max(least, 2 * room_);
  lists_.code.resize(room_);
}

void Assembler::jump(Op op, Label label, std::int32_t aux) {
  const int before = depth;
  lists_.jumps.push_back(count_);
  Instruction& instruction = emit(op, 0, aux);
  instruction.target = label;
  // The stack depth at the target of a jump may differ from the depth at the instruction behind the jump.
  const StackEffect effect = stack_effect(instruction, result_.code.version, true);
  if (depth_at(label) < 0) depth_at(label) = before + effect.pushes - effect.pops;
}

Label Assembler::label() {
  lists_.labels.emplace_back();
  return static_cast<Label>(lists_.labels.size() - 1);
}

// For a label behind an unconditional jump, only the jumps to the label determine the depth of the stack.
void Assembler::place(Label label) {
  AssemblerLists::Place& here = lists_.labels[label];
  here.at = static_cast<std::int32_t>(count_);
  if (here.depth >= 0) depth = here.depth;
  else here.depth = depth;
}

int Assembler::protect(Label label, int below, bool lasti) {
  lists_.handlers.push_back({label, below, lasti});
  // A handler starts with the exception on the stack and, if `lasti` is set, the offset of the instruction that raised.
  depth_at(label) = below + 1 + lasti;
  return static_cast<int>(lists_.handlers.size()) - 1;
}

void Assembler::fail_at_limit() { fail("more memory than the limit"); }

void Assembler::take(const Constant& value) {
  take(sizeof(Constant) + value.text.size());
  for (const Constant& item : value.items) take(item);
}

std::int32_t Assembler::name_index(const NameKey& name) {
  std::vector<std::string>& names = result_.code.names;
  const std::size_t index = lists_.names.number(name);
  if (index == names.size()) names.emplace_back(name.text());
  return static_cast<std::int32_t>(index);
}

void Assembler::load_last() {
  const std::vector<Constant>& constants = result_.code.constants;
  take(constants.back());
  emit(Op::load_const_, static_cast<std::int32_t>(constants.size()) - 1);
}

void Assembler::load(const Constant& value) {
  if (value.kind == Constant::Kind::none) return load_none();
  result_.code.constants.push_back(value);
  load_last();
}

void Assembler::load(Constant&& value) {
  result_.code.constants.push_back(std::move(value));
  load_last();
}

// None is the most frequent constant, so it is stored only once.
void Assembler::load_none() {
  if (none_ >= 0) {
    emit(Op::load_const_, none_);
    return;
  }
  none_ = static_cast<std::int32_t>(result_.code.constants.size());
  load(Constant{});
}

void Assembler::load_string(std::string_view text) {
  Constant& value = result_.code.constants.emplace_back();
  value.kind = Constant::Kind::string;
  value.text = text;
  load_last();
}

void Assembler::load_integer(std::int64_t number) {
  Constant& value = result_.code.constants.emplace_back();
  value.kind = Constant::Kind::integer;
  value.text = std::to_string(number);
  load_last();
}

void Assembler::find_targets() {
  for (std::size_t jump : lists_.jumps) {
    Instruction& instruction = result_.decoded.instructions[jump];
    instruction.target = lists_.labels[instruction.target].at;
    if (instruction.target < 0) fail("a label that was not placed");
  }
  for (const AssemblerLists::Place& label : lists_.labels)
    if (label.at >= static_cast<std::int32_t>(count_)) fail("a label behind the end");
}

void Assembler::find_ranges() {
  begin_stretch();
  const std::vector<AssemblerLists::Stretch>& stretches = lists_.stretches;
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    const auto [begin, number] = stretches[i];
    if (number < 0) continue;
    const AssemblerLists::Handler& protecting = lists_.handlers[number];
    const std::int32_t target = lists_.labels[protecting.label].at;
    if (target < 0) fail("a handler that was not placed");
    result_.decoded.ranges.push_back(
        {begin, stretches[i + 1].begin, target, protecting.depth, protecting.lasti, false});
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
  for (Instruction& instruction : decoded.instructions)
    if (instruction.arg <= free_marker && uses_cell(instruction.op))
      instruction.arg = decoded.first_free + (free_marker - instruction.arg);
}

void Assembler::hand_over() {
  Instructions& handed = result_.decoded.instructions;
  handed.reserve(count_);
  std::copy_n(lists_.code.begin(), count_, handed.data());
  handed.set_size(count_);
}

void Assembler::finish() {
  hand_over();
  find_targets();
  find_ranges();
  result_.code.stacksize = deepest_;
  place_free_variables();
}

}  // namespace depyf::lowering
