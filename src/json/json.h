// Reads JSON as Python writes it: strings are pure ASCII with escapes (lone surrogates included), and NaN, Infinity and
// -Infinity are numbers. A document is a flat list of nodes that refer to the text, so no text is copied before it is
// requested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf::json {

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

// The node of one value. The nodes of an object's members follow the object as key, value, key, value; the nodes of an
// array's items follow the array.
struct Node {
  std::string_view text;  // a string without its quotes, still escaped; a number or a word; empty for a container
  std::uint32_t end = 0;  // index of the first node behind this value and all that it contains
  Kind kind = Kind::null;
};

class Value;

// A parsed text. A document reuses its memory for the next text, because nearly every record of a log contains a JSON
// text.
class Document {
 public:
  // Returns the offset and the reason of an error if the text is not exactly one JSON value; nothing otherwise. The
  // text must live as long as the document is used.
  std::optional<Error> parse(std::string_view text);
  Value root() const;

 private:
  friend class Value;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> open_;  // containers that have not ended yet, the outermost first
};

// A Value refers to a value of a document, or to no value. If a Value refers to no value, all of its functions return
// empty results.
class Value {
 public:
  Value() = default;
  Value(const Document* document, std::uint32_t index) : document_(document), index_(index) {}

  explicit operator bool() const { return document_ != nullptr; }
  Kind kind() const { return document_ ? node().kind : Kind::null; }
  bool is(Kind kind) const { return document_ && node().kind == kind; }
  bool is_true() const { return is(Kind::boolean) && node().text == "true"; }

  Value operator[](std::string_view key) const;  // Returns a member of an object; no value if the object lacks the key.
  Value at(std::size_t position) const;  // Returns an item of an array; no value if the array is too short.
  std::size_t size() const;  // Returns the number of items of an array or members of an object.

  std::string text() const;  // Returns a string, decoded to UTF-8 (WTF-8); any other scalar as `raw` does.
  std::string_view raw() const {
    return document_ ? node().text : std::string_view();
  }  // Returns the text of a scalar as the document spells it.
  std::optional<double> number() const;
  // Returns an integer; nothing for a fraction or a number of more than 64 bits.
  std::optional<std::int64_t> integer() const;

  // Calls visit(key, value) for each member of an object.
  template <class Visit>
  void for_each_member(Visit visit) const {
    if (!is(Kind::object)) return;
    for (std::uint32_t key = index_ + 1; key < node().end; key = document_->nodes_[key + 1].end)
      visit(Value(document_, key), Value(document_, key + 1));
  }
  // Calls visit(value) for each item of an array.
  template <class Visit>
  void for_each_item(Visit visit) const {
    if (!is(Kind::array)) return;
    for (std::uint32_t item = index_ + 1; item < node().end; item = document_->nodes_[item].end)
      visit(Value(document_, item));
  }

 private:
  const Node& node() const { return document_->nodes_[index_]; }
  const Document* document_ = nullptr;
  std::uint32_t index_ = 0;
};

// Returns the text of a JSON string, given without its quotes, decoded to UTF-8 (WTF-8).
std::string decode(std::string_view escaped);

}  // namespace depyf::json
