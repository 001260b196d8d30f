#include "print/text.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace depyf::print {

void Text::grow(std::size_t count) {
  constexpr std::size_t least = 64;
  const std::size_t used = size();
  if (count > limit_ - used) throw std::length_error("the source is longer than " + std::to_string(limit_) + " bytes");
  // The room is quadrupled, because memory that is not written yet costs less than copying the text more often.
  const std::size_t room = std::min(std::max({used + count, 4 * used, least}), limit_);
  auto larger = std::make_unique_for_overwrite<char[]>(room);
  std::copy_n(begin_.get(), used, larger.get());
  begin_ = std::move(larger);
  end_ = begin_.get() + used;
  room_end_ = begin_.get() + room;
}

Text& Text::append_with_growth(std::string_view part) {
  grow(part.size());
  return *this += part;
}

Text& Text::append_words_with_growth(std::uint64_t start, std::uint64_t end, std::size_t size) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::array<char, 2 * word> bytes;
  std::memcpy(bytes.data(), &start, word);
  std::memcpy(bytes.data() + (std::max(size, word) - word), &end, word);
  std::memcpy(room_for(size), bytes.data(), size);
  return *this;
}

}  // namespace depyf::print
