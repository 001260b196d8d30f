#include "page/compare_texts.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "support/words.h"

namespace depyf::page {
namespace {

constexpr std::size_t table_max = std::size_t{1} << 22;  // the most cells in the table of common subsequences (8 MiB)
constexpr int depth_max = 64;  // the most nested splits of texts at rows that occur once
constexpr std::size_t hash_min = 16;  // a hexadecimal number with at least this many digits counts as a hash

bool is_hash(std::string_view word) {
  return word.size() >= hash_min && std::all_of(word.begin(), word.end(), [](char character) {
           return is_digit(character) || (character >= 'a' && character <= 'f');
         });
}

// Returns the name without the numbers at its end, which only distinguish equal names.
std::string_view without_number(std::string_view name) {
  for (;;) {
    std::size_t end = name.size();
    while (end > 0 && is_digit(name[end - 1])) --end;
    if (end == name.size() || end == 0) return name;
    const std::string_view kind = name.substr(0, end);
    if (kind.ends_with('_') && end > 1) name = kind.substr(0, end - 1);
    else if (kind == "buf" || kind == "op") return kind;
    else return name;
  }
}

class Comparison {
 public:
  explicit Comparison(std::string_view first, std::string_view second)
      : a_(numbers_of(first)), b_(numbers_of(second)) {}

  std::vector<SameRows> run() {
    compare(0, a_.size(), 0, b_.size(), 0);
    return std::move(runs_);
  }

 private:
  // Returns a number for each row of the text; equal rows get equal numbers.
  std::vector<int> numbers_of(std::string_view text) {
    std::vector<int> numbers;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      numbers.push_back(
          number_of_.try_emplace(normalised(text.substr(0, end)), static_cast<int>(number_of_.size())).first->second);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return numbers;
  }

  void add(std::size_t a, std::size_t b) {
    if (!runs_.empty() && runs_.back().first + runs_.back().count == static_cast<int>(a) &&
        runs_.back().second + runs_.back().count == static_cast<int>(b))
      ++runs_.back().count;
    else runs_.push_back({static_cast<int>(a), static_cast<int>(b), 1});
  }

  void compare(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end, int depth) {
    while (a < a_end && b < b_end && a_[a] == b_[b]) add(a++, b++);
    std::size_t behind = 0;
    while (a < a_end && b < b_end && a_[a_end - 1] == b_[b_end - 1]) --a_end, --b_end, ++behind;
    if (a < a_end && b < b_end) {
      if ((a_end - a + 1) * (b_end - b + 1) <= table_max) by_table(a, a_end, b, b_end);
      else if (depth < depth_max) by_unique_row(a, a_end, b, b_end, depth);
    }
    for (std::size_t i = 0; i < behind; ++i) add(a_end + i, b_end + i);
  }

  void by_table(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end) {
    const std::size_t width = b_end - b + 1;
    std::vector<std::uint16_t> longest((a_end - a + 1) * width);
    for (std::size_t i = a_end - a; i-- > 0;)
      for (std::size_t j = b_end - b; j-- > 0;)
        longest[i * width + j] = a_[a + i] == b_[b + j]
                                     ? static_cast<std::uint16_t>(longest[(i + 1) * width + j + 1] + 1)
                                     : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    for (std::size_t i = 0, j = 0; a + i < a_end && b + j < b_end;) {
      if (a_[a + i] == b_[b + j]) add(a + i++, b + j++);
      else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) ++i;
      else ++j;
    }
  }

  // Splits the rows [a, a_end) of the first text and the rows [b, b_end) of the second text at a row that occurs once
  // in each range, and compares the parts in front of this row and the parts behind it. If several rows occur once in
  // each range, the row nearest to the middle of [a, a_end) is chosen. If no row occurs once in each range, no rows of
  // the ranges are matched.
  void by_unique_row(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end, int depth) {
    // Each map contains, for a row, the number of its occurrences and the index of its last occurrence.
    std::unordered_map<int, std::pair<int, std::size_t>> in_a, in_b;
    for (std::size_t i = a; i < a_end; ++i) ++in_a[a_[i]].first, in_a[a_[i]].second = i;
    for (std::size_t i = b; i < b_end; ++i) ++in_b[b_[i]].first, in_b[b_[i]].second = i;
    const std::size_t middle = (a + a_end) / 2;
    std::size_t best = a_end, distance = a_end - a;
    for (std::size_t i = a; i < a_end; ++i) {
      if (in_a[a_[i]].first != 1) continue;
      const auto other = in_b.find(a_[i]);
      if (other == in_b.end() || other->second.first != 1) continue;
      const std::size_t away = i > middle ? i - middle : middle - i;
      if (away < distance) best = i, distance = away;
    }
    if (best == a_end) return;
    const std::size_t other = in_b[a_[best]].second;
    compare(a, best, b, other, depth + 1);
    add(best, other);
    compare(best + 1, a_end, other + 1, b_end, depth + 1);
  }

  std::unordered_map<std::string, int> number_of_;
  std::vector<int> a_, b_;
  std::vector<SameRows> runs_;
};

}  // namespace

std::string normalised(std::string_view row) {
  std::string text;
  for (std::size_t at = 0; at < row.size();) {
    if (row[at] == '#' && (at == 0 || row[at - 1] == ' ')) break;
    if (is_word(row[at])) {
      const std::string_view word = word_at(row.substr(at));
      if (!is_hash(word)) text += is_digit(word[0]) ? word : without_number(word);
      at += word.size();
    } else {
      text += row[at++];
    }
  }
  text.resize(text.find_last_not_of(" \t\r") + 1);
  return text;
}

std::vector<SameRows> same_rows(std::string_view first, std::string_view second) {
  return Comparison(first, second).run();
}

}  // namespace depyf::page
