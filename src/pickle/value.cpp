#include <algorithm>
#include <bit>

#include "pickle/pickle.h"

namespace depyf::pickle {
namespace {

std::vector<Value> values_of(const Document* document, const std::vector<NodeId>& ids, std::size_t most) {
  std::vector<Value> values;
  values.reserve(std::min(ids.size(), most));
  for (std::size_t index = 0; index < std::min(ids.size(), most); ++index) values.emplace_back(document, ids[index]);
  return values;
}

}  // namespace

Value Document::root() const { return {this, root_}; }

bool has_magic(std::string_view input) {
  return input.size() > 2 && input[0] == '\x80' && input[1] >= 2 && input[1] <= 5;
}

std::int64_t Value::integer(std::int64_t otherwise) const {
  return (is(Kind::integer) && text().empty()) || is(Kind::boolean) ? node().number : otherwise;
}

double Value::real() const { return is(Kind::real) ? std::bit_cast<double>(node().number) : 0; }

std::size_t Value::size() const {
  switch (kind()) {
    case Kind::tuple:
    case Kind::list:
    case Kind::set:
    case Kind::frozenset: return node().items.size();
    case Kind::dict: return node().items.size() / 2;
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::string:
    case Kind::bytes:
    case Kind::bytearray:
    case Kind::global:
    case Kind::call:
    case Kind::instance:
    case Kind::persistent:
    case Kind::extension:
    case Kind::buffer: return 0;
  }
  return 0;
}

Value Value::at(std::size_t position) const {
  return !is(Kind::dict) && position < size() ? made(node().items[position]) : Value();
}

Value Value::key(std::size_t position) const {
  return is(Kind::dict) && position < size() ? made(node().items[2 * position]) : Value();
}

Value Value::value(std::size_t position) const {
  return is(Kind::dict) && position < size() ? made(node().items[2 * position + 1]) : Value();
}

Value Value::operator[](std::string_view wanted) const {
  const std::size_t count = is(Kind::dict) ? size() : 0;
  for (std::size_t position = count; position-- > count - std::min(count, searched_max);)
    if (const Value found = key(position); found.is(Kind::string) && found.text() == wanted) return value(position);
  return {};
}

Value Value::callee() const { return parts() ? made(parts()->callee) : Value(); }

Value Value::argument(std::size_t position) const { return parts() ? made(parts()->arguments).at(position) : Value(); }

Value Value::keywords() const { return parts() ? made(parts()->keywords) : Value(); }

Value Value::state() const { return parts() && !parts()->states.empty() ? made(parts()->states.back()) : Value(); }

std::vector<Value> Value::appended(std::size_t most) const {
  return parts() ? values_of(document_, parts()->appended, most) : std::vector<Value>();
}

std::vector<Value> Value::assigned() const {
  return parts() ? values_of(document_, parts()->assigned, parts()->assigned.size()) : std::vector<Value>();
}

std::string Value::dotted_name() const {
  if (is(Kind::global)) {
    const Value module = made(node().items[0]), name = made(node().items[1]);
    return std::string(module.text()) + "." + std::string(name.text());
  }
  // Up to protocol 3, picklers write a method of a class as a call getattr(cls, name).
  constexpr int nested_max = 8;
  std::string behind;
  Value value = *this;
  for (int depth = 0; depth < nested_max && value.is(Kind::call); ++depth) {
    const Value callee = value.callee();
    if (!callee.is(Kind::global) || callee.dotted_name() != "builtins.getattr") return {};
    if (!value.argument(1).is(Kind::string) || value.argument(1).text().size() > Limits().name) return {};
    behind = "." + std::string(value.argument(1).text()) + behind;
    value = value.argument(0);
  }
  return value.is(Kind::global) ? value.dotted_name() + behind : std::string();
}

std::string Value::class_name() const {
  if (!is_object()) return {};
  const std::string name = callee().dotted_name();
  // Picklers of protocols 0 to 2 write a call of `copyreg._reconstructor` or `copyreg.__newobj__` to create an
  // instance.
  if (name == "copyreg._reconstructor" || name == "copy_reg._reconstructor" || name == "copyreg.__newobj__")
    return argument(0).dotted_name();
  return name;
}

bool Value::is_a(std::string_view name) const {
  const std::string whole = class_name();
  return whole.size() > name.size() && whole.ends_with(name) && whole[whole.size() - name.size() - 1] == '.';
}

Value Value::attribute(std::string_view name) const {
  const std::size_t count = parts() ? parts()->states.size() : 0;
  for (std::size_t position = count; position-- > count - std::min(count, states_max);) {
    const Value given = made(parts()->states[position]);
    if (const Value found = given[name]) return found;
    // The state of a class with __slots__ is a pair: the dict of the instance, or None, and the dict of the slots.
    if (!given.is(Kind::tuple) || given.size() != 2) continue;
    if (const Value slot = given.at(1)[name]) return slot;
    if (const Value own = given.at(0)[name]) return own;
  }
  return {};
}

}  // namespace depyf::pickle
