// Do two compilations of a module hold the same bytecode?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depyf {

struct CodeObject;

struct Difference {
  const CodeObject* code = nullptr;  // of the first side
  std::string what;                  // what differs: a field of the code object, or an instruction
  std::uint32_t offset = 0;          // of that instruction, in bytes
};

// The code objects of `one`, itself and all that its reachable code loads, that differ from their counterparts in `two`.
// The same: from the start on, both execute the same instructions with the same arguments, branch on the same conditions
// and are protected by the same handlers. Where the compiler laid blocks out, which of two names of one instruction it
// chose and which constants it numbered how does not count.
std::vector<Difference> compare(const CodeObject& one, const CodeObject& two);

}  // namespace depyf
