#include "cli/inputs.h"

#include <algorithm>
#include <map>

namespace depyf::cli {
namespace {

namespace fs = std::filesystem;

// Without __pycache__, and without the tag of the interpreter.
fs::path source_path(const fs::path& pyc) {
  fs::path folder = pyc.parent_path();
  fs::path stem = pyc.stem();
  if (folder.filename() == "__pycache__") {
    folder = folder.parent_path();
    if (!stem.stem().empty()) stem = stem.stem();
  }
  return folder / (stem.string() + ".py");
}

}  // namespace

std::vector<Input> find_inputs(const std::vector<std::string>& arguments) {
  std::vector<Input> inputs;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (argument == "-") {
      inputs.push_back({argument, "stdin.pyc"});
    } else if (fs::is_directory(argument, ignored)) {
      std::vector<fs::path> found;
      auto options = fs::directory_options::skip_permission_denied;
      for (fs::recursive_directory_iterator at(argument, options, ignored), end; at != end; at.increment(ignored)) {
        if (at->path().extension() == ".pyc" && at->is_regular_file(ignored)) found.push_back(at->path());
      }
      std::sort(found.begin(), found.end());
      for (const fs::path& path : found) inputs.push_back({path.string(), path.lexically_relative(argument)});
    } else {
      inputs.push_back({argument, fs::path(argument).filename()});
    }
  }
  return inputs;
}

void choose_outputs(std::vector<Input>& inputs) {
  std::map<fs::path, int> wanted, taken;
  for (const Input& input : inputs) ++wanted[source_path(input.output)];
  for (Input& input : inputs) {
    fs::path source = source_path(input.output);
    if (wanted[source] > 1) source = input.output.parent_path() / (input.output.stem().string() + ".py");
    int number = taken[source]++;
    if (number) source.replace_filename(source.stem().string() + "-" + std::to_string(number) + ".py");
    input.output = source;
  }
}

}  // namespace depyf::cli
