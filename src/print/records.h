// Defines lists that grow by one element at a time while a statement is printed, and are emptied at its end.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace depyf::print {

// Adding a record costs less than with std::vector, because the code that makes room is not inlined (records.cpp).
// A list always has room for one more record: `add` writes the record before it calls `make_room`, so that no register
// has to be saved for the record across this call.
template <class T>
class Records {
 public:
  Records() { make_room(); }
  ~Records() { std::allocator<T>().deallocate(begin_, room()); }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  void add(const T& record) {
    *end_++ = record;
    if (end_ == room_end_) [[unlikely]]
      make_room();
  }
  // Removes the last record, which must exist, and returns it.
  T take_last() { return *--end_; }
  void clear() { end_ = begin_; }

  std::size_t size() const { return std::size_t(end_ - begin_); }
  bool empty() const { return end_ == begin_; }
  T& operator[](std::size_t index) { return begin_[index]; }
  const T& operator[](std::size_t index) const { return begin_[index]; }
  std::span<T> all() { return {begin_, size()}; }
  std::span<const T> all() const { return {begin_, size()}; }

 private:
  std::size_t room() const { return std::size_t(room_end_ - begin_); }
  void make_room();

  // The records from `begin_` to `end_` are in use; the memory behind them, up to `room_end_`, is not initialized.
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  T *begin_ = nullptr, *end_ = nullptr, *room_end_ = nullptr;
};

}  // namespace depyf::print
