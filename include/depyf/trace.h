// Reads TORCH_TRACE logs of PyTorch 2.4 to 2.15, finished or still being written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Reads one log, which one process wrote. The function never fails: a part that cannot be read becomes a problem of the
// process, with its offset, and everything else is kept. `path` is stored. It also gives the rank ("..._rank_3_...") if
// no record does.
record::Process read_trace(std::string_view bytes, const std::string& path);

// Returns true if the bytes are a log that gzip compressed.
bool is_compressed(std::string_view bytes);

// The bytes before compression, as far as they can be read. If reading ended early, `problem` holds the offset in the
// compressed bytes.
struct Unpacked {
  std::string bytes;
  std::optional<record::Problem> problem;
};
Unpacked unpack(std::string_view compressed);

// Returns the frames of a traceback as Python prints it, the outermost call first.
std::vector<record::Place> read_traceback(std::string_view text);

// Takes the report of a graph break apart, which PyTorch writes into logs and exceptions. The place is the one in the
// report, which may be PyTorch's own line. Addresses of objects are left out, because they differ in every run. A
// report has this form:
//
//     Graph break in user code at FILE:LINE
//     Graph Break Reason: ...
//       Explanation: ...
//       Hint: ...
//     User code traceback:
//       File "FILE", line LINE, in FUNCTION
//         SOURCE
record::GraphBreak read_graph_break(std::string_view report);

// Returns the payload of the artifact as PyTorch made it, without the marks of the log.
std::string payload_of(std::string_view bytes, const record::Artifact& artifact);

// Reads the graphs and the output code of each compilation into the record. The function takes as long as all other
// reading together, so it is called only for graphs or links. If a compilation was traced several times, its last
// attempt counts.
void read_graphs(std::string_view bytes, record::Process& process);

}  // namespace depyf
