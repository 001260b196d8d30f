// Compiles decompiled sources with an interpreter of the user's choice, to check whether the sources compile to the
// bytecode from which they were decompiled.
#pragma once

#include <string>
#include <vector>

#include "depyf/compare.h"
#include "depyf/constant.h"

namespace depyf::cli {

// One running interpreter, which only one thread at a time may use.
class Checker {
 public:
  // Starts `python`, a path or a name that is looked up in PATH. Throws std::runtime_error if the interpreter cannot
  // be started.
  explicit Checker(const std::string& python);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // Compiles `source` and returns the differences between the resulting code object and `code`. Throws
  // std::runtime_error if the source does not compile, or if the interpreter is of another version or has died.
  std::vector<Difference> differences(const CodeObject& code, const std::string& source);

 private:
  void write(const std::string& bytes);
  std::string read(std::size_t count);

  std::string python_;
  Version version_;
  int pid_ = -1, in_ = -1, out_ = -1;  // file descriptors of the interpreter's input and output
};

}  // namespace depyf::cli
