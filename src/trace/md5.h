// Computes MD5 (RFC 1321), which PyTorch's logs use as fingerprints of payloads. MD5 detects accidental damage, but not
// deliberate changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace depyf::trace {

class Md5 {
 public:
  void add(std::string_view bytes);
  std::string hexadecimal();  // no bytes may be added after this call

 private:
  void block(const unsigned char* bytes);
  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<unsigned char, 64> waiting_{};  // the bytes behind the last complete block
  std::uint64_t length_ = 0;
};

}  // namespace depyf::trace
