// Executes the opcodes of a pickle. Unlike CPython's stack machine, `Machine` creates nodes and never objects. All
// opcodes are in one file, because they work on one stack, one memo and one set of limits.
#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "load/marshal_text.h"
#include "pickle/memo.h"
#include "pickle/opcode_reader.h"
#include "pickle/pickle.h"
#include "pickle/texts.h"

namespace depyf::pickle {
namespace {

enum class Opcode : std::uint8_t {
#define OPCODE(name, byte) name,
#include "pickle/opcode.def"
#undef OPCODE
};

std::optional<Opcode> opcode_of(std::uint8_t byte) {
  switch (byte) {
#define OPCODE(name, value) \
  case value: return Opcode::name;
#include "pickle/opcode.def"
#undef OPCODE
  }
  return {};
}

constexpr int newest_protocol = 5;

}  // namespace

class Machine {
 public:
  Machine(std::string_view input, const Limits& limits) : reader_(input), limits_(limits), memo_(limits) {}

  Result<Document> run() {
    if (reader_.remaining() > limits_.input) return Error{"the file is larger than 4 GiB, which no artifact is", 0};
    while (reader_.ok() && document_.root_ == no_node) step();
    if (!reader_.ok()) return reader_.error();
    document_.end_ = reader_.offset();
    return std::move(document_);
  }

 private:
  void step() {
    const std::uint8_t byte = reader_.begin_opcode();
    if (!reader_.ok()) return;
    const std::optional<Opcode> opcode = opcode_of(byte);
    if (!opcode) return reader_.fail("byte " + std::to_string(byte) + " is no opcode");
    execute(*opcode);
  }

  void execute(Opcode opcode);

  // The following functions create nodes. `add` returns null, and `text_node` returns `no_node`, after an error.
  Node* add(Kind kind);
  void push_added() { push(NodeId(document_.nodes_.size() - 1)); }
  void push(NodeId id);
  void push_number(Kind kind, std::int64_t number);
  void push_text(Kind kind, std::string_view text);
  void push_container(Kind kind, std::size_t item_count);
  void push_object(Kind kind, ObjectParts parts);
  NodeId text_node(std::string_view text);
  Node& node(NodeId id) { return document_.nodes_[static_cast<std::uint32_t>(id)]; }

  // Changes the stack.
  NodeId pop();
  NodeId top();
  std::optional<std::size_t> pop_mark();
  std::optional<std::size_t> needed(std::size_t count);
  bool charge_items(std::size_t count);
  void remember(std::uint64_t index);
  void recall(std::uint64_t index);

  std::string_view kept(std::string text);
  void number_line(bool is_long);
  void long_bytes(std::string_view bytes);
  void string_bytes(std::string_view bytes);
  void unicode(std::string_view utf8);
  void extend(std::optional<std::size_t> first, Kind kind);
  void make_global(NodeId module, NodeId name);
  void call(Kind kind, bool has_keywords);
  void call_from_mark(NodeId callee, std::size_t first_argument);
  void build();

  OpcodeReader reader_;
  const Limits& limits_;
  Document document_;
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;  // the sizes of the stack at the marks
  Memo memo_;
  std::size_t item_count_ = 0, decoded_bytes_ = 0, buffer_count_ = 0;
};

// Executes one opcode. The body of the function is a table with a case for each opcode.
void Machine::execute(Opcode opcode) {
  switch (opcode) {
    case Opcode::mark:
      if (marks_.size() >= limits_.open_values) return reader_.fail("more open containers than the limit");
      return marks_.push_back(stack_.size());
    case Opcode::stop: document_.root_ = pop(); return;
    case Opcode::pop:
      if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
      pop();
      return;
    case Opcode::pop_mark:
      if (const auto first = pop_mark()) stack_.resize(*first);
      return;
    case Opcode::dup: return push(top());
    case Opcode::float_line: {
      const std::optional<double> value = parse_float(reader_.line());
      return value ? push_number(Kind::real, std::bit_cast<std::int64_t>(*value)) : reader_.fail("malformed float");
    }
    case Opcode::int_line: return number_line(false);
    case Opcode::long_line: return number_line(true);
    case Opcode::binint: return push_number(Kind::integer, reader_.i32());
    case Opcode::binint1: return push_number(Kind::integer, reader_.u8());
    case Opcode::binint2: return push_number(Kind::integer, reader_.u16());
    case Opcode::none: return push_number(Kind::none, 0);
    case Opcode::newtrue: return push_number(Kind::boolean, 1);
    case Opcode::newfalse: return push_number(Kind::boolean, 0);
    case Opcode::long1: return long_bytes(reader_.sized(reader_.u8()));
    case Opcode::long4: return long_bytes(reader_.sized(reader_.u32()));
    case Opcode::binfloat:
      return push_number(Kind::real, std::bit_cast<std::int64_t>(__builtin_bswap64(reader_.u64())));
    case Opcode::persid: {
      const NodeId id = text_node(reader_.line());
      if (id == no_node) return;
      push(id);
      return push_container(Kind::persistent, 1);
    }
    case Opcode::binpersid: return push_container(Kind::persistent, 1);
    case Opcode::reduce: return call(Kind::call, false);
    case Opcode::newobj: return call(Kind::instance, false);
    case Opcode::newobj_ex: return call(Kind::instance, true);
    case Opcode::string_line: {
      std::optional<std::string> text = decoded_string(reader_.line());
      return text ? string_bytes(kept(std::move(*text))) : reader_.fail("malformed string");
    }
    case Opcode::binstring: return string_bytes(reader_.sized(reader_.u32()));
    case Opcode::short_binstring: return string_bytes(reader_.sized(reader_.u8()));
    case Opcode::unicode_line: {
      std::optional<std::string> text = decoded_unicode(reader_.line());
      return text ? unicode(kept(std::move(*text))) : reader_.fail("malformed escape in a string");
    }
    case Opcode::binunicode: return unicode(reader_.sized(reader_.u32()));
    case Opcode::short_binunicode: return unicode(reader_.sized(reader_.u8()));
    case Opcode::binunicode8: return unicode(reader_.sized(reader_.u64()));
    case Opcode::binbytes: return push_text(Kind::bytes, reader_.sized(reader_.u32()));
    case Opcode::short_binbytes: return push_text(Kind::bytes, reader_.sized(reader_.u8()));
    case Opcode::binbytes8: return push_text(Kind::bytes, reader_.sized(reader_.u64()));
    case Opcode::bytearray8: return push_text(Kind::bytearray, reader_.sized(reader_.u64()));
    case Opcode::append: return extend(needed(1), Kind::list);
    case Opcode::appends: return extend(pop_mark(), Kind::list);
    case Opcode::additems: return extend(pop_mark(), Kind::set);
    case Opcode::setitem: return extend(needed(2), Kind::dict);
    case Opcode::setitems: return extend(pop_mark(), Kind::dict);
    case Opcode::build: return build();
    case Opcode::global:
    case Opcode::inst: {
      const auto first = opcode == Opcode::inst ? pop_mark() : std::optional(stack_.size());
      const NodeId module = text_node(reader_.line());
      const NodeId name = text_node(reader_.line());
      if (!reader_.ok() || !first) return;
      make_global(module, name);
      if (opcode == Opcode::global || !reader_.ok()) return;
      const NodeId callee = pop();
      return call_from_mark(callee, *first);
    }
    case Opcode::stack_global: {
      const NodeId name = pop(), module = pop();
      if (!reader_.ok()) return;
      if (node(name).kind != Kind::string || node(module).kind != Kind::string)
        return reader_.fail("a name that is no string");
      return make_global(module, name);
    }
    case Opcode::obj: {
      const auto first = pop_mark();
      if (!first) return;
      if (*first >= stack_.size()) return reader_.fail("an object without a class");
      const NodeId callee = stack_[*first];
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(*first));
      return call_from_mark(callee, *first);
    }
    case Opcode::dict: {
      const auto first = pop_mark();
      if (first && (stack_.size() - *first) % 2) return reader_.fail("a key without a value");
      return first ? push_container(Kind::dict, stack_.size() - *first) : void();
    }
    case Opcode::empty_dict: return push_container(Kind::dict, 0);
    case Opcode::list: {
      const auto first = pop_mark();
      return first ? push_container(Kind::list, stack_.size() - *first) : void();
    }
    case Opcode::empty_list: return push_container(Kind::list, 0);
    case Opcode::tuple: {
      const auto first = pop_mark();
      return first ? push_container(Kind::tuple, stack_.size() - *first) : void();
    }
    case Opcode::empty_tuple: return push_container(Kind::tuple, 0);
    case Opcode::tuple1: return push_container(Kind::tuple, 1);
    case Opcode::tuple2: return push_container(Kind::tuple, 2);
    case Opcode::tuple3: return push_container(Kind::tuple, 3);
    case Opcode::empty_set: return push_container(Kind::set, 0);
    case Opcode::frozenset: {
      const auto first = pop_mark();
      return first ? push_container(Kind::frozenset, stack_.size() - *first) : void();
    }
    case Opcode::get: return recall(reader_.index_line());
    case Opcode::binget: return recall(reader_.u8());
    case Opcode::long_binget: return recall(reader_.u32());
    case Opcode::put: return remember(reader_.index_line());
    case Opcode::binput: return remember(reader_.u8());
    case Opcode::long_binput: return remember(reader_.u32());
    case Opcode::memoize: return remember(memo_.size());
    case Opcode::ext1: return push_number(Kind::extension, reader_.u8());
    case Opcode::ext2: return push_number(Kind::extension, reader_.u16());
    case Opcode::ext4: return push_number(Kind::extension, reader_.i32());
    case Opcode::proto:
      document_.protocol_ = reader_.u8();
      if (document_.protocol_ > newest_protocol) reader_.fail("protocol " + std::to_string(document_.protocol_));
      return;
    case Opcode::frame:
      if (reader_.u64() > reader_.remaining()) reader_.fail("truncated: a frame ends behind the end");
      return;
    case Opcode::next_buffer: return push_number(Kind::buffer, static_cast<std::int64_t>(buffer_count_++));
    case Opcode::readonly_buffer: top(); return;
  }
}

Node* Machine::add(Kind kind) {
  if (!reader_.ok()) return nullptr;
  if (document_.nodes_.size() >= limits_.nodes) {
    reader_.fail("more objects than the limit of " + std::to_string(limits_.nodes));
    return nullptr;
  }
  Node& added = document_.nodes_.emplace_back();
  added.kind = kind;
  added.offset = static_cast<std::uint32_t>(reader_.start());
  return &added;
}

void Machine::push(NodeId id) {
  if (!reader_.ok()) return;
  if (stack_.size() >= limits_.open_values) return reader_.fail("more open values than the limit");
  stack_.push_back(id);
}

void Machine::push_number(Kind kind, std::int64_t number) {
  if (Node* const added = add(kind)) {
    added->number = number;
    push_added();
  }
}

void Machine::push_text(Kind kind, std::string_view text) {
  if (Node* const added = add(kind)) {
    added->text = text;
    push_added();
  }
}

NodeId Machine::text_node(std::string_view text) {
  if (!is_wtf8(text)) reader_.fail("a name that is not UTF-8");
  Node* const added = add(Kind::string);
  if (!added) return no_node;
  added->text = text;
  return NodeId(document_.nodes_.size() - 1);
}

bool Machine::charge_items(std::size_t count) {
  if (!reader_.ok()) return false;
  if (count > limits_.items - item_count_) {
    reader_.fail("more items than the limit of " + std::to_string(limits_.items));
    return false;
  }
  item_count_ += count;
  return true;
}

// Creates a container of the `item_count` topmost values of the stack, and removes these values from the stack.
void Machine::push_container(Kind kind, std::size_t item_count) {
  const auto first = needed(item_count);
  if (!first || !charge_items(item_count)) return;
  Node* const added = add(kind);
  if (!added) return;
  added->items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(*first), stack_.end());
  stack_.resize(*first);
  push_added();
}

void Machine::push_object(Kind kind, ObjectParts parts) {
  if (Node* const added = add(kind)) {
    added->number = static_cast<std::int64_t>(document_.objects_.size());
    document_.objects_.push_back(std::move(parts));
    push_added();
  }
}

// Returns the position of the first of the `count` topmost values of the stack. Reports an error and returns nothing if
// the stack has fewer than `count` values above the last mark, which the opcode MARK sets.
std::optional<std::size_t> Machine::needed(std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - floor >= count) return stack_.size() - count;
  reader_.fail("too few values on the stack");
  return {};
}

NodeId Machine::top() { return needed(1) ? stack_.back() : no_node; }

NodeId Machine::pop() {
  const NodeId id = top();
  if (id != no_node) stack_.pop_back();
  return id;
}

// Removes the last mark, and returns the size that the stack had when the opcode MARK set the mark. Reports an error
// and returns nothing if there is no mark.
std::optional<std::size_t> Machine::pop_mark() {
  if (marks_.empty()) {
    reader_.fail("no mark on the stack");
    return {};
  }
  const std::size_t first = marks_.back();
  marks_.pop_back();
  return first;
}

void Machine::remember(std::uint64_t index) {
  const NodeId id = top();
  if (reader_.ok() && !memo_.put(index, id)) reader_.fail("more memo entries than the limit");
}

void Machine::recall(std::uint64_t index) {
  const NodeId id = memo_.get(index);
  if (id == no_node) return reader_.fail("no memo entry " + std::to_string(index));
  push(id);
}

// Stores `text` in the document, and returns a view that is valid as long as the document lives. Returns an empty view
// after an error.
std::string_view Machine::kept(std::string text) {
  if (!reader_.ok()) return {};
  if (text.size() > limits_.decoded_text - decoded_bytes_) {
    reader_.fail("more text than the limit");
    return {};
  }
  decoded_bytes_ += text.size();
  return document_.decoded_.emplace_back(std::move(text));
}

void Machine::number_line(bool is_long) {
  std::string_view text = reader_.line();
  if (!reader_.ok()) return;
  if (!is_long && (text == "00" || text == "01")) return push_number(Kind::boolean, text == "01");
  if (text.ends_with('L')) text.remove_suffix(1);
  if (!is_decimal(text)) return reader_.fail("malformed integer");
  if (text.size() > limits_.integer_bytes) return reader_.fail("an integer with more digits than the limit");
  if (text[0] == '+') text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc()) return push_number(Kind::integer, number);
  push_text(Kind::integer, text);
}

void Machine::long_bytes(std::string_view bytes) {
  if (bytes.size() > limits_.integer_bytes) return reader_.fail("an integer with more bytes than the limit");
  const std::string text = integer_of_bytes(bytes);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return push_number(Kind::integer, number);
  push_text(Kind::integer, kept(text));
}

// Pushes the node of a string of Python 2, which consists of bytes. The kind of the node is `string` if the bytes are
// valid UTF-8, and `bytes` if they are not.
void Machine::string_bytes(std::string_view bytes) { push_text(is_wtf8(bytes) ? Kind::string : Kind::bytes, bytes); }

void Machine::unicode(std::string_view utf8) {
  if (!is_wtf8(utf8)) return reader_.fail("a string that is not UTF-8");
  push_text(Kind::string, utf8);
}

// Adds the values of the stack from the position `first` on to the container below them, and removes the values from
// the stack. `kind` must be the kind of the container, unless the container is the node of a call or of an instance.
void Machine::extend(std::optional<std::size_t> first, Kind kind) {
  if (!first) return;
  if (*first == 0 || (!marks_.empty() && *first <= marks_.back())) return reader_.fail("items without a container");
  const std::size_t count = stack_.size() - *first;
  if (kind == Kind::dict && count % 2) return reader_.fail("a key without a value");
  Node& container = node(stack_[*first - 1]);
  const bool is_object = container.kind == Kind::call || container.kind == Kind::instance;
  if (!is_object && container.kind != kind) return reader_.fail("items for a value that cannot have items");
  if (!charge_items(count)) return;
  std::vector<NodeId>* items = &container.items;
  if (is_object) {
    ObjectParts& parts = document_.objects_[static_cast<std::size_t>(container.number)];
    items = kind == Kind::dict ? &parts.assigned : &parts.appended;
  }
  items->insert(items->end(), stack_.begin() + static_cast<std::ptrdiff_t>(*first), stack_.end());
  stack_.resize(*first);
}

void Machine::make_global(NodeId module, NodeId name) {
  if (std::max(node(module).text.size(), node(name).text.size()) > limits_.name)
    return reader_.fail("a name that is longer than the limit of " + std::to_string(limits_.name) + " bytes");
  if (!charge_items(2)) return;
  if (Node* const added = add(Kind::global)) {
    added->items = {module, name};
    push_added();
  }
}

void Machine::call(Kind kind, bool has_keywords) {
  ObjectParts parts;
  if (has_keywords) parts.keywords = pop();
  parts.arguments = pop();
  parts.callee = pop();
  if (!reader_.ok()) return;
  const auto can_be = [&](NodeId id, Kind wanted) {
    const Kind given = node(id).kind;
    return given == wanted || given == Kind::call || given == Kind::instance;
  };
  if (!can_be(parts.arguments, Kind::tuple)) return reader_.fail("arguments that are no tuple");
  if (has_keywords && !can_be(parts.keywords, Kind::dict)) return reader_.fail("keyword arguments that are no dict");
  push_object(kind, std::move(parts));
}

void Machine::call_from_mark(NodeId callee, std::size_t first_argument) {
  push_container(Kind::tuple, stack_.size() - first_argument);
  ObjectParts parts;
  parts.arguments = pop();
  parts.callee = callee;
  push_object(Kind::call, std::move(parts));
}

void Machine::build() {
  const NodeId state = pop(), object = top();
  if (!reader_.ok()) return;
  const Node& target = node(object);
  switch (target.kind) {
    case Kind::call:
    case Kind::instance:
      if (charge_items(1)) document_.objects_[static_cast<std::size_t>(target.number)].states.push_back(state);
      return;
    case Kind::global:  // BUILD would set attributes of a class or module, which is ignored.
    case Kind::persistent:
    case Kind::extension: return;
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
    case Kind::frozenset:
    case Kind::buffer: return reader_.fail("a state for a value that is no object");
  }
}

Result<Document> read(std::string_view input, const Limits& limits) { return Machine(input, limits).run(); }

}  // namespace depyf::pickle
