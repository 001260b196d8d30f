#include "pickle/texts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "load/marshal_text.h"

namespace depyf::pickle {
namespace {

void append_utf8(std::string& text, std::uint32_t character) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80) return put(character);
  if (character < 0x800) return put(0xc0 | character >> 6), put(0x80 | (character & 0x3f));
  if (character < 0x10000) put(0xe0 | character >> 12);
  else put(0xf0 | character >> 18), put(0x80 | (character >> 12 & 0x3f));
  put(0x80 | (character >> 6 & 0x3f)), put(0x80 | (character & 0x3f));
}

// Returns the number that the first `count` characters represent in a base up to 16; nothing if a character is no
// digit of the base.
std::optional<std::uint32_t> digits_at(std::string_view text, std::size_t count, std::uint32_t base) {
  if (text.size() < count) return {};
  std::uint32_t number = 0;
  for (const char character : text.substr(0, count)) {
    std::uint32_t digit = base;
    if (character >= '0' && character <= '9') digit = static_cast<std::uint32_t>(character - '0');
    else if (character >= 'a' && character <= 'f') digit = static_cast<std::uint32_t>(character - 'a') + 10;
    else if (character >= 'A' && character <= 'F') digit = static_cast<std::uint32_t>(character - 'A') + 10;
    if (digit >= base) return {};
    number = number * base + digit;
  }
  return number;
}

// Decodes the escape whose backslash precedes `rest`, and removes the escape from `rest`. Returns false if the escape
// is malformed.
bool take_escape(std::string_view& rest, std::string& text) {
  constexpr std::string_view letters = "abfnrtv\\'\"", meanings = "\a\b\f\n\r\t\v\\'\"";
  if (rest.empty()) return false;
  const char letter = rest[0];
  if (const std::size_t position = letters.find(letter); position != std::string_view::npos) {
    text += meanings[position];
    rest.remove_prefix(1);
    return true;
  }
  if (letter == 'x') {
    const std::optional<std::uint32_t> byte = digits_at(rest.substr(1), 2, 16);
    if (!byte) return false;
    text += static_cast<char>(*byte);
    rest.remove_prefix(3);
    return true;
  }
  std::size_t count = 0;
  while (count < 3 && digits_at(rest.substr(count), 1, 8)) ++count;
  if (count == 0) {
    text += '\\';  // As in Python, a backslash that begins no escape is kept.
    return true;
  }
  text += static_cast<char>(*digits_at(rest, count, 8) & 0xff);
  rest.remove_prefix(count);
  return true;
}

}  // namespace

std::optional<std::string> decoded_unicode(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const auto byte = static_cast<unsigned char>(line[0]);
    const bool is_long = line.starts_with("\\U");
    if (!is_long && !line.starts_with("\\u")) {
      append_utf8(text, byte);
      line.remove_prefix(1);
      continue;
    }
    const std::size_t count = is_long ? 8 : 4;
    const std::optional<std::uint32_t> character = digits_at(line.substr(2), count, 16);
    if (!character || *character > 0x10ffff) return {};
    append_utf8(text, *character);
    line.remove_prefix(2 + count);
  }
  return text;
}

std::optional<std::string> decoded_string(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() || (line[0] != '\'' && line[0] != '"')) return {};
  line = line.substr(1, line.size() - 2);
  std::string text;
  while (!line.empty()) {
    const char character = line[0];
    line.remove_prefix(1);
    if (character != '\\') text += character;
    else if (!take_escape(line, text)) return {};
  }
  return text;
}

bool is_decimal(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char it) { return it >= '0' && it <= '9'; });
}

std::string integer_of_bytes(std::string_view bytes) {
  const bool is_negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80);
  std::vector<std::uint16_t> digits;  // digits of 15 bits, the least significant digit first
  std::uint32_t waiting = 0, carry = is_negative ? 1 : 0;
  int bits = 0;
  for (const char character : bytes) {
    std::uint32_t byte = static_cast<unsigned char>(character);
    if (is_negative) {
      byte = (byte ^ 0xff) + carry;  // The magnitude is the complement plus one.
      carry = byte >> 8;
      byte &= 0xff;
    }
    waiting |= byte << bits;
    for (bits += 8; bits >= 15; bits -= 15, waiting >>= 15)
      digits.push_back(static_cast<std::uint16_t>(waiting & 0x7fff));
  }
  waiting |= carry << bits;
  for (; waiting != 0; waiting >>= 15) digits.push_back(static_cast<std::uint16_t>(waiting & 0x7fff));
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
  return integer_text(digits, is_negative);
}

}  // namespace depyf::pickle
