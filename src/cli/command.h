// The work that depyf-decompile and `depyf decompile` do with files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "depyf/constant.h"
#include "depyf/decompile.h"

namespace depyf::cli {

// At most one of the fields below `check` is set. They say what is printed instead of the source, or how the source is
// checked.
struct Settings {
  std::string output;  // a folder; empty: text goes to the sink
  bool force = false;  // files that are there already are replaced
  unsigned jobs = 1;   // files to work on at a time
  bool prove = false;  // what is not proved is marked
  bool json = false;   // a report in place of the sources, which it holds where `output` is empty
  bool quiet = false;  // no line of counts
  Version python{0, 0};  // of raw marshal data; 0.0: the one that fits
  std::size_t max_size = std::size_t{64} << 20;  // bytes of a file, or of a member of an archive
  bool align = false;  // statements on the lines that they had
  std::size_t width = default_width;  // columns of a line whose breaks positions do not decide
  std::string check = {}, stop_after = {}, dump_after = {};  // check: an interpreter, or `auto`
  bool disassemble = false, fields = false, graph = false, lines = false;
};

// Receives the output. Its functions are called by the thread that calls `run`, in the order of the inputs.
class Sinks {
 public:
  virtual ~Sinks() = default;
  virtual void text(const std::string& utf8) = 0;
  virtual void error(const std::string& lines) = 0;  // `file: offset: what is wrong`
  virtual void idle() {}                             // now and then, while there is nothing to write
};

// Processes all inputs in `settings.jobs` threads. Returns the exit status: 1 if a file could not be read, checked or
// written, otherwise 0. If a sink throws an exception, `run` throws it on once the files at work are done.
int run(const std::vector<Input>& inputs, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
