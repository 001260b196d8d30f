// Finds the memory plan of Inductor's output code: the buffers that the code allocates, their lifetimes, the memory
// that the code reuses, and the place where most memory is in use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "costs/sizes.h"
#include "depyf/record.h"

namespace depyf::costs {

// A piece of memory that the code allocates, with all buffers that reuse it.
struct Buffer {
  std::vector<std::string> names;  // the names of the buffers in this memory, in the order of their use
  std::int64_t bytes = -1;  // the size of the memory; -1 if it is unknown
  std::int64_t elements = -1;  // the elements of a library call's result; -1 for other buffers
  int first_line = 0, last_line = 0;  // the lines of the code between which the memory is in use
  bool is_output = false;  // true if the code returns the memory or a view of it
  record::Place place;  // the user's line of the call that writes the memory first
};

// A library call, as an expression that can be run by itself (library_call.h).
struct LibraryCall {
  std::string expression;
  std::int64_t bytes = -1;  // the most bytes in use by the call, results included; -1 if not measured
};

struct Plan {
  std::vector<Buffer> buffers;
  std::int64_t allocated = 0, reused = 0;  // the bytes allocated in total, and the bytes that later buffers reuse
  std::int64_t peak = 0;  // the most bytes that are in use at once, without the inputs
  int peak_line = 0;  // the line of the code where the peak is first reached
  record::Place peak_place;
  std::vector<std::size_t> at_peak;  // the indices of the buffers in use at the peak, the largest first
  std::size_t unknown = 0;  // the number of buffers whose size is unknown, which the sums leave out
  std::vector<LibraryCall> library_calls;  // the different library calls
  std::size_t unmeasured = 0;  // the number of library calls whose internal memory is unknown
  std::int64_t peak_of_library = 0;  // the part of the peak that a library call allocates internally
  // `returned` has the index of the buffer of each value that the code returns, -1 for an input, and -2 for None.
  // `returned_names` has the name of the buffer or the input of each value that the code returns.
  std::vector<int> returned;
  std::vector<std::string> returned_names;
};

// The facts in the graph about a node that the output code computes.
struct NodeFacts {
  record::Place place;
  std::string dtype;  // the element type, such as torch.float32; empty if unknown
};
using Nodes = std::map<std::string, NodeFacts, std::less<>>;

// Maps the expression of a library call (library_call.h) to the most bytes that the call has allocated at one time,
// its results included.
using OwnMemory = std::map<std::string, std::int64_t, std::less<>>;

// Returns the memory plan of output code. `symbols` has the values of varying sizes, `threads` is the number of threads
// that library calls use, and `own_memory` has the measured memory of library calls. The plan of code without a `call`
// function is empty.
Plan plan_of(std::string_view output_code, const Symbols& symbols, const Nodes& nodes, std::int64_t threads,
             const OwnMemory& own_memory);

}  // namespace depyf::costs
