// Translates the bytecode of any version into version-neutral instructions.
#pragma once

#include <memory>
#include <unordered_map>

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Decodes `code`, which must outlive the result. An opcode that the version lacks, a jump into nowhere or an argument
// out of range is an error with its offset.
Result<DecodedCode> decode(const CodeObject& code);

// Code objects that `decode` has decoded, for later readers.
using DecodedCodes = std::unordered_map<const CodeObject*, std::shared_ptr<const DecodedCode>>;

// True if the first constant is the docstring of a function. Until 3.13, a function without a docstring has None there.
bool has_docstring(const CodeObject& code);

struct StackEffect {
  std::int32_t pops = 0, pushes = 0;
  std::int32_t stays = 0;  // values popped that are, unchanged, the first ones pushed
};

// Returns what `instruction` takes from the stack and puts there. With `jump`, returns it for the case that it jumps.
StackEffect stack_effect(const Instruction& instruction, Version version, bool jump);

}  // namespace depyf
