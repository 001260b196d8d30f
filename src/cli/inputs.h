// The files that a command line names, and where their results go.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace depyf::cli {

struct Input {
  std::string path;               // "-": standard input
  std::filesystem::path output;   // relative to the output folder
  std::optional<std::string> bytes = std::nullopt;  // of the file, where they are at hand: then `path` is a label
};

// Each of `arguments`, folders replaced by the .pyc files below them in order of their names.
std::vector<Input> find_inputs(const std::vector<std::string>& arguments);

// Gives each input an output of its own, `__pycache__/x.cpython-311.pyc` becoming x.py where nothing else does.
void choose_outputs(std::vector<Input>& inputs);

}  // namespace depyf::cli
