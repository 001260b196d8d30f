// Reads bytes and little-endian numbers from untrusted input, with checks of all bounds.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "support/result.h"

namespace depyf {

// After the first failure, every read returns zero or nothing, so callers check `ok()` only where a loop or a type
// depends on the value that was read.
class ByteReader {
 public:
  explicit ByteReader(std::string_view input, std::size_t offset = 0) : input_(input), offset_(offset) {
    if (offset > input.size()) fail("truncated");
  }

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }
  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return input_.size() - offset_; }

  // Moves to `offset`, which must lie within the input or at its end.
  void seek(std::size_t offset) { offset_ = offset; }

  void fail(std::string_view message) { fail_at(message, offset_); }
  void fail_at(std::string_view message, std::size_t offset);

  std::string_view bytes(std::size_t count) {
    if (count > remaining()) {
      fail("truncated");
      return {};
    }
    std::string_view found = input_.substr(offset_, count);
    offset_ += count;
    return found;
  }

  // True if `text` refers to a part of the input, and the input has at least `count` bytes from the start of `text` on.
  bool has_from(std::string_view text, std::size_t count) const {
    const auto address = [](const char* byte) { return reinterpret_cast<std::uintptr_t>(byte); };
    // If `text` refers to memory outside of the input, the difference is not less than the size of the input. If `text`
    // lies in front of the input, the subtraction wraps around to a huge number.
    const std::size_t start = address(text.data()) - address(input_.data());
    return start < input_.size() && input_.size() - start >= count;
  }

  std::uint8_t u8() { return little_endian<std::uint8_t>(); }
  std::uint16_t u16() { return little_endian<std::uint16_t>(); }
  std::uint32_t u32() { return little_endian<std::uint32_t>(); }
  std::uint64_t u64() { return little_endian<std::uint64_t>(); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }

 private:
  template <class Number>
  Number little_endian() {
    if (sizeof(Number) > remaining()) [[unlikely]] {
      fail("truncated");
      return 0;
    }
    Number value = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&value, input_.data() + offset_, sizeof value);
    } else {
      for (std::size_t index = sizeof value; index-- > 0;)
        value = static_cast<Number>(std::uint64_t{value} << 8 | static_cast<std::uint8_t>(input_[offset_ + index]));
    }
    offset_ += sizeof value;
    return value;
  }

  std::string_view input_;
  std::size_t offset_;
  std::optional<Error> error_;
};

}  // namespace depyf
