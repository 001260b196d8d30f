// Pickles of protocols 0 to 5 as inert data. Nothing that a pickle names is looked up, imported or called: a name becomes a node
// that says the name, a call becomes a node with the callable and its arguments.
//
// A document is a flat list of nodes that refer to each other by number, so it can hold shared and recursive structures, and is
// freed without recursion. Its strings and bytes are views of the input, which must outlive it.
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
  global,  // a name that unpickling would look up, and so import its module
  call,  // what unpickling would get from a call
  instance,  // what unpickling would get from the __new__ of a class
  persistent,  // what a function of the program that unpickles would give for an id
  extension,  // a name by its number in the registry of copyreg
  buffer,  // bytes that are kept beside the pickle
};

enum class NodeId : std::uint32_t {};
inline constexpr NodeId no_node{0xffffffff};

struct Node {
  Kind kind = Kind::none;
  std::uint32_t offset = 0;  // of the opcode that made the node, in the input
  std::string_view text;  // a string (UTF-8 that may hold lone surrogates), bytes, or an integer beyond 64 bits
  std::int64_t number = 0;  // an integer, a boolean, the bits of a real; the index of a call's or an instance's parts
  // What a container holds (keys and values of a dict in turn), module and name of a global, the id of what is persistent.
  std::vector<NodeId> items;
};

// What was done to make an object.
struct ObjectParts {
  NodeId callee = no_node;  // the callable or class
  NodeId arguments = no_node;  // a tuple, or an object that unpickling would take for one
  NodeId keywords = no_node;
  std::vector<NodeId>
      states;  // in the order in which they were given; a later one replaces what it names of the earlier
  std::vector<NodeId> appended;  // by append or add
  std::vector<NodeId> assigned;  // keys and values in turn
};

// Bounds on what one pickle may take. All are checked before memory is allocated.
struct Limits {
  std::size_t input = 0xfffffffe;  // bytes: offsets have 32 bits
  std::size_t nodes = 4'000'000;  // 64 bytes each. The largest artifact that was measured has some thousands
  std::size_t items = 16'000'000;  // in all containers together, 4 bytes each
  std::size_t open_values = 4'000'000;  // on the stack, 4 bytes each; picklers write containers in batches of 1000
  std::size_t memo = 4'000'000;  // 4 bytes each
  std::size_t sparse_memo = 65'536;  // entries out of order, 40 bytes each; picklers number in order
  std::size_t integer_bytes = 4096;  // of one integer: to write it in decimal takes the square of that
  std::size_t name = 1000;  // bytes of a module's or an attribute's name
  std::size_t decoded_text = std::size_t{64} << 20;  // bytes of strings that stand escaped in the input
};

class Value;

// A pickle that was read.
class Document {
 public:
  Value root() const;
  const Node& node(NodeId id) const { return nodes_[static_cast<std::uint32_t>(id)]; }
  const ObjectParts& object(const Node& node) const { return objects_[static_cast<std::size_t>(node.number)]; }
  std::size_t size() const { return nodes_.size(); }  // in nodes
  int protocol() const { return protocol_; }
  std::size_t end() const { return end_; }  // offset behind the pickle: what follows is no part of it

 private:
  friend class Machine;
  std::vector<Node> nodes_;
  std::vector<ObjectParts> objects_;
  std::deque<std::string> decoded_;  // texts that views of nodes refer to
  NodeId root_ = no_node;
  int protocol_ = 0;
  std::size_t end_ = 0;
};

// Reads the pickle that `input` begins with. Whatever the bytes, memory and time stay within the limits.
Result<Document> read(std::string_view input, const Limits& limits = {});

// True if the bytes begin as a pickle of protocol 2 or later does. Earlier ones begin with anything.
bool has_magic(std::string_view input);

// A value of a document, or no value: every question to no value has an empty answer.
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

  std::string_view text() const { return document_ ? node().text : std::string_view(); }  // of a string or bytes
  std::int64_t integer(std::int64_t otherwise = 0) const;
  std::int64_t number() const { return document_ ? node().number : 0; }  // of an extension or a buffer
  double real() const;

  std::size_t size() const;  // of a container, in items or entries; 0 of anything else
  Value at(std::size_t position) const;  // the item of a tuple, list or set
  Value key(std::size_t position) const;  // of a dict
  Value value(std::size_t position) const;  // of a dict
  // The last value of a dict under a string; no value if there is none. Dicts that are asked so have some hundred entries at most:
  // of larger ones only the last `searched_max` are looked at, so that no file makes a question long.
  Value operator[](std::string_view key) const;
  static constexpr std::size_t searched_max = 4096;

  // Of an object: how it was made, and what it was given.
  Value callee() const;
  Value argument(std::size_t position) const;
  Value keywords() const;
  Value state() const;  // the last one
  std::vector<Value> appended(std::size_t most = static_cast<std::size_t>(-1)) const;  // the first ones
  std::vector<Value> assigned() const;  // keys and values in turn

  // The dotted name of a global, or of an attribute that `getattr` would get of one; empty of anything else.
  std::string dotted_name() const;
  // The dotted name of an object's class, or of the callable that makes it.
  std::string class_name() const;
  // True if the class of an object is called so, in whatever module.
  bool is_a(std::string_view name) const;
  // An attribute of an object, from the last dict among its states that has it; no value if there is none. Of more states than
  // `states_max` only the last are looked at, so that no file makes a question long.
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
