// Reads pickles of protocols 0 to 5 as inert data. Nothing that a pickle names is looked up, imported or called: a
// name becomes a node that contains the name, and a call becomes a node with the callable and its arguments.
//
// A document is a flat list of nodes that refer to each other by number. Because its nodes refer to each other by
// number, a document can represent shared and recursive structures, and is freed without recursion. The strings and
// bytes of a document are views of the input, which must outlive the document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace depyf::pickle {

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  string,
  bytes,
  bytearray,
  tuple,
  list,
  dict,
  set,
  frozenset,
  global,  // A name that unpickling would import from a module.
  call,  // The result of a call that unpickling would make.
  instance,  // The result of a call of a class's __new__ that unpickling would make.
  persistent,  // The object that a function of the unpickling program would return for an id.
  extension,  // A name that is written as its number in the registry of copyreg.
  buffer,  // Bytes that are kept outside of the pickle.
};

enum class NodeId : std::uint32_t {};
inline constexpr NodeId no_node{0xffffffff};

struct Node {
  Kind kind = Kind::none;
  std::uint32_t offset = 0;  // the offset in the input of the opcode that created the node
  // A string (UTF-8 that can contain lone surrogates), bytes, or an integer of more than 64 bits.
  std::string_view text;
  // An integer, a boolean, the bits of a real number, or the index of the parts of a call or an instance.
  std::int64_t number = 0;
  // The items of a container (for a dict, keys and values alternate), the module and the name of a global, or the id
  // of a persistent object.
  std::vector<NodeId> items;
};

// The operations by which unpickling would create an object.
struct ObjectParts {
  NodeId callee = no_node;  // the callable or the class
  NodeId arguments = no_node;  // a tuple, or an object that unpickling would use as a tuple
  NodeId keywords = no_node;
  std::vector<NodeId>
      // The states that unpickling would set on the object, in the order in which it would set them. An attribute in a
      // later state replaces the attribute of the same name in an earlier state.
      states;
  std::vector<NodeId> appended;  // the values that are appended to the object, or added to it
  std::vector<NodeId> assigned;  // the keys and values that are assigned as items, alternating
};

// Bounds on the memory for one pickle. Each bound is checked before memory is allocated.
struct Limits {
  std::size_t input = 0xfffffffe;  // the bytes of the input; an offset has 32 bits
  std::size_t nodes = 4'000'000;  // nodes, 64 bytes each; the largest artifact that was measured has some thousands
  std::size_t items = 16'000'000;  // items of all containers together, 4 bytes each
  // The maximum number of values on the stack, which take 4 bytes each. Picklers need few values on the stack, because
  // they write containers in batches of 1000.
  std::size_t open_values = 4'000'000;
  std::size_t memo = 4'000'000;  // entries of the memo, 4 bytes each
  // The maximum number of memo entries whose numbers are out of order, which take 40 bytes each. Picklers number the
  // entries in order.
  std::size_t sparse_memo = 65'536;
  std::size_t integer_bytes = 4096;  // bytes of one integer; conversion to decimal takes quadratic time
  std::size_t name = 1000;  // bytes of the name of a module or of an attribute
  std::size_t decoded_text = std::size_t{64} << 20;  // bytes of strings that are escaped in the input
};

class Value;

// The nodes of one pickle.
class Document {
 public:
  Value root() const;
  const Node& node(NodeId id) const { return nodes_[static_cast<std::uint32_t>(id)]; }
  const ObjectParts& object(const Node& node) const { return objects_[static_cast<std::size_t>(node.number)]; }
  std::size_t size() const { return nodes_.size(); }  // Returns the number of nodes.
  int protocol() const { return protocol_; }
  std::size_t end() const { return end_; }  // Returns the offset of the first byte behind the pickle.

 private:
  friend class Machine;
  std::vector<Node> nodes_;
  std::vector<ObjectParts> objects_;
  std::deque<std::string> decoded_;  // the decoded texts, to which nodes refer
  NodeId root_ = no_node;
  int protocol_ = 0;
  std::size_t end_ = 0;
};

// Reads the pickle at the beginning of `input`. The limits bound the memory and the time for any input.
Result<Document> read(std::string_view input, const Limits& limits = {});

// True if the bytes begin like a pickle of protocol 2 or later. Pickles of earlier protocols can begin with any byte.
bool has_magic(std::string_view input);

// A Value refers to a value of a document, or to no value. If a Value refers to no value, each of its functions returns
// an empty result.
class Value {
 public:
  Value() = default;
  Value(const Document* document, NodeId id) : document_(id == no_node ? nullptr : document), id_(id) {}

  explicit operator bool() const { return document_ != nullptr; }
  friend bool operator==(const Value& one, const Value& two) = default;
  NodeId id() const { return id_; }
  Kind kind() const { return document_ ? node().kind : Kind::none; }
  bool is(Kind kind) const { return document_ && node().kind == kind; }
  bool is_object() const { return is(Kind::call) || is(Kind::instance); }
  bool is_true() const { return is(Kind::boolean) && node().number != 0; }
  std::size_t offset() const { return document_ ? node().offset : 0; }

  // Returns the text of a string, or the content of a bytes value.
  std::string_view text() const { return document_ ? node().text : std::string_view(); }
  std::int64_t integer(std::int64_t otherwise = 0) const;
  std::int64_t number() const { return document_ ? node().number : 0; }  // the number of an extension or a buffer
  double real() const;

  std::size_t size() const;  // the number of items or entries of a container; 0 for any other value
  Value at(std::size_t position) const;  // an item of a tuple, list or set
  Value key(std::size_t position) const;  // a key of a dict
  Value value(std::size_t position) const;  // a value of a dict
  // Returns the value that a dict has for a key that is a string; no value if the dict lacks the key. If the pickle
  // sets the key several times, the last value is returned. Only the last `searched_max` entries of a dict are
  // searched, so that no file can make the search slow. The dicts of real files have at most some hundred entries.
  Value operator[](std::string_view key) const;
  static constexpr std::size_t searched_max = 4096;

  // The following functions describe how unpickling would create an object, and the values that unpickling would add
  // to the object.
  Value callee() const;
  Value argument(std::size_t position) const;
  Value keywords() const;
  Value state() const;  // the last state
  std::vector<Value> appended(std::size_t most = static_cast<std::size_t>(-1)) const;  // the first `most` added values
  std::vector<Value> assigned() const;  // keys and values, alternating

  // Returns the dotted name of a global, or of an attribute that `getattr` would return for a global; empty for any
  // other value.
  std::string dotted_name() const;
  // Returns the dotted name of an object's class, or of the callable that creates the object; empty if the value is no
  // object or its callable has no name.
  std::string class_name() const;
  // True if the class of an object has the name `name`, in any module.
  bool is_a(std::string_view name) const;
  // Returns an attribute of an object, from the last dict among its states that contains it; no value if no state
  // contains it. Only the last `states_max` states are searched, so that no file can make the search slow.
  Value attribute(std::string_view name) const;
  static constexpr std::size_t states_max = 64;

 private:
  const Node& node() const { return document_->node(id_); }
  const ObjectParts* parts() const { return is_object() ? &document_->object(node()) : nullptr; }
  Value made(NodeId id) const { return {document_, id}; }

  const Document* document_ = nullptr;
  NodeId id_ = no_node;
};

}  // namespace depyf::pickle
