// Reads what torch.compiler.save_cache_artifacts returns: entries of caches by kind, as AppendingByteSerializer of
// torch.utils writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf::artifact {

struct BundleEntry {
  std::string kind, key;
  std::string_view content;  // a part of the input
};

// Returns the bytes that a text encodes in base64; nothing if it contains other characters.
std::optional<std::string> decoded_base64(std::string_view text);

// True if the bytes begin like a bundle.
bool is_bundle(std::string_view bytes);

// Returns the entries of a bundle. The size of the input bounds their number, because each entry takes bytes.
Result<std::vector<BundleEntry>> read_bundle(std::string_view bytes);

}  // namespace depyf::artifact
