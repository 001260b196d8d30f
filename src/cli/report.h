// The result for each file, for the last line of the output and for --json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depyf/constant.h"
#include "depyf/decompile.h"

namespace depyf::cli {

struct Mark {
  std::size_t line = 0;  // of the source, from 1
  std::string what;
};

// A code object whose source could not be proved to mean the same.
struct Unproved {
  std::string name;
  std::int32_t offset = -1;  // in its bytecode; -1: no place in it
  std::string reason;
};

struct FileReport {
  // A file is `equal` if it was checked and has no mark, `unchecked` if it has no mark, and `text` if something other
  // than the source was printed.
  enum class Status : std::uint8_t { equal, unchecked, marked, text, failed } status = Status::failed;
  std::string file, output, error;  // output: the path that was written; empty: none
  Version python{0, 0};             // 0.0: unknown
  std::vector<Mark> marks;
  std::size_t state_machines = 0, stubs = 0;  // code objects
  std::size_t proved = 0;                     // code objects, if proofs were asked for
  std::vector<Unproved> unproved;
  bool is_aligned = false;  // the following are known: statements by their line
  std::size_t aligned = 0, without_line = 0;  // without: the bytecode does not tell it
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
  std::string line() const;  // for people
  std::string json() const;

 private:
  std::size_t files_ = 0, equal_ = 0, unchecked_ = 0, marked_ = 0, text_ = 0, failed_ = 0;
  std::size_t state_machines_ = 0, stubs_ = 0, proved_ = 0, unproved_ = 0;
};

// Returns a JSON string. Names are UTF-8 in which a lone surrogate may stand as three bytes; it is escaped.
std::string json_quoted(std::string_view text);

}  // namespace depyf::cli
