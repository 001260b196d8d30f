// Computes the content of the value stack of a code object before each of its instructions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depyf/constant.h"
#include "depyf/exception_entry.h"

namespace depyf {

// One value on the stack, before an instruction.
struct StackSlot {
  enum class Kind : std::uint8_t {
    value,     // a value of the program, which any object may replace
    internal,  // a value whose type the interpreter relies on: an iterator, a list being filled, an exception
    null,      // the NULL beside a callable
    // A method that is about to be called takes two slots: a function and its receiver, or a bound method and NULL
    // (up to 3.12 NULL is the lower one). Only at run time is it known whether a bound method and NULL, or a function
    // and its receiver, are on the stack. A slot of kind `method` has the expression of the bound method.
    method,
    receiver,
  };
  // The value as a Python expression. Parts of the expression that cannot be written as Python are in angle brackets.
  // A NULL is written "NULL".
  std::string expression;
  // True if evaluating the expression in the frame yields the value. An expression that is `current` contains no call,
  // and reads nothing that can have changed. Operators, attributes and subscripts are assumed to have no effects.
  bool current = false;
  Kind kind = Kind::value;
  std::int32_t made_at = -1;  // the offset of the instruction that pushed the value; -1 if no single instruction did
};

// The stack of one code object of 3.9 or later. A flow analysis computes depths and values, so instructions may be
// queried in any order. Invalid bytecode never raises an exception: its depths are -1.
class StackMap {
 public:
  explicit StackMap(const CodeObject& code);
  ~StackMap();
  StackMap(StackMap&&) noexcept;
  StackMap& operator=(StackMap&&) noexcept;

  // Returns the reason why the analysis knows nothing about the code; an empty string if the analysis succeeded.
  const std::string& error() const;
  // `depth` returns the stack depth before the instruction at `offset`, or -1 if control never reaches it. `slots`
  // returns the slots of the stack before the instruction at `offset`, the bottom first.
  std::int32_t depth(std::uint32_t offset) const;
  std::vector<StackSlot> slots(std::uint32_t offset) const;
  // Returns the number of slots that the instruction pops when it falls through.
  std::int32_t pops(std::uint32_t offset) const;
  // Returns the handler of an exception at `offset`, or std::nullopt if no handler covers `offset`. In the result,
  // `lasti` and `depth` mean the same as in an exception table of CPython 3.11.
  std::optional<ExceptionEntry> handler(std::uint32_t offset) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace depyf
