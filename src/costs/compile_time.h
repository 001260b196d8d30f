// Where the time of compiling went: the self time of each phase of each compilation, what restarts cost, how long compilers of C++
// and Triton ran, which caches answered, and what changes of the program would save.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::costs {

// The self time of all phases of one part of the compiler.
struct PartTime {
  std::string_view part;  // "Dynamo", "guards", "AOTAutograd", "Inductor", "compilers", "caches", "depyf", "other"
  double us = 0;
};

// Returns the part of the compiler that a phase of PyTorch's timeline belongs to.
std::string_view part_of(std::string_view phase);

struct CompilationTime {
  std::size_t compilation = 0;  // its index in the process
  double us = 0;  // the self times of its phases together
  double restarts_us = 0;  // of it, tracing that was given up and begun again
  std::vector<PartTime> parts;  // the longest first
};

// The time that a change of the program would save.
struct Saving {
  std::string kind;  // "sizes", "values", "break", "restart", "layers", "line"
  std::string change;  // what to change, in a sentence
  record::Place place;  // where
  std::vector<std::string> compilations;  // that it is about
  std::size_t repeats = 0;  // compilations or layers that become one
  double us = 0;  // that would be saved
  double of_us = 0;  // what these compilations take now
};

struct CompileTime {
  double wall_us = 0;  // clock time in which the process compiled: what the outermost phases cover
  double serial_us = 0;  // the self times of all phases, which sum to the wall
  double outside_us = 0;  // of it, phases that belong to no compilation
  double compilers_us = 0;  // clock time in which at least one compiler of C++ or Triton ran
  double compilers_sum_us = 0;  // the time of all of them, which run beside each other
  std::size_t compiled_files = 0;
  double restarts_us = 0;
  std::vector<PartTime> parts;
  std::vector<CompilationTime> compilations;  // the longest first
  std::size_t hits = 0, misses = 0, bypasses = 0;
  std::vector<Saving> savings;  // the largest first
  bool is_whole = true;  // false if the timeline was too long to be kept whole, so that the wall is a sum
};

CompileTime compile_time(const record::Process& process);

}  // namespace depyf::costs
