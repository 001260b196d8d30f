// Tests of the table of operations (op.def), and of the code that is generated from it.
#include <doctest/doctest.h>

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "decode/op_table.h"

namespace depyf {
namespace {

constexpr Version old_version{3, 10}, later_version{3, 12}, pair_version{3, 15};

bool has_effect(const Instruction& it, Version of, bool jump, std::int32_t pops, std::int32_t pushes,
                std::int32_t stays) {
  const StackEffect effect = stack_effect(it, of, jump);
  return effect.pops == pops && effect.pushes == pushes && effect.stays == stays;
}

}  // namespace

TEST_CASE("operations: counts depend on the fields of the instruction") {
  CHECK(has_effect({.op = Op::build_map_, .arg = 3}, later_version, false, 6, 1, 0));
  CHECK(has_effect({.op = Op::unpack_ex_, .arg = 2, .aux = 1}, later_version, false, 1, 4, 0));
  CHECK(has_effect({.op = Op::make_function_, .arg = 1 | 8, .aux = 1}, old_version, false, 4, 1, 0));
  CHECK(has_effect({.op = Op::call_function_ex_, .arg = 1, .aux = 3}, later_version, false, 4, 1, 0));
}

TEST_CASE("operations: a loop keeps its iterator where it goes on") {
  const Instruction plain{.op = Op::for_iter_}, ended_later{.op = Op::for_iter_, .aux = 1},
      is_async{.op = Op::for_iter_, .aux = 2};
  CHECK(has_effect(plain, later_version, false, 1, 2, 1));
  CHECK(has_effect(plain, later_version, true, 1, 0, 0));
  CHECK(has_effect(ended_later, later_version, true, 1, 2, 1));
  CHECK(has_effect(is_async, later_version, true, 1, 2, 1));
  CHECK(has_effect(plain, pair_version, false, 2, 3, 2));
  CHECK(has_effect(plain, pair_version, true, 2, 3, 2));
}

TEST_CASE("operations: to 3.10 an exception is several values") {
  CHECK(has_effect({.op = Op::pop_except_}, old_version, false, 3, 0, 0));
  CHECK(has_effect({.op = Op::pop_except_}, later_version, false, 1, 0, 0));
  CHECK(has_effect({.op = Op::setup_finally_}, old_version, true, 0, 6, 0));
  CHECK(has_effect({.op = Op::setup_finally_}, old_version, false, 0, 0, 0));
  CHECK(has_effect({.op = Op::match_class_}, old_version, false, 3, 2, 0));
}

TEST_CASE("operations: what the argument counts, and what may change") {
  CHECK(uses_name(Op::store_attr_));
  CHECK(uses_cell(Op::load_deref_));
  CHECK(uses_local(Op::load_deref_));
  CHECK_FALSE(uses_cell(Op::load_fast_));
  CHECK(adds_to_display(Op::map_add_));
  CHECK_FALSE(adds_to_display(Op::swap_));
  CHECK(has_effects({.op = Op::binary_op_, .aux = 1}));
  CHECK_FALSE(has_effects({.op = Op::binary_op_}));
  CHECK(leaves_frame(Op::raise_));
  CHECK_FALSE(leaves_frame(Op::jump_));
  CHECK(tests_truth(Op::jump_if_true_or_pop_));
}

TEST_CASE("operations: a table has the value of the row that names an operation") {
  constexpr OpTable<int> table = {-1, {{{Op::nop_, Op::unknown_}, 1}, {{Op::jump_}, 2}}};
  static_assert(table[Op::unknown_] == 1 && table[Op::jump_] == 2 && table[Op::pop_top_] == -1);
  CHECK(OpSet{Op::nop_, Op::jump_}.has(Op::copy_, Op::jump_));
  CHECK_FALSE(OpSet{Op::nop_}.has(Op::jump_));
}

}  // namespace depyf
