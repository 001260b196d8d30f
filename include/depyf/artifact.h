// What is in a file that PyTorch saved of a compilation: functions that were compiled ahead of time, bundles of caches, entries
// of cache directories. Nothing in a file is executed, imported or looked up: pickles are read as inert data, code objects are
// put together from their fields, checked, decompiled and proved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/guard_function.h"

namespace depyf {

struct CodeObject;

namespace artifact {

struct Fact {
  std::string name, value;
};

// A code object of the file.
struct Function {
  std::string role;  // "original", "transformed", "resume"
  std::string name, filename;
  std::int32_t line = 0;
  std::shared_ptr<const CodeObject> code;  // null where it could not be put together
  std::string source;  // empty where there is no code
  bool is_proved = false;  // what is printed means what the bytecode does
  std::string problem;  // why there is no code, why CPython would not accept it, or why it is not proved
};

// A guard, with conditions in Python over L, G and torch.
struct Guard {
  GuardToPrint printed;
  std::vector<std::string> words;  // what it checks as Dynamo wrote it down
  std::string without_form;  // why it has no conditions; empty if it has
};

// Text of a stage of the compilation.
struct Stage {
  std::string title;  // such as "graph before AOTAutograd", "output code, forward"
  std::string key;  // under which Inductor's cache has it; empty: unknown
  bool is_code = false;  // output code, not a graph
  std::string text;
};

// What PyTorch's key of the entry of a cache is the hash of: one of several hundred.
struct KeyPart {
  std::string name, hash, value;
};

// Lines of the program that were compiled.
struct Source {
  enum class Match : std::uint8_t { unknown, same, changed, not_found };
  std::string module;
  std::int64_t first_line = 0, last_line = 0;  // the last one excluded
  std::string checksum;  // SHA-256 of the lines
  std::string text;  // the lines as they were
  bool text_has_checksum = false;  // whether the text in the file is the one that the checksum is of
  Match match = Match::unknown;  // with the files of this machine
  std::string path;  // the file that it was compared with
};

// A function with all that belongs to it, or an entry of a cache.
struct Part {
  std::string title;
  std::string kind;  // of the entry of a cache; empty: a function
  std::string key;  // of the entry; empty: none
  std::size_t size = 0;  // in bytes
  std::vector<Fact> facts;  // what it was made with and for
  std::vector<Fact> settings;  // of PyTorch's configuration that are not as they are by default, as the file tells
  std::vector<Fact> state;  // of the process, that a guard checks
  std::vector<Function> functions;
  bool has_guards = false;
  std::vector<Guard> guards;
  std::vector<std::string> unchecked;  // what no guard checks, as sentences
  std::vector<Stage> stages;
  std::vector<KeyPart> key_parts;
  std::vector<Source> sources;
  std::vector<std::string> files;  // that its code objects and the stacks of its guards name, each once
  std::vector<std::string> notes;  // what could not be read
};

struct Artifact {
  std::string name;  // of the file
  std::string format;  // in words; empty where the bytes have none that is known
  std::size_t size = 0;
  std::vector<Part> parts;
  // What loading the file as PyTorch does would look up, and what of that it would call: dotted names, each once.
  std::vector<std::string> names, called;
  std::size_t persistent_count = 0;  // objects that whoever loads the file has to give
  std::string outline;  // of a pickle of no known format
  std::string error;  // why nothing could be read; empty: it could
  std::size_t error_offset = 0;
};

// True if the bytes begin as those of an artifact do.
bool is_likely(std::string_view bytes);

// Reads the bytes of a file, which may be hostile; memory and time stay within bounds.
Artifact read(std::string_view bytes, const std::string& name);

// Compares the sources with files of this machine. `read_file` returns the text of a file, or none; `roots` are the folders
// that modules are looked for in, as sys.path has them.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;
void check_sources(Artifact& artifact, const std::vector<std::string>& roots, const ReadFile& read_file);

std::string to_text(const Artifact& artifact);
std::string to_line(const Artifact& artifact);  // its name, format and size
std::string to_json(const std::vector<Artifact>& artifacts);

// How the second differs from the first, part by part: a line each. Empty where they do not differ in anything that is read.
std::vector<std::string> differences(const Artifact& first, const Artifact& second);

// The guards of a part as the source of a Python function `guards(L, G)` with their verdict.
std::string guard_source(const Part& part);

}  // namespace artifact
}  // namespace depyf
