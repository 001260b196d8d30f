// What depyf-decompile and `depyf decompile` do with files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "depyf/code_object.h"
#include "depyf/decompile.h"

namespace depyf::cli {

// At most one of what stands below `check` is set: what is made in place of the source, or how the source is checked.
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

// Where output goes; called by the thread that calls `run`, in the order of the inputs.
class Sinks {
 public:
  virtual ~Sinks() = default;
  virtual void text(const std::string& utf8) = 0;
  virtual void error(const std::string& lines) = 0;  // `file: offset: what is wrong`
  virtual void idle() {}                             // now and then, while there is nothing to write
};

// Works on all inputs in `settings.jobs` threads; the exit status: 0, or 1 where a file could not be read, checked or written.
// What a sink throws comes through once the files that are being worked on are done.
int run(const std::vector<Input>& inputs, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
