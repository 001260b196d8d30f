// Writes JSON for other programs: one member or item on each line (or all on one line), in pure ASCII. Every JSON
// parser accepts the written text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace depyf::json {

class Writer {
 public:
  explicit Writer(bool is_compact = false) : is_compact_(is_compact) {}
  void begin_object();
  void end_object() { end('}'); }
  void begin_array();
  void end_array() { end(']'); }
  void key(std::string_view name);
  // Writes a string. Bytes that are no UTF-8 become U+FFFD, and surrogates (WTF-8) are escaped.
  void string(std::string_view utf8);
  void integer(std::int64_t value);
  void number(double value);  // Writes a number; null for NaN and the infinities, which JSON does not have.
  void boolean(bool value) { scalar(value ? "true" : "false"); }
  void null() { scalar("null"); }

  void member(std::string_view name, std::string_view text) { key(name), string(text); }
  void member(std::string_view name, std::int64_t value) { key(name), integer(value); }
  // Writes an object, or a member whose value is an object. `write_members` writes the members of the object.
  template <class WriteMembers>
  void object(WriteMembers write_members) {
    begin_object();
    write_members();
    end_object();
  }
  template <class WriteMembers>
  void object(std::string_view name, WriteMembers write_members) {
    key(name);
    object(write_members);
  }
  // Writes a member whose value is an array. `write_item` writes one item.
  template <class Items, class WriteItem>
  void list(std::string_view name, const Items& items, WriteItem write_item) {
    key(name);
    begin_array();
    for (const auto& item : items) write_item(item);
    end_array();
  }
  // Writes a member whose value is an array of objects. `write_members` writes the members of the object for one item.
  template <class Items, class WriteMembers>
  void objects(std::string_view name, const Items& items, WriteMembers write_members) {
    list(name, items, [&](const auto& item) { object([&] { write_members(item); }); });
  }
  template <class Texts>
  void strings(std::string_view name, const Texts& texts) {
    list(name, texts, [this](const auto& text) { string(text); });
  }
  // Writes a member whose value is null if `value` or `text` is empty.
  void optional(std::string_view name, std::optional<std::int64_t> value);
  void optional(std::string_view name, std::string_view text);

  std::string take() { return std::move(text_) + "\n"; }

 private:
  void before_value();
  void scalar(std::string_view text);
  void end(char bracket);
  void new_line();

  std::string text_;
  bool is_compact_;  // true if there is no white space between the parts
  int depth_ = 0;
  bool is_first_ = true;  // true if the open container has no item yet
  bool follows_key_ = false;
};

}  // namespace depyf::json
