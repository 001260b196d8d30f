// Interpreters of this machine, by version.
#pragma once

#include <string>

#include "depyf/code_object.h"

namespace depyf::cli {

// The path of an interpreter of `version`: what DEPYF_PYTHON_3_14 names, pythonX.Y in PATH, those of pyenv. Empty: none.
std::string find_interpreter(Version version);

}  // namespace depyf::cli
