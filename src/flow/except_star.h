// Rewrites the handlers of `except*` to the shape of `except`.
#pragma once
#include "decode/instruction.h"
#include "support/table.h"
namespace depyf {
// Rewrites each clause of an `except*` to:
//
//  <type>; check_eg_match; pop_jump_if_false next_clause; STORE e or POP_TOP; <body>; jump leave.
//
// The label `leave` is the POP_EXCEPT with which control leaves the statement. Behind the last clause, `reraise` raises
// the exceptions that no clause handled.
void simplify_except_star(Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges);
}  // namespace depyf
