// The plan of Inductor's output code: which buffers it allocates, how long they live, which memory it uses again, and where most
// of it is in use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "costs/sizes.h"
#include "depyf/record.h"

namespace depyf::costs {

// A piece of memory that the code allocates. A buffer that takes over the memory of an earlier one is no other piece.
struct Buffer {
  std::vector<std::string> names;  // the buffers that lie in it, the first one first
  std::int64_t bytes = -1;  // -1: unknown
  std::int64_t elements = -1;  // of a tensor that a library call allocates, whose type no code states; else -1
  int first_line = 0, last_line = 0;  // lines of the code between which it is in use
  bool is_output = false;  // the code returns it, or a view of it
  record::Place place;  // the user's line of the call that writes it first
};

// A library call, as an expression that can be run by itself (library_call.h).
struct LibraryCall {
  std::string expression;
  std::int64_t bytes = -1;  // that it allocates at once, results included; -1: not measured
};

struct Plan {
  std::vector<Buffer> buffers;
  std::int64_t allocated = 0, reused = 0;  // bytes that are allocated in all, and that later buffers use again
  std::int64_t peak = 0;  // bytes that are in use at once, beside the inputs
  int peak_line = 0;  // line of the code where that is so first
  record::Place peak_place;
  std::vector<std::size_t> at_peak;  // indices of the buffers in use there, the largest first
  std::size_t unknown = 0;  // buffers whose size is unknown, which the sums leave out
  std::vector<LibraryCall> library_calls;  // each once
  std::size_t unmeasured = 0;  // library calls for which it is unknown what they allocate for themselves
  std::int64_t peak_of_library = 0;  // the part of the peak that a library call allocates for itself
  // For each value that the code returns: the index of its buffer, -1 for an input, -2 for None. `returned_names` has the
  // name of the input.
  std::vector<int> returned;
  std::vector<std::string> returned_names;
};

// The facts that the graph has about a node which the output code computes.
struct NodeFacts {
  record::Place place;
  std::string dtype;  // torch.float32; empty: unknown
};
using Nodes = std::map<std::string, NodeFacts, std::less<>>;

// Has for the expression of a library call (library_call.h) the most bytes that the call allocates at once, results included.
using OwnMemory = std::map<std::string, std::int64_t, std::less<>>;

// `symbols` are the sizes that vary, `threads` is the number of threads that library calls use, and `own_memory` has what was
// measured of library calls. The plan of code without a `call` function is empty.
Plan plan_of(std::string_view output_code, const Symbols& symbols, const Nodes& nodes, std::int64_t threads,
             const OwnMemory& own_memory);

}  // namespace depyf::costs
