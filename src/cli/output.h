// Writing files without destroying any.
#pragma once

#include <filesystem>
#include <string>

namespace depyf::cli {

// Writes `text` to `path` below `folder`, whole or not at all: it writes a file of another name, and renames it once it
// is complete. An existing file stays unless `force` is set. Below `folder` no link is followed. Returns the reason if
// the file could not be written, otherwise an empty string.
std::string write_file(const std::filesystem::path& folder, const std::filesystem::path& path, const std::string& text,
                       bool force);

}  // namespace depyf::cli
