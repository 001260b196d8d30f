// Tuples, lists and dicts that only the frame has: what is put in is what comes out, and nobody sees it.
#include <algorithm>
#include <charconv>

#include "prove/machine.h"
#include "support/search_limits.h"

namespace depyf {

Symbol Machine::make(Object::Kind kind, Parts items, Parts keys) {
  Symbol symbol = symbols_.object();
  frame().objects.emplace(symbol, Object{kind, std::move(keys), std::move(items)});
  return symbol;
}

Object* Machine::object(Symbol symbol) {
  if (!symbols_.is_object(symbol)) return nullptr;
  auto found = frame().objects.find(symbol);
  return found == frame().objects.end() ? nullptr : &found->second;
}

bool Machine::sequence(Symbol symbol, Parts& items) {
  if (const Object* known = object(symbol)) {
    if (!is_sequence(known->kind)) return false;
    items = known->items;
    return true;
  }
  const Constant* constant = symbols_.value(symbol);
  if (!constant || constant->kind != Constant::Kind::tuple) return false;
  items.clear();
  for (const Constant& item : constant->items) items.push_back(symbols_.constant(item));
  return true;
}

// A key that is hashed and compared in silence, and equal to no other such key.
bool Machine::plain_key(Symbol symbol) const {
  const Constant* constant = symbols_.value(symbol);
  return constant && (constant->kind == Constant::Kind::string || constant->kind == Constant::Kind::integer ||
                      constant->kind == Constant::Kind::none);
}

namespace {

bool small_integer(const Constant* constant, std::int64_t& value) {
  if (!constant || constant->kind != Constant::Kind::integer || constant->text.size() > 9) return false;
  const char* end = constant->text.data() + constant->text.size();
  auto [stop, error] = std::from_chars(constant->text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

bool Machine::index(Symbol symbol, std::size_t size, std::size_t& found) const {
  std::int64_t value = 0;
  if (!small_integer(symbols_.value(symbol), value)) return false;
  auto count = static_cast<std::int64_t>(size);
  if (value < 0) value += count;
  if (value < 0 || value >= count) return false;
  found = static_cast<std::size_t>(value);
  return true;
}

bool Machine::bounds(Symbol slice, std::size_t size, std::size_t& start, std::size_t& stop) {
  Parts parts;
  if (const Object* known = object(slice); known && known->kind == Object::Kind::slice) {
    parts = known->items;
  } else if (const Constant* constant = symbols_.value(slice); constant && constant->kind == Constant::Kind::slice) {
    for (const Constant& item : constant->items) parts.push_back(symbols_.constant(item));
  }
  if (parts.size() != 3 || (parts[2] != symbols_.none() && parts[2] != symbols_.integer(1))) return false;
  auto bound = [&](Symbol symbol, std::int64_t absent, std::size_t& result) {
    std::int64_t value = absent;
    if (symbol != symbols_.none() && !small_integer(symbols_.value(symbol), value)) return false;
    auto count = static_cast<std::int64_t>(size);
    if (value < 0) value = std::max<std::int64_t>(value + count, 0);
    result = static_cast<std::size_t>(std::min(value, count));
    return true;
  };
  if (!bound(parts[0], 0, start) || !bound(parts[1], static_cast<std::int64_t>(size), stop)) return false;
  stop = std::max(start, stop);
  return true;
}

Step Machine::build(const Instruction& it) {
  Parts items = top(it.arg);
  for (Symbol item : items) {
    if (symbols_.may_be_null(item)) return stuck("no value where one is needed");
  }
  drop(it.arg);
  bool tuple = it.op == Op::build_tuple_;
  if (tuple && items.empty()) {
    push(symbols_.constant(Constant::Kind::tuple));
  } else {
    push(make(tuple ? Object::Kind::tuple : Object::Kind::list, std::move(items)));
  }
  return silent();
}

Step Machine::build_map(const Instruction& it) {
  Parts keys, values, all;
  int count = it.op == Op::build_map_ ? 2 * it.arg : it.arg + 1;
  if (it.op == Op::build_map_) {
    for (int n = 2 * it.arg; n > 0; n -= 2) keys.push_back(peek(n)), values.push_back(peek(n - 1));
  } else {
    if (symbols_.is_object(peek(1)) || !sequence(peek(1), keys) || keys.size() != static_cast<std::size_t>(it.arg)) {
      return stuck("keys that are no constants");
    }
    all = top(count);
    values.assign(all.begin(), all.end() - 1);
  }
  bool plain = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (symbols_.may_be_null(keys[i]) || symbols_.may_be_null(values[i])) return stuck("no value where one is needed");
    plain = plain && plain_key(keys[i]);
  }
  if (plain && keys.size() <= search_limits::compared_keys) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      plain = plain && std::find(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(i), keys[i]) ==
                           keys.begin() + static_cast<std::ptrdiff_t>(i);
  } else {
    plain = false;
  }
  if (!plain) {
    Effect made{.op = Op::build_map_};
    for (std::size_t i = 0; i < keys.size(); ++i) made.operands.insert(made.operands.end(), {keys[i], values[i]});
    made.pops = count, made.results = 1;
    return effect(std::move(made));
  }
  drop(count);
  push(make(Object::Kind::dict, std::move(values), std::move(keys)));
  return silent();
}

Step Machine::build_slice(int count) {
  Parts parts = top(count);
  for (Symbol part : parts) {
    if (symbols_.may_be_null(part)) return stuck("no value where one is needed");
  }
  drop(count);
  parts.resize(3, symbols_.none());
  push(make(Object::Kind::slice, std::move(parts)));
  return silent();
}

Step Machine::append(const Instruction& it) {
  int values = it.op == Op::map_add_ ? 2 : 1;
  if (depth() < it.arg + values) return stuck("the stack is too short");
  Symbol container = peek(it.arg + values);
  Parts added = top(values);
  for (Symbol value : added) {
    if (symbols_.may_be_null(value)) return stuck("no value where one is needed");
  }
  Object* known = object(container);
  if (known && it.op == Op::list_append_ && known->kind == Object::Kind::list) {
    known->items.push_back(added[0]);
    drop(1);
    return silent();
  }
  if (known && it.op == Op::map_add_ && known->kind == Object::Kind::dict && plain_key(added[0])) {
    auto found = std::find(known->keys.begin(), known->keys.end(), added[0]);
    if (found != known->keys.end()) {
      known->items[static_cast<std::size_t>(found - known->keys.begin())] = added[1];
    } else {
      known->keys.push_back(added[0]);
      known->items.push_back(added[1]);
    }
    drop(2);
    return silent();
  }
  if (symbols_.may_be_null(container)) return stuck("no value where one is needed");
  if (it.op == Op::map_add_ && exact_type_of(container) == Exact::dict) {  // the same as d[k] = v
    Effect made{.op = Op::store_subscr_, .operands = {added[1], container, added[0]}};
    made.pops = values;
    return effect(std::move(made));
  }
  Effect made{.op = it.op, .operands = {container}};
  made.operands.insert(made.operands.end(), added.begin(), added.end());
  made.pops = values, made.raises = it.op != Op::list_append_;
  return effect(std::move(made));
}

Step Machine::extend(const Instruction& it) {
  if (depth() < it.arg + 1) return stuck("the stack is too short");
  Symbol container = peek(it.arg + 1), added = peek(1);
  Object* known = object(container);
  Parts items;
  if (known && it.op == Op::list_extend_ && known->kind == Object::Kind::list && sequence(added, items)) {
    known->items.insert(known->items.end(), items.begin(), items.end());
    if (known->items.size() > search_limits::known_items) return stuck("a list that is too long");
    pop();
    return silent();
  }
  if (symbols_.may_be_null(container) || symbols_.may_be_null(added)) return stuck("no value where one is needed");
  if (it.op == Op::set_update_ && exact_type_of(container) == Exact::set && sequence(added, items) && items.empty()) {
    pop();
    return silent();
  }
  Effect made{.op = it.op, .operands = {container, added}};
  made.pops = 1;
  return effect(std::move(made));
}

Step Machine::merge(const Instruction& it) {
  if (depth() < it.arg + 1) return stuck("the stack is too short");
  Symbol container = peek(it.arg + 1), added = peek(1);
  Object *into = object(container), *from = object(added);
  if (into && from && into != from && into->kind == Object::Kind::dict && from->kind == Object::Kind::dict) {
    bool strings = true, fresh = true;
    for (Symbol key : from->keys) {
      strings = strings && symbols_.value(key)->kind == Constant::Kind::string;
      fresh = fresh && std::find(into->keys.begin(), into->keys.end(), key) == into->keys.end();
    }
    if (fresh && (strings || it.op == Op::dict_update_)) {
      into->keys.insert(into->keys.end(), from->keys.begin(), from->keys.end());
      into->items.insert(into->items.end(), from->items.begin(), from->items.end());
      if (into->items.size() > search_limits::known_items) return stuck("a dict that is too long");
      pop();
      return silent();
    }
  }
  if (symbols_.may_be_null(container) || symbols_.may_be_null(added)) return stuck("no value where one is needed");
  Effect made{.op = it.op, .operands = {container, added}};
  made.pops = 1;
  return effect(std::move(made));
}

// An effect is looked at again where the other side branches first: the stack stays as it is until then.
Symbol Machine::slice_of(Symbol start, Symbol stop) {
  if (symbols_.may_be_null(start) || symbols_.may_be_null(stop)) return Symbols::null;
  return make(Object::Kind::slice, {start, stop, symbols_.none()});
}

Step Machine::list_to_tuple() {
  if (const Object* known = object(peek(1)); known && known->kind == Object::Kind::list) {
    Parts items = known->items;
    pop();
    push(items.empty() ? symbols_.constant(Constant::Kind::tuple) : make(Object::Kind::tuple, std::move(items)));
    return silent();
  }
  if (symbols_.may_be_null(peek(1))) return stuck("no value where one is needed");
  Effect made{.op = Op::list_to_tuple_, .operands = top(1)};
  made.pops = 1, made.results = 1, made.raises = false;
  return effect(std::move(made));
}

Step Machine::subscript(const Instruction& it) {
  const bool slice = it.op == Op::binary_slice_;
  Symbol container = peek(slice ? 3 : 2), key = slice ? slice_of(peek(2), peek(1)) : peek(1);
  Parts items;
  std::size_t at = 0, stop = 0;
  const Object* known = object(container);
  Symbol result = -1;
  if (sequence(container, items)) {
    if (index(key, items.size(), at)) {
      result = items[at];
    } else if (known && known->kind != Object::Kind::outputs && bounds(key, items.size(), at, stop)) {
      Parts part(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(stop));
      const bool tuple = known->kind == Object::Kind::tuple;
      if (tuple && part.empty()) result = symbols_.constant(Constant::Kind::tuple);
      else if (tuple && part.size() == items.size()) result = container;  // a slice of all of a tuple is that tuple
      else result = make(known->kind, std::move(part));
    }
  } else if (known && known->kind == Object::Kind::dict && plain_key(key)) {
    auto found = std::find(known->keys.begin(), known->keys.end(), key);
    if (found != known->keys.end()) result = known->items[static_cast<std::size_t>(found - known->keys.begin())];
  }
  if (result < 0) {
    Effect made{.op = Op::binary_subscr_, .operands = {container, key}};
    if (symbols_.may_be_null(container) || symbols_.may_be_null(key)) return stuck("no value where one is needed");
    made.pops = 2 + slice, made.results = 1;
    return effect(std::move(made));
  }
  drop(2 + slice);
  push(result);
  return silent();
}

Step Machine::store_subscript(const Instruction& it) {
  const bool slice = it.op == Op::store_slice_;
  const int pops = 3 + slice;
  Symbol value = peek(pops), container = peek(pops - 1), key = slice ? slice_of(peek(2), peek(1)) : peek(1);
  for (Symbol symbol : {value, container, key}) {
    if (symbols_.may_be_null(symbol)) return stuck("no value where one is needed");
  }
  Object* known = object(container);
  std::size_t at = 0, stop = 0;
  if (known && known->kind == Object::Kind::list) {
    Parts items;
    if (index(key, known->items.size(), at)) {
      known->items[at] = value;
      drop(pops);
      return silent();
    }
    if (value != container && sequence(value, items) && bounds(key, known->items.size(), at, stop)) {
      auto first = known->items.begin() + static_cast<std::ptrdiff_t>(at);
      first = known->items.erase(first, known->items.begin() + static_cast<std::ptrdiff_t>(stop));
      known->items.insert(first, items.begin(), items.end());
      drop(pops);
      return silent();
    }
  }
  if (known && known->kind == Object::Kind::dict && plain_key(key)) {
    auto found = std::find(known->keys.begin(), known->keys.end(), key);
    if (found != known->keys.end()) {
      known->items[static_cast<std::size_t>(found - known->keys.begin())] = value;
    } else {
      known->keys.push_back(key);
      known->items.push_back(value);
    }
    drop(pops);
    return silent();
  }
  Effect made{.op = Op::store_subscr_, .operands = {value, container, key}};
  made.pops = pops;
  return effect(std::move(made));
}

Step Machine::delete_subscript(const Instruction& it) {
  Symbol container = peek(2), key = peek(1);
  Object* known = object(container);
  std::size_t at = 0;
  if (known && known->kind == Object::Kind::list && index(key, known->items.size(), at)) {
    known->items.erase(known->items.begin() + static_cast<std::ptrdiff_t>(at));
    drop(2);
    return silent();
  }
  return simple(it, 0);
}

Step Machine::unpack(const Instruction& it) {
  bool star = it.op == Op::unpack_ex_;
  Parts items;
  auto before = static_cast<std::size_t>(it.arg), after = star ? static_cast<std::size_t>(it.aux) : 0;
  if (!sequence(peek(1), items) || (star ? items.size() < before + after : items.size() != before)) {
    Step step = simple(it, it.arg << 8 | it.aux);
    outcome_.effect.detail = it.arg;
    if (star) outcome_.effect.name = symbols_.integer(it.aux);
    return step;
  }
  pop();
  if (star) {
    auto first = items.begin() + static_cast<std::ptrdiff_t>(before);
    Symbol middle = make(Object::Kind::list, Parts(first, items.end() - static_cast<std::ptrdiff_t>(after)));
    items.erase(first, items.end() - static_cast<std::ptrdiff_t>(after));
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(before), middle);
  }
  for (std::size_t i = items.size(); i > 0; --i) push(items[i - 1]);
  return silent();
}

}  // namespace depyf
