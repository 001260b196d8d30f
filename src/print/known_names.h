// Caches names that were found to be identifiers, because most names of a file are used many times.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "print/text.h"
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
  bool knows(std::string_view name) const { return is_short(name) && holds(key_of(name)); }
  // If `name` is an identifier that the cache holds, appends `name` to `out` and returns true. Returns false for any
  // other name, and appends nothing.
  bool append_known(Text& out, std::string_view name) const {
    if (!is_short(name)) return false;
    const Key key = key_of(name);
    if (!holds(key)) return false;
    out.append_words(key.start, key.end, key.size);
    return true;
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
  // True if `name` has at least one and at most `longest` bytes. For an empty name, the difference is a huge number.
  static bool is_short(std::string_view name) { return name.size() - 1 < longest; }

  // A name that is stored in two numbers: the memory of `start` contains the first eight bytes of the name, and the
  // memory of `end` its last eight bytes. If the name has fewer than eight bytes, both `start` and `end` contain the
  // whole name, followed by zeros. `size` is the number of bytes of the name.
  struct Key {
    std::uint64_t start = 0, end = 0, size = 0;  // size 0 marks an empty slot
  };

  // True if the cache holds the name `key`. The three members are compared without a branch for each member.
  bool holds(const Key& key) const {
    const Key& slot = keys_[slot_of(key)];
    return ((slot.start ^ key.start) | (slot.end ^ key.end) | (slot.size ^ key.size)) == 0;
  }

  // Multiplication by an odd number carries all bits of a name into the highest bits, which choose the slot.
  static std::size_t slot_of(const Key& key) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    return std::size_t((key.start ^ std::rotl(key.end, 29) ^ key.size) * odd >> (64 - slot_bits));
  }

  static Key key_of(std::string_view name) {
    auto read = [&](auto number, std::size_t at) {
      std::memcpy(&number, name.data() + at, sizeof number);
      return number;
    };
    constexpr std::size_t word = sizeof(std::uint64_t), half = sizeof(std::uint32_t);
    const std::size_t size = name.size(), last = size - 1, middle = size / 2;
    if (size >= word) return {read(std::uint64_t{}, 0), read(std::uint64_t{}, size - word), size};
    const std::uint64_t whole =
        size >= half ? moved(read(std::uint32_t{}, 0), 0) | moved(read(std::uint32_t{}, size - half), size - half)
                     // A name of one to three bytes has no bytes other than its first, its middle and its last byte.
                     : moved(read(std::uint8_t{}, 0), 0) | moved(read(std::uint8_t{}, middle), middle) |
                           moved(read(std::uint8_t{}, last), last);
    return {whole, whole, size};
  }
  // Returns a number of eight bytes, whose memory contains the bytes of `part` from byte `at` on, and zeros in all
  // other bytes.
  template <class Number>
  static std::uint64_t moved(Number part, std::size_t at) {
    constexpr bool starts_low = std::endian::native == std::endian::little;
    const std::size_t low = starts_low ? at : sizeof(std::uint64_t) - sizeof part - at;
    return std::uint64_t{part} << 8 * low;
  }

  static constexpr int slot_bits = 10;
  std::array<Key, std::size_t{1} << slot_bits> keys_{};
};

}  // namespace depyf::print
