#include "load/marshal_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace depyf {

bool is_ascii(std::string_view text) {
  const auto read = [&](auto number, std::size_t at) {
    std::memcpy(&number, text.data() + at, sizeof number);
    return number;
  };
  const std::size_t size = text.size();
  std::uint64_t bits = 0;  // the bitwise or of all bytes; the last two numbers that are read may overlap
  if (size >= 8) {
    for (std::size_t at = 0; at < size - 8; at += 8) bits |= read(std::uint64_t{}, at);
    bits |= read(std::uint64_t{}, size - 8);
  } else if (size >= 4) {
    bits = read(std::uint32_t{}, 0) | read(std::uint32_t{}, size - 4);
  } else {
    for (const char byte : text) bits |= static_cast<std::uint8_t>(byte);
  }
  return (bits & 0x8080808080808080) == 0;
}

bool is_ascii(std::string_view text, std::size_t readable) {
  constexpr std::size_t wide = 32;
  if (text.size() > wide || readable < wide) return is_ascii(text);
  // For a text of n bytes, the mask has n bytes with the value 0x80, and `wide` - n bytes with the value 0, so that the
  // bytes behind the text do not count.
  static constexpr auto masks = [] {
    std::array<std::uint8_t, 2 * wide> all{};
    for (std::size_t at = 0; at < wide; ++at) all[at] = 0x80;
    return all;
  }();
  const std::uint8_t* mask = masks.data() + (wide - text.size());
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < wide; at += sizeof bits) {
    std::uint64_t bytes, wanted;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    std::memcpy(&wanted, mask + at, sizeof wanted);
    bits |= bytes & wanted;
  }
  return bits == 0;
}

bool is_wtf8(std::string_view text) {
  if (is_ascii(text)) return true;
  std::size_t at = 0;
  while (at < text.size()) {
    auto lead = static_cast<std::uint8_t>(text[at++]);
    if (lead < 0x80) continue;
    int more = lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : -1;
    if (more < 0 || text.size() - at < static_cast<std::size_t>(more)) return false;
    std::uint32_t point = lead & (0x3fu >> more);
    for (int i = 0; i < more; ++i) {
      auto next = static_cast<std::uint8_t>(text[at++]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (point < least[more] || point > 0x10ffff) return false;
  }
  return true;
}

std::string latin1_to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char character : text) {
    auto byte = static_cast<std::uint8_t>(character);
    if (byte < 0x80) {
      out += character;
    } else {
      out += static_cast<char>(0xc0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

std::string integer_text(const std::vector<std::uint16_t>& digits, bool negative) {
  std::string hexadecimal;  // the digits, the least significant first
  std::uint32_t bits = 0;
  int count = 0;
  for (std::uint16_t digit : digits) {
    bits |= static_cast<std::uint32_t>(digit) << count;
    count += 15;
    for (; count >= 4; count -= 4, bits >>= 4) hexadecimal += "0123456789abcdef"[bits & 15];
  }
  if (count) hexadecimal += "0123456789abcdef"[bits & 15];
  while (!hexadecimal.empty() && hexadecimal.back() == '0') hexadecimal.pop_back();
  std::reverse(hexadecimal.begin(), hexadecimal.end());
  std::string sign = negative && !hexadecimal.empty() ? "-" : "";
  constexpr std::size_t decimal_max = 3200;  // CPython refuses decimal literals of more than 4300 digits
  if (hexadecimal.size() > decimal_max) return sign + "0x" + hexadecimal;
  constexpr std::uint64_t base = 1000000000;
  std::vector<std::uint64_t> groups{0};  // nine decimal digits each, least significant first
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    std::uint64_t carry = *digit;
    for (std::uint64_t& group : groups) {
      group = (group << 15) + carry;
      carry = group / base;
      group %= base;
    }
    if (carry) groups.push_back(carry);
  }
  std::string text = sign + std::to_string(groups.back());
  for (std::size_t index = groups.size() - 1; index--;) {
    std::string nine = std::to_string(groups[index]);
    text += std::string(9 - nine.size(), '0') + nine;
  }
  return text;
}

std::optional<double> parse_float(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace depyf
