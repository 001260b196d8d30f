// Represents errors as values instead of exceptions, because input may be hostile.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace depyf {

struct Error {
  std::string message;
  std::size_t offset = 0;  // byte offset in the input
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace depyf
