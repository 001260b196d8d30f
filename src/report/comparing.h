// The commands of depyf-report that compare runs: `diff`. The extension module has them too, for `depyf diff`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace depyf::report {

struct CommandResult {
  int status = 0;
  std::string output, errors;
};

// Executes the command if the first argument names one.
std::optional<CommandResult> comparing_command(const std::vector<std::string>& arguments);

}  // namespace depyf::report
