// Tells by positions whether equal ends of a function are copies of one end, or stand in different places of the source.
#pragma once

#include "decode/instruction.h"
#include "depyf/position.h"
#include "support/table.h"

namespace depyf {

class EndPositions {
 public:
  // `code` holds the instructions of `decoded`, rewritten or not. Both must outlive this object.
  EndPositions(Row<const Instruction, InstructionIndex> code, const DecodedCode& decoded)
      : code_(code), decoded_(decoded) {}

  // Returns the source position of the instruction `at`; an empty position if the code object has none, or none that may
  // be the place of an expression.
  Position position(int at) const;
  // False for code that no compiler made: Dynamo, for example, writes no columns, and may give one line to everything.
  bool has_place(int at) const;
  // True if the position of the instruction is an empty part of a line.
  bool has_empty_position(int at) const;
  // True if both instructions have columns in the source, and different ones.
  bool elsewhere(int one, int two) const;
  // True if no two instructions have different lines. A source has no such code with copies of whole statements, because
  // only a compound statement leads to them in several ways, and what follows it stands on another line.
  bool has_one_line() const;

 private:
  // Returns the position that the code object has for the instruction, whatever it is worth; null if it has none.
  const Position* recorded(int at) const;

  const Row<const Instruction, InstructionIndex> code_;
  const DecodedCode& decoded_;
};

}  // namespace depyf
