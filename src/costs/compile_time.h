// Analyses the time of compiling: the self time of each phase of each compilation, the time lost by restarts, and the
// time of the compilers of C++ and Triton. The result also contains the hits and misses of caches, and the time that
// changes of the program would save.
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
  std::size_t compilation = 0;  // the index of the compilation in the process
  double us = 0;  // the sum of the self times of its phases
  double restarts_us = 0;  // the part of `us` that was spent on tracing that was given up and restarted
  std::vector<PartTime> parts;  // the parts of the compiler, the longest time first
};

// The time that a change of the program would save.
struct Saving {
  std::string kind;  // "sizes", "values", "break", "restart", "layers", "line"
  std::string change;  // the change of the program, as a phrase
  record::Place place;  // the place in the user's source that would change
  std::vector<std::string> compilations;  // the compilations that the change affects
  std::size_t repeats = 0;  // the number of compilations, layers or operators that one or a few would replace
  double us = 0;  // the time that would be saved
  double of_us = 0;  // the time that the affected compilations take without the change
};

struct CompileTime {
  double wall_us = 0;  // the clock time that the outermost phases of compiling cover
  double serial_us = 0;  // the sum of the self times of all phases, which equals `wall_us`
  double outside_us = 0;  // the part of `serial_us` in phases that belong to no compilation
  double compilers_us = 0;  // the clock time in which at least one compiler of C++ or Triton ran
  double compilers_sum_us = 0;  // the sum of the times of all compilers of C++ and Triton, which run in parallel
  std::size_t compiled_files = 0;
  double restarts_us = 0;
  std::vector<PartTime> parts;
  std::vector<CompilationTime> compilations;  // the compilations, the longest time first
  std::size_t hits = 0, misses = 0, bypasses = 0;
  std::vector<Saving> savings;  // the savings, the largest time first
  bool is_whole = true;  // false if the record has no whole timeline, so that `wall_us` is the sum of self times
};

CompileTime compile_time(const record::Process& process);

}  // namespace depyf::costs
