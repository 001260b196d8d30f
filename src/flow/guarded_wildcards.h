#pragma once
#include "decode/instruction.h"
#include "support/table.h"
namespace depyf {

// Inserts COPY 1; POP_TOP in front of the guard of each `case _ if g:` that other cases follow. Compilers leave these
// two instructions out from 3.12 on, and then nothing else shows that a case starts there.
void restore_wildcards(DecodedCode& decoded);

// Returns the index of the case that follows `case _ if g:`, whose guard starts at instruction `guard`. The jumps of
// the guard lead there, past the POP_TOP of the subject. Returns -1 if the code from `guard` on has another shape.
int case_after_guard(const DecodedCode& decoded, const Table<Instruction, InstructionIndex>& code, int guard);

}  // namespace depyf
