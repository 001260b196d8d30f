#include "json/writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "json/plain.h"
#include "support/utf8.h"

namespace depyf::json {
namespace {

constexpr std::uint32_t replacement_character = 0xfffd;

// Takes one character off the front of `text` and returns it. If the bytes are no character, takes one byte and returns
// U+FFFD.
std::uint32_t take_character(std::string_view& text) {
  std::uint32_t character = 0;
  const std::size_t size = first_character(text, character);
  text.remove_prefix(size ? size : 1);
  return size ? character : replacement_character;
}

void append_escaped_unit(std::string& out, std::uint32_t unit) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", unit);
  out += buffer;
}

}  // namespace

void Writer::new_line() {
  if (is_compact_) return;
  text_ += '\n';
  text_.append(static_cast<std::size_t>(depth_), ' ');
}

void Writer::before_value() {
  if (follows_key_) {
    follows_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!is_first_) text_ += ',';
  is_first_ = false;
  new_line();
}

void Writer::scalar(std::string_view text) {
  before_value();
  text_ += text;
}

void Writer::begin_object() {
  scalar("{");
  ++depth_, is_first_ = true;
}

void Writer::begin_array() {
  scalar("[");
  ++depth_, is_first_ = true;
}

void Writer::end(char bracket) {
  --depth_;
  if (!is_first_) new_line();
  text_ += bracket;
  is_first_ = false;
}

void Writer::key(std::string_view name) {
  string(name);
  text_ += is_compact_ ? ":" : ": ";
  follows_key_ = true;
}

void Writer::string(std::string_view utf8) {
  before_value();
  text_ += '"';
  while (true) {
    const std::size_t plain = plain_size(utf8);
    text_ += utf8.substr(0, plain);
    utf8.remove_prefix(plain);
    if (utf8.empty()) break;
    const std::uint32_t character = take_character(utf8);
    switch (character) {
      case '"': text_ += "\\\""; continue;
      case '\\': text_ += "\\\\"; continue;
      case '\n': text_ += "\\n"; continue;
      case '\t': text_ += "\\t"; continue;
      case '\r': text_ += "\\r"; continue;
    }
    if (character >= 0x10000) {
      append_escaped_unit(text_, 0xd800 + ((character - 0x10000) >> 10));
      append_escaped_unit(text_, 0xdc00 + ((character - 0x10000) & 0x3ff));
    } else {
      append_escaped_unit(text_, character);
    }
  }
  text_ += '"';
}

void Writer::optional(std::string_view name, std::optional<std::int64_t> value) {
  key(name);
  value ? integer(*value) : null();
}

void Writer::optional(std::string_view name, std::string_view text) {
  key(name);
  text.empty() ? null() : string(text);
}

void Writer::integer(std::int64_t value) { scalar(std::to_string(value)); }

void Writer::number(double value) {
  if (!std::isfinite(value)) return null();
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  scalar({buffer, static_cast<std::size_t>(end - buffer)});
}

}  // namespace depyf::json
