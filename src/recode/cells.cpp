// Replaces nested code objects, and reorders the loads of cells for functions whose new code has another order of free
// variables than the old code. CPython creates a function with the free variables x and y by the following
// instructions:
//
//     LOAD_FAST x; LOAD_FAST y; BUILD_TUPLE 2; LOAD_CONST <code>; MAKE_FUNCTION.
//
// The cells are loaded in the order of the code's free variables. From 3.13 on, one instruction may load two cells.
#include <algorithm>
#include <optional>

#include "decode/raw.h"
#include "depyf/recode.h"
#include "recode/splice.h"

namespace depyf {
namespace {

using Raws = std::vector<RawInstruction>;

bool loads_one(Opcode opcode) {
  return opcode == Opcode::LOAD_CLOSURE || opcode == Opcode::LOAD_FAST || opcode == Opcode::LOAD_FAST_BORROW;
}

bool loads_two(Opcode opcode) {
  return opcode == Opcode::LOAD_FAST_LOAD_FAST || opcode == Opcode::LOAD_FAST_BORROW_LOAD_FAST_BORROW;
}

// Returns for each name of `wanted` its index in `names`; an empty list if the two lists do not contain the same names.
std::vector<std::size_t> order_of(const std::vector<std::string>& wanted, const std::vector<std::string>& names) {
  std::vector<std::size_t> order;
  if (!std::is_permutation(wanted.begin(), wanted.end(), names.begin(), names.end())) return order;
  for (const std::string& name : wanted)
    order.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  return order;
}

// Returns the index of the first of the consecutive instructions in front of `end` that together load `count` locals;
// nothing if there are no such instructions.
std::optional<std::size_t> first_load(const Raws& raws, std::size_t end, std::size_t count) {
  std::size_t first = end, loaded = 0;
  while (loaded < count && first > 0) {
    const Opcode opcode = raws[--first].opcode;
    if (!loads_one(opcode) && !loads_two(opcode)) return std::nullopt;
    loaded += loads_two(opcode) ? 2u : 1u;
  }
  if (loaded != count) return std::nullopt;
  return first;
}

// Changes the loads before the BUILD_TUPLE of cells at `tuple`, so that item i of the tuple is the previous item
// order[i].
void reorder_loads(const Raws& raws, std::size_t tuple, const std::vector<std::size_t>& order,
                   Replacements& replacements) {
  if (raws[tuple].opcode != Opcode::BUILD_TUPLE || raws[tuple].arg != order.size()) return;
  const std::optional<std::size_t> first = first_load(raws, tuple, order.size());
  if (!first) return;
  std::vector<std::uint32_t> slots;
  for (std::size_t i = *first; i < tuple; ++i) {
    const RawInstruction& raw = raws[i];
    if (loads_two(raw.opcode)) slots.insert(slots.end(), {raw.arg >> 4, raw.arg & 15});
    else slots.push_back(raw.arg);
  }
  std::size_t at = 0;
  auto next_slot = [&] { return slots[order[at++]]; };
  for (std::size_t i = *first; i < tuple; ++i) {
    const Opcode opcode = raws[i].opcode;
    std::vector<NewInstruction>& load = replacements[i];
    const std::uint32_t slot = next_slot();
    if (!loads_two(opcode)) {
      load = {{opcode, slot}};
      continue;
    }
    const std::uint32_t second = next_slot();
    const bool fits = slot < 16 && second < 16;  // each slot takes four bits
    if (fits) load = {{opcode, slot << 4 | second}};
    else load = {{Opcode::LOAD_FAST, slot}, {Opcode::LOAD_FAST, second}};
  }
}

}  // namespace

void replace_nested(CodeObject& code, const std::map<std::uint32_t, Constant>& nested) {
  const Result<Raws> raws = read_raw(code);
  Replacements replacements;
  for (std::size_t i = 1; raws && i < raws->size(); ++i) {
    const RawInstruction& raw = (*raws)[i];
    const auto own = raw.opcode == Opcode::LOAD_CONST ? nested.find(raw.arg) : nested.end();
    if (own == nested.end() || raw.arg >= code.constants.size()) continue;
    const Constant& before = code.constants[raw.arg];
    if (!before.code || !own->second.code || before.code->freevars == own->second.code->freevars) continue;
    const std::vector<std::size_t> order = order_of(own->second.code->freevars, before.code->freevars);
    if (!order.empty()) reorder_loads(*raws, i - 1, order, replacements);
  }
  if (!replacements.empty()) replace_instructions(code, *raws, replacements);
  for (const auto& [index, own] : nested) {
    if (index < code.constants.size()) code.constants[index] = own;
  }
}

}  // namespace depyf
