// Processes the files that depyf-decompile and `depyf decompile` decompile.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "depyf/constant.h"
#include "depyf/decompile.h"

namespace depyf::cli {

// At most one of the fields from `check` to `lines` is set. Each of the fields from `check` to `lines` selects a text
// that is printed instead of the source, or a way to check the source.
struct Settings {
  std::string output;  // the output folder; if it is empty, text goes to the sink
  bool force = false;  // true to replace existing files
  unsigned jobs = 1;  // the number of files to process at a time
  bool prove = false;  // true to mark code that is not proved equivalent
  bool json = false;  // true to print a JSON report, which contains the sources if `output` is empty
  bool quiet = false;  // true to omit the line of counts
  Version python{0, 0};  // the version of raw marshal data; 0.0 selects the latest version that can decode the data
  std::size_t max_size = std::size_t{64} << 20;  // the maximum size of a file, or of a member of an archive
  bool align = false;  // true to print each statement on its original line
  std::size_t width = default_width;  // the width of a line if positions do not determine its line breaks
  std::string check = {}, stop_after = {}, dump_after = {};  // `check` is an interpreter, or "auto"
  bool disassemble = false, fields = false, graph = false, lines = false;
};

// Receives the output. The functions of this class are called by the thread that calls `run`, in the order of the
// inputs.
class Sinks {
 public:
  virtual ~Sinks() = default;
  virtual void text(const std::string& utf8) = 0;
  virtual void error(const std::string& lines) = 0;  // `lines` have the form `file: offset: problem`
  virtual void idle() {}  // Called repeatedly while there is nothing to write.
};

// Processes all inputs in `settings.jobs` threads. Returns the exit status: 1 if a file could not be read, checked or
// written, otherwise 0. If a sink throws an exception, `run` waits for the files that are being processed, and throws
// the exception again.
int run(const std::vector<Input>& inputs, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
