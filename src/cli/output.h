// Writes files without destroying existing files.
#pragma once

#include <filesystem>
#include <string>

namespace depyf::cli {

// Writes `text` to `path` below `folder`, whole or not at all. A temporary file is written, and renamed once it is
// complete. An existing file is not replaced unless `force` is set. Below `folder` no link is followed. Returns the
// reason if the file could not be written, otherwise an empty string.
std::string write_file(const std::filesystem::path& folder, const std::filesystem::path& path, const std::string& text,
                       bool force);

}  // namespace depyf::cli
