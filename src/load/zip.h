// Reads zip archives, such as wheels, eggs and zipped packages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf {

struct ZipMember {
  std::string name;  // the name as in the archive, which may contain `..`
  std::uint16_t method = 0, flags = 0;
  std::uint32_t checksum = 0;
  std::size_t compressed = 0, size = 0;  // in bytes
  std::size_t offset = 0;                // offset of the local header
};

// True if `file` begins as a zip archive does.
bool is_zip(std::string_view file);

// Returns the members in the order of the archive's directory. Archives that consist of several files, and archives
// beyond 4 GiB, are errors.
Result<std::vector<ZipMember>> zip_members(std::string_view file);

// Returns the bytes of a member, which is stored or deflated, checked against its checksum. A member of more than
// `limit` bytes is an error.
Result<std::string> read_member(std::string_view file, const ZipMember& member, std::size_t limit);

}  // namespace depyf
