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
  std::string path;              // for people: `archive.whl/package/module.pyc` for a member; "-": standard input
  std::filesystem::path output;  // relative to the output folder
  std::optional<std::string> bytes = std::nullopt;  // the content, if it is known; `path` is only a label then
  std::shared_ptr<const Archive> archive = nullptr;  // null if the file is no member of an archive
  ZipMember member = {};
  std::string error = {};  // the reason if the input cannot be read
};

// Returns `path` without `..` and without a root, so that an archive or a label cannot lead out of the output folder.
std::filesystem::path below(const std::filesystem::path& path);

// Returns the inputs of the arguments, in order: for a folder, the .pyc files below it, sorted by name, and for an
// archive, its .pyc members.
std::vector<Input> find_inputs(const std::vector<std::string>& arguments, std::size_t max_size);

// Sets a different output below the output folder for each input. The same inputs always get the same outputs:
// `__pycache__/x.cpython-311.pyc` becomes x.py unless another input is x.py as well.
void choose_outputs(std::vector<Input>& inputs);

// Returns the bytes of an input; nothing if they cannot be read, and sets `error` to the reason. The bytes are in the
// input or in `buffer`, which can be reused for the next input.
std::optional<std::string_view> read_input(const Input& input, std::size_t max_size, std::string& buffer,
                                           std::string& error);

// Loads a .pyc file, or the marshal data of a code object without the head of a file. The version of raw marshal data
// is `python`; if `python` is 0.0, the latest version is used in which all of the bytecode can be decoded.
LoadedPyc load_input(std::string_view bytes, Version python);

}  // namespace depyf::cli
