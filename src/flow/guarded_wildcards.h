#pragma once
#include "decode/instruction.h"
#include "flow/jumps.h"
#include "support/table.h"
namespace depyf {

// Inserts COPY 1; POP_TOP in front of the guard of each `case _ if g:` that other cases follow. From 3.12 on, compilers
// omit the COPY 1; POP_TOP of `case _ if g:`, so that nothing shows where the case starts. `jumps` contains the
// instructions with a target. Returns true if instructions were inserted.
bool restore_wildcards(DecodedCode& decoded, const Jumps& jumps);

// For `case _ if g:` whose guard starts at instruction `guard`: returns the instruction where the next case starts, or
// -1 if the code from `guard` on has another shape. The jumps of the guard lead to the next case, past the POP_TOP of
// the subject.
int case_after_guard(const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code, int guard);

}  // namespace depyf
