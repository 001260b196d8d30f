// The command depyf-decompile, which turns .pyc files into Python source.
#include <iostream>
#include <span>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/command.h"
#include "cli/diff.h"
#include "cli/options.h"

namespace {

constexpr int wrong_command_line = 2;

class Standard : public depyf::cli::Sinks {
 public:
  void text(const std::string& utf8) override { std::cout << utf8; }
  void error(const std::string& lines) override { std::cerr << lines; }
};

int decompile_all(const depyf::cli::CommandLine& line, Standard& sinks) {
  std::vector<depyf::cli::Input> inputs = depyf::cli::find_inputs(line.files, line.settings.max_size);
  if (inputs.empty()) {
    std::cerr << "no .pyc files found\n";
    return 1;
  }
  if (!line.settings.output.empty()) depyf::cli::choose_outputs(inputs);
  return depyf::cli::run(inputs, line.settings, sinks);
}

int act(const depyf::cli::CommandLine& line, Standard& sinks) {
  using Action = depyf::cli::CommandLine::Action;
  switch (line.action) {
    case Action::decompile: return decompile_all(line, sinks);
    case Action::diff: return depyf::cli::run_diff(line.files[0], line.files[1], line.settings, sinks);
    case Action::completion: return sinks.text(depyf::cli::completion_text(line.files[0])), 0;
    case Action::manual: return sinks.text(depyf::cli::manual_text()), 0;
    case Action::help: return sinks.text(depyf::cli::help_text()), 0;
    case Action::version: return sinks.text("depyf-decompile " DEPYF_VERSION "\n"), 0;
    case Action::error:
      std::cerr << "depyf-decompile: " << line.error << "\nTry depyf-decompile --help.\n";
      return wrong_command_line;
  }
  return wrong_command_line;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Threads seldom take memory from malloc, and then in large chunks. An arena for each thread would only reserve 64
  // MiB of addresses.
  mallopt(M_ARENA_MAX, 1);
#endif
  std::ios::sync_with_stdio(false);
  const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
  Standard sinks;
  int status = 1;
  try {
    status = act(depyf::cli::parse(arguments.subspan(arguments.empty() ? 0 : 1)), sinks);
  } catch (const std::exception& failure) {
    std::cerr << "depyf-decompile: " << failure.what() << "\n";
  }
  if (!std::cout.flush()) {
    std::cerr << "standard output: cannot be written\n";
    status = 1;
  }
  return status;
}
