// The text that the printers append to, mostly a few bytes at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace depyf::print {

// Returns the number of line breaks in the text. Each search for the next line break compares many bytes at a time.
inline std::int32_t line_breaks_in(std::string_view text) {
  std::int32_t count = 0;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) ++count;
  return count;
}

// Appending to a `Text` takes less time than appending to a std::string. No null is written behind the end, short parts
// are copied without a call, and the code that makes room and checks the limit is not inlined.
class Text {
 public:
  Text() = default;
  // The text throws std::length_error when it would get longer than `limit` bytes.
  explicit Text(std::size_t limit) : limit_(limit) {}
  Text(Text&& other) noexcept { swap(other); }
  Text& operator=(Text&& other) noexcept {
    swap(other);
    return *this;
  }

  Text& operator+=(std::string_view part) {
    if (part.size() > room()) [[unlikely]]
      return append_with_growth(part);
    char* const added = end_;
    end_ += part.size();
    copy(added, part);
    return *this;
  }
  // The size of a literal is known at compile time, so the compiler copies it with a few store instructions.
  template <std::size_t size>
  Text& operator+=(const char (&literal)[size]) {
    std::memcpy(room_for(size - 1), literal, size - 1);
    return *this;
  }
  // Appends a text of `size` bytes, where `size` is at least 1 and at most 16. The memory of `start` contains the first
  // eight bytes of the text, and the memory of `end` its last eight bytes. If the text has fewer than eight bytes, the
  // memory of both `start` and `end` begins with the whole text. The text is copied with the same instructions whatever
  // its size, because the processor could not predict a branch on the size.
  Text& append_words(std::uint64_t start, std::uint64_t end, std::size_t size) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (room() < 2 * word) [[unlikely]]
      return append_words_with_growth(start, end, size);
    std::memcpy(end_, &start, word);
    std::memcpy(end_ + (std::max(size, word) - word), &end, word);
    end_ += size;
    return *this;
  }
  Text& operator+=(char c) {
    *room_for(1) = c;
    return *this;
  }
  // Appends `part` between two quotes.
  Text& append_quoted(std::string_view part, char quote) {
    char* const added = room_for(part.size() + 2);
    *added = quote;
    copy(added + 1, part);
    end_[-1] = quote;
    return *this;
  }
  Text& append(std::size_t count, char c) {
    std::fill_n(room_for(count), count, c);
    return *this;
  }
  // A few blanks are written as a block of fixed size, which takes no call; the next text overwrites the rest of the
  // block.
  void append_blanks(std::size_t count) {
    constexpr std::size_t block = 32;
    if (count > block || room() < block) [[unlikely]]
      return static_cast<void>(append(count, ' '));
    std::memset(end_, ' ', block);
    end_ += count;
  }
  // Makes room for `count` more bytes.
  void reserve(std::size_t count) {
    if (count > room()) grow(count);
  }
  // Removes the end of the text, from offset `size` on.
  void cut(std::size_t size) {
    if (size < this->size()) end_ = begin_.get() + size;
  }

  std::size_t size() const { return std::size_t(end_ - begin_.get()); }
  bool ends_with(std::string_view end) const { return view().ends_with(end); }
  bool ends_with(char c) const { return end_ != begin_.get() && end_[-1] == c; }
  std::string_view view() const { return {begin_.get(), size()}; }

 private:
  std::size_t room() const { return std::size_t(room_end_ - end_); }
  // Makes the text `count` bytes longer, and returns a pointer to the new bytes.
  char* room_for(std::size_t count) {
    if (count > room()) [[unlikely]]
      grow(count);
    char* added = end_;
    end_ += count;
    return added;
  }
  void grow(std::size_t count);
  // Makes room for `part` and appends it. Each call of this function is a tail call, so that the caller keeps no values
  // in registers across the call.
  Text& append_with_growth(std::string_view part);
  Text& append_words_with_growth(std::uint64_t start, std::uint64_t end, std::size_t size);
  void swap(Text& other) noexcept {
    std::swap(limit_, other.limit_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(room_end_, other.room_end_);
  }

  // Copies `part` to `to`. A part of up to 32 bytes is copied by at most two loads and two stores, whose bytes may
  // overlap.
  static void copy(char* to, std::string_view part) {
    const char* const from = part.data();
    const std::size_t size = part.size();
    using TwoWords = std::array<std::uint64_t, 2>;
    if (size > 2 * sizeof(TwoWords)) std::memcpy(to, from, size);
    else if (size >= sizeof(TwoWords)) copy_ends<TwoWords>(to, from, size);
    else if (size >= sizeof(std::uint64_t)) copy_ends<std::uint64_t>(to, from, size);
    else if (size >= sizeof(std::uint32_t)) copy_ends<std::uint32_t>(to, from, size);
    else if (size >= sizeof(std::uint16_t)) copy_ends<std::uint16_t>(to, from, size);
    else if (size > 0) *to = *from;
  }
  template <class Number>
  static void copy_ends(char* to, const char* from, std::size_t size) {
    Number first, last;
    const std::size_t behind = size - sizeof(Number);
    std::memcpy(&first, from, sizeof(Number));
    std::memcpy(&last, from + behind, sizeof(Number));
    std::memcpy(to, &first, sizeof(Number));
    std::memcpy(to + behind, &last, sizeof(Number));
  }

  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
  std::unique_ptr<char[]> begin_;
  char *end_ = nullptr, *room_end_ = nullptr;  // the end of the text, and the end of the memory that is allocated
};

}  // namespace depyf::print
