// What the value stack of a code object holds before each of its instructions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

// One value on the stack, before an instruction.
struct StackSlot {
  enum class Kind : std::uint8_t {
    value,     // of the program: any object may stand in its place
    internal,  // the interpreter takes its type for granted: an iterator, a list being filled, an exception
    null,      // the NULL beside a callable
    // A method to be called lies in two slots: as function and receiver, or as bound method and NULL, the NULL below to
    // 3.12. Which it is, is known only when it runs: `method` has the expression of the bound method.
    method,
    receiver,
  };
  // As Python; parts that are no Python stand in angle brackets. "NULL" for null.
  std::string expression;
  // Evaluating the expression in the frame gives the value, as far as operators, attributes and subscripts have no
  // effects of their own: it calls nothing, and nothing that it reads can have been changed since.
  bool current = false;
  Kind kind = Kind::value;
  std::int32_t made_at = -1;  // offset of the instruction that pushed it, in bytes; -1: where ways meet, or none
};

// Of one code object of 3.9 or later. Depths and values come from a flow analysis, so that any instruction may be asked
// for, in any order. Never fails: where bytecode makes no sense, depths are -1.
class StackMap {
 public:
  explicit StackMap(const CodeObject& code);
  ~StackMap();
  StackMap(StackMap&&) noexcept;
  StackMap& operator=(StackMap&&) noexcept;

  const std::string& error() const;  // empty unless nothing is known
  // Before the instruction at `offset`: the depth, -1 where control never comes; the slots, bottom first.
  std::int32_t depth(std::uint32_t offset) const;
  std::vector<StackSlot> slots(std::uint32_t offset) const;
  // How many of them the instruction takes, where it falls through.
  std::int32_t pops(std::uint32_t offset) const;
  // What an exception there is handled by; `lasti` and `depth` as in the exception table of 3.11.
  std::optional<ExceptionEntry> handler(std::uint32_t offset) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace depyf
