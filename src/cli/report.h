// Defines the result for each file, from which the last line of the output and the JSON report are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depyf/constant.h"
#include "depyf/decompile.h"

namespace depyf::cli {

struct Mark {
  std::size_t line = 0;  // the line of the source, counted from 1
  std::string what;
};

// A code object whose source could not be proved equivalent to the bytecode.
struct Unproved {
  std::string name;
  std::int32_t offset = -1;  // the offset in the bytecode; -1 if the reason concerns no single instruction
  std::string reason;
};

struct FileReport {
  // A mark is a comment `# depyf: not equal`. A file is `equal` if it was checked and has no mark, `unchecked` if it
  // was not checked and has no mark, and `text` if a text other than the source was printed.
  enum class Status : std::uint8_t { equal, unchecked, marked, text, failed } status = Status::failed;
  std::string file, output, error;  // `output` is the path of the written file; empty if no file was written
  Version python{0, 0};             // the version of the bytecode; 0.0 if unknown
  std::vector<Mark> marks;
  std::size_t state_machines = 0, stubs = 0;  // the numbers of code objects printed as state machines, and as stubs
  std::size_t proved = 0;  // the number of proved code objects, if proofs were requested
  std::vector<Unproved> unproved;
  bool is_aligned = false;  // true if --align was given; only then has the JSON report the members below
  // The number of statements on their original line, and of statements whose original line is unknown.
  std::size_t aligned = 0, without_line = 0;
  std::vector<LineMapping> not_aligned;
};

// Adds the marks in a source, `# depyf: not equal: ...`, to `report`.
void find_marks(const std::string& source, FileReport& report);

// Returns {"file": ..., "python": "3.12", "status": "marked", ...}. `source` is null if the source is not part of the
// result.
std::string json_of(const FileReport& report, const std::string* source);

class Counts {
 public:
  void add(const FileReport& report);
  std::string line() const;  // Returns the counts as a line for human readers.
  std::string json() const;

 private:
  std::size_t files_ = 0, equal_ = 0, unchecked_ = 0, marked_ = 0, text_ = 0, failed_ = 0;
  std::size_t state_machines_ = 0, stubs_ = 0, proved_ = 0, unproved_ = 0;
};

// Returns `text` as a JSON string. Lone surrogates, which names in bytecode may contain as three bytes each, are
// escaped.
std::string json_quoted(std::string_view text);

}  // namespace depyf::cli
