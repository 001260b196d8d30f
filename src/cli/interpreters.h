// Finds the interpreters of this machine by version.
#pragma once

#include <string>

#include "depyf/constant.h"

namespace depyf::cli {

// Returns the path of an interpreter of `version`: the value of an environment variable such as DEPYF_PYTHON_3_14, or
// else the program pythonX.Y of pyenv or in PATH. Returns an empty string if no interpreter of `version` is found.
std::string find_interpreter(Version version);

}  // namespace depyf::cli
