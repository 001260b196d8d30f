// Writing files without destroying any.
#pragma once

#include <filesystem>
#include <string>

namespace depyf::cli {

// Writes `text` to `path` below `folder`, whole or not at all: to a file of another name, which gets this one's when it is
// complete. A file that is there stays unless `force`; a link is never followed, below `folder`. The reason where it could not
// be written; empty: it was.
std::string write_file(const std::filesystem::path& folder, const std::filesystem::path& path, const std::string& text,
                       bool force);

}  // namespace depyf::cli
