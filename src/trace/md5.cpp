#include "trace/md5.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace depyf::trace {
namespace {

constexpr int rounds = 64;

// RFC 1321 defines the constants as the integer parts of 2^32 |sin(i)|.
const std::array<std::uint32_t, rounds>& sines() {
  static const std::array<std::uint32_t, rounds> table = [] {
    std::array<std::uint32_t, rounds> values{};
    for (int i = 0; i < rounds; ++i)
      values[static_cast<std::size_t>(i)] =
          static_cast<std::uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
    return values;
  }();
  return table;
}

constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

}  // namespace

void Md5::block(const unsigned char* bytes) {
  std::uint32_t words[16] = {};
  for (int i = 0; i < 16; ++i)
    for (int byte = 3; byte >= 0; --byte) words[i] = words[i] << 8 | bytes[4 * i + byte];
  const std::uint32_t* table = sines().data();
  auto [a, b, c, d] = state_;
  auto step = [&](std::uint32_t mixed, int word, int i, int shift) __attribute__((always_inline)) {
    const std::uint32_t sum = a + mixed + table[i] + words[word];
    a = d, d = c, c = b;
    b += std::rotl(sum, shift);
  };
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) step((b & c) | (~b & d), i, i, shifts[0][i % 4]);
#pragma GCC unroll 16
  for (int i = 16; i < 32; ++i) step((d & b) | (~d & c), (5 * i + 1) % 16, i, shifts[1][i % 4]);
#pragma GCC unroll 16
  for (int i = 32; i < 48; ++i) step(b ^ c ^ d, (3 * i + 5) % 16, i, shifts[2][i % 4]);
#pragma GCC unroll 16
  for (int i = 48; i < 64; ++i) step(c ^ (b | ~d), 7 * i % 16, i, shifts[3][i % 4]);
  state_[0] += a, state_[1] += b, state_[2] += c, state_[3] += d;
}

void Md5::add(std::string_view bytes) {
  std::size_t filled = length_ % 64;
  length_ += bytes.size();
  if (filled) {
    const std::size_t taken = std::min(bytes.size(), 64 - filled);
    std::memcpy(waiting_.data() + filled, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (filled + taken < 64) return;
    block(waiting_.data());
  }
  while (bytes.size() >= 64) {
    block(reinterpret_cast<const unsigned char*>(bytes.data()));
    bytes.remove_prefix(64);
  }
  if (!bytes.empty()) std::memcpy(waiting_.data(), bytes.data(), bytes.size());
}

std::string Md5::hexadecimal() {
  const std::uint64_t bits = length_ * 8;
  std::string padding(1, '\x80');
  padding.append((119 - length_ % 64) % 64, '\0');
  for (int i = 0; i < 8; ++i) padding += static_cast<char>(bits >> (8 * i) & 0xff);
  add(padding);
  std::string text;
  for (std::uint32_t word : state_) {
    for (int i = 0; i < 8; ++i) text += "0123456789abcdef"[word >> (8 * (i / 2) + (i % 2 ? 0 : 4)) & 15];
  }
  return text;
}

}  // namespace depyf::trace
