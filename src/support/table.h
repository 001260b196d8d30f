// Vectors whose elements are asked for by a signed number, or by the number of one kind of thing alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace depyf {

// The number of one kind of thing, such as a block. -1 stands for none. Numbers of different kinds do not convert into
// each other, so that a region cannot be passed where a block is expected. Plain integers do convert, because they
// count and are computed with. A std::uint32_t does not: this is the type of offsets in bytes, which would be taken for
// the number of an instruction. In the other direction -Wsign-conversion refuses a number as an offset.
template <class Kind>
class Index {
 public:
  constexpr Index() = default;
  template <std::integral Number>
    requires(!std::same_as<Number, std::uint32_t>)
  constexpr Index(Number number) : number_(static_cast<std::int32_t>(number)) {}
  constexpr operator std::int32_t() const { return number_; }
  constexpr Index& operator++() {
    ++number_;
    return *this;
  }

 private:
  std::int32_t number_ = -1;
};

// Numbers of different kinds are not compared either.
template <class Kind, class Other>
  requires(!std::same_as<Kind, Other>)
bool operator==(Index<Kind>, Index<Other>) = delete;
template <class Kind, class Other>
  requires(!std::same_as<Kind, Other>)
bool operator<(Index<Kind>, Index<Other>) = delete;

// A vector. Its elements are numbered by `Key`, which is an Index or any integer.
template <class T, class Key = int>
class Table : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  // Explicit, because a reference to a Table that is bound to a vector would refer to a copy.
  explicit Table(std::vector<T> items) : std::vector<T>(std::move(items)) {}
  template <std::integral Count>
  explicit Table(Count count, const T& value = T()) : std::vector<T>(static_cast<std::size_t>(count), value) {}

  template <std::integral Count>
  void resize(Count count) {
    std::vector<T>::resize(static_cast<std::size_t>(count));
  }
  template <std::integral Count>
  void resize(Count count, const T& value) {
    std::vector<T>::resize(static_cast<std::size_t>(count), value);
  }
  template <std::integral Count>
  void assign(Count count, const T& value) {
    std::vector<T>::assign(static_cast<std::size_t>(count), value);
  }
  using std::vector<T>::assign;

  decltype(auto) operator[](Key key) { return std::vector<T>::operator[](number(key)); }
  decltype(auto) operator[](Key key) const { return std::vector<T>::operator[](number(key)); }
  template <std::integral Number>
    requires(std::integral<Key> || !std::same_as<Number, std::uint32_t>)
  decltype(auto) operator[](Number key) {
    return std::vector<T>::operator[](static_cast<std::size_t>(key));
  }
  template <std::integral Number>
    requires(std::integral<Key> || !std::same_as<Number, std::uint32_t>)
  decltype(auto) operator[](Number key) const {
    return std::vector<T>::operator[](static_cast<std::size_t>(key));
  }

 private:
  static std::size_t number(Key key) { return static_cast<std::size_t>(static_cast<std::int32_t>(key)); }
};

// A view of a row of elements. They are numbered by `Key`, which is an Index or any integer.
template <class T, class Key = int>
class Row : public std::span<T> {
 public:
  using std::span<T>::span;
  Row(std::span<T> items) : std::span<T>(items) {}
  T& operator[](Key key) const {
    return std::span<T>::operator[](static_cast<std::size_t>(static_cast<std::int32_t>(key)));
  }
  template <std::integral Number>
  T& operator[](Number number) const {
    return std::span<T>::operator[](static_cast<std::size_t>(number));
  }
  // Returns `count` elements from `first` on.
  Row part(std::integral auto first, std::integral auto count) const {
    return std::span<T>::subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  }
};

}  // namespace depyf
