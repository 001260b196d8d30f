#include "lift/cursor.h"

#include <algorithm>
#include <limits>
#include <span>

#include "decode/op.h"
#include "decode/op_info.h"
#include "depyf/position.h"
#include "support/branch_free.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

void Cursor::fail(std::string_view what) const {
  throw InternalError{std::string(what), at < int(code.size()) ? now().offset : 0};
}

int Cursor::skip(int from) const {
  while (from < end && (code[from].op == Op::nop_ || code[from].op == Op::resume_)) ++from;
  return from;
}

void Cursor::begin_behind(std::uint32_t offset) {
  const int last = std::min(at, int(code.size()) - 1);
  while (first_at < last && code[first_at].offset <= offset) first_offset = code[++first_at].offset;
}

// Returns the smallest column of those instructions of the current statement that are on the line of the current
// instruction.
std::int32_t Cursor::first_column() const {
  const std::span<const Position> positions = decoded.positions;
  const int end_at = std::min(at + 1, int(code.size()));
  if (first_at >= end_at) return -1;
  const std::int32_t line = now().line;
  std::uint32_t column = std::numeric_limits<std::uint32_t>::max();
  for (const Instruction& instruction : Row<const Instruction>(code).part(first_at, end_at - first_at)) {
    const std::size_t unit = instruction.offset / 2;
    if (unit >= positions.size()) continue;
    // As an unsigned number, an unknown column (-1) is larger than all known columns. The column of an instruction on
    // another line counts as unknown, which takes no branch.
    const Position& position = positions[unit];
    column = std::min(column, static_cast<std::uint32_t>(select(position.line == line, position.column, -1)));
  }
  return static_cast<std::int32_t>(column);
}

Expr* Cursor::target_name(const Instruction& instruction) const {
  return uses_local(instruction.op) ? local(instruction.arg) : make(Name{name_of(instruction.arg)});
}

}  // namespace depyf::lifting
