// Defines the numbers that stand for values while two code objects are run in step; lockstep.cpp explains the method.
#pragma once

#include <cstdint>
#include <vector>

namespace depyf::lockstep {

// A Value is a number that stands for a value of the program; it is the sum of a base and a part. The base is a
// multiple of `parts`; the part is less than `parts`, and selects an aspect of the base, such as its negation.
using Value = std::int32_t;
inline constexpr Value parts = 8;
inline constexpr Value self_part = 1;     // the stack slot above a loaded method: its self, or NULL
inline constexpr Value negated_part = 2;  // the opposite of a boolean
// Up to 3.10 an exception takes three slots of the stack: its traceback, the exception itself and its class.
inline constexpr Value class_part = 3, traceback_part = 4;
// The part of a value that is a return address: the base, divided by `parts`, is the index of the instruction to which
// the subroutine of a finally clause returns (3.8).
inline constexpr Value address_part = 5;
// The numbers of values with a fixed meaning. A value without a fixed meaning gets a number from `first_fresh` on.
inline constexpr Value null_value = 0, raised_at = 1 * parts, callers_exception = 2 * parts, undefined_item = 3 * parts,
                       names_of_call = 4 * parts, none_value = 5 * parts, true_value = 6 * parts,
                       false_value = true_value + negated_part, qualified_name = 7 * parts, generator_start = 8 * parts,
                       first_fresh = 9 * parts;

// Bits for the facts that may be known of the base of a value; `flag_values` is the number of their combinations.
inline constexpr std::uint8_t is_boolean = 1;
inline constexpr std::uint8_t is_tuple_of_constants = 2;
inline constexpr Value flag_values = 4;

// Returns true if the value is a whole object and no part of one, so that it can be an operand.
inline bool is_whole(Value value) {
  const Value part = value % parts;
  return part == 0 || part == negated_part;
}

// Returns the opposite of a boolean.
inline Value negation(Value boolean) { return boolean ^ negated_part; }
inline bool is_known_truth(Value value) { return value == true_value || value == false_value || value == none_value; }

// Allocates the bases of new values (see Value), and stores the facts that are known of each base.
class Values {
 public:
  Value fresh(std::uint8_t flags = 0) {
    flags_.push_back(flags);
    return first_fresh + parts * Value(flags_.size() - 1);
  }
  std::uint8_t flags_of(Value value) const {
    if (value / parts == true_value / parts) return is_boolean;
    return value < first_fresh ? std::uint8_t{0} : flags_[std::size_t((value - first_fresh) / parts)];
  }
  bool is_truth(Value value) const { return value % parts != self_part && (flags_of(value) & is_boolean); }

 private:
  std::vector<std::uint8_t> flags_;  // the facts about each base, in the order of the bases
};

}  // namespace depyf::lockstep
