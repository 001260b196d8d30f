// Reads code objects that PyTorch saved field by field, as SerializedCode of torch._dynamo.package.
#pragma once

#include <string>

#include "depyf/artifact.h"
#include "depyf/constant.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// The bounds on all code objects of a file together. A part that the pickle shares is copied for each code object.
struct CodeBudget {
  std::size_t constants = 1'000'000;  // the number of constants, about 200 bytes each
  std::size_t bytes = std::size_t{16} << 20;  // bytes of names, strings and bytecode
};

// Returns the version of a text such as "3.11.7"; nothing if depyf does not read that version.
std::optional<Version> version_of(std::string_view text);

// Builds a code object, checks it, decompiles it in the first style whose result is proved, and returns the function
// with the verdict.
Function read_function(const pickle::Value& serialized, std::string role, std::optional<Version> version,
                       CodeBudget& budget);

}  // namespace depyf::artifact
