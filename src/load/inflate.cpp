// Decodes canonical Huffman codes by counting the codes of each length: a code belongs to length n if it is less than
// the first unused code of that length. Counting is slower than looking codes up in tables, but the code is short, and
// the files are small.
#include "load/inflate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace depyf {
namespace {

constexpr int longest_code = 15;
constexpr std::size_t literal_codes = 288, distance_codes = 30, end_of_block = 256;

class Huffman {
 public:
  // `lengths` contains the length of the code of each symbol, or 0 if the symbol has no code. Returns false if no set
  // of codes has the lengths in `lengths`.
  bool build(std::span<const std::uint8_t> lengths) {
    counts_.fill(0);
    for (std::uint8_t length : lengths) ++counts_[length];
    counts_[0] = 0;
    int left = 1;
    for (int length = 1; length <= longest_code; ++length) {
      left = 2 * left - counts_[std::size_t(length)];
      if (left < 0) return false;
    }
    std::array<std::uint16_t, longest_code + 1> offsets{};
    for (std::size_t length = 1; length < longest_code; ++length)
      offsets[length + 1] = static_cast<std::uint16_t>(offsets[length] + counts_[length]);
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol]) symbols_[offsets[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    return true;
  }

  // Returns the next symbol; -1 if the next bits are no code, or if the input ends.
  template <class NextBit>
  int decode(NextBit next_bit) const {
    int code = 0, first = 0, index = 0;
    for (std::size_t length = 1; length <= longest_code; ++length) {
      const int bit = next_bit();
      if (bit < 0) return -1;
      code |= bit;
      const int count = counts_[length];
      if (code - count < first) return symbols_[static_cast<std::size_t>(index + (code - first))];
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return -1;
  }

 private:
  std::array<std::uint16_t, longest_code + 1> counts_{};
  std::array<std::uint16_t, literal_codes> symbols_{};
};

class Inflater {
 public:
  Inflater(std::string_view input, std::size_t limit) : input_(input), limit_(limit) {}

  Inflated run() {
    std::optional<Error> error;
    for (bool last = false; !last && !error;) {
      last = bits(1) == 1;
      const int kind = bits(2);
      const bool good = kind == 0 ? stored() : kind == 1 ? fixed() : kind == 2 ? dynamic() : false;
      if (!good)
        error = Error{
            too_long_ ? "the compressed data expands to more than the limit" : "the compressed data is malformed", at_};
    }
    return {std::move(out_), at_, std::move(error)};
  }

 private:
  int bit() {
    if (filled_ == 0) {
      if (at_ >= input_.size()) return -1;
      buffer_ = static_cast<std::uint8_t>(input_[at_++]);
      filled_ = 8;
    }
    const int value = buffer_ & 1;
    buffer_ >>= 1, --filled_;
    return value;
  }
  int bits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      const int next = bit();
      if (next < 0) return -1;
      value |= next << i;
    }
    return value;
  }

  bool append(char byte) {
    if (out_.size() >= limit_) {
      too_long_ = true;
      return false;
    }
    out_ += byte;
    return true;
  }

  bool stored() {
    filled_ = 0;
    if (input_.size() - at_ < 4) return false;
    auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<std::uint8_t>(input_[at_ + i])); };
    const std::size_t size = byte(0) | byte(1) << 8, complement = byte(2) | byte(3) << 8;
    at_ += 4;
    if (size != (complement ^ 0xffff) || size > input_.size() - at_) return false;
    if (size > limit_ - out_.size()) {
      too_long_ = true;
      return false;
    }
    out_ += input_.substr(at_, size);
    at_ += size;
    return true;
  }

  bool fixed() {
    std::array<std::uint8_t, literal_codes> lengths{};
    for (std::size_t symbol = 0; symbol < literal_codes; ++symbol)
      lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    std::array<std::uint8_t, distance_codes> distances{};
    distances.fill(5);
    Huffman literal, distance;
    return literal.build(lengths) && distance.build(distances) && codes(literal, distance);
  }

  bool dynamic() {
    const int literals = bits(5) + 257, distances = bits(5) + 1, count = bits(4) + 4;
    if (literals < 257 || literals > 286 || distances < 1 || distances > int(distance_codes) || count < 4) return false;
    static constexpr std::uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    std::array<std::uint8_t, 19> code_lengths{};
    for (int i = 0; i < count; ++i) {
      const int length = bits(3);
      if (length < 0) return false;
      code_lengths[order[i]] = static_cast<std::uint8_t>(length);
    }
    Huffman lengths_code;
    if (!lengths_code.build(code_lengths)) return false;
    std::array<std::uint8_t, 286 + distance_codes> lengths{};
    const std::size_t total = std::size_t(literals + distances);
    for (std::size_t at = 0; at < total;) {
      const int symbol = lengths_code.decode([&] { return bit(); });
      if (symbol < 0) return false;
      if (symbol < 16) {
        lengths[at++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && at == 0) return false;
      const std::uint8_t repeated = symbol == 16 ? lengths[at - 1] : std::uint8_t{0};
      const int extra = symbol == 16 ? bits(2) : symbol == 17 ? bits(3) : bits(7);
      if (extra < 0) return false;
      const std::size_t times = std::size_t(extra) + (symbol == 18 ? 11 : 3);
      if (times > total - at) return false;
      std::fill_n(lengths.begin() + std::ptrdiff_t(at), times, repeated);
      at += times;
    }
    if (lengths[end_of_block] == 0) return false;
    const std::span<const std::uint8_t> all(lengths);
    Huffman literal, distance;
    return literal.build(all.first(std::size_t(literals))) &&
           distance.build(all.subspan(std::size_t(literals), std::size_t(distances))) && codes(literal, distance);
  }

  bool codes(const Huffman& literal, const Huffman& distance) {
    static constexpr std::uint16_t bases[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                              31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::uint8_t extras[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                              2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::uint16_t far_bases[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                  33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                  1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    auto next = [&] { return bit(); };
    for (;;) {
      const int symbol = literal.decode(next);
      if (symbol < 0) return false;
      if (symbol < int(end_of_block)) {
        if (!append(static_cast<char>(symbol))) return false;
        continue;
      }
      if (symbol == int(end_of_block)) return true;
      const std::size_t row = std::size_t(symbol) - end_of_block - 1;
      if (row >= std::size(bases)) return false;
      const int more = bits(extras[row]);
      const int far = distance.decode(next);
      if (more < 0 || far < 0 || far >= int(distance_codes)) return false;
      const int far_more = bits(far < 4 ? 0 : far / 2 - 1);
      if (far_more < 0) return false;
      const std::size_t back = far_bases[far] + std::size_t(far_more), length = bases[row] + std::size_t(more);
      if (back > out_.size()) return false;
      for (std::size_t i = 0; i < length; ++i)
        if (!append(out_[out_.size() - back])) return false;
    }
  }

  std::string_view input_;
  const std::size_t limit_;
  std::size_t at_ = 0;
  unsigned buffer_ = 0;
  int filled_ = 0;  // the number of bits in the buffer
  bool too_long_ = false;
  std::string out_;
};

}  // namespace

Result<std::string> inflate(std::string_view compressed, std::size_t limit) {
  Inflated inflated = Inflater(compressed, limit).run();
  if (inflated.error) return std::move(*inflated.error);
  return std::move(inflated.bytes);
}

Inflated inflate_all_that_can_be_read(std::string_view compressed, std::size_t limit) {
  return Inflater(compressed, limit).run();
}

}  // namespace depyf
