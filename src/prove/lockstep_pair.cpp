#include "prove/lockstep_pair.h"
#include "decode/equal_constants.h"
#include "decode/op.h"
#include "depyf/code_object.h"

#include <algorithm>
#include <string_view>

namespace depyf::lockstep {

using Kind = Constant::Kind;

bool EventPair::same_slots(int one, int two, Frames& frames) {
  if (one < 0 || two < 0) return one == two;
  if (Shadow* shadow = shadow_of(frames, one)) return same_shadow(*shadow, two, frames);
  int &forth = codes_[0].slot_partner[std::size_t(one)], &back = codes_[1].slot_partner[std::size_t(two)];
  if (forth == two && back == one) return true;
  if (forth != -1 || back != -1) return false;
  if (codes_[0].decoded.localsplus[std::size_t(one)] != codes_[1].decoded.localsplus[std::size_t(two)] ||
      codes_[0].is_cell[std::size_t(one)] != codes_[1].is_cell[std::size_t(two)])
    return false;
  forth = two;
  back = one;
  return true;
}

bool EventPair::store_all(Frames& frames) {
  std::size_t counts[2] = {};
  for (int side = 0; side < 2; ++side) {
    const Frame& frame = frames.sides[side];
    if (frame.at == left_frame) return false;
    while (counts[side] < frame.stack.size() && frame.stack[frame.stack.size() - 1 - counts[side]] > null_value &&
           codes_[side].op_at(frame.at + int(counts[side])) == Op::store_fast_)
      ++counts[side];
  }
  const std::size_t count = std::min(counts[0], counts[1]);
  if (count < 2 || frames.sides[0].handled != frames.sides[1].handled) return false;
  const auto slot = [&](int side, std::size_t index) {
    return codes_[side].instructions[std::size_t(frames.sides[side].at) + index].arg;
  };
  const auto stored = [&](int side, std::size_t index) {
    const std::vector<Value>& stack = frames.sides[side].stack;
    return stack[stack.size() - 1 - index];
  };
  std::vector<bool> is_taken(count);
  for (std::size_t one = 0; one < count; ++one) {
    std::size_t two = 0;
    for (; two < count; ++two)
      // Each store of the first code object needs a store of the same value by the second, into a local of the same
      // name.
      if (!is_taken[two] && stored(0, one) == stored(1, two) && stored(0, one) % parts != self_part &&
          codes_[0].decoded.localsplus[std::size_t(slot(0, one))] ==
              codes_[1].decoded.localsplus[std::size_t(slot(1, two))])
        break;
    if (two == count || !same_slots(slot(0, one), slot(1, two), frames)) return false;
    is_taken[two] = true;
    // The order of two stores into the same local matters, so a sequence with two such stores is refused.
    for (std::size_t earlier = 0; earlier < one; ++earlier)
      if (slot(0, earlier) == slot(0, one)) return false;
  }
  for (Frame& frame : frames.sides) {
    frame.at += int(count);
    frame.stack.resize(frame.stack.size() - count);
  }
  return true;
}

// Compares two accesses: in the first code object to the local of `shadow`, which an inlined comprehension uses for its
// variable, and in the second code object to the local `two`. A store makes `two` the `partner` in `shadow`. A load or
// deletion is the same only if `two` is the partner.
bool EventPair::same_shadow(Shadow& shadow, int two, Frames& frames) {
  const Op op = shown(0).op;
  if (op == Op::load_fast_ || op == Op::delete_fast_) return shadow.partner == two;
  int& back = codes_[1].slot_partner[std::size_t(two)];
  if (op != Op::store_fast_ || back >= 0) return false;
  back = is_shadow;
  for (Shadow& around : frames.shadows)
    if (around.partner == two) around.partner = -1;
  shadow.partner = two;
  return true;
}

// Compares the constants of the two events: code objects by a later proof, the names in `__static_attributes__` without
// their order, and all other constants by type and value.
bool EventPair::same_constants(const Event& one, const Event& two, const Frames& frames) {
  if (!one.constant || !two.constant) {
    if (one.constant == two.constant) return one.integer == two.integer;
    const Constant& constant = one.constant ? *one.constant : *two.constant;
    const std::optional<std::int32_t> integer = one.constant ? two.integer : one.integer;
    return constant.kind == Kind::integer && integer && constant.text == std::to_string(*integer);
  }
  if (one.constant->code && two.constant->code) {
    if (one.constant->code->freevars != two.constant->code->freevars) return false;
    pairs_.emplace_back(one.constant->code.get(), two.constant->code.get());
    return true;
  }
  if (one.op == Op::store_name_) {
    std::vector<std::string_view> names[2];
    for (int side = 0; side < 2; ++side) {
      const Constant& attributes = *shown(side).constant;
      if (attributes.kind != Kind::tuple) return false;
      for (const Constant& attribute : attributes.items) names[side].push_back(attribute.text);
      std::ranges::sort(names[side]);
    }
    return names[0] == names[1];
  }
  // A set that is only searched (`x in {1, 2}`) may have its items in any order.
  const bool is_searched = codes_[0].op_at(frames.sides[0].at + 1) == Op::contains_op_ &&
                           codes_[1].op_at(frames.sides[1].at + 1) == Op::contains_op_;
  return equal_constants(*one.constant, *two.constant, is_searched);
}

bool EventPair::same_events(Frames& frames) {
  const Event &one = shown(0), &two = shown(1);
  if (one.op != two.op || one.then != two.then || one.detail != two.detail || one.results != two.results ||
      one.boolean != two.boolean || readers_[0].operands != readers_[1].operands)
    return false;
  // END_ASYNC_FOR runs inside a handler up to 3.10 and outside of any handler from 3.11 on, but no other code runs
  // that could observe the difference.
  if (frames.sides[0].handled != frames.sides[1].handled && one.then != Event::Then::end_async_for) return false;
  if (one.name != two.name && (!one.name || !two.name || *one.name != *two.name)) return false;
  return same_slots(one.local, two.local, frames) && same_constants(one, two, frames);
}

}  // namespace depyf::lockstep
