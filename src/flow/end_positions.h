// Decides by source positions whether equal exits of a function are copies that the compiler made of one statement, or
// different statements of the source.
#pragma once

#include "decode/instruction.h"
#include "depyf/position.h"
#include "support/table.h"

namespace depyf {

class EndPositions {
 public:
  // `code` contains the instructions of `decoded`, rewritten or not. `code` and `decoded` must outlive this object.
  EndPositions(Row<const Instruction, InstructionIndex> code, const DecodedCode& decoded)
      : code_(code), decoded_(decoded) {}

  // Returns the source position of the instruction `at`. If the code object records no position for the instruction, or
  // a position that starts and ends in the same column, the result is a default-constructed position.
  Position position(int at) const;
  // True if the instruction has a line and, in versions with columns, a column. For example, the instructions that
  // TorchDynamo generates have no columns.
  bool has_place(int at) const;
  // True if the position of the instruction starts and ends in the same column.
  bool has_empty_position(int at) const;
  // True if both instructions have columns in the source, and their lines or columns differ.
  bool elsewhere(int one, int two) const;
  // True if all instructions that have a line, apart from RESUME, have the same line. Code on one line contains no
  // copies of whole statements, because only statements behind a compound statement are copied, and they are on another
  // line than the compound statement.
  bool has_one_line() const;

 private:
  // Returns the position that the code object records for the instruction, even if the position is empty; null if the
  // code object records no position.
  const Position* recorded(int at) const;

  const Row<const Instruction, InstructionIndex> code_;
  const DecodedCode& decoded_;
};

}  // namespace depyf
