// Bytecode of any version to version-neutral instructions.
#pragma once

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Decodes `code`, which must outlive the result. An opcode that the version lacks, a jump into nowhere or an argument
// out of range is an error with its offset.
Result<DecodedCode> decode(const CodeObject& code);

// Is the first constant the docstring of a function? To 3.13 a function without one has None there.
bool has_docstring(const CodeObject& code);

struct StackEffect {
  std::int32_t pops = 0, pushes = 0;
  std::int32_t stays = 0;  // values popped that are, unchanged, the first ones pushed
};

// What `instruction` takes from the stack and puts there; `jump`: on its jumping edge.
StackEffect stack_effect(const Instruction& instruction, Version version, bool jump);

}  // namespace depyf
