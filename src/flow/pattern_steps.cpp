// What each instruction of a pattern does to the symbols on the stack and to the tree of the pattern.
#include <algorithm>
#include <cmath>

#include "flow/pattern_execution.h"

namespace depyf {

const Constant* PatternExecution::constant(const Value& value) const {
  if (value.is != Value::Is::constant) return nullptr;
  const Instruction& load = code_[value.begin];
  return load.op == Op::load_const_ ? &decoded_.constant(load.arg) : nullptr;
}

// What a pattern may compare with: a number, a text, an attribute; or None, True, False.
bool PatternExecution::is_value(const Constant& value) {
  switch (value.kind) {
    case Constant::Kind::integer:
    case Constant::Kind::string:
    case Constant::Kind::bytes: return true;
    case Constant::Kind::real:
    case Constant::Kind::complex: return !std::isnan(value.real) && !std::isnan(value.imag);
    default: return false;
  }
}
bool PatternExecution::is_singleton(const Constant& value) {
  return value.kind == Constant::Kind::none || value.kind == Constant::Kind::true_ ||
         value.kind == Constant::Kind::false_;
}
bool PatternExecution::is_value(const Value& value) const {
  if (value.is == Value::Is::expression) return code_[value.end - 1].op == Op::load_attr_;
  if (value.is != Value::Is::constant) return false;
  const Constant* loaded = constant(value);
  return loaded ? is_value(*loaded) : code_[value.begin].op == Op::load_int_;
}
bool PatternExecution::is_singleton(const Value& value) const {
  const Constant* loaded = constant(value);
  return loaded && is_singleton(*loaded);
}
bool PatternExecution::is_none(const Value& value) const {
  const Constant* loaded = constant(value);
  return loaded && loaded->kind == Constant::Kind::none;
}

bool PatternExecution::number(const Value& value, int& result) const {
  if (value.is != Value::Is::constant) return false;
  if (code_[value.begin].op == Op::load_int_) return result = code_[value.begin].arg, true;
  const Constant* loaded = constant(value);
  if (!loaded || loaded->kind != Constant::Kind::integer || loaded->text.empty() || loaded->text.size() > 6)
    return false;
  result = 0;
  for (char digit : loaded->text) {
    if (digit < '0' || digit > '9') return false;
    result = 10 * result + (digit - '0');
  }
  return true;
}

// One instruction; returns the next, -1: not of a pattern.
int PatternExecution::step(int at, State& state) {
  std::vector<Value>& stack = state.stack;
  const Instruction& instruction = code_[at];
  const int arg = instruction.arg, count = int(stack.size());
  auto top = [&](int n) -> Value& { return stack[stack.size() - n]; };
  auto is = [&](int n, Value::Is what) { return count >= n && top(n).is == what; };
  auto drop = [&](int n) { stack.resize(stack.size() - n); };
  auto test = [&](int n, bool is_inverted = false) {
    drop(n);
    stack.push_back({Value::Is::test, -1, 0, 0, is_inverted});
  };
  switch (instruction.op) {
    case Op::pop_top_:
      if (count == 0 || is(1, Value::Is::test)) return -1;
      if (is(1, Value::Is::node)) nodes_[top(1).node].dropped = true;
      drop(1);
      return at + 1;
    case Op::swap_:
      if (arg < 2 || arg > count) return -1;
      std::swap(top(1), top(arg));
      return at + 1;
    case Op::rotate_:
      if (arg < 2 || arg > count) return -1;
      std::rotate(stack.end() - arg, stack.end() - 1, stack.end());
      return at + 1;
    case Op::store_fast_:
    case Op::store_name_:
    case Op::store_global_:
    case Op::store_deref_:
      state.stored = true;
      if (is(1, Value::Is::node)) bind(top(1).node, at);
      else if (is(1, Value::Is::rest) && top(1).node >= 0) bind_rest(top(1).node, at);
      else return -1;
      drop(1);
      return at + 1;
    default: break;
  }
  if (state.stored) return -1;
  switch (instruction.op) {
    case Op::copy_:
      if (arg < 1 || arg > count || top(arg).is == Value::Is::test) return -1;
      stack.push_back(Value(top(arg)));
      return at + 1;
    case Op::load_const_: {
      Value loaded{Value::Is::constant, -1, at, at + 1};
      if (!constant(loaded) || constant(loaded)->kind == Constant::Kind::code) return -1;
      stack.push_back(loaded);
      return at + 1;
    }
    case Op::load_int_: stack.push_back({Value::Is::constant, -1, at, at + 1}); return at + 1;
    case Op::load_fast_:
    case Op::load_name_:
    case Op::load_global_:
    case Op::load_deref_:
    case Op::load_class_deref_: stack.push_back({Value::Is::expression, -1, at, at + 1}); return at + 1;
    case Op::load_attr_:
      if (!is(1, Value::Is::expression) || skip(top(1).end) != at) return -1;
      top(1).end = at + 1;
      return at + 1;
    case Op::to_bool_: return is(1, Value::Is::test) ? at + 1 : -1;
    case Op::compare_op_:
      if (is(2, Value::Is::length)) {
        int length;
        if (!number(top(1), length)) return -1;
        PatternNode& node = nodes_[top(2).node];
        if (arg != int(CompareOp::eq) && arg != int(CompareOp::ge)) return -1;
        node.length = length, node.at_least = arg == int(CompareOp::ge);
        test(2);
        return at + 1;
      }
      if (!is(2, Value::Is::node) || arg != int(CompareOp::eq) || !plain(top(2).node)) return -1;
      if (!is_value(top(1))) return -1;
      nodes_[top(2).node].kind = Kind::value;
      nodes_[top(2).node].expression = {top(1).begin, top(1).end};
      test(2);
      return at + 1;
    case Op::is_op_:
      if (is(2, Value::Is::parts) && is_none(top(1))) {
        nodes_[top(2).node].found = true;
        test(2, arg == 0);
        return at + 1;
      }
      if (!is(2, Value::Is::node) || !is_singleton(top(1)) || !plain(top(2).node)) return -1;
      nodes_[top(2).node].kind = Kind::singleton, nodes_[top(2).node].constant = top(1).begin;
      test(2, arg != 0);
      return at + 1;
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_true_: {
      if (!is(1, Value::Is::test)) return -1;
      const bool fails_there = (instruction.op == Op::pop_jump_if_true_) == (top(1).number != 0);
      drop(1);
      state.failures.push_back({fails_there ? instruction.target : at + 1, int(stack.size())});
      return fails_there ? at + 1 : instruction.target;
    }
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_: {
      bool parts = is(1, Value::Is::parts);
      if (parts) {
        nodes_[top(1).node].found = true;
      } else {
        if (!is(1, Value::Is::node) || !plain(top(1).node)) return -1;
        nodes_[top(1).node].kind = Kind::singleton;
      }
      drop(1);
      bool fails = (instruction.op == Op::pop_jump_if_none_) == parts;
      state.failures.push_back({fails ? instruction.target : at + 1, int(stack.size())});
      return fails ? at + 1 : instruction.target;
    }
    case Op::match_sequence_:
    case Op::match_mapping_:
      if (!is(1, Value::Is::node) || !plain(top(1).node)) return -1;
      nodes_[top(1).node].kind = instruction.op == Op::match_sequence_ ? Kind::sequence : Kind::mapping;
      test(0);
      return at + 1;
    case Op::match_class_: {
      if (!is(3, Value::Is::node) || !is(2, Value::Is::expression) || !constant(top(1)) || !plain(top(3).node))
        return -1;
      if (constant(top(1))->kind != Constant::Kind::tuple) return -1;
      int node = top(3).node;
      PatternNode& info = nodes_[node];
      info.kind = Kind::class_pattern, info.positional = arg;
      info.expression = {top(2).begin, top(2).end}, info.constant = top(1).begin;
      info.length = arg + int(constant(top(1))->items.size());
      drop(3);
      push_parts(node, stack);
      return at + 1;
    }
    case Op::build_tuple_: {
      if (arg >= count) return -1;
      int mapping = stack[stack.size() - arg - 1].node;
      if (!is(arg + 1, Value::Is::node) || nodes_[mapping].kind != Kind::mapping || !nodes_[mapping].keys.empty())
        return -1;
      for (int n = arg; n > 0; --n) {
        if (!is_value(top(n)) && !is_singleton(top(n))) return -1;
        nodes_[mapping].keys.push_back({top(n).begin, top(n).end});
      }
      drop(arg);
      stack.push_back({Value::Is::keys, mapping});
      return at + 1;
    }
    case Op::match_keys_: {
      if (!is(2, Value::Is::node) || nodes_[top(2).node].kind != Kind::mapping) return -1;
      int node = top(2).node;
      PatternNode& info = nodes_[node];
      int keys = int(info.keys.size());
      if (const Constant* loaded = constant(top(1)); loaded && loaded->kind == Constant::Kind::tuple && keys == 0) {
        for (const Constant& key : loaded->items)
          if (!is_value(key) && !is_singleton(key)) return -1;
        info.keys_constant = top(1).begin, keys = int(loaded->items.size());
        top(1) = {Value::Is::keys, node};
      } else if (!is(1, Value::Is::keys) || top(1).node != node) {
        return -1;
      }
      if (keys > 0 && (info.length != keys || !info.at_least)) return -1;
      info.length = keys;
      push_parts(node, stack);
      return at + 1;
    }
    case Op::get_len_: {
      if (!is(1, Value::Is::node)) return -1;
      Kind kind = nodes_[top(1).node].kind;
      if (kind != Kind::sequence && kind != Kind::mapping) return -1;
      stack.push_back({Value::Is::length, top(1).node});
      return at + 1;
    }
    case Op::unpack_sequence_:
    case Op::unpack_ex_: return unpack(at, state);
    case Op::binary_op_: {
      int from_end;
      if (BinaryOp(arg) != BinaryOp::subtract || !is(2, Value::Is::length) || !number(top(1), from_end)) return -1;
      int node = top(2).node;
      if (!is(3, Value::Is::node) || top(3).node != node) return -1;
      drop(2);
      stack.push_back({Value::Is::from_end, node, 0, 0, from_end});
      return at + 1;
    }
    case Op::binary_subscr_: {
      if (is(2, Value::Is::parts)) return part_at(at, state);
      if (!is(2, Value::Is::node) || nodes_[top(2).node].kind != Kind::sequence) return -1;
      int node = top(2).node, index;
      if (is(1, Value::Is::from_end)) index = -top(1).number;
      else if (!number(top(1), index)) return -1;
      int child = fresh();
      if (index < 0) nodes_[node].from_end.push_back({-index, child});
      else nodes_[node].from_start.push_back({index, child});
      drop(2);
      stack.push_back(part(child));
      return at + 1;
    }
    case Op::build_map_:
      if (arg != 0) return -1;
      stack.push_back({Value::Is::rest, -1});
      return at + 1;
    case Op::dict_update_: {
      if (arg < 1 || !is(1, Value::Is::node) || nodes_[top(1).node].kind != Kind::mapping ||
          !is(arg + 1, Value::Is::rest))
        return -1;
      top(arg + 1).node = top(1).node;
      drop(1);
      return at + 1;
    }
    case Op::delete_subscr_:
      if (!is(1, Value::Is::keys) || !is(2, Value::Is::rest) || top(1).node != top(2).node) return -1;
      ++nodes_[top(1).node].removed;
      drop(2);
      return at + 1;
    case Op::copy_dict_without_keys_:
      if (!is(1, Value::Is::keys)) return -1;
      nodes_[top(1).node].removed = nodes_[top(1).node].length;
      top(1) = {Value::Is::rest, top(1).node};
      return at + 1;
    default: return -1;
  }
}

int PatternExecution::unpack(int at, State& state) {
  const Instruction& instruction = code_[at];
  if (state.stack.empty()) return -1;
  Value value = state.stack.back();
  if (value.node < 0) return -1;
  state.stack.pop_back();
  bool star = instruction.op == Op::unpack_ex_;
  int count = instruction.arg + (star ? instruction.aux + 1 : 0);
  if (value.is == Value::Is::keys) {
    for (int index = 0; index < count; ++index) state.stack.push_back(value);
    return star || count != nodes_[value.node].length ? -1 : at + 1;
  }
  if (value.is == Value::Is::node) {
    PatternNode& node = nodes_[value.node];
    if (node.kind != Kind::sequence || node.unpacked || count > 10000) return -1;
    int least = std::max(node.length, 0);
    if (star ? least != count - 1 : node.at_least || least != count) return -1;
    node.star = star ? instruction.arg : -1;
  } else if (value.is != Value::Is::parts || star || count != nodes_[value.node].length) {
    return -1;
  }
  if (value.is == Value::Is::parts && !nodes_[value.node].found) return -1;
  if (nodes_[value.node].unpacked) return -1;
  nodes_[value.node].unpacked = true;
  std::vector<int> children;
  for (int index = 0; index < count; ++index) children.push_back(fresh());
  nodes_[value.node].children = children;
  for (int index = count - 1; index >= 0; --index) state.stack.push_back(part(children[index]));
  return at + 1;
}

// The values of a class pattern or mapping. To 3.10 a bool beside them tells whether there are any.
void PatternExecution::push_parts(int node, std::vector<Value>& stack) {
  stack.push_back({Value::Is::parts, node});
  if (!tests_are_pushed()) return;
  nodes_[node].found = true;
  stack.push_back({Value::Is::test});
}

// To 3.10: COPY 1; LOAD_CONST i; BINARY_SUBSCR takes one value of a class pattern or a mapping.
int PatternExecution::part_at(int at, State& state) {
  int index, node = state.stack[state.stack.size() - 2].node;
  if (!number(state.stack.back(), index) || index >= nodes_[node].length || nodes_[node].unpacked) return -1;
  int child = fresh();
  nodes_[node].from_start.push_back({index, child});
  state.stack.resize(state.stack.size() - 2);
  state.stack.push_back(part(child));
  return at + 1;
}

void PatternExecution::bind(int node, int at) {
  nodes_[node].stores.push_back(at);
  for (int other : std::vector<int>(nodes_[node].same)) bind(other, at);
}

void PatternExecution::bind_rest(int node, int at) {
  nodes_[node].rest = at;
  for (int other : std::vector<int>(nodes_[node].same_rest)) bind_rest(other, at);
}

}  // namespace depyf
