// Defines a table of elements that are copied as bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace depyf {

// A growing table that is indexed by `Key`. A std::vector copies elements one by one if their members have initial
// values, but a PlainTable copies all elements as one block of memory. The memory behind the last element is not
// initialized, so that a loop can write elements there directly (see `set_size`).
template <class T, class Key = int>
class PlainTable {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  PlainTable() = default;
  PlainTable(PlainTable&& other) noexcept { swap(other); }
  PlainTable(const PlainTable& other) {
    reserve(other.size_);
    if (other.size_ > 0) std::memcpy(items_, other.items_, other.size_ * sizeof(T));
    size_ = other.size_;
  }
  PlainTable& operator=(PlainTable other) noexcept {
    swap(other);
    return *this;
  }
  ~PlainTable() {
    if (items_) std::allocator<T>().deallocate(items_, capacity_);
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  T* data() { return items_; }
  const T* data() const { return items_; }
  T* begin() { return items_; }
  const T* begin() const { return items_; }
  T* end() { return items_ + size_; }
  const T* end() const { return items_ + size_; }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }
  T& operator[](Key key) { return items_[place(key)]; }
  const T& operator[](Key key) const { return items_[place(key)]; }

  // Allocates the memory for `count` elements, unless the table has this memory already.
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    T* const items = std::allocator<T>().allocate(count);
    if (size_ > 0) std::memcpy(items, items_, size_ * sizeof(T));
    if (items_) std::allocator<T>().deallocate(items_, capacity_);
    items_ = items, capacity_ = count;
  }
  void push_back(T item) {
    constexpr std::size_t usual = 16;
    if (size_ == capacity_) [[unlikely]]
      reserve(std::max(usual, 2 * capacity_));
    items_[size_++] = item;
  }
  // Changes the size to `size`, which must not be greater than the capacity. The caller must have written all elements
  // in front of `size`.
  void set_size(std::size_t size) { size_ = size; }

 private:
  static std::size_t place(Key key) { return static_cast<std::size_t>(static_cast<std::int32_t>(key)); }
  void swap(PlainTable& other) noexcept {
    std::swap(items_, other.items_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
  }

  T* items_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace depyf
