// Names that were found to be identifiers before: most of those in a file are used many times.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "print/unicode.h"

namespace depyf::print {

class KnownNames {
 public:
  // The same as print::is_identifier.
  bool is_identifier(std::string_view name) {
    if (name.empty() || name.size() > longest) return print::is_identifier(name);
    const Key key = key_of(name);
    Key& known = keys_[(key.start ^ key.start >> 17 ^ key.end >> 7 ^ key.end >> 29 ^ key.size) % keys_.size()];
    if (known == key) return true;
    const bool found = print::is_identifier(name);
    if (found) known = key;
    return found;
  }

 private:
  static constexpr std::size_t longest = 16;  // bytes

  // With the size, the two tell all bytes: they overlap in what is shorter.
  struct Key {
    std::uint64_t start = 0, end = 0, size = 0;  // size 0: none
    bool operator==(const Key&) const = default;
  };

  static Key key_of(std::string_view name) {
    auto read = [&](auto number, std::size_t at) {
      std::memcpy(&number, name.data() + at, sizeof number);
      return number;
    };
    const std::size_t size = name.size();
    if (size >= 8) return {read(std::uint64_t{}, 0), read(std::uint64_t{}, size - 8), size};
    if (size >= 4) return {read(std::uint32_t{}, 0), read(std::uint32_t{}, size - 4), size};
    if (size >= 2) return {read(std::uint16_t{}, 0), read(std::uint16_t{}, size - 2), size};
    return {read(std::uint8_t{}, 0), 0, size};
  }

  std::array<Key, 512> keys_{};
};

}  // namespace depyf::print
