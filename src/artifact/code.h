// Reads code objects that PyTorch saved field by field, as SerializedCode of torch._dynamo.package.
#pragma once

#include <string>

#include "depyf/artifact.h"
#include "depyf/constant.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// The bounds on the total size of all code objects of a file. If code objects share a string in the pickle, the size
// of the string is subtracted from `bytes` once for each code object, because each code object has its own copy.
struct CodeBudget {
  std::size_t constants = 1'000'000;  // the maximum number of constants, about 200 bytes each
  std::size_t bytes = std::size_t{16} << 20;  // the maximum size of names, strings and bytecode together
};

// Returns the version that a text such as "3.11.7" names; nothing if depyf cannot read bytecode of that version.
std::optional<Version> version_of(std::string_view text);

// Builds a code object, checks it, and decompiles it in the first style of source whose result is proved equivalent.
// Returns the function with its source, and with a flag that is true if the source is proved.
Function read_function(const pickle::Value& serialized, std::string role, std::optional<Version> version,
                       CodeBudget& budget);

}  // namespace depyf::artifact
