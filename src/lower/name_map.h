// A hash table that maps names to values.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace depyf::lowering {

// A name with its hash, so that a search in several tables computes the hash once. A text converts to a NameKey
// implicitly.
class NameKey {
 public:
  NameKey(std::string_view text) : text_(text), hash_(hash_of(text)) {}
  NameKey(const char* text) : NameKey(std::string_view(text)) {}

  std::string_view text() const { return text_; }
  std::uint32_t hash() const { return hash_; }
  // Equal names are usually views of the same text, so addresses are compared before characters.
  friend bool operator==(const NameKey& one, const NameKey& two) {
    return one.hash_ == two.hash_ && one.text_.size() == two.text_.size() &&
           (one.text_.data() == two.text_.data() || one.text_ == two.text_);
  }

 private:
  // Returns the hash of a text, which is read eight bytes at a time; the last eight bytes may overlap the bytes read
  // before. A text of four to seven bytes is read as two numbers of four bytes, which may overlap. A text of one to
  // three bytes is read as three single bytes, which may coincide.
  static std::uint32_t hash_of(std::string_view text) {
    std::uint64_t hash = text.size();
    const auto mix = [&](std::uint64_t word) {
      constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;
      hash = (hash ^ word) * golden_ratio;
      hash ^= hash >> 32;
    };
    const auto read = [&](auto number, std::size_t at) {
      std::memcpy(&number, text.data() + at, sizeof number);
      return std::uint64_t{number};
    };
    const std::size_t size = text.size();
    if (size >= 8) {
      for (std::size_t at = 0; at + 8 < size; at += 8) mix(read(std::uint64_t{}, at));
      mix(read(std::uint64_t{}, size - 8));
    } else if (size >= 4) {
      mix(read(std::uint32_t{}, 0) | read(std::uint32_t{}, size - 4) << 32);
    } else if (size > 0) {
      mix(read(std::uint8_t{}, 0) | read(std::uint8_t{}, size / 2) << 8 | read(std::uint8_t{}, size - 1) << 16);
    }
    return static_cast<std::uint32_t>(hash >> 32);
  }

  std::string_view text_;
  std::uint32_t hash_;
};

// A hash table that keeps its entries in the order in which they were added. The number of a name is the index of its
// entry in `entries()`.
template <class Value>
class NameMap {
 public:
  struct Entry {
    NameKey name;
    [[no_unique_address]] Value value{};
  };

  // Returns the value of a name, or null if the table does not contain the name.
  const Value* find(const NameKey& name) const {
    const std::uint32_t number = number_of(name);
    return number == none ? nullptr : &entries_[number].value;
  }
  Value* find(const NameKey& name) {
    const std::uint32_t number = number_of(name);
    return number == none ? nullptr : &entries_[number].value;
  }

  // Returns the value of a name, which is added if necessary. The reference is valid until the next name is added.
  Value& operator[](const NameKey& name) { return entries_[number(name)].value; }

  // Returns the index in `entries()` of the entry of a name, which is added if necessary.
  std::size_t number(const NameKey& name) {
    if (numbers_.empty()) grow();
    std::size_t place = place_of(name);
    if (numbers_[place] != none) return numbers_[place];
    const std::size_t number = entries_.size();
    // At most half of the places are in use, so that a search ends soon.
    if (2 * number > last_place_) {
      grow();
      place = place_of(name);
    }
    numbers_[place] = static_cast<std::uint32_t>(number);
    entries_.push_back({name});
    return number;
  }

  // Removes all names, and keeps the memory.
  void clear() {
    entries_.clear();
    numbers_.clear();
    shift_ = unused_shift;
  }

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  // The search for a name starts at the place `hash >> shift_`, because the upper bits of a hash depend on all bytes of
  // the name. The value 29 means that the table has no places. Each call of `grow` decrements `shift_` and doubles the
  // number of places, so the first call creates 2 ** (32 - 28) = 16 places.
  static constexpr int unused_shift = 29;

  std::uint32_t number_of(const NameKey& name) const { return numbers_.empty() ? none : numbers_[place_of(name)]; }
  // Returns the place of the name, or the free place where the name belongs.
  std::size_t place_of(const NameKey& name) const {
    std::size_t place = name.hash() >> shift_;
    while (numbers_[place] != none && !(entries_[numbers_[place]].name == name)) place = (place + 1) & last_place_;
    return place;
  }

  void grow() {
    --shift_;
    last_place_ = (std::size_t{1} << (32 - shift_)) - 1;  // a mask that wraps the place of a search around
    numbers_.assign(last_place_ + 1, none);
    entries_.reserve(numbers_.size() / 2);
    for (std::uint32_t number = 0; number < entries_.size(); ++number)
      numbers_[place_of(entries_[number].name)] = number;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> numbers_;  // the number of the entry at each place, or `none`
  std::size_t last_place_ = 0;
  int shift_ = unused_shift;
};

}  // namespace depyf::lowering
