#include "cli/text.h"

namespace depyf::cli {

std::string line_map_text(const Decompiled& decompiled) {
  std::string out = "{\"version\": 1, \"lines\": [";
  for (const LineMapping& mapping : decompiled.lines) {
    if (out.back() == '}') out += ", ";
    out += "{\"line\": " + std::to_string(mapping.line) + ", \"offset\": " + std::to_string(mapping.offset) + "}";
  }
  return out + "]}\n";
}

}  // namespace depyf::cli
