// depyf-decompile: Python source out of .pyc files.
#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/command.h"
#include "depyf/decompile.h"

namespace {

class Standard : public depyf::cli::Sinks {
 public:
  void text(const std::string& utf8) override { std::cout << utf8; }
  void error(const std::string& lines) override { std::cerr << lines; }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace depyf::cli;
  Settings settings;
  std::vector<std::string> arguments;
  CLI::App app("Python source out of .pyc files of CPython 3.8 to 3.15", "depyf-decompile");
  app.set_version_flag("--version", "depyf-decompile " DEPYF_VERSION);
  app.add_option("FILE", arguments, ".pyc files, folders of such, or - for standard input")->required();
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
                   "Print, as JSON, which line of the source stands for which bytecode, in its place"),
      app.add_flag("--dump-load", settings.fields, "Print the fields of the code objects as loaded in its place"),
      check};
  for (CLI::Option* one : instead)
    for (CLI::Option* other : instead)
      if (one != other) one->excludes(other);
  CLI11_PARSE(app, argc, argv);

  std::ios::sync_with_stdio(false);
  std::vector<Input> inputs = find_inputs(arguments);
  if (inputs.empty()) std::cerr << "no .pyc files found\n";
  choose_outputs(inputs);
  Standard sinks;
  int status = inputs.empty() ? 1 : run(inputs, settings, sinks);
  if (!std::cout.flush()) {
    std::cerr << "standard output: cannot be written\n";
    status = 1;
  }
  return status;
}
