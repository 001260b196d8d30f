#include "load/checksum.h"

#include <array>

namespace depyf {
namespace {

constexpr std::array<std::uint32_t, 256> checksum_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
    table[byte] = value;
  }
  return table;
}();

}  // namespace

std::uint32_t checksum_of(std::string_view bytes) {
  std::uint32_t value = ~0u;
  for (char byte : bytes) value = checksum_table[(value ^ static_cast<std::uint8_t>(byte)) & 0xff] ^ value >> 8;
  return ~value;
}

}  // namespace depyf
