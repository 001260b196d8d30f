// See depyf/graph_text.h.
#include <algorithm>
#include <numeric>

#include "depyf/graph_text.h"

namespace depyf {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// A part with the first `shown` of its names.
std::string text_of(const RemarkNames& part, std::size_t shown) {
  const std::size_t more = part.count - shown;
  std::string text = part.before;
  if (shown == 0) return text + std::to_string(more) + " " + part.noun + (more == 1 ? "" : "s") + part.after;
  for (std::size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + part.names[i];
  if (more) text += " and " + std::to_string(more) + " more";
  return text + part.after;
}

std::string text_of(const std::vector<RemarkNames>& parts, const std::vector<std::size_t>& shown) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += text_of(parts[i], shown[i]);
  return text;
}

// The beginning of a sentence that is too long, with an ellipsis behind a whole word.
std::string cut(const std::string& sentence, std::size_t room) {
  static constexpr std::string_view ellipsis = " ...";
  if (characters(sentence) <= room) return sentence;
  if (room <= ellipsis.size()) return {};
  const std::size_t end = sentence.rfind(' ', room - ellipsis.size());  // in bytes, which are no fewer than characters
  return end == std::string::npos ? std::string() : sentence.substr(0, end) + std::string(ellipsis);
}

}  // namespace

std::string remark_text(const Remark& remark, std::size_t room) {
  if (remark.parts.empty()) return cut(remark.sentence, room);
  std::vector<std::size_t> shown(remark.parts.size(), 0), waiting(remark.parts.size());
  std::iota(waiting.begin(), waiting.end(), 0);
  std::string best = text_of(remark.parts, shown);
  bool fits = characters(best) <= room;
  // The first name of each part, then the second, as long as they fit.
  while (!waiting.empty()) {
    std::erase_if(waiting, [&](std::size_t i) {
      if (shown[i] == std::min(remark.parts[i].names.size(), remark.parts[i].count)) return true;
      ++shown[i];
      std::string text = text_of(remark.parts, shown);
      if (characters(text) > room) {
        --shown[i];
        return true;
      }
      best = std::move(text);
      fits = true;
      return false;
    });
  }
  return fits ? best : std::string();
}

}  // namespace depyf
