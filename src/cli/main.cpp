// The command depyf-decompile, which turns .pyc files into Python source.
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <string_view>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/command.h"
#include "cli/diff.h"
#include "cli/options.h"

namespace {

constexpr int wrong_command_line = 2;

// Writes to the standard output, in large pieces, and to the standard error. The class uses no streams of the C++
// library, because initialising them would take a twentieth of all instructions that a small file needs.
class Standard : public depyf::cli::Sinks {
 public:
  void text(const std::string& utf8) override {
    if (waiting_.size() + utf8.size() >= part) {
      flush();
      if (!write(STDOUT_FILENO, utf8)) is_good_ = false;
    } else {
      waiting_ += utf8;
    }
  }
  void error(const std::string& lines) override {
    flush();
    write(STDERR_FILENO, lines);
  }

  // Writes the buffered output. Returns false if some of the output could not be written.
  bool flush() {
    if (!write(STDOUT_FILENO, waiting_)) is_good_ = false;
    waiting_.clear();
    return is_good_;
  }

 private:
  static constexpr std::size_t part = 1 << 13;

  static bool write(int descriptor, std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(descriptor, text.data(), text.size());
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  std::string waiting_;
  bool is_good_ = true;
};

int decompile_all(const depyf::cli::CommandLine& line, Standard& sinks) {
  std::vector<depyf::cli::Input> inputs = depyf::cli::find_inputs(line.files, line.settings.max_size);
  if (inputs.empty()) {
    sinks.error("depyf-decompile: the given folders contain no .pyc files\n");
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
      sinks.error("depyf-decompile: " + line.error + "\nTry depyf-decompile --help.\n");
      return wrong_command_line;
  }
  return wrong_command_line;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // All threads share one arena of malloc, because they seldom call malloc, and only for large chunks. With an arena of
  // its own, each thread would reserve 64 MiB of addresses without a benefit.
  mallopt(M_ARENA_MAX, 1);
#endif
  const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
  Standard sinks;
  int status = 1;
  try {
    status = act(depyf::cli::parse(arguments.subspan(arguments.empty() ? 0 : 1)), sinks);
  } catch (const std::exception& failure) {
    sinks.error("depyf-decompile: " + std::string(failure.what()) + "\n");
  }
  if (!sinks.flush()) {
    sinks.error("depyf-decompile: standard output cannot be written\n");
    status = 1;
  }
  return status;
}
