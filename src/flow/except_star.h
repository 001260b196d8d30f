// The handlers of `except*`, rewritten to the shape of `except`.
#pragma once
#include <vector>
#include "decode/instruction.h"
namespace depyf {
// After it a clause is `<type>; check_eg_match; pop_jump_if_false N; STORE e | POP_TOP; <body>; jump P`, with P the POP_EXCEPT
// where the statement is left; what no clause takes is raised again by `reraise` at the last N.
void simplify_except_star(std::vector<Instruction>& code, std::vector<ProtectedRange>& ranges);
}  // namespace depyf
