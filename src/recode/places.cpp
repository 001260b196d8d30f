// Moves statements of code objects to other lines.
#include "depyf/recode.h"

namespace depyf {
namespace {

constexpr std::int32_t no_line = -1;

// Adds with wraparound instead of an undefined overflow, because line tables may be hostile.
void add_lines(std::int32_t& line, std::int32_t lines) {
  line = static_cast<std::int32_t>(static_cast<std::uint32_t>(line) + static_cast<std::uint32_t>(lines));
}

void add_lines(Position& position, std::int32_t lines) {
  if (position.line != no_line) add_lines(position.line, lines);
  if (position.end_line != no_line) add_lines(position.end_line, lines);
}

}  // namespace

bool raise_by_one_line(CodeObject& code) {
  bool changed = false;
  for (Position& position : code.positions) {
    if (position.line <= code.firstlineno) continue;
    add_lines(position, -1);
    changed = true;
  }
  return changed;
}

}  // namespace depyf
