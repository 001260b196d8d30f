#include "prove/lockstep_frames.h"

#include <algorithm>
#include <ranges>

#include "decode/class_details.h"
#include "decode/op.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"

namespace depyf::lockstep {

// Control flow paths meet only at the targets of jumps and at the starts of handlers.
Code::Code(const DecodedCode& decoded_code) : decoded(decoded_code), instructions(decoded.instructions) {
  version = std::min(decoded.version, one_iterator_version);
  has_table = dialect_of(version).exception_table;
  meets.assign(instructions.size(), 0);
  for (const Instruction& instruction : instructions)
    if (instruction.target >= 0) meets[std::size_t(instruction.target)] = 1;
  if (!decoded.ranges.empty()) handler_of.assign(instructions.size(), -1);
  for (std::size_t range = 0; range < decoded.ranges.size(); ++range) {
    meets[std::size_t(decoded.ranges[range].target)] = 1;
    // Where protected ranges overlap, an instruction belongs to the first range that contains it.
    for (int at = decoded.ranges[range].begin; at < decoded.ranges[range].end; ++at)
      if (handler_of[std::size_t(at)] < 0) handler_of[std::size_t(at)] = static_cast<int>(range);
  }
  find_class_details();
  slot_partner.assign(decoded.localsplus.size(), -1);
  is_cell.assign(decoded.localsplus.size(), 0);
  for (std::size_t slot = 0; !has_table && slot < is_cell.size(); ++slot) is_cell[slot] = decoded.is_cell[slot];
}

// A store to `__firstlineno__` or `__static_attributes__` counts as one event (observable action) together with the
// load in front of it, so the index of the load is found.
void Code::find_class_details() {
  const ClassDetails details = class_details(decoded);
  const auto load_before = [&](int store, OpSet loads) {
    return store > 0 && loads.has(instructions[std::size_t(store) - 1].op) ? store - 1 : -1;
  };
  line_at = load_before(details.line, {Op::load_const_, Op::load_int_});
  attributes_at = load_before(details.attributes, {Op::load_const_});
}

// MAKE_CELL turns a local into a cell; COPY_FREE_VARS fills the cells of free variables.
int Code::begin() {
  std::size_t at = 0;
  for (; at < instructions.size(); ++at) {
    const Instruction& instruction = instructions[at];
    if (instruction.op == Op::make_cell_ && !is_cell[std::size_t(instruction.arg)])
      is_cell[std::size_t(instruction.arg)] = 1;
    else if (instruction.op == Op::copy_free_vars_)
      std::fill(is_cell.begin() + decoded.first_free, is_cell.end(), std::uint8_t{1});
    else if (instruction.op != Op::nop_) break;
  }
  return static_cast<int>(at);
}

// Returns true if the code at `at` builds a list of constants: `BUILD_LIST 0; LOAD_CONST <tuple>; LIST_EXTEND 1`.
bool Code::starts_list_of_constants(int at) const {
  if (instructions[std::size_t(at)].arg != 0 || op_at(at + 1) != Op::load_const_ || op_at(at + 2) != Op::list_extend_ ||
      instructions[std::size_t(at) + 2].arg != 1)
    return false;
  return constant_at(at + 1)->kind == Constant::Kind::tuple;
}

Shadow* shadow_of(Frames& frames, int slot) {
  for (Shadow& shadow : frames.shadows | std::views::reverse)
    if (shadow.slot == slot && shadow.saved != 0) return &shadow;
  return nullptr;
}

bool leave_handler(Frame& frame) {
  if (frame.blocks.empty() || frame.blocks.back().target != is_running) return false;
  const int level = frame.blocks.back().level;
  if (level < 0 || std::size_t(level) + exception_values > frame.stack.size()) return false;
  frame.handled = frame.stack[std::size_t(level) + 1];
  frame.blocks.pop_back();
  return is_whole(frame.handled);
}

}  // namespace depyf::lockstep
