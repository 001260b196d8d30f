// What torch.compiler.save_cache_artifacts returns: entries of caches by kind (AppendingByteSerializer of torch.utils).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf::artifact {

struct BundleEntry {
  std::string kind, key;
  std::string_view content;  // in the input
};

// The bytes that a text in base64 stands for; nothing if it has other characters.
std::optional<std::string> decoded_base64(std::string_view text);

// True if the bytes begin as a bundle does.
bool is_bundle(std::string_view bytes);

// The entries of a bundle. Their number is bounded by the size of the input, as each takes bytes.
Result<std::vector<BundleEntry>> read_bundle(std::string_view bytes);

}  // namespace depyf::artifact
