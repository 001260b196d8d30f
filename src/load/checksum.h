// Computes the CRC-32 of zip archives and gzip files (RFC 1952, section 8).
#pragma once

#include <cstdint>
#include <string_view>

namespace depyf {

std::uint32_t checksum_of(std::string_view bytes);

}  // namespace depyf
