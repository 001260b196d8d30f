// Defines functions that select a number without a branch. The functions are for conditions that follow no pattern,
// because a processor would often mispredict a branch on such a condition. The functions use bit operations, because a
// compiler may turn `?:` into a branch.
#pragma once

#include <type_traits>

namespace depyf {

// Returns `yes` if the condition is true, and `no` if it is false. Unlike with `?:`, both `yes` and `no` are always
// computed.
template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>)
constexpr T select(bool condition, T yes, std::type_identity_t<T> no) {
  if constexpr (std::is_same_v<T, bool>) {
    return (condition & yes) | (!condition & no);
  } else if constexpr (std::is_enum_v<T>) {
    using Number = std::underlying_type_t<T>;
    return static_cast<T>(select(condition, static_cast<Number>(yes), static_cast<Number>(no)));
  } else {
    using Bits = std::make_unsigned_t<T>;
    const Bits mask = static_cast<Bits>(Bits{0} - Bits{condition});
    const Bits otherwise = static_cast<Bits>(no);
    return static_cast<T>(otherwise ^ ((static_cast<Bits>(yes) ^ otherwise) & mask));
  }
}
// An overload for values of an Index type (see table.h), which convert to int. Returns `yes` if the condition is true,
// and `no` if it is false.
constexpr int select(bool condition, int yes, int no) { return no ^ ((no ^ yes) & -int{condition}); }

// Returns the number, or 0 if the number is negative. If an index may be -1, the result is the index of an element that
// exists, so that the element can be read without a branch.
constexpr int or_zero(int number) { return number & ~(number >> 31); }

}  // namespace depyf
