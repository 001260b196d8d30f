#include <cstdio>

#include "cli/text.h"
#include "depyf/code_object.h"
#include "depyf/disassemble.h"

namespace depyf::cli {
namespace {

void append_nested_operations(std::string& out, const Constant& constant) {
  if (constant.kind == Constant::Kind::code) out += "\n" + disassembly_text(*constant.code);
  for (const Constant& item : constant.items) append_nested_operations(out, item);
}

}  // namespace

std::string disassembly_text(const CodeObject& code) {
  std::string out = "# " + code.qualname + ", line " + std::to_string(code.firstlineno) + "\n";
  Disassembly listing = disassemble(code);
  char row[160];
  std::int32_t line = -1;
  for (std::size_t i = 0; i < listing.instructions.size(); ++i) {
    const DisassembledInstruction& one = listing.instructions[i];
    std::string number = one.line != line ? std::to_string(one.line) : "";
    line = one.line;
    std::snprintf(row, sizeof row, "%6s %6zu %6u  %-28.*s", number.c_str(), i, one.offset,
                  static_cast<int>(one.op.size()), one.op.data());
    out += row;
    out += " " + std::to_string(one.arg);
    if (one.aux) out += " " + std::to_string(one.aux);
    if (one.target >= 0) out += " -> " + std::to_string(one.target);
    out += "\n";
  }
  if (!listing.error.empty()) out += std::to_string(listing.error_offset) + ": " + listing.error + "\n";
  for (const Constant& constant : code.constants) append_nested_operations(out, constant);
  return out;
}

}  // namespace depyf::cli
