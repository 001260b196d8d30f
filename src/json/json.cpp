#include "json/json.h"

#include <charconv>
#include <limits>

#include "json/plain.h"

namespace depyf::json {
namespace {

constexpr std::size_t nesting_max = 1000;  // the limit of Python's own parser by default

bool is_space(char character) {
  return character == ' ' || character == '\n' || character == '\t' || character == '\r';
}

bool is_part_of_number(char character) {
  return (character >= '0' && character <= '9') || character == '-' || character == '+' || character == '.' ||
         character == 'e' || character == 'E';
}

// Returns the value of the four hexadecimal digits at `at`; -1 if the text has fewer digits at `at`.
int hexadecimal(std::string_view text, std::size_t at) {
  if (text.size() - at < 4) return -1;
  int value = 0;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  return error == std::errc() && end == text.data() + at + 4 ? value : -1;
}

void append_utf8(std::string& text, std::uint32_t character) {
  if (character < 0x80) {
    text += static_cast<char>(character);
    return;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr std::uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(leads[more] | character >> (6 * more));
  for (int rest = more - 1; rest >= 0; --rest) text += static_cast<char>(0x80 | (character >> (6 * rest) & 0x3f));
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Node>& nodes, std::vector<std::uint32_t>& open)
      : text_(text), nodes_(nodes), open_(open) {
    nodes_.clear();
    open_.clear();
  }

  // Each round of the loop reads one value and the commas, keys and closing brackets behind it, so that the parser
  // needs no recursion.
  std::optional<Error> run() {
    if (text_.size() > std::numeric_limits<std::uint32_t>::max() / 2) return error("a value of more than 2 GiB");
    while (true) {
      if (auto failure = value()) return failure;
      if (opened_) continue;
      if (auto failure = after_value()) return failure;
      if (open_.empty()) break;
    }
    skip_space();
    return at_ == text_.size() ? std::nullopt : error("text behind the value");
  }

 private:
  std::optional<Error> error(const char* message) const { return Error{message, at_}; }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void add(Kind kind, std::string_view text) {
    nodes_.push_back({text, static_cast<std::uint32_t>(nodes_.size() + 1), kind});
  }

  // Reads a scalar, or the opening bracket of a container and, for an object, its first key. Returns an error if the
  // text is malformed; nothing otherwise. Sets `opened_` to true if the value is a container that is not empty,
  // otherwise to false.
  std::optional<Error> value() {
    opened_ = false;
    skip_space();
    switch (next()) {
      case '"': return string();
      case '{':
      case '[': return open();
      case 't': return word("true", Kind::boolean);
      case 'f': return word("false", Kind::boolean);
      case 'n': return word("null", Kind::null);
      case 'N': return word("NaN", Kind::number);
      case 'I': return word("Infinity", Kind::number);
    }
    return number();
  }

  std::optional<Error> word(std::string_view word, Kind kind) {
    if (text_.substr(at_, word.size()) != word) return error("no JSON value");
    add(kind, text_.substr(at_, word.size()));
    at_ += word.size();
    return std::nullopt;
  }

  std::optional<Error> number() {
    const std::size_t start = at_;
    if (text_.substr(at_, 9) == "-Infinity") {
      at_ += 9;
    } else {
      while (at_ < text_.size() && is_part_of_number(text_[at_])) ++at_;
    }
    if (at_ == start) return error(at_ < text_.size() ? "no JSON value" : "the text ends within a value");
    add(Kind::number, text_.substr(start, at_ - start));
    return std::nullopt;
  }

  std::optional<Error> string() {
    const std::size_t start = ++at_;
    while (true) {
      at_ += plain_size(text_.substr(at_));
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
      if (at_ == text_.size()) return error("the text ends within a string");
      if (text_[at_] == '"') break;
      at_ += 2;  // a backslash and the character that it escapes, which may be a quotation mark
      if (at_ > text_.size()) at_ = text_.size();
    }
    add(Kind::string, text_.substr(start, at_ - start));
    ++at_;
    return std::nullopt;
  }

  std::optional<Error> open() {
    if (open_.size() >= nesting_max) return error("nested too deeply");
    const bool is_object = next() == '{';
    ++at_;
    open_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    add(is_object ? Kind::object : Kind::array, {});
    skip_space();
    if (next() == (is_object ? '}' : ']')) return std::nullopt;  // after_value() closes the container
    opened_ = true;
    return is_object ? key() : std::nullopt;
  }

  std::optional<Error> key() {
    skip_space();
    if (next() != '"') return error("a key must be a string");
    if (auto failure = string()) return failure;
    skip_space();
    if (next() != ':') return error("a colon must follow a key");
    ++at_;
    return std::nullopt;
  }

  // Closes the containers that end at the current position, until a comma (and the next key of an object) has been read
  // or no container is open. Returns an error if the text is malformed; nothing otherwise.
  std::optional<Error> after_value() {
    while (!open_.empty()) {
      skip_space();
      Node& container = nodes_[open_.back()];
      const bool is_object = container.kind == Kind::object;
      if (next() == ',') {
        ++at_;
        return is_object ? key() : std::nullopt;
      }
      if (next() != (is_object ? '}' : ']'))
        return error(at_ < text_.size() ? "a comma or the end must follow a value" : "the text ends within a value");
      ++at_;
      container.end = static_cast<std::uint32_t>(nodes_.size());
      open_.pop_back();
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::vector<Node>& nodes_;
  std::vector<std::uint32_t>& open_;
  std::size_t at_ = 0;
  bool opened_ = false;
};

}  // namespace

std::optional<Error> Document::parse(std::string_view text) { return Parser(text, nodes_, open_).run(); }

Value Document::root() const { return nodes_.empty() ? Value() : Value(this, 0); }

Value Value::operator[](std::string_view key) const {
  if (!is(Kind::object)) return {};
  for (std::uint32_t name = index_ + 1; name < node().end; name = document_->nodes_[name + 1].end) {
    const std::string_view raw = document_->nodes_[name].text;
    if (raw == key || (raw.find('\\') != std::string_view::npos && decode(raw) == key)) return {document_, name + 1};
  }
  return {};
}

Value Value::at(std::size_t position) const {
  if (!is(Kind::array)) return {};
  for (std::uint32_t item = index_ + 1; item < node().end; item = document_->nodes_[item].end)
    if (position-- == 0) return {document_, item};
  return {};
}

std::size_t Value::size() const {
  std::size_t count = 0;
  for_each_item([&](Value) { ++count; });
  for_each_member([&](Value, Value) { ++count; });
  return count;
}

std::string Value::text() const { return is(Kind::string) ? decode(raw()) : std::string(raw()); }

std::optional<double> Value::number() const {
  if (!is(Kind::number)) return std::nullopt;
  const std::string_view text = raw();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  if (!is(Kind::number)) return std::nullopt;
  const std::string_view text = raw();
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string decode(std::string_view escaped) {
  std::string text;
  text.reserve(escaped.size());
  for (std::size_t at = 0; at < escaped.size();) {
    const std::size_t backslash = escaped.find('\\', at);
    text.append(escaped.substr(at, backslash == std::string_view::npos ? backslash : backslash - at));
    if (backslash == std::string_view::npos) break;
    const char kind = backslash + 1 < escaped.size() ? escaped[backslash + 1] : '\\';
    at = backslash + 2;
    switch (kind) {
      case 'n': text += '\n'; continue;
      case 't': text += '\t'; continue;
      case 'r': text += '\r'; continue;
      case 'b': text += '\b'; continue;
      case 'f': text += '\f'; continue;
      case 'u': {
        int unit = at <= escaped.size() ? hexadecimal(escaped, at) : -1;
        if (unit < 0) {
          text += "\\u";
          continue;
        }
        at += 4;
        std::uint32_t character = static_cast<std::uint32_t>(unit);
        const bool is_high_surrogate = character >= 0xd800 && character < 0xdc00;
        if (is_high_surrogate && escaped.substr(at, 2) == "\\u") {
          const int low = hexadecimal(escaped, at + 2);
          if (low >= 0xdc00 && low < 0xe000) {
            character = 0x10000 + ((character - 0xd800) << 10) + (static_cast<std::uint32_t>(low) - 0xdc00);
            at += 6;
          }
        }
        append_utf8(text, character);
        continue;
      }
    }
    text += kind;
  }
  return text;
}

}  // namespace depyf::json
