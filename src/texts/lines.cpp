#include "texts/lines.h"

#include <algorithm>
#include <cstdint>

#include "support/utf8.h"
#include "support/words.h"

namespace depyf::texts {
namespace {

bool ends_a_line(std::uint32_t character) {
  return (character >= '\n' && character <= '\r') || (character >= 0x1c && character <= 0x1e) || character == 0x85 ||
         character == 0x2028 || character == 0x2029;
}

constexpr std::uint32_t ascii_end = 0x80;

// True for a character of a word. All characters beyond ASCII count as letters.
bool is_word_character(std::uint32_t character) {
  return character >= ascii_end || is_word(static_cast<char>(character));
}

bool is_letter(std::uint32_t character) {
  return is_word_character(character) && !(character >= '0' && character <= '9');
}

// True for a character that can directly precede a dash between words.
bool is_in_front_of_dash(std::uint32_t character) {
  return is_word_character(character) ||
         (character < ascii_end &&
          std::string_view("!\"'&.,?").find(static_cast<char>(character)) != std::string_view::npos);
}

// One character, with the bytes that encode it.
struct Character {
  std::uint32_t value;
  std::string_view bytes;
};

using Characters = std::vector<Character>;

// Returns the characters of a text. Tabs become spaces up to the next column that is a multiple of eight, and other
// white space of ASCII becomes one space.
Characters characters_of(std::string_view text) {
  constexpr std::size_t tab_width = 8;
  Characters characters;
  std::size_t column = 0;
  while (!text.empty()) {
    std::uint32_t value = 0;
    const std::size_t size = std::max<std::size_t>(first_character(text, value), 1);
    if (text[0] == '\t') {
      for (bool is_first = true; is_first || column % tab_width; ++column, is_first = false)
        characters.push_back({' ', " "});
    } else {
      const bool is_blank = size == 1 && blanks.find(text[0]) != std::string_view::npos;
      column = text[0] == '\n' || text[0] == '\r' ? 0 : column + 1;
      characters.push_back(is_blank ? Character{' ', " "} : Character{value, text.substr(0, size)});
    }
    text.remove_prefix(size);
  }
  return characters;
}

// Finds the parts of a text between which a line may be broken.
class Splitter {
 public:
  explicit Splitter(const Characters& text) : text_(text) {}

  // Returns the end of the unbreakable part of the text that begins at `start`: blanks, a dash, or a word up to a
  // hyphen.
  std::size_t end_of_part(std::size_t start) const {
    if (text_[start].value == ' ') {
      std::size_t end = start;
      while (end < text_.size() && text_[end].value == ' ') ++end;
      return end;
    }
    if (start > 0 && is_in_front_of_dash(text_[start - 1].value) && is_dash(start)) return behind_hyphens(start);
    for (std::size_t end = start + 1; end < text_.size(); ++end) {
      if (text_[end].value == ' ') return end;
      if (is_hyphen_in_word(end, start)) return end + 1;
      if (is_in_front_of_dash(text_[end - 1].value) && is_dash(end)) return end;
    }
    return text_.size();
  }

 private:
  bool is_letter_at(std::size_t position) const { return position < text_.size() && is_letter(text_[position].value); }

  std::size_t behind_hyphens(std::size_t position) const {
    while (position < text_.size() && text_[position].value == '-') ++position;
    return position;
  }

  // True if two or more hyphens begin at `position`, and a word follows them.
  bool is_dash(std::size_t position) const {
    const std::size_t behind = behind_hyphens(position);
    return behind >= position + 2 && behind < text_.size() && is_word_character(text_[behind].value);
  }

  // True if the character at `position` is a hyphen within a word that has letters on both sides of it: `re-use`, but
  // not `-b` or `x-1`.
  bool is_hyphen_in_word(std::size_t position, std::size_t start) const {
    if (text_[position].value != '-' || position == start || !is_letter_at(position - 1)) return false;
    const bool is_behind_letters =
        position >= 2 && (is_letter_at(position - 2) ||
                          (position >= 3 && text_[position - 2].value == '-' && is_letter_at(position - 3)));
    if (!is_behind_letters || !is_letter_at(position + 1)) return false;
    const bool has_hyphen = position + 2 < text_.size() && text_[position + 2].value == '-';
    return is_letter_at(position + (has_hyphen ? 3 : 2));
  }

  const Characters& text_;
};

// Returns the position at which to break a word that is longer than the rest of a line. The position is behind the last
// hyphen that fits into the line, or else at the end of the line.
std::size_t end_of_piece(const Characters& text, std::size_t start, std::size_t room) {
  for (std::size_t end = start + room; end > start + 1; --end)
    if (text[end - 1].value == '-') {
      const auto word = text.begin() + static_cast<std::ptrdiff_t>(start);
      const auto hyphen = text.begin() + static_cast<std::ptrdiff_t>(end - 1);
      return std::any_of(word, hyphen, [](const Character& character) { return character.value != '-'; })
                 ? end
                 : start + room;
    }
  return start + room;
}

}  // namespace

std::vector<std::string> python_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  for (std::size_t position = 0; position < text.size();) {
    if (text[position] >= ' ') {  // an ASCII character that does not end a line
      ++position;
      continue;
    }
    std::uint32_t character = 0;
    const std::size_t size = first_character(text.substr(position), character);
    if (size == 0 || !ends_a_line(character)) {
      position += std::max<std::size_t>(size, 1);
      continue;
    }
    lines.emplace_back(text.substr(start, position - start));
    position += text.substr(position).starts_with("\r\n") ? 2 : size;
    start = position;
  }
  if (start < text.size()) lines.emplace_back(text.substr(start));
  return lines;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  const Characters characters = characters_of(text);
  const Splitter splitter(characters);
  std::vector<std::string> lines;
  std::size_t start = 0;
  std::size_t part_end = characters.empty() ? 0 : splitter.end_of_part(0);
  auto is_blank = [&](std::size_t position) { return characters[position].value == ' '; };
  auto go_on = [&](std::size_t position) {
    start = position;
    if (start >= part_end && start < characters.size()) part_end = splitter.end_of_part(start);
  };
  while (start < characters.size()) {
    const std::size_t room = width - (lines.empty() ? 0 : std::min(indent.size(), width - 1));
    if (!lines.empty() && is_blank(start)) go_on(part_end);
    const std::size_t line_start = start;
    std::size_t end = start;  // the end of the last part that is not white space
    while (start < characters.size() && part_end - line_start <= room) {
      if (!is_blank(start)) end = part_end;
      go_on(part_end);
    }
    if (start < characters.size() && part_end - start > room) {
      const std::size_t piece_end = end_of_piece(characters, start, room - (start - line_start));
      if (piece_end > start) end = piece_end;
      go_on(piece_end);
    }
    if (end == line_start) continue;
    std::string line(lines.empty() ? std::string_view() : indent);
    for (std::size_t i = line_start; i < end; ++i) line += characters[i].bytes;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> indented(const std::vector<std::string>& lines, std::string_view indent) {
  std::vector<std::string> result;
  for (const std::string& line : lines) result.push_back(line.empty() ? line : std::string(indent) + line);
  return result;
}

}  // namespace depyf::texts
