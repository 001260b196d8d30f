// Reads any bytes as the text of a graph: shortening must not make the text longer by more than 64 bytes, and renaming
// and remarks must keep the number of lines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depyf/graph_text.h"

namespace {

std::ptrdiff_t line_count(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

void remark(std::string_view text, bool of_ir) {
  const std::vector<depyf::NamedLine> named = depyf::named_lines(text, of_ir);
  for (const depyf::NamedLine& line : named)
    if (line.name.empty()) std::abort();
  std::vector<std::pair<std::string, std::size_t>> lines;
  const std::string remarked = depyf::with_remarks(
      text, of_ir, "#~ ", [](const std::string& name) { return depyf::Remark{"of " + name, {}}; }, lines);
  if (line_count(remarked) != line_count(text) || lines.size() > named.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (depyf::shortened_graph(text).size() > text.size() + 64) std::abort();
  const depyf::Renames renames = depyf::input_names(text, {"x", "self_weight"});
  const std::string renamed = depyf::with_input_names(text, renames);
  if (line_count(renamed) != line_count(text)) std::abort();
  depyf::input_names_in(renamed);
  depyf::with_names(text, {{"x", "y"}});
  depyf::with_headings(text, {{"add", "blocks.0"}, {"mul", "blocks.1"}});
  remark(text, false);
  remark(text, true);
  return 0;
}
