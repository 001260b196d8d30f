// What a run recorded of a cache that it missed: the key and its parts, as JSON of PyTorch's own (an artifact "fx_graph_cache_miss" or
// "aotautograd_cache_miss" of the structured trace).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/budget.h"
#include "depyf/artifact.h"

namespace depyf::artifact {

// True if the bytes begin as such a record does.
bool is_recorded_key(std::string_view bytes);

// The record as a part of kind "inductor" or "aot_autograd"; nothing if it is no such record.
std::optional<Part> read_recorded_key(std::string_view bytes, Budget& budget);

}  // namespace depyf::artifact
