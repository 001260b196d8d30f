// Defines vectors that are indexed by signed integers, or only by the index type of one kind of object.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace depyf {

// The index of one kind of object, such as a block; -1 stands for no object. Indices of different kinds do not convert
// into each other, so that a region cannot be passed where a block is expected. Plain integers convert into an Index,
// because loops and arithmetic use plain integers. A std::uint32_t does not convert into an Index: it is the type of
// byte offsets, which must not be taken for instruction indices. The compiler option -Wsign-conversion rejects an Index
// where an offset is expected.
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

// Comparisons of indices of different kinds do not compile.
template <class Kind, class Other>
  requires(!std::same_as<Kind, Other>)
bool operator==(Index<Kind>, Index<Other>) = delete;
template <class Kind, class Other>
  requires(!std::same_as<Kind, Other>)
bool operator<(Index<Kind>, Index<Other>) = delete;

// A vector whose elements are indexed by `Key`, which is an Index or any integer.
template <class T, class Key = int>
class Table : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  // This constructor is explicit, because a reference to a Table that is bound to a vector would refer to a copy.
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

// A view of consecutive elements, which are indexed by `Key`. `Key` is an Index or any integer.
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
