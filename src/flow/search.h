// Searches code for the instructions whose operations are in a set.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "decode/instruction.h"
#include "decode/op_table.h"
#include "support/table.h"

namespace depyf {

// Calls `look`, in ascending order, with the index of each instruction whose operation has a nonzero value in `wanted`.
// `look` may change instructions, but must not change an operation with the value zero into one with a nonzero value.
// The results of 64 tests are collected in the bits of a number, because the processor predicts the end of a loop over
// the nonzero bits better than 64 branches.
template <class Value, class Look>
void for_each_marked(Row<const Instruction, InstructionIndex> code, const OpTable<Value>& wanted, Look look) {
  constexpr int bits = 64;
  const int size = int(code.size());
  for (int first = 0; first < size; first += bits) {
    const int count = std::min(size - first, bits);
    std::uint64_t marked = 0;
    for (int index = 0; index < count; ++index)
      marked |= std::uint64_t{wanted[code[first + index].op] != Value{}} << index;
    for (; marked != 0; marked &= marked - 1)
      if (const int at = first + std::countr_zero(marked); wanted[code[at].op] != Value{}) look(at);
  }
}

}  // namespace depyf
