// depyf-decompile: Python source out of .pyc files.
#include <CLI/CLI.hpp>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/checker.h"
#include "cli/inputs.h"
#include "cli/text.h"
#include "depyf/decompile.h"
#include "depyf/disassemble.h"
#include "depyf/load.h"

namespace depyf::cli {
namespace {

struct Settings {
  std::vector<std::string> arguments;
  std::string output, check, stop_after, dump_after;
  unsigned jobs = 1;
  bool disassemble = false, fields = false, graph = false, lines = false;
};

struct Outcome {
  std::string text, error;  // error: whole lines for standard error
  bool done = false;
};

bool read_all(const std::string& path, std::string& bytes) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  if (!file) return false;
  std::istream& stream = path == "-" ? std::cin : file;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount()) bytes.append(buffer, stream.gcount());
  return stream.eof();
}

bool write_all(const std::filesystem::path& path, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file.good();
}

// The source, with a mark at each code object that does not come back; `error` says what could not be checked.
std::string checked(const CodeObject& code, std::unique_ptr<Checker>& checker, const std::string& python,
                    std::string& error) {
  std::string source = decompile(code).source;
  try {
    if (!checker) checker = std::make_unique<Checker>(python);
    Options options;
    options.marks = checker->differences(code, source);
    if (!options.marks.empty()) source = decompile(code, options).source;
  } catch (const std::runtime_error& failure) {
    error = failure.what();
    if (error.starts_with("--check")) checker = nullptr;  // it has died: the next file gets another
    source = "# depyf: not equal: not checked: " + error + "\n" + source;
  }
  return source;
}

// `checker`: of the thread that calls; made where it is needed.
Outcome process(const Input& input, const Settings& settings, std::unique_ptr<Checker>& checker) {
  std::string bytes;
  if (!read_all(input.path, bytes)) return {"", input.path + ": cannot be read\n"};
  LoadedPyc loaded = load_pyc(bytes);
  if (!loaded.code) {
    return {"", input.path + ": " + std::to_string(loaded.error_offset) + ": " + loaded.error + "\n"};
  }
  Outcome outcome;
  if (settings.fields) {
    outcome.text = fields_text(*loaded.code);
  } else if (settings.disassemble) {
    outcome.text = disassembly_text(*loaded.code);
  } else if (settings.graph) {
    outcome.text = control_flow_dot(*loaded.code);
  } else if (settings.lines) {
    outcome.text = line_map_text(decompile(*loaded.code));
  } else if (!settings.stop_after.empty() || !settings.dump_after.empty()) {
    Options options;
    options.stop_after = settings.stop_after, options.dump_after = settings.dump_after;
    Decompiled made = decompile(*loaded.code, options);
    outcome.text = settings.dump_after.empty() ? made.source : made.dump;
  } else if (!settings.check.empty()) {
    outcome.text = checked(*loaded.code, checker, settings.check, outcome.error);
    if (!outcome.error.empty()) outcome.error = input.path + ": " + outcome.error + "\n";
  } else {
    outcome.text = decompile(*loaded.code).source;
  }
  if (!settings.output.empty()) {
    std::filesystem::path path = settings.output / input.output;
    if (!write_all(path, outcome.text)) outcome.error += path.string() + ": cannot be written\n";
    outcome.text.clear();
  }
  return outcome;
}

Outcome process_safely(const Input& input, const Settings& settings, std::unique_ptr<Checker>& checker) {
  try {
    return process(input, settings, checker);
  } catch (const std::exception& error) {
    return {"", input.path + ": " + error.what() + "\n"};
  }
}

// Works on all inputs in `settings.jobs` threads, prints in their order; the exit status.
int run(const std::vector<Input>& inputs, const Settings& settings) {
  std::vector<Outcome> outcomes(inputs.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable finished;
  auto work = [&] {
    std::unique_ptr<Checker> checker;
    for (std::size_t i = next++; i < inputs.size(); i = next++) {
      Outcome outcome = process_safely(inputs[i], settings, checker);
      outcome.done = true;
      std::lock_guard lock(mutex);
      outcomes[i] = std::move(outcome);
      finished.notify_one();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::min<std::size_t>(settings.jobs, inputs.size()); ++i) threads.emplace_back(work);
  int status = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return outcomes[i].done; });
    Outcome outcome = std::move(outcomes[i]);
    lock.unlock();
    if (!outcome.text.empty() && inputs.size() > 1) std::cout << "# " << inputs[i].path << "\n";
    std::cout << outcome.text;
    std::cerr << outcome.error;
    if (!outcome.error.empty()) status = 1;
  }
  if (!std::cout.flush()) {
    std::cerr << "standard output: cannot be written\n";
    status = 1;
  }
  return status;
}

}  // namespace
}  // namespace depyf::cli

int main(int argc, char** argv) {
  using namespace depyf::cli;
  Settings settings;
  CLI::App app("Python source out of .pyc files of CPython 3.8 to 3.15", "depyf-decompile");
  app.set_version_flag("--version", "depyf-decompile " DEPYF_VERSION);
  app.add_option("FILE", settings.arguments, ".pyc files, folders of such, or - for standard input")->required();
  app.add_option("-o,--output", settings.output, "Folder for the sources, in place of standard output");
  auto* check =
      app.add_option("--check", settings.check,
                     "Compile back with this interpreter, of the version of the files, and mark each function "
                     "that does not give the same bytecode: # depyf: not equal: what");
  app.add_option("-j,--jobs", settings.jobs, "Files to work on at a time")->check(CLI::Range(1u, 256u));
  std::vector<std::string> names;  // of passes that make statements
  for (auto [name, why] : depyf::passes())
    if (name != "decode" && name != "flow" && name != "print") names.emplace_back(name);
  std::vector<CLI::Option*> instead{
      app.add_option("--stop-after", settings.stop_after, "Print the source as it is after this pass")
          ->check(CLI::IsMember(std::vector<std::string>(names.begin() + 1, names.end()))),
      app.add_option("--dump-after", settings.dump_after,
                     "Print what this pass makes of each code object (of decode and flow: --dis and --cfg)")
          ->check(CLI::IsMember(names)),
      app.add_flag("--dis", settings.disassemble, "Print version-neutral instructions in place of the source"),
      app.add_flag("--cfg", settings.graph, "Print the control flow graph of each code object in DOT in its place"),
      app.add_flag("--lines", settings.lines,
                   "Print, as JSON, which line of the source stands for which bytecode of the module, in its place"),
      app.add_flag("--dump-load", settings.fields, "Print the fields of the code objects as loaded in its place"),
      check};
  for (CLI::Option* one : instead)
    for (CLI::Option* other : instead)
      if (one != other) one->excludes(other);
  CLI11_PARSE(app, argc, argv);

  std::ios::sync_with_stdio(false);
  std::vector<Input> inputs = find_inputs(settings.arguments);
  if (inputs.empty()) std::cerr << "no .pyc files found\n";
  choose_outputs(inputs);
  return inputs.empty() ? 1 : run(inputs, settings);
}
