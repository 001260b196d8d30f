// What depyf-decompile and `depyf decompile` do with files.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs.h"

namespace depyf::cli {

// At most one of what stands below `jobs` is set: what is made in place of the source, or how the source is checked.
struct Settings {
  std::string output;  // a folder; empty: text goes to the sink
  unsigned jobs = 1;   // files to work on at a time
  std::string check, stop_after, dump_after;
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

// Works on all inputs in `settings.jobs` threads; the exit status. What a sink throws comes through once the files that are
// being worked on are done.
int run(const std::vector<Input>& inputs, const Settings& settings, Sinks& sinks);

}  // namespace depyf::cli
