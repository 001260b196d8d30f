// TORCH_TRACE logs of PyTorch 2.4 to 2.15, finished or still being written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "depyf/record.h"

namespace depyf {

// Reads one log, which one process wrote. Never fails: what cannot be read is a problem of the process, with its offset,
// and everything else is kept. `path` is only stated, and asked for a rank ("..._rank_3_...") where no record has one.
record::Process read_trace(std::string_view bytes, const std::string& path);

// True if the bytes are a log that gzip compressed.
bool is_compressed(std::string_view bytes);

// The bytes before compression, as far as they can be read, and where reading ended early (an offset in the compressed bytes).
struct Unpacked {
  std::string bytes;
  std::optional<record::Problem> problem;
};
Unpacked unpack(std::string_view compressed);

// The report of a graph break, as PyTorch words it in logs and exceptions, taken apart. The place is the one that the report
// names, which may be PyTorch's own; addresses of objects are left out, since they differ in every run:
//
//     Graph break in user code at FILE:LINE
//     Graph Break Reason: ...
//       Explanation: ...
//       Hint: ...
//     User code traceback:
//       File "FILE", line LINE, in FUNCTION
//         SOURCE
record::GraphBreak read_graph_break(std::string_view report);

// The payload of the artifact as PyTorch made it.
std::string payload_of(std::string_view bytes, const record::Artifact& artifact);

// Reads the graphs and the output code of each compilation into the record. It takes as long as all the rest, so it is for
// those who ask for graphs or links. Of a compilation that was traced several times the last attempt counts.
void read_graphs(std::string_view bytes, record::Process& process);

}  // namespace depyf
