// Finds the files that a command line names, and chooses the paths of their outputs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/constant.h"
#include "depyf/load.h"
#include "load/zip.h"

namespace depyf::cli {

// An archive whose members are inputs.
struct Archive {
  std::string path, bytes;
};

struct Input {
  std::string path;              // the label, such as `archive.whl/a.pyc` for a member; "-" for standard input
  std::filesystem::path output;  // the path of the output relative to the output folder
  std::optional<std::string> bytes = std::nullopt;  // the content; std::nullopt if it has to be read from `path`
  std::shared_ptr<const Archive> archive = nullptr;  // null if the file is no member of an archive
  ZipMember member = {};
  std::string error = {};  // the reason why the input cannot be read; empty if it is readable
};

// Returns `path` without `..` and without a root, so that an archive or a label cannot lead out of the output folder.
std::filesystem::path below(const std::filesystem::path& path);

// Returns the inputs that the arguments name, in order. A folder stands for the .pyc files below the folder, sorted
// by name, and an archive stands for its .pyc members.
std::vector<Input> find_inputs(const std::vector<std::string>& arguments, std::size_t max_size);

// Sets a different output below the output folder for each input. The chosen paths depend only on the inputs, and not
// on the files that already exist in the output folder. The output of `__pycache__/x.cpython-311.pyc` is x.py, unless
// another input's output would be x.py too.
void choose_outputs(std::vector<Input>& inputs);

// Returns the bytes of an input. If the bytes cannot be read, returns nothing and sets `error` to the reason. The
// bytes are in the input or in `buffer`, which can be reused for the next input.
std::optional<std::string_view> read_input(const Input& input, std::size_t max_size, std::string& buffer,
                                           std::string& error);

// Loads a .pyc file, or the marshal data of a code object without the head of a file. `python` is the version of Python
// that wrote marshal data, because marshal data does not state a version. If `python` is 0.0, the latest version is
// used that can decode all of the bytecode.
LoadedPyc load_input(std::string_view bytes, Version python);

}  // namespace depyf::cli
