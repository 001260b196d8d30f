// Code objects that PyTorch saved field by field (SerializedCode of torch._dynamo.package).
#pragma once

#include <string>

#include "depyf/artifact.h"
#include "depyf/constant.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// What all code objects of a file may take together: shared parts of a pickle expand here.
struct CodeBudget {
  std::size_t constants = 1'000'000;             // about 200 bytes each
  std::size_t bytes = std::size_t{16} << 20;     // of names, strings and bytecode
};

// The version that a text such as "3.11.7" names; none if it is none that depyf reads.
std::optional<Version> version_of(std::string_view text);

// Puts a code object together, checks it, decompiles it in the first style that is proved, and says what came of it.
Function read_function(const pickle::Value& serialized, std::string role, std::optional<Version> version,
                       CodeBudget& budget);

}  // namespace depyf::artifact
