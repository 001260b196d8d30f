// Reads files in which PyTorch saved compilations: functions that were compiled ahead of time, bundles of caches, and
// entries of cache directories. Nothing in a file is executed, imported or looked up. Pickles are read as inert data.
// Code objects are put together from their fields, checked, decompiled and proved.
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

// A name and a value that are shown to the reader as they are.
struct Fact {
  std::string name, value;
};

// A code object of the file, with its source.
struct Function {
  std::string role;  // "original", "transformed" or "resume"
  std::string name, filename;
  std::int32_t line = 0;
  std::shared_ptr<const CodeObject> code;  // null if the code object could not be put together
  std::string source;                      // empty if there is no code object
  bool is_proved = false;                  // whether the source means what the bytecode does
  std::string problem;  // why there is no code, why CPython would reject it, or why it is not proved
};

// A guard, with its conditions as Python expressions over L, G and torch.
struct Guard {
  GuardToPrint printed;
  std::vector<std::string> words;  // the guard's own texts, as Dynamo wrote them down
  std::string without_form;  // why the guard has no conditions; empty if it has
};

// The text of one stage of a compilation.
struct Stage {
  std::string title;  // such as "graph before AOTAutograd" or "output code, forward"
  std::string key;  // the key of the text in Inductor's cache; empty if it is unknown
  bool is_code = false;  // true for output code, false for a graph
  std::string text;
};

// One of the several hundred parts from which PyTorch hashes the key of a cache entry.
struct KeyPart {
  std::string name, hash, value;
};

// Lines of the program that were compiled.
struct Source {
  enum class Match : std::uint8_t { unknown, same, changed, not_found };
  std::string module;
  std::int64_t first_line = 0, last_line = 0;  // `last_line` is excluded
  std::string checksum;  // SHA-256 of the lines
  std::string text;  // the lines as they were compiled
  bool text_has_checksum = false;  // whether the text in the file has this checksum
  Match match = Match::unknown;  // the comparison with the files of this machine
  std::string path;  // the file that the lines were compared with
};

// A function with everything that belongs to it, or an entry of a cache.
struct Part {
  std::string title;
  std::string kind;  // the kind of a cache entry; empty for a function
  std::string key;  // the key of a cache entry; empty if it has none
  std::size_t size = 0;  // in bytes
  std::vector<Fact> facts;  // what the part was made with and for
  std::vector<Fact> settings;  // settings of PyTorch that differ from their defaults, as far as the file states them
  std::vector<Fact> state;  // the state of the process that a guard checks
  std::vector<Function> functions;
  bool has_guards = false;
  std::vector<Guard> guards;
  std::vector<std::string> unchecked;  // what no guard checks, in sentences
  std::vector<Stage> stages;
  std::vector<KeyPart> key_parts;
  std::vector<Source> sources;
  std::vector<std::string> files;  // files that code objects and stacks of guards name, without duplicates
  std::vector<std::string> notes;  // what could not be read

  // The cache whose key `key_parts` are of. AOTAutograd keeps with its entries the key of Inductor's for the same graph.
  std::string kind_of_key() const {
    return title.find("AOTAutograd's cache was asked") != std::string::npos ? kind : "inductor";
  }
};

// The content of one file.
struct Artifact {
  std::string name;  // of the file
  std::string format;  // in words; empty if the format is unknown
  std::size_t size = 0;
  std::vector<Part> parts;
  // The dotted names that PyTorch would look up while it loads the file, and those of them that it would call. Both
  // lists have no duplicates.
  std::vector<std::string> names, called;
  // Of the two files of torch.compiler.precompile: the SHA-256 of the source itself, and the one that its cache names.
  std::string own_checksum, source_checksum;
  std::size_t persistent_count = 0;  // objects that the loading program has to provide
  std::string outline;  // the content of a pickle of unknown format
  std::string error;  // why nothing could be read; empty if something could
  std::size_t error_offset = 0;
};

// Returns true if the bytes begin like those of an artifact.
bool is_likely(std::string_view bytes);

// Reads the bytes of a file, which may be hostile. Memory and time stay bounded.
Artifact read(std::string_view bytes, const std::string& name);

// Compares the sources with the files of this machine. `read_file` returns the text of a file, or nothing if there is
// none. `roots` are the folders in which modules are searched, like the entries of sys.path.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;
void check_sources(Artifact& artifact, const std::vector<std::string>& roots, const ReadFile& read_file);

// Returns true if the text of a file is the source that the cache of torch.compiler.precompile belongs to.
bool is_source_of(const Artifact& cache, std::string_view text);

std::string to_text(const Artifact& artifact);
// Returns the name, the format and the size of the artifact in one line.
std::string to_line(const Artifact& artifact);
std::string to_json(const std::vector<Artifact>& artifacts);

// Returns the differences between two artifacts, part by part, one line each. The list is empty if everything that is
// read is equal.
std::vector<std::string> differences(const Artifact& first, const Artifact& second);

// Of all entries in `artifacts`, takes the one whose key differs least from the key that a run recorded, and returns where it
// differs: a line that names it, and one for each part. Entries with an equal key are left out: they were made after the
// miss. Returns nothing if no entry has the parts of its key.
std::optional<std::vector<std::string>> nearest_differences(const Part& asked, const std::vector<Artifact>& artifacts);

// Returns the source of a Python function `guards(L, G)` that gives the verdict of the part's guards.
std::string guard_source(const Part& part);

}  // namespace artifact
}  // namespace depyf
