#include "load/exception_table.h"

namespace depyf {
namespace {

// Reads a number with six bits in each byte, the most significant first. Bit 6 of a byte is set if more bytes follow,
// and bit 7 if the byte is the first of an entry.
bool read_varint(std::string_view table, std::size_t& at, std::uint32_t& value) {
  value = 0;
  for (int bytes = 0; bytes < 5; ++bytes) {
    if (at >= table.size()) return false;
    auto next = static_cast<std::uint8_t>(table[at++]);
    value = value << 6 | (next & 63);
    if (!(next & 64)) return true;
  }
  return false;
}

// Writes a number in the form that `read_varint` reads, with the bits of `mark` set in its first byte.
void write_varint(std::string& table, std::uint32_t value, std::uint8_t mark = 0) {
  int shift = 0;
  while (shift < 30 && value >> (shift + 6)) shift += 6;
  for (; shift >= 0; shift -= 6, mark = 0) {
    const std::uint32_t more = shift > 0 ? 64 : 0;
    table += static_cast<char>(mark | more | (value >> shift & 63));
  }
}

}  // namespace

std::vector<ExceptionEntry> read_exception_table(std::string_view table, bool* ok) {
  constexpr std::size_t least_bytes = 4;  // the least size of an entry
  std::vector<ExceptionEntry> entries;
  entries.reserve(table.size() / least_bytes);
  if (ok) *ok = true;
  std::size_t at = 0;
  while (at < table.size()) {
    std::uint32_t start, length, target, depth_lasti;
    bool marked = table[at] & 0x80;
    constexpr std::uint32_t units_max = 1u << 29;  // keeps offsets in bytes within 32 bits
    if (!marked || !read_varint(table, at, start) || !read_varint(table, at, length) ||
        !read_varint(table, at, target) || !read_varint(table, at, depth_lasti) || start >= units_max ||
        length >= units_max || target >= units_max) {
      if (ok) *ok = false;
      break;
    }
    entries.push_back({start * 2, (start + length) * 2, target * 2, depth_lasti >> 1, (depth_lasti & 1) != 0});
  }
  return entries;
}

std::string write_exception_table(const std::vector<ExceptionEntry>& entries) {
  std::string table;
  for (const ExceptionEntry& entry : entries) {
    write_varint(table, entry.start / 2, 0x80);
    write_varint(table, (entry.end - entry.start) / 2);
    write_varint(table, entry.target / 2);
    write_varint(table, entry.depth << 1 | std::uint32_t{entry.lasti});
  }
  return table;
}

}  // namespace depyf
