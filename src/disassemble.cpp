#include "depyf/disassemble.h"

#include "decode/decode.h"
#include "decode/op.h"

namespace depyf {

Disassembly disassemble(const CodeObject& code) {
  Disassembly result;
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) {
    result.error = decoded.error().message;
    result.error_offset = decoded.error().offset;
    return result;
  }
  result.instructions.reserve(decoded->instructions.size());
  for (const Instruction& it : decoded->instructions) {
    StackEffect fall = stack_effect(it, decoded->version, false), jump = stack_effect(it, decoded->version, true);
    result.instructions.push_back({op_name(it.op), it.arg, it.aux, it.offset, it.target, it.line, fall.pops,
                                   fall.pushes, jump.pops, jump.pushes});
  }
  return result;
}

}  // namespace depyf
