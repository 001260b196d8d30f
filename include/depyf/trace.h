// Reads TORCH_TRACE logs of PyTorch 2.4 to 2.15, finished or still being written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Reads the log of one process. `read_trace` never fails: for a part of the log that cannot be read, it adds an error
// message with the offset of the part to `problems` of the process, and it reads all other parts. `path` is stored in
// the result, and the rank is taken from it ("..._rank_3_...") if no record of the log states the rank.
record::Process read_trace(std::string_view bytes, const std::string& path);

// Returns true if the bytes are a log that gzip compressed.
bool is_compressed(std::string_view bytes);

// The decompressed bytes of a log, up to the first error. If decompression ended early, `problem` contains the offset
// of the error in the compressed bytes.
struct Unpacked {
  std::string bytes;
  std::optional<record::Problem> problem;
};
Unpacked unpack(std::string_view compressed);

// Returns the frames of a traceback as Python prints it, the outermost call first.
std::vector<record::Place> read_traceback(std::string_view text);

// Parses the report of a graph break, which PyTorch writes into logs and exceptions. The place in the result is the
// place that the report states, which may be a line of PyTorch itself. Addresses of objects are left out, because they
// differ in every run. A report of a graph break has the form:
//
//     Graph break in user code at FILE:LINE
//     Graph Break Reason: REASON
//       Explanation: EXPLANATION
//       Hint: HINT
//     User code traceback:
//       File "FILE", line LINE, in FUNCTION
//         SOURCE
record::GraphBreak read_graph_break(std::string_view report);

// Returns the payload of the artifact without the tabs that the log puts in front of the lines of a payload.
std::string payload_of(std::string_view bytes, const record::Artifact& artifact);

// Reads the graphs and the output code of each compilation into the record. Reading the graphs and the output code
// takes as long as reading the rest of the log, so `read_graphs` is called only if graphs or links are needed. If a
// compilation was traced several times, only the graphs and code of its last attempt are read.
void read_graphs(std::string_view bytes, record::Process& process);

}  // namespace depyf
