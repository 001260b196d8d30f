// Caches names that were found to be identifiers, because most names of a file are used many times.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "print/unicode.h"

namespace depyf::print {

// The cache is a hash table without chains: each name has one slot, and a name that needs an occupied slot replaces its
// content.
class KnownNames {
 public:
  // Returns the cache of this thread. Whether a name is an identifier depends on the name alone, so the cache is
  // valid for all files that the thread decompiles.
  static KnownNames& of_thread() {
    static thread_local KnownNames names;
    return names;
  }

  // True if `name` is an identifier that the cache holds.
  bool knows(std::string_view name) const {
    if (name.empty() || name.size() > longest) return false;
    const Key key = key_of(name);
    return keys_[slot_of(key)] == key;
  }
  // Returns true if `name` is an identifier, and caches it in this case.
  bool learn(std::string_view name) {
    const bool is_identifier = print::is_identifier(name);
    if (!is_identifier || name.size() > longest) return is_identifier;
    const Key key = key_of(name);
    keys_[slot_of(key)] = key;
    return true;
  }

 private:
  // The longest cached name in bytes: two numbers of eight bytes hold all its bytes.
  static constexpr std::size_t longest = 16;

  // The first and the last bytes of a name, which overlap or adjoin, so that they and the size determine all bytes.
  struct Key {
    std::uint64_t start = 0, end = 0, size = 0;  // size 0 marks an empty slot
    bool operator==(const Key&) const = default;
  };

  // Multiplication by an odd number carries all bits of a name into the highest ones, which choose the slot.
  static std::size_t slot_of(const Key& key) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    return std::size_t((key.start ^ std::rotl(key.end, 29) ^ key.size) * odd >> (64 - slot_bits));
  }

  // Reads the first and the last bytes of a name as numbers of the widest type that fits into the name.
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

  static constexpr int slot_bits = 10;
  std::array<Key, std::size_t{1} << slot_bits> keys_{};
};

}  // namespace depyf::print
