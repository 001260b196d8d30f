// Reads the key of a cache miss and the parts of the key, which PyTorch records in JSON. In the structured trace, the
// key of a cache miss is an artifact "fx_graph_cache_miss" or "aotautograd_cache_miss".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/budget.h"
#include "depyf/artifact.h"

namespace depyf::artifact {

// True if the bytes look like the record of a cache miss.
bool is_recorded_key(std::string_view bytes);

// Returns the record of a cache miss as a part of kind "inductor" or "aot_autograd"; nothing if the bytes are not
// valid JSON.
std::optional<Part> read_recorded_key(std::string_view bytes, Budget& budget);

}  // namespace depyf::artifact
