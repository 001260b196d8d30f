// Tracks the items of tuples, lists and dicts to which no code outside the frame has a reference. A read from a tracked
// container returns the tracked item, and no other code observes the read.
#include <algorithm>
#include <charconv>

#include "decode/op.h"
#include "prove/displays.h"
#include "support/search_limits.h"

namespace depyf::operations {

namespace {

// Parses a constant integer of at most nine characters into `value`. Returns false if the constant is no integer or
// has more than nine characters.
bool small_integer(const Constant* constant, std::int64_t& value) {
  if (!constant || constant->kind != Constant::Kind::integer || constant->text.size() > 9) return false;
  const char* end = constant->text.data() + constant->text.size();
  auto [stop, error] = std::from_chars(constant->text.data(), end, value);
  return error == std::errc() && stop == end;
}

// Returns true for a constant key that can be hashed and compared without running other code. Two plain keys with
// different symbols are never equal.
bool plain_key(const Symbols& symbols, Symbol symbol) {
  const Constant* constant = symbols.value(symbol);
  return constant && (constant->kind == Constant::Kind::string || constant->kind == Constant::Kind::integer ||
                      constant->kind == Constant::Kind::none);
}

// Converts the constant `symbol` to an index into `size` items, counted from the end if it is negative. Returns false
// if `symbol` is no valid index.
bool index(const Symbols& symbols, Symbol symbol, std::size_t size, std::size_t& found) {
  std::int64_t value = 0;
  if (!small_integer(symbols.value(symbol), value)) return false;
  auto count = static_cast<std::int64_t>(size);
  if (value < 0) value += count;
  if (value < 0 || value >= count) return false;
  found = static_cast<std::size_t>(value);
  return true;
}

// Converts the slice `start:stop` to positions within `size` items, as Python clips them. Returns false if the slice
// has a step or unknown bounds.
bool bounds(Symbols& symbols, Frame& frame, Symbol slice, std::size_t size, std::size_t& start, std::size_t& stop) {
  Parts parts;
  if (const Object* known = frame.object(slice); known && known->kind == Object::Kind::slice) {
    parts = known->items;
  } else if (const Constant* constant = symbols.value(slice); constant && constant->kind == Constant::Kind::slice) {
    for (const Constant& item : constant->items) parts.push_back(symbols.constant(item));
  }
  if (parts.size() != 3 || (parts[2] != symbols.none() && parts[2] != symbols.integer(1))) return false;
  auto bound = [&](Symbol symbol, std::int64_t absent, std::size_t& result) {
    std::int64_t value = absent;
    if (symbol != symbols.none() && !small_integer(symbols.value(symbol), value)) return false;
    auto count = static_cast<std::int64_t>(size);
    if (value < 0) value = std::max<std::int64_t>(value + count, 0);
    result = static_cast<std::size_t>(std::min(value, count));
    return true;
  };
  if (!bound(parts[0], 0, start) || !bound(parts[1], static_cast<std::int64_t>(size), stop)) return false;
  // `items[5:2]` is empty, and a store to it inserts at 5.
  stop = std::max(start, stop);
  return true;
}

// Returns a slice object from `start` to `stop`, for BINARY_SLICE and STORE_SLICE; null if `start` or `stop` may be
// NULL. The callers leave `start` and `stop` on the stack at first, because BINARY_SLICE or STORE_SLICE is executed
// again if the other of the two compared code objects reaches a branch before its own next effect.
Symbol slice_of(Symbols& symbols, Frame& frame, Symbol start, Symbol stop) {
  if (symbols.may_be_null(start) || symbols.may_be_null(stop)) return Symbols::null;
  return frame.make(Object::Kind::slice, {start, stop, symbols.none()});
}

}  // namespace

Step build(Execution& run, const Instruction& it) {
  Parts items = run.frame.top(it.arg);
  for (Symbol item : items) {
    if (run.symbols.may_be_null(item)) return run.stuck("no value where one is needed");
  }
  run.frame.drop(it.arg);
  bool tuple = it.op == Op::build_tuple_;
  if (tuple && items.empty()) {
    run.frame.push(run.symbols.constant(Constant::Kind::tuple));
  } else {
    run.frame.push(run.frame.make(tuple ? Object::Kind::tuple : Object::Kind::list, std::move(items)));
  }
  return run.frame.silent();
}

// Executes BUILD_MAP and BUILD_CONST_KEY_MAP. BUILD_CONST_KEY_MAP takes its keys from a constant tuple on top of the
// stack.
Step build_map(Execution& run, const Instruction& it) {
  Parts keys, values, all;
  int count = it.op == Op::build_map_ ? 2 * it.arg : it.arg + 1;
  if (it.op == Op::build_map_) {
    for (int n = 2 * it.arg; n > 0; n -= 2) keys.push_back(run.frame.peek(n)), values.push_back(run.frame.peek(n - 1));
  } else {
    if (run.symbols.is_object(run.frame.peek(1)) || !run.frame.sequence(run.frame.peek(1), keys) ||
        keys.size() != static_cast<std::size_t>(it.arg)) {
      return run.stuck("keys that are no constants");
    }
    all = run.frame.top(count);
    values.assign(all.begin(), all.end() - 1);
  }
  bool plain = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (run.symbols.may_be_null(keys[i]) || run.symbols.may_be_null(values[i]))
      return run.stuck("no value where one is needed");
    plain = plain && plain_key(run.symbols, keys[i]);
  }
  // Building a dict with duplicate keys is an effect, because the order of its stores matters.
  plain = plain && keys.size() <= search_limits::compared_keys;
  if (plain) {
    Parts sorted = keys;
    std::ranges::sort(sorted);
    plain = std::ranges::adjacent_find(sorted) == sorted.end();
  }
  if (!plain) {
    Effect made{.op = Op::build_map_};
    for (std::size_t i = 0; i < keys.size(); ++i) made.operands.insert(made.operands.end(), {keys[i], values[i]});
    made.pops = count, made.results = 1;
    return run.effect(std::move(made));
  }
  run.frame.drop(count);
  run.frame.push(run.frame.make(Object::Kind::dict, std::move(values), std::move(keys)));
  return run.frame.silent();
}

// Builds a slice object from two or three parts; an absent step is None.
Step build_slice(Execution& run, int count) {
  Parts parts = run.frame.top(count);
  for (Symbol part : parts) {
    if (run.symbols.may_be_null(part)) return run.stuck("no value where one is needed");
  }
  run.frame.drop(count);
  parts.resize(3, run.symbols.none());
  run.frame.push(run.frame.make(Object::Kind::slice, std::move(parts)));
  return run.frame.silent();
}

// Executes LIST_APPEND, SET_ADD and MAP_ADD, whose container lies `arg` slots below the added values.
Step append(Execution& run, const Instruction& it) {
  int values = it.op == Op::map_add_ ? 2 : 1;
  if (run.frame.depth() < it.arg + values) return run.stuck("the stack is too short");
  Symbol container = run.frame.peek(it.arg + values);
  Parts added = run.frame.top(values);
  for (Symbol value : added) {
    if (run.symbols.may_be_null(value)) return run.stuck("no value where one is needed");
  }
  Object* known = run.frame.object(container);
  if (known && it.op == Op::list_append_ && known->kind == Object::Kind::list) {
    known->items.push_back(added[0]);
    run.frame.drop(1);
    return run.frame.silent();
  }
  if (known && it.op == Op::map_add_ && known->kind == Object::Kind::dict && plain_key(run.symbols, added[0])) {
    auto found = std::find(known->keys.begin(), known->keys.end(), added[0]);
    if (found != known->keys.end()) {
      known->items[static_cast<std::size_t>(found - known->keys.begin())] = added[1];
    } else {
      known->keys.push_back(added[0]);
      known->items.push_back(added[1]);
    }
    run.frame.drop(2);
    return run.frame.silent();
  }
  if (run.symbols.may_be_null(container)) return run.stuck("no value where one is needed");
  // On a dict that other code may have seen, MAP_ADD means the same as `d[k] = v`.
  if (it.op == Op::map_add_ && run.frame.exact_type_of(container) == Exact::dict) {
    Effect made{.op = Op::store_subscr_, .operands = {added[1], container, added[0]}};
    made.pops = values;
    return run.effect(std::move(made));
  }
  Effect made{.op = it.op, .operands = {container}};
  made.operands.insert(made.operands.end(), added.begin(), added.end());
  made.pops = values, made.raises = it.op != Op::list_append_;
  return run.effect(std::move(made));
}

// Executes LIST_EXTEND and SET_UPDATE.
Step extend(Execution& run, const Instruction& it) {
  if (run.frame.depth() < it.arg + 1) return run.stuck("the stack is too short");
  Symbol container = run.frame.peek(it.arg + 1), added = run.frame.peek(1);
  Object* known = run.frame.object(container);
  Parts items;
  if (known && it.op == Op::list_extend_ && known->kind == Object::Kind::list && run.frame.sequence(added, items)) {
    known->items.insert(known->items.end(), items.begin(), items.end());
    if (known->items.size() > search_limits::known_items) return run.stuck("a list that is too long");
    run.frame.pop();
    return run.frame.silent();
  }
  if (run.symbols.may_be_null(container) || run.symbols.may_be_null(added))
    return run.stuck("no value where one is needed");
  // SET_UPDATE with an empty sequence leaves the set unchanged.
  if (it.op == Op::set_update_ && run.frame.exact_type_of(container) == Exact::set &&
      run.frame.sequence(added, items) && items.empty()) {
    run.frame.pop();
    return run.frame.silent();
  }
  Effect made{.op = it.op, .operands = {container, added}};
  made.pops = 1;
  return run.effect(std::move(made));
}

// Executes DICT_UPDATE (`{**a, **b}`) and DICT_MERGE (`f(**a, **b)`). DICT_MERGE raises for duplicate keys and keys
// that are no strings.
Step merge(Execution& run, const Instruction& it) {
  if (run.frame.depth() < it.arg + 1) return run.stuck("the stack is too short");
  Symbol container = run.frame.peek(it.arg + 1), added = run.frame.peek(1);
  Object *into = run.frame.object(container), *from = run.frame.object(added);
  if (into && from && into != from && into->kind == Object::Kind::dict && from->kind == Object::Kind::dict) {
    bool strings = true, fresh = true;
    for (Symbol key : from->keys) {
      strings = strings && run.symbols.value(key)->kind == Constant::Kind::string;
      fresh = fresh && std::find(into->keys.begin(), into->keys.end(), key) == into->keys.end();
    }
    if (fresh && (strings || it.op == Op::dict_update_)) {
      into->keys.insert(into->keys.end(), from->keys.begin(), from->keys.end());
      into->items.insert(into->items.end(), from->items.begin(), from->items.end());
      if (into->items.size() > search_limits::known_items) return run.stuck("a dict that is too long");
      run.frame.pop();
      return run.frame.silent();
    }
  }
  if (run.symbols.may_be_null(container) || run.symbols.may_be_null(added))
    return run.stuck("no value where one is needed");
  Effect made{.op = it.op, .operands = {container, added}};
  made.pops = 1;
  return run.effect(std::move(made));
}

// Executes LIST_TO_TUPLE, which ends a display such as `(*a, b)`.
Step list_to_tuple(Execution& run) {
  if (const Object* known = run.frame.object(run.frame.peek(1)); known && known->kind == Object::Kind::list) {
    Parts items = known->items;
    run.frame.pop();
    run.frame.push(items.empty() ? run.symbols.constant(Constant::Kind::tuple)
                                 : run.frame.make(Object::Kind::tuple, std::move(items)));
    return run.frame.silent();
  }
  if (run.symbols.may_be_null(run.frame.peek(1))) return run.stuck("no value where one is needed");
  Effect made{.op = Op::list_to_tuple_, .operands = run.frame.top(1)};
  made.pops = 1, made.results = 1, made.raises = false;
  return run.effect(std::move(made));
}

// Executes `container[key]` and `container[start:stop]`.
Step subscript(Execution& run, const Instruction& it) {
  const bool slice = it.op == Op::binary_slice_;
  Symbol container = run.frame.peek(slice ? 3 : 2),
         key = slice ? slice_of(run.symbols, run.frame, run.frame.peek(2), run.frame.peek(1)) : run.frame.peek(1);
  Parts items;
  std::size_t at = 0, stop = 0;
  const Object* known = run.frame.object(container);
  Symbol result = -1;
  if (run.frame.sequence(container, items)) {
    if (index(run.symbols, key, items.size(), at)) {
      result = items[at];
      // The outputs of a compiled graph may be a tuple or a list, so the type of a slice of them is unknown.
    } else if (known && known->kind != Object::Kind::outputs &&
               bounds(run.symbols, run.frame, key, items.size(), at, stop)) {
      Parts part(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(stop));
      const bool tuple = known->kind == Object::Kind::tuple;
      if (tuple && part.empty()) result = run.symbols.constant(Constant::Kind::tuple);
      else if (tuple && part.size() == items.size()) result = container;  // CPython returns the same tuple for `t[:]`
      else result = run.frame.make(known->kind, std::move(part));
    }
  } else if (known && known->kind == Object::Kind::dict && plain_key(run.symbols, key)) {
    auto found = std::find(known->keys.begin(), known->keys.end(), key);
    if (found != known->keys.end()) result = known->items[static_cast<std::size_t>(found - known->keys.begin())];
  }
  if (result < 0) {
    Effect made{.op = Op::binary_subscr_, .operands = {container, key}};
    if (run.symbols.may_be_null(container) || run.symbols.may_be_null(key))
      return run.stuck("no value where one is needed");
    made.pops = 2 + slice, made.results = 1;
    return run.effect(std::move(made));
  }
  run.frame.drop(2 + slice);
  run.frame.push(result);
  return run.frame.silent();
}

// Executes `container[key] = value` and `container[start:stop] = value`.
Step store_subscript(Execution& run, const Instruction& it) {
  const bool slice = it.op == Op::store_slice_;
  const int pops = 3 + slice;
  Symbol value = run.frame.peek(pops), container = run.frame.peek(pops - 1),
         key = slice ? slice_of(run.symbols, run.frame, run.frame.peek(2), run.frame.peek(1)) : run.frame.peek(1);
  for (Symbol symbol : {value, container, key}) {
    if (run.symbols.may_be_null(symbol)) return run.stuck("no value where one is needed");
  }
  Object* known = run.frame.object(container);
  std::size_t at = 0, stop = 0;
  if (known && known->kind == Object::Kind::list) {
    Parts items;
    if (index(run.symbols, key, known->items.size(), at)) {
      known->items[at] = value;
      run.frame.drop(pops);
      return run.frame.silent();
    }
    // A list that is stored into a slice of itself would change while it is read.
    if (value != container && run.frame.sequence(value, items) &&
        bounds(run.symbols, run.frame, key, known->items.size(), at, stop)) {
      auto first = known->items.begin() + static_cast<std::ptrdiff_t>(at);
      first = known->items.erase(first, known->items.begin() + static_cast<std::ptrdiff_t>(stop));
      known->items.insert(first, items.begin(), items.end());
      run.frame.drop(pops);
      return run.frame.silent();
    }
  }
  if (known && known->kind == Object::Kind::dict && plain_key(run.symbols, key)) {
    auto found = std::find(known->keys.begin(), known->keys.end(), key);
    if (found != known->keys.end()) {
      known->items[static_cast<std::size_t>(found - known->keys.begin())] = value;
    } else {
      known->keys.push_back(key);
      known->items.push_back(value);
    }
    run.frame.drop(pops);
    return run.frame.silent();
  }
  Effect made{.op = Op::store_subscr_, .operands = {value, container, key}};
  made.pops = pops;
  return run.effect(std::move(made));
}

// Executes `del container[key]`.
Step delete_subscript(Execution& run, const Instruction& it) {
  Symbol container = run.frame.peek(2), key = run.frame.peek(1);
  Object* known = run.frame.object(container);
  std::size_t at = 0;
  if (known && known->kind == Object::Kind::list && index(run.symbols, key, known->items.size(), at)) {
    known->items.erase(known->items.begin() + static_cast<std::ptrdiff_t>(at));
    run.frame.drop(2);
    return run.frame.silent();
  }
  return run.simple(it, 0);
}

// Executes UNPACK_SEQUENCE and UNPACK_EX. If the value is a sequence with known items, and has as many items as the
// instruction needs, the items are pushed in reverse order.
Step unpack(Execution& run, const Instruction& it) {
  bool star = it.op == Op::unpack_ex_;
  Parts items;
  auto before = static_cast<std::size_t>(it.arg), after = star ? static_cast<std::size_t>(it.aux) : 0;
  // Unpacking is an effect in two cases: if the items are unknown, because unpacking calls `__iter__`, and if the
  // number of items does not fit, because unpacking raises.
  if (!run.frame.sequence(run.frame.peek(1), items) ||
      (star ? items.size() < before + after : items.size() != before)) {
    Step step = run.simple(it, it.arg << 8 | it.aux);
    run.outcome.effect.detail = it.arg;
    if (star) run.outcome.effect.name = run.symbols.integer(it.aux);
    return step;
  }
  run.frame.pop();
  if (star) {
    auto first = items.begin() + static_cast<std::ptrdiff_t>(before);
    Symbol middle = run.frame.make(Object::Kind::list, Parts(first, items.end() - static_cast<std::ptrdiff_t>(after)));
    items.erase(first, items.end() - static_cast<std::ptrdiff_t>(after));
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(before), middle);
  }
  for (std::size_t i = items.size(); i > 0; --i) run.frame.push(items[i - 1]);
  return run.frame.silent();
}

}  // namespace depyf::operations
