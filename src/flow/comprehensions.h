// Comprehensions that the compiler put inline go out of line again.
#pragma once
#include <vector>
#include "decode/instruction.h"
namespace depyf {

struct InlinedComprehension {
  DecodedCode
      body;  // as the code object that earlier versions made: of the argument `.0`, returns the list, set or dict
  std::vector<int> variables;  // localsplus: they mean something else outside
};

// From 3.12 on (PEP 709). Each that is found becomes one operation, the rest nop; those within it stay in its body.
void outline_comprehensions(const DecodedCode& decoded, std::vector<Instruction>& code,
                            std::vector<ProtectedRange>& ranges, std::vector<InlinedComprehension>& comprehensions);

}  // namespace depyf
