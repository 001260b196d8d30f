// Executes the commands of depyf-report that compare runs, such as `diff`. The extension module calls
// `comparing_command` for `depyf diff`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace depyf::report {

struct CommandResult {
  int status = 0;
  std::string output, errors;
};

// Executes the command that the first argument names; returns nothing if the first argument names no command that
// compares runs.
std::optional<CommandResult> comparing_command(const std::vector<std::string>& arguments);

}  // namespace depyf::report
