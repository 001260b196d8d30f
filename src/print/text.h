// The text that the printers append to, mostly a few bytes at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace depyf::print {

// Appending costs less than to a std::string: there is no null to write behind the end, and short parts are copied without
// a call.
class Text {
 public:
  Text& operator+=(std::string_view part) {
    reserve(part.size());
    copy(buffer_.data() + size_, part);
    size_ += part.size();
    return *this;
  }
  Text& operator+=(const char* part) { return *this += std::string_view(part); }
  Text& operator+=(char c) {
    reserve(1);
    buffer_[size_++] = c;
    return *this;
  }
  Text& append(std::size_t count, char c) {
    reserve(count);
    std::memset(buffer_.data() + size_, c, count);
    size_ += count;
    return *this;
  }
  // Removes the end of the text, from offset `size` on.
  void cut(std::size_t size) { size_ = std::min(size, size_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool ends_with(std::string_view end) const { return view().ends_with(end); }
  bool ends_with(char c) const { return size_ > 0 && buffer_[size_ - 1] == c; }
  std::string_view view() const { return {buffer_.data(), size_}; }
  // Returns the text, and leaves an empty one.
  std::string take() {
    buffer_.resize(std::exchange(size_, 0));
    return std::exchange(buffer_, {});
  }

 private:
  // Makes room for `count` more bytes.
  void reserve(std::size_t count) {
    if (count > buffer_.size() - size_) [[unlikely]]
      grow(count);
  }
  void grow(std::size_t count) {
    constexpr std::size_t least = 64;
    buffer_.resize(std::max({size_ + count, 2 * size_, least}));
  }

  // Copies short parts as two numbers that may overlap.
  static void copy(char* to, std::string_view part) {
    const std::size_t size = part.size();
    if (size > 2 * sizeof(std::uint64_t)) std::memcpy(to, part.data(), size);
    else if (size >= sizeof(std::uint64_t)) copy_ends<std::uint64_t>(to, part);
    else if (size >= sizeof(std::uint32_t)) copy_ends<std::uint32_t>(to, part);
    else if (size >= sizeof(std::uint16_t)) copy_ends<std::uint16_t>(to, part);
    else if (size > 0) *to = part[0];
  }
  template <class Number>
  static void copy_ends(char* to, std::string_view part) {
    Number first, last;
    const std::size_t behind = part.size() - sizeof(Number);
    std::memcpy(&first, part.data(), sizeof(Number));
    std::memcpy(&last, part.data() + behind, sizeof(Number));
    std::memcpy(to, &first, sizeof(Number));
    std::memcpy(to + behind, &last, sizeof(Number));
  }

  std::string buffer_;  // the text, and room for more behind it
  std::size_t size_ = 0;
};

}  // namespace depyf::print
