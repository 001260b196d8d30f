// Moves comprehensions that the compiler inlined into the surrounding code back into code of their own.
#pragma once
#include "decode/instruction.h"
#include "support/table.h"
namespace depyf {

// One inlined comprehension after it was taken out of the code around it.
struct InlinedComprehension {
  // The comprehension as a function with the one argument `.0` that returns the list, set or dict. Compilers up to 3.11
  // emit a function with the argument `.0` for each comprehension.
  DecodedCode body;
  // The slots in `localsplus` of the variables that the comprehension binds. The surrounding function may use the slots
  // of the comprehension's variables for variables of its own.
  Table<int> variables;
};

// Replaces each inlined comprehension (3.12 and later, PEP 709) by one `comprehension` operation and NOPs, and appends
// its body to `comprehensions`. A comprehension within another comprehension stays in the body of the outer one.
void outline_comprehensions(const DecodedCode& decoded, Row<Instruction, InstructionIndex> code,
                            Table<ProtectedRange>& ranges, Table<InlinedComprehension>& comprehensions);

}  // namespace depyf
