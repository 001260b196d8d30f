// Compiles decompiled sources with an interpreter of the user's choice, to see whether they give the same bytecode.
#pragma once

#include <string>
#include <vector>

#include "depyf/compare.h"
#include "depyf/constant.h"

namespace depyf::cli {

// One running interpreter. Only one thread at a time may use it.
class Checker {
 public:
  // Starts `python`, a path or a name that is looked up in PATH. Throws std::runtime_error if it does not run.
  explicit Checker(const std::string& python);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // Compiles `source` and returns the differences of the result to `code`. Throws std::runtime_error if the source does
  // not compile, or if the interpreter is of another version or has died.
  std::vector<Difference> differences(const CodeObject& code, const std::string& source);

 private:
  void write(const std::string& bytes);
  std::string read(std::size_t count);

  std::string python_;
  Version version_;
  int pid_ = -1, in_ = -1, out_ = -1;  // file descriptors: what it reads, what it writes
};

}  // namespace depyf::cli
