// Reads the parts of objects in the marshal format: counts, texts and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "load/byte_reader.h"

namespace depyf {

// Bounds the memory that all objects together may take, with references expanded, because a small file can describe
// large objects.
class MarshalReader : public ByteReader {
 public:
  explicit MarshalReader(std::string_view input, std::size_t offset = 0)
      : ByteReader(input, offset), budget_(input.size() * memory_per_byte + memory_base) {}

  // Subtracts `bytes` from the memory that objects may still take. Returns false if objects may take fewer than `bytes`
  // more bytes.
  bool charge(std::size_t bytes) {
    if (bytes > budget_) [[unlikely]] {
      fail("the objects need more memory than a file of this size may use");
      budget_ = 0;
      return false;
    }
    budget_ -= bytes;
    return true;
  }
  // Returns `text`, or an empty text if the memory that objects may still take is too small for it.
  std::string_view charged(std::string_view text) { return charge(2 * text.size()) ? text : std::string_view(); }

  // Reads `count` bytes. The returned text is a view of the input.
  std::string_view text(std::size_t count) { return charged(bytes(count)); }

  // Reads the number of the items or bytes that follow.
  std::size_t size() {
    const std::int32_t count = i32();
    if (count >= 0) return static_cast<std::size_t>(count);
    fail("the size is negative");
    return 0;
  }

  // Reads a number of arguments or variables, or the size of the stack, from a code object.
  std::int32_t count() {
    const std::size_t start = offset();
    const std::int32_t found = i32();
    if (found < 0) fail_at("the count is negative", start);
    return found;
  }

  // Reads the part of an integer of any size that follows its type byte. `start` is the offset of the type byte, for
  // the message of an error.
  std::string long_integer(std::size_t start);
  double binary_float();
  double text_float();

 private:
  static constexpr std::size_t memory_per_byte = 40, memory_base = 32u << 20;

  std::size_t budget_;
};

}  // namespace depyf
