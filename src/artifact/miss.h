// Reads the key of a cache miss that a run recorded: the key and its parts in PyTorch's own JSON, which the
// structured trace has as an artifact "fx_graph_cache_miss" or "aotautograd_cache_miss".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/budget.h"
#include "depyf/artifact.h"

namespace depyf::artifact {

// True if the bytes begin like such a record.
bool is_recorded_key(std::string_view bytes);

// Returns the record as a part of kind "inductor" or "aot_autograd"; nothing if the bytes are no such record.
std::optional<Part> read_recorded_key(std::string_view bytes, Budget& budget);

}  // namespace depyf::artifact
