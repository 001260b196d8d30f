// The files that a command line names, and where their results go.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "depyf/code_object.h"
#include "depyf/load.h"
#include "load/zip.h"

namespace depyf::cli {

// An archive whose members are inputs of their own.
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

// `path` as one that stays below the folder that it is put behind, whatever an archive or a label says.
std::filesystem::path below(const std::filesystem::path& path);

// Each of `arguments`: folders replaced by the .pyc files below them in order of their names, archives by their members.
std::vector<Input> find_inputs(const std::vector<std::string>& arguments, std::size_t max_size);

// Gives each input an output of its own below the output folder, the same for the same inputs:
// `__pycache__/x.cpython-311.pyc` becomes x.py where nothing else does.
void choose_outputs(std::vector<Input>& inputs);

// The bytes of an input; `error` says why there are none.
std::optional<std::string> read_input(const Input& input, std::size_t max_size, std::string& error);

// A .pyc file, or the marshal data of a code object without the head of a file: `python` is its version then, 0.0: the latest
// in which all of its bytecode makes sense.
LoadedPyc load_input(const std::string& bytes, Version python);

}  // namespace depyf::cli
