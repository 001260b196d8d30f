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

constexpr std::size_t characters_without_max = std::numeric_limits<std::size_t>::max();

// Appends the text in the form that `shown` returns.
void append_shown(std::string_view text, std::size_t characters_max, std::string& result) {
  for (std::size_t count = 0; !text.empty();) {
    const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
    const std::string_view rest = text.substr(0, characters_max - count);
    const auto printable =
        static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_printable) - rest.begin());
    result += text.substr(0, printable);
    text.remove_prefix(printable);
    count += printable;
    if (text.empty()) return;
    if (count == characters_max) {
      result += "...";
      return;
    }
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
    ++count;
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string result;
  while (true) {
    const auto stop =
        std::find_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
    append_shown(text.substr(0, static_cast<std::size_t>(stop - text.begin())), characters_without_max, result);
    if (stop == text.end()) return result;
    result += *stop == '\t' ? "\t" : *stop == '\n' ? "\\n" : "\\r";
    text.remove_prefix(static_cast<std::size_t>(stop - text.begin()) + 1);
  }
}

std::string shown(std::string_view text) { return shown(text, characters_without_max); }

std::string shown(std::string_view text, std::size_t characters_max) {
  std::string result;
  append_shown(text, characters_max, result);
  return result;
}

std::string counted(std::size_t count, const std::string& noun, const char* plural) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : plural);
}

}  // namespace depyf::texts
