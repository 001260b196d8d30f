// Reads the bytes that torch.compiler.save_cache_artifacts returns: entries of caches, grouped by the kind of cache.
// The class AppendingByteSerializer of torch.utils writes the bytes of a bundle.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf::artifact {

struct BundleEntry {
  std::string kind, key;
  std::string_view content;  // refers to the bytes of the input
};

// Returns the bytes that a text encodes in base64; nothing if the text contains a character that is no digit of
// base64.
std::optional<std::string> decoded_base64(std::string_view text);

// True if the bytes begin with the header of a bundle, which is the result of torch.compiler.save_cache_artifacts.
bool is_bundle(std::string_view bytes);

// Returns the entries of a bundle. The number of entries needs no limit, because each entry takes bytes of the input.
Result<std::vector<BundleEntry>> read_bundle(std::string_view bytes);

}  // namespace depyf::artifact
