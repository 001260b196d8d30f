// See depyf/graph_text.h.
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "depyf/graph_text.h"
#include "support/utf8.h"

namespace depyf {
namespace {

constexpr std::size_t line_max = 200;  // characters of a line with its remark, so that a screen can show it
constexpr std::size_t behind_long = 120;  // characters of a remark, if the line alone is longer than `line_max`

// Calls `use` with the pieces of the text of a part with the first `shown` of its names.
template <class Use>
void for_each_piece(const RemarkNames& part, std::size_t shown, Use use) {
  const std::size_t more = part.count - shown;
  use(part.before);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i) use(", ");
    use(part.names[i]);
  }
  if (more || shown == 0) {
    if (shown) use(" and ");
    use(std::to_string(more));
    use(" ");
    use(shown ? "more" : part.noun);
    if (shown == 0 && more != 1) use("s");
  }
  use(part.after);
}

// Returns the number of characters of a part with the first `shown` of its names.
std::size_t size_of(const RemarkNames& part, std::size_t shown) {
  std::size_t size = 0;
  for_each_piece(part, shown, [&](std::string_view piece) { size += characters_in(piece); });
  return size;
}

// Returns the beginning of a sentence that is too long, with an ellipsis behind a whole word.
std::string cut(const std::string& sentence, std::size_t room) {
  static constexpr std::string_view ellipsis = " ...";
  if (characters_in(sentence) <= room) return sentence;
  if (room <= ellipsis.size()) return {};
  const std::size_t end = sentence.rfind(' ', room - ellipsis.size());  // in bytes, which are no fewer than characters
  return end == std::string::npos ? std::string() : sentence.substr(0, end) + std::string(ellipsis);
}

}  // namespace

std::string remark_text(const Remark& remark, std::size_t room) {
  if (remark.parts.empty()) return cut(remark.sentence, room);
  struct Part {
    std::size_t shown = 0, size = 0;  // number of shown names, and of the part's characters
  };
  std::vector<Part> parts(remark.parts.size());
  std::size_t size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) size += parts[i].size = size_of(remark.parts[i], 0);
  std::optional<std::vector<Part>> best;
  if (size <= room) best = parts;
  std::vector<std::size_t> waiting(parts.size());
  std::iota(waiting.begin(), waiting.end(), 0);
  // Adds the first name of each part of the remark, then the second name of each part, and so on, as long as the names
  // fit into `room`.
  while (!waiting.empty()) {
    std::erase_if(waiting, [&](std::size_t i) {
      const RemarkNames& names = remark.parts[i];
      Part& part = parts[i];
      if (part.shown == std::min(names.names.size(), names.count)) return true;
      const Part longer{part.shown + 1, size_of(names, part.shown + 1)};
      if (size - part.size + longer.size > room) return true;
      size += longer.size - part.size;
      part = longer;
      best = parts;
      return false;
    });
  }
  if (!best) return {};
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for_each_piece(remark.parts[i], (*best)[i].shown, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string with_remarks(std::string_view text, bool of_ir, std::string_view mark,
                         const std::function<Remark(const std::string& name)>& remark_of,
                         std::vector<std::pair<std::string, std::size_t>>& lines) {
  std::string result;
  result.reserve(text.size() + text.size() / 2);
  std::unordered_set<std::string_view> known;
  std::size_t copied = 0, start = 0, number = 1;
  for (const NamedLine& line : named_lines(text, of_ir)) {
    for (; number < line.line; ++number) start = text.find('\n', start) + 1;
    if (!known.insert(line.name).second) continue;
    lines.emplace_back(line.name, line.line);
    const Remark remark = remark_of(lines.back().first);
    if (remark.parts.empty() && remark.sentence.empty()) continue;
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::size_t length = characters_in(text.substr(start, end - start)), taken = length + mark.size() + 2;
    if (length <= line_max && taken >= line_max) continue;
    const std::string shown = remark_text(remark, length > line_max ? behind_long : line_max - taken);
    if (shown.empty()) continue;
    result.append(text.substr(copied, end - copied)).append("  ").append(mark).append(shown);
    copied = end;
  }
  return result.append(text.substr(copied));
}

}  // namespace depyf
