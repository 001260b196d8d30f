// Defines lists that grow by one element at a time while a statement is printed, and are emptied at its end.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace depyf::print {

// Adding a record costs less than with std::vector, because the code that makes room is not inlined (records.cpp).
// A list always has room for one more record: `add` writes the record before it calls `make_room`, so that no register
// has to be saved for the record across this call.
template <class T>
class Records {
 public:
  Records() { make_room(); }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  void add(const T& record) {
    *end_++ = record;
    if (end_ == room_end_) [[unlikely]]
      make_room();
  }
  // Removes the last record, which must exist, and returns it.
  T take_last() { return *--end_; }
  void clear() { end_ = records_.data(); }

  std::size_t size() const { return std::size_t(end_ - records_.data()); }
  bool empty() const { return end_ == records_.data(); }
  T& operator[](std::size_t index) { return records_[index]; }
  const T& operator[](std::size_t index) const { return records_[index]; }
  std::span<T> all() { return {records_.data(), size()}; }
  std::span<const T> all() const { return {records_.data(), size()}; }

 private:
  void make_room();

  std::vector<T> records_;  // the records before `end_` are in use
  T *end_ = nullptr, *room_end_ = nullptr;
};

}  // namespace depyf::print
