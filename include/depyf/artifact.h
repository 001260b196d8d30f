// Reads files in which PyTorch saved compilations: functions that were compiled ahead of time, bundles of caches, and
// entries of cache directories. Nothing in a file is executed, imported or looked up. Pickles are read as inert data.
// Code objects are built from their fields in the file, and are then checked, decompiled and proved.
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

// A fact about a part of an artifact. The printed text contains the name and the value of the fact unchanged.
struct Fact {
  std::string name, value;
};

// A code object of the file, with its decompiled source.
struct Function {
  std::string role;  // the role of the code object: "original", "transformed" or "resume"
  std::string name, filename;
  std::int32_t line = 0;
  std::shared_ptr<const CodeObject> code;  // null if the code object could not be built
  std::string source;                      // empty if there is no code object
  bool is_proved = false;                  // true if the source was proved equivalent to the bytecode
  std::string problem;  // the reason why there is no code object, why CPython would reject it, or why it is not proved
};

// A guard, with its conditions as Python expressions over L, G and torch.
struct Guard {
  GuardToPrint printed;
  std::vector<std::string> words;  // the texts that Dynamo saved with the guard
  std::string without_form;  // the reason why some or all conditions are missing; empty if none is missing
};

// The text of one stage of a compilation.
struct Stage {
  std::string title;  // a title such as "graph before AOTAutograd" or "output code, forward"
  std::string key;  // the key of the text in Inductor's cache; empty if the key is unknown
  bool is_code = false;  // true for output code, false for a graph
  std::string text;
};

// One of the several hundred values from which PyTorch computes the hash that is the key of a cache entry.
struct KeyPart {
  std::string name, hash, value;
};

// Lines of the user's program that were compiled, with their checksum.
struct Source {
  enum class Match : std::uint8_t { unknown, same, changed, not_found };
  std::string module;
  std::int64_t first_line = 0, last_line = 0;  // `last_line` is excluded
  std::string checksum;  // SHA-256 of the lines of source
  std::string text;  // the lines as they were compiled
  bool text_has_checksum = false;  // true if `checksum` is the SHA-256 of `text`
  Match match = Match::unknown;  // the result of comparing the lines with the files of this machine
  std::string path;  // the file that the lines were compared with
};

// A part of an artifact: a compiled function with all its data, or an entry of a cache.
struct Part {
  std::string title;
  std::string kind;  // the kind of a cache entry; empty for a function
  std::string key;  // the key of a cache entry; empty if the part has no key
  std::size_t size = 0;  // the size of the part in bytes
  std::vector<Fact> facts;  // versions, devices and other facts about how the part was compiled
  std::vector<Fact> settings;  // settings of PyTorch that differ from their defaults, as far as the file states them
  std::vector<Fact> state;  // the state of the process (such as grad mode) that a guard checks
  std::vector<Function> functions;
  bool has_guards = false;
  std::vector<Guard> guards;
  std::vector<std::string> unchecked;  // sentences, each about a value that no guard checks
  std::vector<Stage> stages;
  std::vector<KeyPart> key_parts;
  std::vector<Source> sources;
  std::vector<std::string> files;  // the file names in code objects and in stack traces of guards, without duplicates
  std::vector<std::string> notes;  // sentences, each about data that could not be read

  // Returns the kind of the cache whose key consists of `key_parts`: "aot_autograd" if the part is the key of a miss of
  // AOTAutograd's cache, otherwise "inductor". Entries of AOTAutograd's cache also return "inductor", because they
  // contain the parts of the key of Inductor's cache for the same graph.
  std::string kind_of_key() const {
    return title.find("AOTAutograd's cache was asked") != std::string::npos ? kind : "inductor";
  }
};

// The content of one file.
struct Artifact {
  std::string name;  // the name of the file
  std::string format;  // a description of the format; empty if the format is unknown
  std::size_t size = 0;
  std::vector<Part> parts;
  // The dotted names that PyTorch would look up while it loads the file (`names`), and the names among them that it
  // would call (`called`), both without duplicates.
  std::vector<std::string> names, called;
  // If the artifact is a source file of torch.compiler.precompile, `own_checksum` is the SHA-256 of the file. If the
  // artifact is a cache file of torch.compiler.precompile, `source_checksum` is the SHA-256 that the cache file states
  // for its source file.
  std::string own_checksum, source_checksum;
  std::size_t persistent_count = 0;  // the number of objects outside the file that the loading program has to provide
  std::string outline;  // the content of a pickle of unknown format
  std::string error;  // the reason why nothing could be read; empty if any part was read
  std::size_t error_offset = 0;
};

// Returns true if the bytes begin like an artifact of PyTorch.
bool is_likely(std::string_view bytes);

// Reads the bytes of an artifact. A hostile file cannot make the function use unbounded memory or time.
Artifact read(std::string_view bytes, const std::string& name);

// Compares the lines of source in an artifact with the files of this machine. `read_file` returns the text of a file,
// or std::nullopt if the file does not exist. `roots` are the folders in which modules are searched, like the entries
// of sys.path.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;
void check_sources(Artifact& artifact, const std::vector<std::string>& roots, const ReadFile& read_file);

// Returns true if `text` is the source file to which the cache file of torch.compiler.precompile belongs.
bool is_source_of(const Artifact& cache, std::string_view text);

std::string to_text(const Artifact& artifact);
// Returns the name, the format and the size of the artifact in one line.
std::string to_line(const Artifact& artifact);
std::string to_json(const std::vector<Artifact>& artifacts);

// Returns the differences between two artifacts, part by part, one line each. The list is empty if all content that
// `read` extracts is equal.
std::vector<std::string> differences(const Artifact& first, const Artifact& second);

// Finds the cache entry in `artifacts` whose key differs least from the key in `asked`, which a run recorded for a
// cache miss. Returns a line that names the entry, and one line for each part of the key that differs. Entries with the
// key of `asked` are left out, because they were created after the cache miss. Returns std::nullopt if no entry
// contains the parts of its key.
std::optional<std::vector<std::string>> nearest_differences(const Part& asked, const std::vector<Artifact>& artifacts);

// Returns the source of a Python function `guards(L, G)` that evaluates the guards of the part.
std::string guard_source(const Part& part);

}  // namespace artifact
}  // namespace depyf
