// Translates the bytecode of any version into version-neutral instructions.
#pragma once

#include <memory>
#include <unordered_map>

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Decodes `code`, which must outlive the result. An opcode that the version lacks, a jump that leads to no instruction
// or an argument out of range is an error with its offset.
Result<DecodedCode> decode(const CodeObject& code);
// Decodes `code` into `decoded`, which must be empty. Returns true, or an error.
Result<bool> decode(const CodeObject& code, DecodedCode& decoded);

// Maps each code object to the result of `decode` for it, so that later stages need not decode it again.
using DecodedCodes = std::unordered_map<const CodeObject*, std::shared_ptr<const DecodedCode>>;

// True if the first constant is the docstring of a function. Up to 3.13, the first constant of a function without a
// docstring is None.
bool has_docstring_constant(const CodeObject& code);

// True if the code evaluates the type parameters of a definition, and returns the definition.
bool evaluates_type_parameters(const CodeObject& code);

struct StackEffect {
  std::int32_t pops = 0, pushes = 0;
  std::int32_t stays = 0;  // the number of the lowest popped values that stay unchanged as the lowest pushed values
};

// Returns how many values `instruction` pops and pushes in `version`; `jump` is true if the instruction jumps.
StackEffect stack_effect(const Instruction& instruction, Version version, bool jump);

}  // namespace depyf
