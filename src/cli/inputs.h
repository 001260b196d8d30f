// Finds the files that a command line names, and chooses where their results go.
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
  std::optional<std::string> bytes = std::nullopt;  // of the file, where they are at hand: then `path` is a label
  std::shared_ptr<const Archive> archive = nullptr;  // null: the file is no member
  ZipMember member = {};
  std::string error = {};  // why there is nothing to read
};

// Returns `path` as one that stays below the folder in front of it, whatever an archive or a label contains.
std::filesystem::path below(const std::filesystem::path& path);

// Returns the inputs of the arguments, in order. A folder stands for the .pyc files below it, sorted by name, and an
// archive for its members.
std::vector<Input> find_inputs(const std::vector<std::string>& arguments, std::size_t max_size);

// Gives each input an output of its own below the output folder. The same inputs always get the same outputs:
// `__pycache__/x.cpython-311.pyc` becomes x.py unless another input is x.py as well.
void choose_outputs(std::vector<Input>& inputs);

// Returns the bytes of an input; nothing if they cannot be read, and then `error` says why. The bytes lie in `buffer`,
// which has no other meaning and may be used for many inputs, or in the input.
std::optional<std::string_view> read_input(const Input& input, std::size_t max_size, std::string& buffer,
                                           std::string& error);

// Loads a .pyc file, or the marshal data of a code object without the head of a file. The version of marshal data is
// `python`; if that is 0.0, it is the latest version in which all of its bytecode can be decoded.
LoadedPyc load_input(std::string_view bytes, Version python);

}  // namespace depyf::cli
