// Moves code objects to other files and lines.
#include "depyf/recode.h"
#include "recode/nested.h"

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

bool move_to(CodeObject& code, const std::string* file, std::int32_t lines_down) {
  const std::string file_before = code.filename;
  return change_each_code(code, [&](CodeObject& each) {
    if (each.filename != file_before || (lines_down == 0 && (!file || *file == file_before))) return false;
    if (file) each.filename = *file;
    add_lines(each.firstlineno, lines_down);
    for (Position& position : each.positions) add_lines(position, lines_down);
    return true;
  });
}

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
