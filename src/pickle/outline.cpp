#include "pickle/outline.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <unordered_set>

#include "support/utf8.h"

namespace depyf::pickle {
namespace {

constexpr int depth_max = 12;  // the nesting depth of containers beyond which `...` is written
constexpr std::size_t names_max = 1000;  // the maximum number of names that are listed

std::string quoted_bytes(std::string_view bytes) {
  std::string text = "b'";
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    char escape[5];
    if (character == '\'' || character == '\\') text += '\\', text += character;
    else if (byte >= 0x20 && byte < 0x7f) text += character;
    else std::snprintf(escape, sizeof escape, "\\x%02x", byte), text += escape;
  }
  return text + "'";
}

std::string real_text(double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  std::string text(digits, end);
  return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

class Writer {
 public:
  explicit Writer(std::size_t limit) : limit_(limit) {}

  void write(const Value& value) {
    if (text_.size() >= limit_) return put("...");
    if (value && std::find(open_.begin(), open_.end(), value.id()) != open_.end()) return put("...");
    if (open_.size() >= depth_max) return put("...");
    open_.push_back(value.id());
    write_kind(value);
    open_.pop_back();
  }

  std::string take() {
    if (text_.size() > limit_) text_.resize(limit_), text_ += "...";
    return std::move(text_);
  }

 private:
  void put(std::string_view text) {
    if (text_.size() < limit_) text_ += text;
  }

  // Cuts bytes and strings before they are escaped, because escaped text is up to four times as long.
  std::string_view shortened(std::string_view text) const { return text.substr(0, limit_); }

  void write_kind(const Value& value) {
    switch (value.kind()) {
      case Kind::none: return put("None");
      case Kind::boolean: return put(value.is_true() ? "True" : "False");
      case Kind::integer:
        return put(value.text().empty() ? std::to_string(value.integer()) : std::string(value.text()));
      case Kind::real: return put(real_text(value.real()));
      case Kind::string: return put(quoted(shortened(value.text())));
      case Kind::bytes: return put(quoted_bytes(shortened(value.text())));
      case Kind::bytearray: return put("bytearray(" + quoted_bytes(shortened(value.text())) + ")");
      case Kind::tuple: return write_items(value, "(", value.size() == 1 ? ",)" : ")");
      case Kind::list: return write_items(value, "[", "]");
      case Kind::set: return value.size() == 0 ? put("set()") : write_items(value, "{", "}");
      case Kind::frozenset: return write_items(value, "frozenset([", "])");
      case Kind::dict: return write_entries(value);
      case Kind::global: return put(value.dotted_name());
      case Kind::call:
      case Kind::instance: return write_object(value);
      case Kind::persistent: return put("<persistent id>");
      case Kind::extension: return put("<extension " + std::to_string(value.number()) + ">");
      case Kind::buffer: return put("<buffer " + std::to_string(value.number()) + ">");
    }
  }

  void write_items(const Value& value, std::string_view before, std::string_view behind) {
    put(before);
    for (std::size_t position = 0; position < value.size() && text_.size() < limit_; ++position) {
      if (position > 0) put(", ");
      write(value.at(position));
    }
    put(behind);
  }

  void write_entries(const Value& value) {
    put("{");
    for (std::size_t position = 0; position < value.size() && text_.size() < limit_; ++position) {
      if (position > 0) put(", ");
      write(value.key(position));
      put(": ");
      write(value.value(position));
    }
    put("}");
  }

  void write_object(const Value& value) {
    if (const std::string name = value.dotted_name(); !name.empty()) return put(name);
    write(value.callee());
    put("(");
    bool is_first = true;
    const auto separate = [&] {
      if (!is_first) put(", ");
      is_first = false;
    };
    for (std::size_t position = 0; value.argument(position) && text_.size() < limit_; ++position) {
      separate();
      write(value.argument(position));
    }
    if (value.keywords().size() > 0) separate(), put("**"), write(value.keywords());
    if (const Value state = value.state()) separate(), put("state="), write(state);
    put(")");
  }

  std::size_t limit_;
  std::string text_;
  std::vector<NodeId> open_;
};

}  // namespace

std::string quoted(std::string_view utf8) {
  std::string text = "'";
  while (!utf8.empty()) {
    std::uint32_t character = 0;
    const std::size_t size = first_character(utf8, character);
    char escape[12] = "";
    if (size == 0) std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(utf8[0]));
    else if (character == '\n') text += "\\n";
    else if (character == '\'' || character == '\\') text += '\\', text += utf8[0];
    else if (character >= 0x20 && character < 0x7f) text += utf8[0];
    else if (character < 0x100) std::snprintf(escape, sizeof escape, "\\x%02x", character);
    else std::snprintf(escape, sizeof escape, character < 0x10000 ? "\\u%04x" : "\\U%08x", character);
    text += escape;
    utf8.remove_prefix(size == 0 ? 1 : size);
  }
  return text + "'";
}

std::string outline(const Value& value, std::size_t limit) {
  Writer writer(limit);
  writer.write(value);
  return writer.take();
}

Reach reach(const Document& document) {
  Reach found;
  std::unordered_set<std::string> names, called;
  const auto note = [](std::unordered_set<std::string>& seen, std::vector<std::string>& list, std::string name) {
    if (name.empty() || seen.size() >= names_max || !seen.insert(name).second) return;
    list.push_back(std::move(name));
  };
  for (std::size_t index = 0; index < document.size(); ++index) {
    const Value value(&document, NodeId(static_cast<std::uint32_t>(index)));
    switch (value.kind()) {
      case Kind::global:
        ++found.name_count;
        note(names, found.names, value.dotted_name());
        break;
      case Kind::call:
      case Kind::instance: note(called, found.called, value.callee().dotted_name()); break;
      case Kind::persistent: ++found.persistent_count; break;
      case Kind::extension: ++found.extension_count; break;
      case Kind::buffer: ++found.buffer_count; break;
      case Kind::none:
      case Kind::boolean:
      case Kind::integer:
      case Kind::real:
      case Kind::string:
      case Kind::bytes:
      case Kind::bytearray:
      case Kind::tuple:
      case Kind::list:
      case Kind::dict:
      case Kind::set:
      case Kind::frozenset: break;
    }
  }
  return found;
}

}  // namespace depyf::pickle
