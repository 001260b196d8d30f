// Reads the opcodes of a pickle and their arguments.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "load/byte_reader.h"

namespace depyf::pickle {

// Reads opcodes one after the other. The errors of `fail` have the offset of the opcode in which they occurred.
class OpcodeReader {
 public:
  explicit OpcodeReader(std::string_view input) : input_(input), reader_(input) {}

  bool ok() const { return reader_.ok(); }
  const Error& error() const { return reader_.error(); }
  void fail(std::string message) { reader_.fail_at(std::move(message), start_); }
  std::size_t start() const { return start_; }  // Returns the offset of the current opcode.
  std::size_t offset() const { return reader_.offset(); }
  std::size_t remaining() const { return reader_.remaining(); }

  std::uint8_t begin_opcode() {
    start_ = reader_.offset();
    return reader_.u8();
  }
  std::uint8_t u8() { return reader_.u8(); }
  std::uint16_t u16() { return reader_.u16(); }
  std::uint32_t u32() { return reader_.u32(); }
  std::uint64_t u64() { return reader_.u64(); }
  std::int32_t i32() { return reader_.i32(); }

  // Returns the text up to the end of the line, and moves the reader behind the line end.
  std::string_view line() {
    const std::string_view rest = input_.substr(reader_.offset());
    const std::size_t size = rest.find('\n');
    if (size == std::string_view::npos) {
      fail("truncated: a line without an end");
      return {};
    }
    return reader_.bytes(size + 1).substr(0, size);
  }

  std::string_view sized(std::uint64_t size) {
    if (size > reader_.remaining()) {
      fail("truncated: " + std::to_string(size) + " bytes are announced, and " + std::to_string(reader_.remaining()) +
           " are there");
      return {};
    }
    return reader_.bytes(size);
  }

  // Reads a memo index that is written as a line of decimal digits.
  std::uint64_t index_line() {
    const std::string_view text = line();
    std::uint64_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (ok() && (error != std::errc() || end != text.data() + text.size())) fail("malformed memo index");
    return index;
  }

 private:
  std::string_view input_;
  ByteReader reader_;
  std::size_t start_ = 0;
};

}  // namespace depyf::pickle
