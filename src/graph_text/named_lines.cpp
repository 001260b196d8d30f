// See depyf/graph_text.h.
#include <algorithm>

#include "depyf/graph_text.h"
#include "support/keywords.h"
#include "support/utf8.h"

namespace depyf {
namespace {

bool is_start(char c) { return ascii_identifier_parts[static_cast<unsigned char>(c)] && !(c >= '0' && c <= '9'); }

// Returns the name of the node of a graph or, if `of_ir` is true, of the operation of Inductor's IR that a line
// defines. Returns an empty text if the line defines nothing.
std::string_view name_in(std::string_view line, bool of_ir) {
  if (of_ir) {
    if (!line.starts_with("op")) return {};
  } else {
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    if (indent == 0) return {};
    line.remove_prefix(indent);
    if (line.empty() || !is_start(line[0])) return {};
  }
  const std::string_view name = line.substr(
      0, static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_identifier_byte) - line.begin()));
  const std::string_view after = line.substr(name.size());
  const bool is_named =
      of_ir ? name.size() > 2 && after.starts_with(": ") : after.starts_with(":") || after.starts_with(" =");
  return is_named ? name : std::string_view{};
}

}  // namespace

std::vector<NamedLine> named_lines(std::string_view text, bool of_ir) {
  std::vector<NamedLine> found;
  std::size_t counted = 0, characters = 0;  // `characters` is the number of characters in the first `counted` bytes
  for (std::size_t start = 0, number = 1; start <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    start = end + 1;
    if (number == 1) continue;
    const std::string_view name = name_in(line, of_ir);
    if (name.empty()) continue;
    characters += characters_in(text.substr(counted, end - counted));
    counted = end;
    found.push_back({name, line, characters, number});
  }
  return found;
}

}  // namespace depyf
