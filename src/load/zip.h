// Zip archives: wheels, eggs and zipped packages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf {

struct ZipMember {
  std::string name;  // as the archive has it: it may hold `..`
  std::uint16_t method = 0, flags = 0;
  std::uint32_t checksum = 0;
  std::size_t compressed = 0, size = 0;  // in bytes
  std::size_t offset = 0;                // of its local header
};

// True if `file` begins as an archive does.
bool is_zip(std::string_view file);

// The members, in the order of the archive's directory. Archives of more than one file, and those beyond 4 GiB, are errors.
Result<std::vector<ZipMember>> zip_members(std::string_view file);

// The bytes of a member: stored or deflated, checked against its checksum. Beyond `limit` bytes: an error.
Result<std::string> read_member(std::string_view file, const ZipMember& member, std::size_t limit);

}  // namespace depyf
