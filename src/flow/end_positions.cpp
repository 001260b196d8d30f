#include "flow/end_positions.h"

#include "decode/op.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

// True if the position starts and ends in one column of one line, as the position of no expression does.
// ast.fix_missing_locations() sets empty positions at nodes that have no position.
bool is_empty(const Position& position) {
  return position.column >= 0 && position.column == position.end_column && position.line == position.end_line;
}

}  // namespace

const Position* EndPositions::recorded(int at) const {
  const std::size_t unit = code_[at].offset / 2;
  return unit < decoded_.positions.size() ? &decoded_.positions[unit] : nullptr;
}

Position EndPositions::position(int at) const {
  const Position* position = recorded(at);
  return position && !is_empty(*position) ? *position : Position{};
}

bool EndPositions::has_place(int at) const {
  return code_[at].line >= 0 && (!dialect_of(decoded_.version).columns || position(at).column >= 0);
}

bool EndPositions::has_empty_position(int at) const {
  const Position* position = recorded(at);
  return position && is_empty(*position);
}

bool EndPositions::elsewhere(int one, int two) const {
  return dialect_of(decoded_.version).columns && has_place(one) && has_place(two) &&
         (code_[one].line != code_[two].line || position(one).column != position(two).column);
}

bool EndPositions::has_one_line() const {
  std::int32_t line = -1;
  for (const Instruction& instruction : code_) {
    if (instruction.line < 0 || instruction.op == Op::resume_) continue;
    if (line >= 0 && instruction.line != line) return false;
    line = instruction.line;
  }
  return true;
}

}  // namespace depyf
