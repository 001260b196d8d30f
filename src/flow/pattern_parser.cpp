// The compiler's code for a pattern takes the subject from the top of the stack, and jumps away where a test fails:
//
//   value       <value>; COMPARE_OP ==; POP_JUMP_IF_FALSE F           None, True: LOAD_CONST; IS_OP (or POP_JUMP_IF_NOT_NONE)
//   name        [SWAP n ...]; after all tests: STORE name             _: POP_TOP
//   p as name   COPY 1; p; as name
//   p | q       COPY 1; p; JUMP E; COPY 1; q; JUMP E; POP_TOP; JUMP F; E: [SWAP n ...]; POP_TOP
//   [p, q]      MATCH_SEQUENCE; GET_LEN; 2; COMPARE_OP ==; UNPACK_SEQUENCE 2; p; q        with a star: >=, UNPACK_EX
//   [p, *_, q]  the same, for each item: COPY 1; 0; BINARY_SUBSCR or COPY 1; GET_LEN; 1; BINARY_OP -; BINARY_SUBSCR
//   {k: p}      MATCH_MAPPING; GET_LEN; 1; COMPARE_OP >=; k; BUILD_TUPLE; MATCH_KEYS; COPY 1; POP_JUMP_IF_NONE F;
//               UNPACK_SEQUENCE 1; p; POP_TOP; POP_TOP
//   {**rest}    BUILD_MAP 0; SWAP 3; DICT_UPDATE 2; UNPACK_SEQUENCE; each key: COPY n; SWAP 2; DELETE_SUBSCR
//   C(p, a=q)   C; ('a',); MATCH_CLASS 1; COPY 1; POP_JUMP_IF_NONE F; UNPACK_SEQUENCE 2; p; q
//
// F is one of a cascade of POP_TOP that drops what lies on the stack there. Optimisations move stores and swaps about, so the
// code is run over symbols: which part of the subject lies where. The names come off the stack when all tests are done.
#include "flow/pattern_parser.h"

#include <algorithm>

namespace depyf {
namespace {

using Kind = PatternNode::Kind;

struct Value {
  enum class Is {
    node,  // a part of the subject
    parts,  // the tuple of a class pattern's or mapping's values
    keys,  // of a mapping; a single key
    length,  // of a sequence or mapping
    from_end,  // an index into a sequence: its length minus `number`
    rest,  // copy of a mapping
    constant,  // loaded at `begin`
    expression,  // [begin, end)
    test
  };
  Is is = Is::node;
  int node = -1, begin = 0, end = 0, number = 0;
};

struct Failure {
  int target, depth;
};

struct State {
  std::vector<Value> stack;
  std::vector<Failure> failures;
  bool stored = false;
};

class Parser {
 public:
  Parser(const DecodedCode& decoded, const std::vector<Instruction>& code) : decoded_(decoded), code_(code) {}

  bool run(int at, bool keeps, ParsedCase& parsed) {
    nodes_.assign(1, {});
    State state;
    state.stack.push_back(part(0));
    parsed.begin = at;
    if (keeps) ++at;
    parsed.success = walk(at, state, -1);
    if (parsed.success < 0) return false;
    parsed.failure = -1;
    if (!state.failures.empty() && !resolve(state.failures, 0, parsed.failure)) return false;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      if (!finish(int(node))) return false;
    parsed.pattern.nodes = std::move(nodes_);
    return true;
  }

 private:
  static Value part(int node) { return {Value::Is::node, node}; }
  int size() const { return int(code_.size()); }
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  int follow(int at) const {
    for (int steps = 0; steps < 100 && at >= 0 && at < size(); ++steps) {
      at = skip(at);
      if (code_[at].op != Op::jump_ || code_[at].target < 0) break;
      at = code_[at].target;
    }
    return at;
  }

  // Do both do the same and then leave? Short ends are copied by the compiler.
  bool same_end(int one, int two) const {
    for (int steps = 0; steps < 8; ++steps) {
      one = follow(one), two = follow(two);
      if (one == two) return true;
      if (one < 0 || two < 0 || one >= size() || two >= size()) return false;
      const Instruction &a = code_[one], &b = code_[two];
      if (a.op != b.op || a.arg != b.arg || a.aux != b.aux || a.target >= 0 || b.target >= 0) return false;
      if (a.op == Op::return_value_ || a.op == Op::raise_ || a.op == Op::reraise_) return true;
      ++one, ++two;
    }
    return false;
  }

  // Where all failures arrive with `depth` values on the stack.
  bool resolve(const std::vector<Failure>& failures, int depth, int& found) const {
    found = -1;
    for (const Failure& failure : failures) {
      int at = failure.target;
      for (int pops = failure.depth - depth; pops > 0; --pops) {
        at = follow(at);
        if (at < 0 || at >= size() || code_[at].op != Op::pop_top_) return false;
        ++at;
      }
      while (at >= 0 && at < size() && code_[at].op == Op::jump_ && code_[at].target >= 0 && at != code_[at].target)
        at = code_[at].target;
      if (found < 0) found = at;
      else if (found != at && !same_end(found, at)) return false;
    }
    return found >= 0 && found < size();
  }

  const Constant* constant(const Value& value) const {
    if (value.is != Value::Is::constant) return nullptr;
    const Instruction& load = code_[value.begin];
    if (load.op != Op::load_const_ || load.arg < 0 || load.arg >= int(decoded_.code->constants.size())) return nullptr;
    return &decoded_.code->constants[load.arg];
  }
  bool is_none(const Value& value) const {
    const Constant* loaded = constant(value);
    return loaded && loaded->kind == Constant::Kind::none;
  }
  bool number(const Value& value, int& result) const {
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
  int fresh() {
    nodes_.emplace_back();
    return int(nodes_.size()) - 1;
  }
  bool plain(int node) const { return nodes_[node].kind == Kind::wildcard && nodes_[node].stores.empty(); }

  // Runs from `at` until the pattern is done: all of the stack is used up or, with `floor` >= 0, only names lie above that.
  // Returns where it goes on, -1 where the code is of another shape.
  int walk(int at, State& state, int floor) {
    for (;;) {
      at = skip(at);
      if (at >= size() - 1 || ++steps_ > 20000) return -1;
      if (floor < 0 && state.stack.empty()) return at;
      if (floor >= 0 && ends_alternative(at, state, floor)) return code_[at].op == Op::jump_ ? code_[at].target : at;
      if (code_[at].op == Op::copy_ && code_[at].arg == 1 && !state.stored) {
        int after = alternatives(at, state);
        if (after >= 0) {
          at = after;
          continue;
        }
      }
      at = step(at, state);
      if (at < 0) return -1;
    }
  }

  bool ends_alternative(int at, const State& state, int floor) const {
    const Instruction& instruction = code_[at];
    int above = int(state.stack.size()) - floor;
    switch (instruction.op) {
      case Op::jump_: return true;
      case Op::swap_:
      case Op::rotate_: return instruction.arg > above;
      case Op::pop_top_: return above == 0;
      case Op::store_fast_:
      case Op::store_name_:
      case Op::store_global_:
      case Op::store_deref_: return true;
      default: return above == 0;
    }
  }

  // COPY 1; p; JUMP E; COPY 1; q; JUMP E; POP_TOP; JUMP F. Returns E, -1: it is something else.
  int alternatives(int at, State& state) {
    if (state.stack.empty() || state.stack.back().is != Value::Is::node || nesting_ > 100) return -1;
    const std::size_t before = nodes_.size();
    ++nesting_;
    int after = try_alternatives(at, state);
    --nesting_;
    if (after < 0) nodes_.resize(before);
    return after;
  }

  int try_alternatives(int at, State& state) {
    const int whole = state.stack.back().node, floor = int(state.stack.size());
    if (!plain(whole)) return -1;
    std::vector<int> choices, ends;
    std::vector<std::vector<Value>> captured;
    int rest = -1;  // where none has matched
    for (;;) {
      State inner;
      inner.stack = state.stack;
      choices.push_back(fresh());
      inner.stack.push_back(part(choices.back()));
      ends.push_back(walk(at + 1, inner, floor));
      if (ends.back() < 0) return -1;
      captured.push_back({inner.stack.begin() + floor, inner.stack.end()});
      if (inner.failures.empty()) break;
      if (!resolve(inner.failures, floor, at)) return -1;
      at = skip(at);
      if (code_[at].op == Op::copy_ && code_[at].arg == 1) continue;
      if (code_[at].op != Op::pop_top_) return -1;
      rest = at + 1;
      break;
    }
    if (choices.size() < 2) return -1;
    for (std::size_t index = 0; index + 1 < choices.size(); ++index) {
      if (!same_end(ends[index], ends.back()) || captured[index].size() != captured.back().size()) return -1;
      for (std::size_t slot = 0; slot < captured[index].size(); ++slot) {
        const Value &one = captured[index][slot], &last = captured.back()[slot];
        if (one.is != last.is || (one.is != Value::Is::node && one.is != Value::Is::rest)) return -1;
        (one.is == Value::Is::node ? nodes_[last.node].same : nodes_[last.node].same_rest).push_back(one.node);
      }
    }
    if (rest >= 0) state.failures.push_back({rest, floor - 1});
    nodes_[whole].kind = Kind::alternatives, nodes_[whole].children = choices;
    state.stack.insert(state.stack.end(), captured.back().begin(), captured.back().end());
    return *std::max_element(ends.begin(), ends.end());
  }

  // One instruction; returns the next, -1: not of a pattern.
  int step(int at, State& state) {
    std::vector<Value>& stack = state.stack;
    const Instruction& instruction = code_[at];
    const int arg = instruction.arg, count = int(stack.size());
    auto top = [&](int n) -> Value& { return stack[stack.size() - n]; };
    auto is = [&](int n, Value::Is what) { return count >= n && top(n).is == what; };
    auto drop = [&](int n) { stack.resize(stack.size() - n); };
    auto test = [&](int n) {
      drop(n);
      stack.push_back({Value::Is::test});
    };
    switch (instruction.op) {
      case Op::pop_top_:
        if (count == 0) return -1;
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
        if (arg < 1 || arg > count) return -1;
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
        if (!is(1, Value::Is::constant) && !is(1, Value::Is::expression)) return -1;
        nodes_[top(2).node].kind = Kind::value;
        nodes_[top(2).node].expression = {top(1).begin, top(1).end};
        test(2);
        return at + 1;
      case Op::is_op_:
        if (is(2, Value::Is::parts) && arg == 1 && is_none(top(1))) return test(2), at + 1;
        if (!is(2, Value::Is::node) || arg != 0 || !is(1, Value::Is::constant) || !plain(top(2).node)) return -1;
        nodes_[top(2).node].kind = Kind::singleton, nodes_[top(2).node].constant = top(1).begin;
        test(2);
        return at + 1;
      case Op::pop_jump_if_false_:
      case Op::pop_jump_if_true_: {
        if (!is(1, Value::Is::test)) return -1;
        drop(1);
        bool inverted = instruction.op == Op::pop_jump_if_true_;
        state.failures.push_back({inverted ? at + 1 : instruction.target, int(stack.size())});
        return inverted ? instruction.target : at + 1;
      }
      case Op::pop_jump_if_none_:
      case Op::pop_jump_if_not_none_: {
        bool parts = is(1, Value::Is::parts);
        if (!parts) {
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
        stack.push_back({Value::Is::parts, node});
        if (tests_are_pushed()) test(0);
        return at + 1;
      }
      case Op::build_tuple_: {
        if (arg >= count) return -1;
        int mapping = stack[stack.size() - arg - 1].node;
        if (!is(arg + 1, Value::Is::node) || nodes_[mapping].kind != Kind::mapping || !nodes_[mapping].keys.empty())
          return -1;
        for (int n = arg; n > 0; --n) {
          if (!is(n, Value::Is::constant) && !is(n, Value::Is::expression)) return -1;
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
        if (const Constant* keys = constant(top(1)); keys && keys->kind == Constant::Kind::tuple) {
          info.keys_constant = top(1).begin, info.length = int(keys->items.size());
          top(1) = {Value::Is::keys, node};
        } else if (is(1, Value::Is::keys)) {
          info.length = int(info.keys.size());
        } else {
          return -1;
        }
        stack.push_back({Value::Is::parts, node});
        if (tests_are_pushed()) test(0);
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
        if (!is(1, Value::Is::keys) || !is(2, Value::Is::rest)) return -1;
        drop(2);
        return at + 1;
      case Op::copy_dict_without_keys_:
        if (!is(1, Value::Is::keys)) return -1;
        top(1) = {Value::Is::rest, top(1).node};
        return at + 1;
      default: return -1;
    }
  }

  int unpack(int at, State& state) {
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
    if (nodes_[value.node].unpacked) return -1;
    nodes_[value.node].unpacked = true;
    std::vector<int> children;
    for (int index = 0; index < count; ++index) children.push_back(fresh());
    nodes_[value.node].children = children;
    for (int index = count - 1; index >= 0; --index) state.stack.push_back(part(children[index]));
    return at + 1;
  }

  void bind(int node, int at) {
    nodes_[node].stores.push_back(at);
    for (int other : std::vector<int>(nodes_[node].same)) bind(other, at);
  }
  void bind_rest(int node, int at) {
    nodes_[node].rest = at;
    for (int other : std::vector<int>(nodes_[node].same_rest)) bind_rest(other, at);
  }

  // To 3.10, a bool beside the values tells whether there are any.
  bool tests_are_pushed() const { return decoded_.code->version < Version{3, 11}; }

  // Children of what was never taken apart.
  bool finish(int index) {
    PatternNode node = nodes_[index];
    if (node.kind == Kind::sequence && !node.unpacked) {
      bool star = node.at_least || node.length < 0;
      int count = std::max(node.length, 0) + star;
      if (count > 10000) return false;
      std::vector<int> children(count, -1);
      int last = star ? count - 1 : count;
      for (auto [from_end, child] : node.from_end) {
        if (from_end > count || from_end < 1) return false;
        children[count - from_end] = child, last = std::min(last, count - from_end - 1);
      }
      for (auto [place, child] : node.from_start) {
        if (place >= last || place >= count || children[place] >= 0) return false;
        children[place] = child;
      }
      if (star && (last < 0 || children[last] >= 0)) return false;
      for (int& child : children)
        if (child < 0) child = fresh();
      node.children = children, node.star = star ? last : -1;
      nodes_[index] = node;
    }
    if ((node.kind == Kind::class_pattern) && !node.unpacked) return false;
    if (node.kind == Kind::mapping && !node.unpacked && (!node.keys.empty() || node.keys_constant >= 0)) return false;
    return true;
  }

  const DecodedCode& decoded_;
  const std::vector<Instruction>& code_;
  std::vector<PatternNode> nodes_;
  int steps_ = 0, nesting_ = 0;
};

}  // namespace

bool parse_case(const DecodedCode& decoded, const std::vector<Instruction>& code, int at, bool keeps,
                ParsedCase& parsed) {
  return Parser(decoded, code).run(at, keeps, parsed);
}

}  // namespace depyf
