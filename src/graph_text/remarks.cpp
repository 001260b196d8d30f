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

// Returns the text of a part with the first `shown` of its names.
std::string text_of(const RemarkNames& part, std::size_t shown) {
  const std::size_t more = part.count - shown;
  std::string text = part.before;
  if (shown == 0) return text + std::to_string(more) + " " + part.noun + (more == 1 ? "" : "s") + part.after;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i) text += ", ";
    text += part.names[i];
  }
  if (more) text += " and " + std::to_string(more) + " more";
  return text += part.after;
}

// Returns the number of characters of a part with the first `shown` of its names, without the names themselves.
std::size_t size_without_names(const RemarkNames& part, std::size_t shown) {
  static constexpr std::string_view comma = ", ", and_more = " and  more";
  const std::size_t more = part.count - shown;
  const std::size_t around = characters_in(part.before) + characters_in(part.after);
  if (shown == 0)  // such as `7 nodes`
    return around + std::to_string(more).size() + 1 + characters_in(part.noun) + (more == 1 ? 0 : 1);
  return around + (shown - 1) * comma.size() + (more ? and_more.size() + std::to_string(more).size() : 0);
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
    std::size_t shown = 0, names = 0, size = 0;  // number of shown names, of their characters, of the part's characters
  };
  std::vector<Part> parts(remark.parts.size());
  std::size_t size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) size += parts[i].size = size_without_names(remark.parts[i], 0);
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
      Part longer{part.shown + 1, part.names + characters_in(names.names[part.shown]), 0};
      longer.size = longer.names + size_without_names(names, longer.shown);
      if (size - part.size + longer.size > room) return true;
      size += longer.size - part.size;
      part = longer;
      best = parts;
      return false;
    });
  }
  if (!best) return {};
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += text_of(remark.parts[i], (*best)[i].shown);
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
