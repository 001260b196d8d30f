// TORCH_TRACE logs of PyTorch 2.4 to 2.15, finished or still being written.
#pragma once

#include <string>
#include <string_view>

#include "depyf/record.h"

namespace depyf {

// Reads one log, which one process wrote. Never fails: what cannot be read is a problem of the process, with its offset,
// and everything else is kept. `path` is only stated, and asked for a rank ("..._rank_3_...") where no record has one.
record::Process read_trace(std::string_view bytes, const std::string& path);

// The payload of the artifact as PyTorch made it.
std::string payload_of(std::string_view bytes, const record::Artifact& artifact);

}  // namespace depyf
