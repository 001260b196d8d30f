#include "cli/report.h"
#include "cli/text.h"

namespace depyf::cli {
namespace {

std::string lines_text(const std::vector<LineMapping>& lines) {
  std::string out = "[";
  for (const LineMapping& mapping : lines) {
    if (out.back() == '}') out += ", ";
    out += "{\"line\": " + std::to_string(mapping.line) + ", \"offset\": " + std::to_string(mapping.offset);
    if (mapping.original >= 0) out += ", \"original\": " + std::to_string(mapping.original);
    out += '}';
  }
  return out + "]";
}

}  // namespace

std::string line_map_text(const Decompiled& decompiled) {
  std::string out = "{\"version\": 1, \"lines\": " + lines_text(decompiled.lines) + ", \"nested\": [";
  for (const NestedLines& it : decompiled.nested) {
    if (out.back() == '}') out += ", ";
    out += "{\"name\": " + json_quoted(it.name) + ", \"path\": [";
    for (std::size_t at = 0; at < it.path.size(); ++at) out += (at ? ", " : "") + std::to_string(it.path[at]);
    out += "], \"lines\": " + lines_text(it.lines) + "}";
  }
  return out + "]}\n";
}

}  // namespace depyf::cli
