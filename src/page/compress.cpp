#include "page/compress.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "load/checksum.h"

namespace depyf::page {
namespace {

constexpr std::size_t match_min = 4, match_max = 258, window = 32768;
constexpr std::size_t hash_bits = 15;
constexpr int chain_max = 32;  // the most earlier places that are compared; twice as many save 1 % of a page
constexpr std::size_t match_enough = 96;  // a match of at least this length ends the search
constexpr std::uint32_t no_place = 0xffffffff;

constexpr std::array<std::uint16_t, 29> length_bases = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint8_t, 29> length_bits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint16_t, 30> distance_bases = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<std::uint8_t, 30> distance_bits = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                        6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

class Deflate {
 public:
  explicit Deflate(std::string_view bytes)
      : bytes_(bytes), first_(std::size_t{1} << hash_bits, no_place), earlier_(window) {}

  std::string run() {
    put(1, 1), put(1, 2);  // the header of the last block, which uses the fixed codes
    for (std::size_t at = 0; at < bytes_.size();) {
      const auto [length, distance] = match(at);
      if (length < match_min) {
        literal(static_cast<unsigned char>(bytes_[at]));
        insert(at++);
        continue;
      }
      reference(length, distance);
      for (const std::size_t end = at + length; at < end; ++at) insert(at);
    }
    symbol(256);
    if (filled_) out_ += static_cast<char>(pending_);
    return std::move(out_);
  }

 private:
  std::size_t hash(std::size_t at) const {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < match_min; ++i) word = word << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return word * 2654435761u >> (32 - hash_bits);
  }

  void insert(std::size_t at) {
    if (at + match_min > bytes_.size()) return;
    std::uint32_t& first = first_[hash(at)];
    earlier_[at % window] = first;
    first = static_cast<std::uint32_t>(at);
  }

  // Returns the length and the distance of the longest earlier match for the bytes at `at`.
  std::pair<std::size_t, std::size_t> match(std::size_t at) const {
    std::size_t best = 0, distance = 0;
    if (at + match_min > bytes_.size()) return {0, 0};
    const std::size_t limit = std::min(match_max, bytes_.size() - at);
    std::uint32_t place = first_[hash(at)];
    for (int tried = 0; tried < chain_max && place != no_place && at - place < window; ++tried) {
      if (best < limit && bytes_[place + best] == bytes_[at + best]) {
        std::size_t length = 0;
        while (length < limit && bytes_[place + length] == bytes_[at + length]) ++length;
        if (length > best) best = length, distance = at - place;
        if (best >= match_enough) break;
      }
      const std::uint32_t next = earlier_[place % window];
      if (next == no_place || next >= place) break;
      place = next;
    }
    return {best, distance};
  }

  void put(std::uint32_t bits, int count) {
    pending_ |= static_cast<std::uint64_t>(bits) << filled_;
    for (filled_ += count; filled_ >= 8; filled_ -= 8, pending_ >>= 8) out_ += static_cast<char>(pending_ & 255);
  }
  // Writes a Huffman code. In a deflate stream, the most significant bit of a Huffman code comes first, while the least
  // significant bit of a number comes first.
  void put_code(std::uint32_t code, int count) {
    std::uint32_t reversed = 0;
    for (int bit = 0; bit < count; ++bit) reversed |= (code >> bit & 1) << (count - 1 - bit);
    put(reversed, count);
  }
  void symbol(std::uint32_t value) {
    if (value < 144) put_code(0x30 + value, 8);
    else if (value < 256) put_code(0x190 + value - 144, 9);
    else if (value < 280) put_code(value - 256, 7);
    else put_code(0xc0 + value - 280, 8);
  }
  void literal(unsigned char byte) { symbol(byte); }

  void reference(std::size_t length, std::size_t distance) {
    const auto of_length = static_cast<std::size_t>(std::upper_bound(length_bases.begin(), length_bases.end(), length) -
                                                    length_bases.begin()) -
                           1;
    symbol(static_cast<std::uint32_t>(257 + of_length));
    put(static_cast<std::uint32_t>(length - length_bases[of_length]), length_bits[of_length]);
    const auto of_distance =
        static_cast<std::size_t>(std::upper_bound(distance_bases.begin(), distance_bases.end(), distance) -
                                 distance_bases.begin()) -
        1;
    put_code(static_cast<std::uint32_t>(of_distance), 5);
    put(static_cast<std::uint32_t>(distance - distance_bases[of_distance]), distance_bits[of_distance]);
  }

  std::string_view bytes_;
  // `first_` maps each hash to the last place at which bytes have the hash. `earlier_` maps each place to the previous
  // place with the same hash.
  std::vector<std::uint32_t> first_, earlier_;
  std::string out_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;  // the number of bits that `pending_` holds
};

}  // namespace

std::string gzip(std::string_view bytes) {
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  packed += Deflate(bytes).run();
  for (const std::uint32_t value : {checksum_of(bytes), static_cast<std::uint32_t>(bytes.size())})
    for (int shift = 0; shift < 32; shift += 8) packed += static_cast<char>(value >> shift & 255);
  return packed;
}

}  // namespace depyf::page
