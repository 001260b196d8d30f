// Folds a text: if adjacent blocks of lines differ only in their numbers, only the first block is kept. A comment
// behind the first block states how often the block is repeated.
//
// For example, a text has 24 blocks for the modules "0" to "23". The first block has the lines `parameters =
// modules["0"]._parameters` and `weight = parameters["weight"]`, and the second block has the lines `parameters_1 =
// modules["1"]._parameters` and `weight_1 = parameters_1["weight"]`. The comment behind the first block states that the
// same 2 lines follow 23 times more, for 1 to 23 in place of 0.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "depyf/texts.h"
#include "support/words.h"

namespace depyf {
namespace {

// Bounds of the search, which make its time linear in the length of the text.
constexpr std::size_t period_max = 600;  // the most lines of one block
constexpr std::size_t periods_tried = 24;  // the most lengths of a block that are tried at each line
constexpr std::size_t repeats_min = 3;
constexpr std::size_t saved_min = 6;  // the fewest lines that a fold must leave out
constexpr std::size_t brackets_max = 16;  // the most brackets of a condition that are searched for an index

// A function head of more than `head_max` characters is written with one parameter on each line.
constexpr std::size_t head_max = 120;

struct TextLine {
  std::string text;
  std::size_t origin;  // the number of the line in the text, from 0
};

// The text that corresponding lines of equal layers have in common, and the numbers in which such lines may differ.
struct Shape {
  std::string text;  // the line with `#` in place of each number
  std::vector<std::int64_t> numbers;
};

// Returns the line with `#` in place of each number, and the numbers. A number at the end of a name is left out,
// because the first name of a series has no number: weight, weight_1, weight_2.
Shape shape_of(std::string_view line) {
  Shape shape;
  for (std::size_t at = 0; at < line.size();) {
    if (!is_digit(line[at])) {
      shape.text += line[at++];
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_digit(line[end])) ++end;
    const bool ends_name =
        at > 1 && line[at - 1] == '_' && is_word(line[at - 2]) && (end == line.size() || !is_word(line[end]));
    if (ends_name) {
      shape.text.pop_back();
    } else {
      std::int64_t number = -1;  // stays -1 for more than nine digits, which no number of a layer has
      if (end - at <= 9) std::from_chars(line.data() + at, line.data() + end, number);
      shape.text += '#';
      shape.numbers.push_back(number);
    }
    at = end;
  }
  return shape;
}

// Returns the number of brackets that are opened in a line minus the number that are closed. Brackets in strings are
// not counted.
int depth_of(std::string_view line) {
  int depth = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char character = line[at];
    if (character == '#') break;
    if (character == '"' || character == '\'') {
      const std::size_t end = line.find(character, at + 1);
      if (end == std::string_view::npos) break;
      at = end;
    } else if (character == '(' || character == '[' || character == '{') {
      ++depth;
    } else if (character == ')' || character == ']' || character == '}') {
      --depth;
    }
  }
  return depth;
}

// Appends a line. If the line is the long head of a function, it is split into lines with one parameter each.
void append_head(std::string_view line, std::size_t origin, std::vector<TextLine>& lines) {
  const std::size_t start = line.find_first_not_of(' ');
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (line.size() <= head_max || start == std::string_view::npos || !line.substr(start).starts_with("def ") ||
      open == std::string_view::npos || close == std::string_view::npos || close < open) {
    lines.push_back({std::string(line), origin});
    return;
  }
  const std::string indent(start + 4, ' ');
  lines.push_back({std::string(line.substr(0, open + 1)), origin});
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t at = begin; at <= close; ++at) {
    const char character = line[at];
    if (character == '"' || character == '\'') {
      const std::size_t end = line.find(character, at + 1);
      if (end == std::string_view::npos || end > close) break;
      at = end;
    } else if (character == '(' || character == '[' || character == '{') {
      ++depth;
    } else if (at == close || (character == ',' && depth == 0)) {
      const std::size_t first = std::min(line.find_first_not_of(' ', begin), at);
      if (first < at) lines.push_back({indent + std::string(line.substr(first, at - first)) + ",", origin});
      begin = at + 1;
    } else if (character == ')' || character == ']' || character == '}') {
      --depth;
    }
  }
  lines.push_back({std::string(start, ' ') + std::string(line.substr(close)), origin});
}

// A run of `count` adjacent blocks that have `period` lines each.
struct Repeats {
  std::size_t period = 0;
  std::size_t count = 0;

  std::size_t saved() const { return count < repeats_min ? 0 : period * (count - 1); }
};

class Folder {
 public:
  Folder(std::string_view text, std::string_view file, std::size_t first_line) : file_(file), first_line_(first_line) {
    std::size_t origin = 0;
    for (std::size_t at = 0; at < text.size(); ++origin) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      append_head(text.substr(at, end - at), origin, lines_);
      at = end + 1;
    }
    std::unordered_map<std::string, std::size_t> known;
    next_.resize(lines_.size());
    std::unordered_map<std::size_t, std::size_t> last;
    for (const TextLine& line : lines_) {
      // Comments of depyf (`#~`) at the end of a line are not compared, because equal layers may have different
      // kernels.
      Shape shape = shape_of(std::string_view(line.text).substr(0, line.text.find("  #~ ")));
      shapes_.push_back(known.try_emplace(std::move(shape.text), known.size()).first->second);
      numbers_.push_back(std::move(shape.numbers));
    }
    for (std::size_t at = lines_.size(); at-- > 0;) {
      const auto [later, is_new] = last.try_emplace(shapes_[at], at);
      next_[at] = is_new ? lines_.size() : later->second;
      later->second = at;
    }
  }

  std::string run() {
    std::string text;
    for (std::size_t at = 0; at < lines_.size();) {
      const Repeats repeats = repeats_at(at);
      const std::size_t shown = repeats.count == 0 ? 1 : repeats.period;
      for (std::size_t i = 0; i < shown; ++i) text += lines_[at + i].text + "\n";
      if (repeats.count != 0) text += remark(at, repeats) + "\n";
      at += repeats.count == 0 ? 1 : repeats.period * repeats.count;
    }
    return text;
  }

 private:
  // Returns the run of repeated blocks that begins at line `at`. The length of a block is chosen so that folding leaves
  // out the most lines; among lengths for which folding leaves out equally many lines, the shortest is chosen. The
  // `count` of the result is 0 if no blocks repeat.
  Repeats repeats_at(std::size_t at) const {
    Repeats best;
    std::size_t later = next_[at];
    for (std::size_t tried = 0; tried < periods_tried && later < lines_.size() && later - at <= period_max; ++tried) {
      const std::size_t period = later - at;
      std::size_t same = 0;
      while (later + same < lines_.size() && shapes_[at + same] == shapes_[later + same]) ++same;
      const Repeats repeats{period, same / period + 1};
      if (repeats.saved() > best.saved() && repeats.saved() >= saved_min && is_balanced(at, period)) best = repeats;
      later = next_[later];
    }
    return best;
  }

  bool is_balanced(std::size_t at, std::size_t period) const {
    int depth = 0;
    for (std::size_t i = 0; i < period; ++i) depth += depth_of(lines_[at + i].text);
    return depth == 0;
  }

  std::string remark(std::size_t at, const Repeats& repeats) const {
    const std::size_t more = repeats.count - 1;
    std::string text(margin_of(at), ' ');
    text += repeats.period == 1 ? "# ... and a line like it "
                                : "# ... and the same " + std::to_string(repeats.period) + " lines ";
    text += std::to_string(more) + " times more";
    if (const std::optional<std::int64_t> start = counted_from(at, repeats)) {
      text += ", for " + std::to_string(*start + 1) + " to " + std::to_string(*start + static_cast<std::int64_t>(more));
      text += " in place of " + std::to_string(*start);
    }
    if (file_.empty()) return text;
    const std::size_t from = lines_[at + repeats.period].origin + first_line_;
    const std::size_t to = lines_[at + repeats.period * repeats.count - 1].origin + first_line_;
    text += from == to ? ": line " : ": lines ";
    text += std::to_string(from) + (from == to ? "" : " to " + std::to_string(to)) + " of " + std::string(file_);
    return text;
  }

  // Returns the indentation of the first line from `at` on that is not blank.
  std::size_t margin_of(std::size_t at) const {
    for (; at < lines_.size(); ++at)
      if (const std::size_t margin = lines_[at].text.find_first_not_of(' '); margin != std::string::npos) return margin;
    return 0;
  }

  // Returns the number in the first block that increases by one in each following block; std::nullopt if no number
  // does. If several numbers increase by one from block to block, the number that occurs most often in the first block
  // is returned.
  std::optional<std::int64_t> counted_from(std::size_t at, const Repeats& repeats) const {
    std::map<std::int64_t, std::size_t> starts;
    for (std::size_t line = at; line < at + repeats.period; ++line) {
      for (std::size_t place = 0; place < numbers_[line].size(); ++place) {
        const std::int64_t start = numbers_[line][place];
        bool counts = start >= 0;
        for (std::size_t block = 1; counts && block < repeats.count; ++block)
          counts = numbers_[line + block * repeats.period][place] == start + static_cast<std::int64_t>(block);
        if (counts) ++starts[start];
      }
    }
    const auto most = std::max_element(starts.begin(), starts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == starts.end() ? std::nullopt : std::optional(most->first);
  }

  std::string_view file_;
  std::size_t first_line_;
  std::vector<TextLine> lines_;
  std::vector<std::size_t> shapes_;  // maps a line to its shape; lines that differ only in their numbers share a shape
  std::vector<std::vector<std::int64_t>> numbers_;  // maps a line to the numbers that its shape leaves out
  std::vector<std::size_t> next_;  // maps a line to the next line with an equal shape
};

// Conditions that differ only in one index, whose values in the conditions are consecutive numbers.
struct Row {
  std::vector<std::size_t> places;  // the positions of the conditions in their list, ordered by the index in their text
  std::int64_t first = 0;
};

// Folds conditions by the index behind one of their opening square brackets: `bracket` is the number of the bracket,
// counted from 0. Returns false if no condition has more than `bracket` opening square brackets.
bool fold_index(std::size_t bracket, std::vector<std::string>& conditions) {
  std::map<std::pair<std::string, std::string>, std::vector<Row>> rows;  // by the texts before and after the index
  bool has_bracket = false;
  for (std::size_t place = 0; place < conditions.size(); ++place) {
    const std::string& condition = conditions[place];
    std::size_t at = condition.find('[');
    for (std::size_t skipped = 0; skipped < bracket && at != std::string::npos; ++skipped)
      at = condition.find('[', at + 1);
    if (at == std::string::npos) continue;
    has_bracket = true;
    std::int64_t index = 0;
    const char* end = condition.data() + condition.size();
    const auto [behind, error] = std::from_chars(condition.data() + at + 1, end, index);
    if (error != std::errc() || behind == end || *behind != ']') continue;
    std::vector<Row>& of_key = rows[{condition.substr(0, at + 1), std::string(behind, end)}];
    if (of_key.empty() || of_key.back().first + static_cast<std::int64_t>(of_key.back().places.size()) != index)
      of_key.push_back({{}, index});
    of_key.back().places.push_back(place);
  }
  std::vector<bool> is_folded(conditions.size());
  for (const auto& [key, of_key] : rows) {
    for (const Row& row : of_key) {
      if (row.places.size() < repeats_min) continue;
      for (const std::size_t place : row.places) is_folded[place] = place != row.places[0];
      const std::int64_t last = row.first + static_cast<std::int64_t>(row.places.size()) - 1;
      conditions[row.places[0]] = key.first + std::to_string(row.first) + ".." + std::to_string(last) + key.second;
    }
  }
  std::size_t kept = 0;
  for (std::size_t place = 0; place < conditions.size(); ++place)
    if (!is_folded[place]) std::swap(conditions[kept++], conditions[place]);
  conditions.resize(kept);
  return has_bracket;
}

}  // namespace

std::string folded(std::string_view text, std::string_view file, std::size_t first_line) {
  return Folder(text, file, first_line).run();
}

std::vector<std::string> folded_conditions(std::vector<std::string> conditions) {
  for (std::size_t bracket = 0; bracket < brackets_max && fold_index(bracket, conditions);) ++bracket;
  return conditions;
}

}  // namespace depyf
