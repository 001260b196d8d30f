// Compares two compilations of a module by their bytecode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depyf {

struct CodeObject;

// A place at which two compilations differ.
struct Difference {
  const CodeObject* code = nullptr;  // a code object of the first side
  std::string what;                  // the differing field of the code object, or the differing instruction
  std::uint32_t offset = 0;          // the offset of the differing instruction, in bytes
};

// Returns the code objects of `one` that differ from their counterparts in `two`. The code objects of `one` are `one`
// itself and all nested code objects that its reachable code loads.
//
// Two code objects are the same if both execute the same instructions with the same arguments, branch on the same
// conditions, and have the same exception handlers. Choices of the compiler are ignored: the layout of blocks, the
// choice between two equivalent opcodes, and the numbering of constants.
std::vector<Difference> compare(const CodeObject& one, const CodeObject& two);

}  // namespace depyf
