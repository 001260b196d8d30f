// Compiles sources back with an interpreter of the user's choice, to see whether they give the same bytecode.
#pragma once

#include <string>
#include <vector>

#include "depyf/code_object.h"
#include "depyf/compare.h"

namespace depyf::cli {

// One running interpreter. Not to be used by two threads at a time.
class Checker {
 public:
  // `python`: a path, or a name that is looked up in PATH. Throws std::runtime_error where it does not run.
  explicit Checker(const std::string& python);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // What differs between `code` and `source`, compiled. Throws std::runtime_error where the source does not compile, the
  // interpreter is of another version or has died.
  std::vector<Difference> differences(const CodeObject& code, const std::string& source);

 private:
  void write(const std::string& bytes);
  std::string read(std::size_t count);

  std::string python_;
  Version version_;
  int pid_ = -1, in_ = -1, out_ = -1;  // file descriptors: what it reads, what it writes
};

}  // namespace depyf::cli
