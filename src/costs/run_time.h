// Analyses the time of calls of compiled functions by line of source, module, callee and function. The time consists
// of the times of guards, transformed code, kernels, library calls, and PyTorch's code around kernels and library
// calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::costs {

enum class RangeKind : std::uint8_t {
  site,  // a statement of output code, or the body of its function
  lookup,  // Dynamo evaluates guards to find the compilation that serves a call
  region,  // transformed code runs
  pregraph,  // transformed code up to its first graph
  graph,  // code of AOTAutograd and Inductor around output code
  backward,  // code of AOTAutograd and Inductor around the output code of a backward
  compiling,  // PyTorch compiles code
};

// A range of time in one thread. Two ranges of a thread are nested, or they do not overlap.
struct Range {
  RangeKind kind = RangeKind::site;
  std::size_t site = 0;  // the index of the site, for a range of kind `site`
  std::string compile_id;  // the id of the compilation, for a range of kind `region`
  std::int64_t thread = 0;
  double start_us = 0, end_us = 0;
  double device_us = 0;  // the time of the work that was launched within the range on another device
};

// An operator that a statement of output code computes.
struct Operator {
  record::Place place;
  std::string module;  // the path of the module in the user's model; empty if unknown
};

// A statement of output code that calls a kernel or a library, or the body of a function of output code.
struct Site {
  std::string callee;  // the kernel or library function; empty for the body
  bool is_backward = false;
  std::vector<Operator> operators;
};

// A function that is compiled.
struct Frame {
  std::string compile_id, function;
  record::Place place;  // the first line of the function
  record::Place breaks_at;  // the line at which a graph break ends the graph; unknown if there is no graph break
  bool calls_graph = true;
};

struct Measured {
  std::vector<Range> ranges;
  std::vector<Site> sites;
  std::vector<Frame> frames;
  double wall_us = 0;
};

// The time of one line of source, one module of the model, or one callee (a called kernel or library function).
struct Share {
  std::string name;  // the name of a module or callee
  record::Place place;  // the place of a line
  double forward_us = 0, backward_us = 0, eager_us = 0, device_us = 0;
  std::size_t count = 0;  // the number of ranges in which the line, module or callee has a share
  std::vector<std::string> callees, modules;  // the callees and modules of a line
  std::vector<record::Place> places;  // the lines of a callee

  double us() const { return forward_us + backward_us + eager_us; }
};

struct FrameTime {
  std::size_t frame = 0;  // the index in Measured::frames
  std::size_t calls = 0;
  // The time of the function's guards, transformed code, graphs and eager statements, without the compiled functions
  // that the function calls.
  double us = 0;
  double guards_us = 0, transformed_us = 0, eager_us = 0;
};

struct PartOfRun {
  std::string_view
      part;  // "kernels", "libraries", "output code", "runtime", "other graphs", "guards", "transformed code", ...
  double us = 0;
};

struct RunTime {
  double inside_us = 0;  // the time in compiled functions, without compiling
  double compiling_us = 0;  // the time of compiling in the measured block
  double with_line_us = 0;  // the part of `inside_us` that is assigned to lines
  std::vector<PartOfRun> parts;  // the parts, the longest time first; their sum is `inside_us`
  std::vector<Share> lines, modules, callees;  // each list with the longest time first
  std::vector<FrameTime> frames;  // the functions, the longest time first
};

RunTime run_time(const Measured& measured);

}  // namespace depyf::costs
