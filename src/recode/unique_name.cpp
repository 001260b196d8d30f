#include "recode/unique_name.h"

#include <array>
#include <cstddef>

#include "support/words.h"

namespace depyf {
namespace {

// Returns the length of an underscore and a uuid at the start of a text; 0 if the text does not start with them.
std::size_t unique_end(std::string_view text) {
  constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
  std::size_t at = 0;
  for (const std::size_t digits : groups) {
    if (at >= text.size() || text[at] != '_') return 0;
    ++at;
    if (text.size() - at < digits) return 0;
    for (const std::size_t end = at + digits; at < end; ++at) {
      const char digit = text[at];
      if (!((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'))) return 0;
    }
  }
  return at;
}

// Each byte beyond ASCII counts as part of a name, because most characters beyond ASCII are letters.
bool goes_on(char character) { return is_word(character) || static_cast<unsigned char>(character) >= 0x80; }

}  // namespace

std::string without_unique_ends(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text[0] == '_' ? unique_end(text) : 0;
    if (end && (end == text.size() || !goes_on(text[end]))) {
      text.remove_prefix(end);
    } else {
      result += text[0];
      text.remove_prefix(1);
    }
  }
  return result;
}

}  // namespace depyf
