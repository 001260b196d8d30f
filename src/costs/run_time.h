// Where the time of calls of compiled functions went: guards, transformed code, kernels, library calls, and what PyTorch does
// around them, by line of source, module, callee and function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::costs {

enum class RangeKind : std::uint8_t {
  site,  // a statement of output code, or the body of its function
  lookup,  // Dynamo looks for the compilation that serves a call: the guards
  region,  // transformed code runs
  pregraph,  // transformed code up to its first graph
  graph,  // what AOTAutograd and Inductor do around output code
  backward,  // the same of a backward
  compiling,  // something is compiled
};

// A range of time in one thread. Of two ranges of a thread, one lies in the other, or they do not overlap.
struct Range {
  RangeKind kind = RangeKind::site;
  std::size_t site = 0;  // of a site: its index
  std::string compile_id;  // of a region
  std::int64_t thread = 0;
  double start_us = 0, end_us = 0;
  double device_us = 0;  // of what was launched within it on another device
};

// An operator that a statement of output code computes.
struct Operator {
  record::Place place;
  std::string module;  // the path of the module in the user's model; empty: unknown
};

// A statement of output code that calls a kernel or a library, or the body of a function of output code.
struct Site {
  std::string callee;  // empty: the body
  bool is_backward = false;
  std::vector<Operator> operators;
};

// A function that is compiled.
struct Frame {
  std::string compile_id, function;
  record::Place place;  // its first line
  record::Place breaks_at;  // where its graph ends; no line if it ends with the function
  bool calls_graph = true;
};

struct Measured {
  std::vector<Range> ranges;
  std::vector<Site> sites;
  std::vector<Frame> frames;
  double wall_us = 0;
};

// The time of one line, module or callee.
struct Share {
  std::string name;  // of a module or callee
  record::Place place;  // of a line
  double forward_us = 0, backward_us = 0, eager_us = 0, device_us = 0;
  std::size_t count = 0;  // ranges that it has a share of
  std::vector<std::string> callees, modules;  // of a line
  std::vector<record::Place> places;  // of a callee

  double us() const { return forward_us + backward_us + eager_us; }
};

struct FrameTime {
  std::size_t frame = 0;  // index into Measured::frames
  std::size_t calls = 0;
  double us = 0;  // guards, transformed code, graphs and eager statements, without compiled functions that it calls
  double guards_us = 0, transformed_us = 0, eager_us = 0;
};

struct PartOfRun {
  std::string_view
      part;  // "kernels", "libraries", "output code", "runtime", "other graphs", "guards", "transformed code", ...
  double us = 0;
};

struct RunTime {
  double inside_us = 0;  // in compiled functions, without compiling
  double compiling_us = 0;  // in the block
  double with_line_us = 0;  // of the time inside
  std::vector<PartOfRun> parts;  // the longest first; they sum to the time inside
  std::vector<Share> lines, modules, callees;  // the longest first
  std::vector<FrameTime> frames;  // likewise
};

RunTime run_time(const Measured& measured);

}  // namespace depyf::costs
