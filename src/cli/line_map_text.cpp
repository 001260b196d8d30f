#include "cli/text.h"

namespace depyf::cli {
namespace {

std::string lines_text(const std::vector<LineMapping>& lines) {
  std::string out = "[";
  for (const LineMapping& mapping : lines) {
    if (out.back() == '}') out += ", ";
    out += "{\"line\": " + std::to_string(mapping.line) + ", \"offset\": " + std::to_string(mapping.offset) + "}";
  }
  return out + "]";
}

// A JSON string. Names are UTF-8, in which a lone surrogate may stand as three bytes: it is escaped.
std::string quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0xed && at + 2 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) {
      const unsigned unit = 0xd000u | (static_cast<unsigned char>(text[at + 1]) & 0x3fu) << 6 |
                            (static_cast<unsigned char>(text[at + 2]) & 0x3fu);
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += digits[unit >> shift & 15];
      at += 2;
    } else if (byte < ' ') {
      out += std::string("\\u00") + digits[byte >> 4] + digits[byte & 15];
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text[at];
    }
  }
  return out + '"';
}

}  // namespace

std::string line_map_text(const Decompiled& decompiled) {
  std::string out = "{\"version\": 1, \"lines\": " + lines_text(decompiled.lines) + ", \"nested\": [";
  for (const NestedLines& it : decompiled.nested) {
    if (out.back() == '}') out += ", ";
    out += "{\"name\": " + quoted(it.name) + ", \"path\": [";
    for (std::size_t at = 0; at < it.path.size(); ++at) out += (at ? ", " : "") + std::to_string(it.path[at]);
    out += "], \"lines\": " + lines_text(it.lines) + "}";
  }
  return out + "]}\n";
}

}  // namespace depyf::cli
