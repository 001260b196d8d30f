#include "texts/shown.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "support/utf8.h"

namespace depyf::texts {
namespace {

bool acts_on_its_surroundings(std::uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) ||        // control characters
         character == 0x61c || character == 0x200e || character == 0x200f ||  // marks of writing direction
         (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069) ||
         character == 0xfeff;  // the byte order mark
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("\n\r\t"), text.size());
    result += shown(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    result += text[0] == '\t' ? "\t" : text[0] == '\n' ? "\\n" : "\\r";
    text.remove_prefix(1);
  }
  return result;
}

std::string shown(std::string_view text) { return shown(text, std::numeric_limits<std::size_t>::max()); }

std::string shown(std::string_view text, std::size_t characters_max) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == characters_max) return result + "...";
    std::uint32_t character = 0;
    const std::size_t length = first_character(text, character);
    if (length && !is_surrogate(character) && !acts_on_its_surroundings(character)) {
      result += text.substr(0, length);
    } else {
      char escape[12];
      std::snprintf(escape, sizeof escape, length && character > 0xff ? "\\u%04x" : "\\x%02x",
                    length ? character : static_cast<unsigned char>(text[0]));
      result += escape;
    }
    text.remove_prefix(length ? length : 1);
  }
  return result;
}

std::string counted(std::size_t count, const std::string& noun, const char* plural) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

}  // namespace depyf::texts
