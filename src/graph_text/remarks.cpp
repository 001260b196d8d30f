// See depyf/graph_text.h.
#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "depyf/graph_text.h"
#include "support/utf8.h"

namespace depyf {
namespace {

constexpr std::size_t line_max = 200;  // the most characters of a line with its remark, so that it fits on a screen
constexpr std::size_t behind_long = 120;  // the most characters of a remark behind a line that alone exceeds `line_max`

// Appends the number of the names of `part` that `text` does not contain, and then `part.after`. The number is left out
// if it is 0 and `text` contains names. `text` already contains the first `shown` names of `part`.
void append_end(const RemarkNames& part, std::size_t shown, std::string& text) {
  const std::size_t more = part.count - shown;
  if (more || shown == 0) {
    if (shown) text += " and ";
    text.append(std::to_string(more)).append(" ").append(shown ? "more" : part.noun);
    if (shown == 0 && more != 1) text += "s";
  }
  text += part.after;
}

// Returns the text of one part of a remark, with the first `shown` of the names in the part.
std::string text_of(const RemarkNames& part, std::size_t shown) {
  std::string text = part.before;
  for (std::size_t i = 0; i < shown; ++i) text.append(i ? ", " : "").append(part.names[i]);
  append_end(part, shown, text);
  return text;
}

// Counts the characters in the text of one part of a remark while names are added to the text one by one.
class GrowingPart {
 public:
  explicit GrowingPart(const RemarkNames& part) : part_(&part), before_end_(characters_in(part.before)) { set_size(); }

  bool is_complete() const { return shown_ == std::min(part_->names.size(), part_->count); }
  void grow() {
    before_end_ += characters_in(part_->names[shown_]) + (shown_ ? 2 : 0);  // 2 for the comma and the blank
    ++shown_;
    set_size();
  }
  std::size_t size() const { return size_; }
  std::string text() const { return text_of(*part_, shown_); }

 private:
  void set_size() {
    std::string end;
    append_end(*part_, shown_, end);
    size_ = before_end_ + characters_in(end);
  }

  const RemarkNames* part_;
  std::size_t shown_ = 0;  // the number of names in the text
  // The number of characters in front of the text that `append_end` appends, and the number of all characters.
  std::size_t before_end_, size_ = 0;
};

// Returns the sentence; if it is longer than `room` characters, its beginning up to the end of a word, and an
// ellipsis. Returns an empty text if not even one word fits.
std::string cut(const std::string& sentence, std::size_t room) {
  static constexpr std::string_view ellipsis = " ...";
  if (characters_in(sentence) <= room) return sentence;
  if (room <= ellipsis.size()) return {};
  // The offset is in bytes and `room` is in characters, but n bytes are at most n characters.
  const std::size_t end = sentence.rfind(' ', room - ellipsis.size());
  return end == std::string::npos ? std::string() : sentence.substr(0, end) + std::string(ellipsis);
}

// Returns an upper bound for the bytes in the text of one part of a remark, for any number of names in the text.
std::size_t size_max(const RemarkNames& part) {
  const std::size_t digits = std::to_string(part.count).size();
  const std::size_t without_names = digits + part.noun.size() + std::string_view(" s").size();
  std::size_t with_names = part.count > 1 ? digits + std::string_view(" and  more").size() : 0;
  for (const std::string& name : part.names) with_names += name.size() + std::string_view(", ").size();
  return part.before.size() + part.after.size() + std::max(with_names, without_names);
}

}  // namespace

std::string remark_text(const Remark& remark, std::size_t room) {
  if (remark.parts.empty()) return cut(remark.sentence, room);
  std::string text;
  const auto add_size = [](std::size_t sum, const RemarkNames& part) { return sum + size_max(part); };
  if (std::accumulate(remark.parts.begin(), remark.parts.end(), std::size_t{0}, add_size) <= room) {
    for (const RemarkNames& part : remark.parts) text += text_of(part, std::min(part.names.size(), part.count));
    return text;
  }
  std::vector<GrowingPart> parts(remark.parts.begin(), remark.parts.end());
  std::size_t size = 0;
  for (const GrowingPart& part : parts) size += part.size();
  bool fits = size <= room;
  std::vector<GrowingPart*> waiting;
  for (GrowingPart& part : parts) waiting.push_back(&part);
  // Adds the first name of each part of the remark, then the second name of each part, and so on, as long as the names
  // fit into `room`.
  while (!waiting.empty()) {
    std::erase_if(waiting, [&](GrowingPart* part) {
      if (part->is_complete()) return true;
      GrowingPart longer = *part;
      longer.grow();
      const std::size_t size_with_longer = size - part->size() + longer.size();
      if (size_with_longer > room) return true;
      size = size_with_longer;
      *part = longer;
      fits = true;
      return false;
    });
  }
  if (!fits) return {};
  for (const GrowingPart& part : parts) text += part.text();
  return text;
}

std::string with_remarks(std::string_view text, bool of_ir, std::string_view mark,
                         const std::function<Remark(const std::string& name)>& remark_of,
                         std::vector<std::pair<std::string, std::size_t>>& lines) {
  std::string result;
  result.reserve(text.size() + text.size() / 2);
  std::unordered_set<std::string_view> known;
  std::size_t copied = 0;
  for (const NamedLine& line : named_lines(text, of_ir)) {
    if (!known.insert(line.name).second) continue;
    lines.emplace_back(line.name, line.line);
    const Remark remark = remark_of(lines.back().first);
    if (remark.parts.empty() && remark.sentence.empty()) continue;
    const std::size_t length = characters_in(line.text), taken = length + mark.size() + 2;
    if (length <= line_max && taken >= line_max) continue;
    const std::string shown = remark_text(remark, length > line_max ? behind_long : line_max - taken);
    if (shown.empty()) continue;
    const std::size_t end = static_cast<std::size_t>(line.text.data() - text.data()) + line.text.size();
    result.append(text.substr(copied, end - copied)).append("  ").append(mark).append(shown);
    copied = end;
  }
  return result.append(text.substr(copied));
}

}  // namespace depyf
