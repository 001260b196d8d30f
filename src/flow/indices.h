// Defines a list of indices, and a table that has an element for index -1. The list and the table are filled and read
// without branches. A branch on whether an instruction is a jump, or on whether a block has a second successor, follows
// no pattern: the processor predicts about a third of these branches wrongly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/table.h"

namespace depyf {

// A list of indices of instructions or blocks, mostly in ascending order. The constructor allocates the memory for all
// elements that are added later.
class Indices {
 public:
  Indices() = default;
  explicit Indices(std::size_t capacity) : items_(std::make_unique_for_overwrite<std::int32_t[]>(capacity)) {}

  // Adds `index` if `is_wanted` is true. Before the call, the list must have fewer than `capacity` elements (see the
  // constructor), even if `is_wanted` is false.
  void add_if(bool is_wanted, std::int32_t index) {
    items_[size_] = index;  // if the index is not wanted, the next call overwrites it
    size_ += is_wanted;
  }
  void add(std::int32_t index) { add_if(true, index); }
  void clear() { size_ = 0; }
  // Calls `is_kept` with each element in order, and removes the elements for which `is_kept` returns false.
  template <class Predicate>
  void keep_if(Predicate is_kept) {
    const std::size_t count = size_;
    size_ = 0;
    for (std::size_t place = 0; place < count; ++place) {
      const std::int32_t index = items_[place];
      add_if(is_kept(index), index);
    }
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::int32_t operator[](std::size_t place) const { return items_[place]; }
  const std::int32_t* begin() const { return items_.get(); }
  const std::int32_t* end() const { return items_.get() + size_; }

 private:
  std::unique_ptr<std::int32_t[]> items_;
  std::size_t size_ = 0;
};

// A table that has an element for the index -1 too, although the index -1 means that no object exists. So an element
// can be read without a test for the index -1.
template <class T>
class TableFromMinusOne {
 public:
  TableFromMinusOne() = default;
  // Creates the elements with the indices -1 to `count` - 1, which all get the value `value`.
  TableFromMinusOne(std::size_t count, T value) : items_(count + 1, value) {}

  T& operator[](std::int32_t index) { return items_[place(index)]; }
  const T& operator[](std::int32_t index) const { return items_[place(index)]; }

  // `elements` returns all elements except the element with the index -1, and `size` returns their number.
  std::size_t size() const { return elements().size(); }
  std::span<const T> elements() const { return items_.empty() ? std::span<const T>() : std::span(items_).subspan(1); }

 private:
  static std::size_t place(std::int32_t index) { return static_cast<std::size_t>(std::ptrdiff_t{index} + 1); }

  std::vector<T> items_;
};

}  // namespace depyf
