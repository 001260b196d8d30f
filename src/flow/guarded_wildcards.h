#pragma once
#include "decode/instruction.h"
#include "flow/jumps.h"
#include "support/table.h"
namespace depyf {

// Inserts COPY 1; POP_TOP in front of the guard of each `case _ if g:` that other cases follow. From 3.12 on, compilers
// omit the COPY 1; POP_TOP of `case _ if g:`, so no instruction marks the start of the case. `jumps` contains the
// instructions with a target. Returns true if instructions were inserted.
bool restore_wildcards(DecodedCode& decoded, const Jumps& jumps);

// For `case _ if g:` whose guard starts at instruction `guard`: returns the instruction where the next case starts, or
// -1 if the code from `guard` on is not that of a guard. If the guard fails, it jumps to the next case and skips the
// POP_TOP that pops the subject.
int case_after_guard(const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code, int guard);

}  // namespace depyf
