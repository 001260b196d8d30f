// The instructions of a code object that have a target.
#pragma once
#include "decode/instruction.h"
#include "support/table.h"
namespace depyf {

// Instructions with a target, in ascending order. About one instruction in ten has a target, so a pass that looks at jumps
// alone walks over this list instead of over all instructions.
using Jumps = Table<InstructionIndex>;

inline Jumps jumps_in(const Table<Instruction, InstructionIndex>& code) {
  Jumps jumps;
  InstructionIndex at = 0;
  for (const Instruction& instruction : code) {
    if (instruction.target >= 0) jumps.push_back(at);
    ++at;
  }
  return jumps;
}

}  // namespace depyf
