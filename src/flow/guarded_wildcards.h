#pragma once
#include "decode/instruction.h"
namespace depyf {

// Puts COPY 1; POP_TOP back where the guard of a `case _ if g:` starts that other cases follow: from 3.12 on compilers leave
// them out, and nothing else tells that a case starts there.
void restore_wildcards(DecodedCode& decoded);

// The guard that starts at `guard`, of a case that matches anything and keeps the subject: where its jumps past the POP_TOP of
// the subject lead, which is the next case. -1: there is none.
int case_after_guard(const DecodedCode& decoded, const std::vector<Instruction>& code, int guard);

}  // namespace depyf
