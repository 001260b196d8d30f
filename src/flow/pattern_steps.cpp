// Executes single instructions of a pattern symbolically, and records their tests and bindings in the tree of the
// pattern. PartsStep and PatternStep are in one file because they work on the same stack of symbols.
#include <algorithm>
#include <cmath>

#include "decode/op.h"
#include "decode/op_table.h"
#include "flow/pattern_execution.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {

namespace {

// True if a pattern may compare with the constant by ==: a number other than NaN, a string or a bytes object.
bool is_value(const Constant& value) {
  const bool is_number = value.kind == Constant::Kind::real || value.kind == Constant::Kind::complex;
  if (is_number) return !std::isnan(value.real) && !std::isnan(value.imag);
  return value.kind == Constant::Kind::integer || value.kind == Constant::Kind::string ||
         value.kind == Constant::Kind::bytes;
}
// True if a pattern compares with the constant by `is`: None, True or False.
bool is_singleton(const Constant& value) {
  return value.kind == Constant::Kind::none || value.kind == Constant::Kind::true_ ||
         value.kind == Constant::Kind::false_;
}

}  // namespace

// One instruction of a pattern, and the stack of symbols before its execution. The functions of the derived classes
// return the index of the next instruction, or -1 if no pattern contains the instruction at its place.
class PatternCursor {
 public:
  PatternCursor(PatternExecution& execution, int at, PatternExecution::State& state)
      : execution_(execution),
        nodes_(execution.nodes_),
        state_(state),
        stack_(state.stack),
        instruction_(execution.code_[at]),
        at_(at),
        arg_(instruction_.arg),
        count_(int(state.stack.size())) {}

 protected:
  using Kind = PatternNode::Kind;
  using Value = PatternExecution::Value;

  // Returns the constant that a symbol stands for; a null pointer if it stands for no constant of the code object.
  const Constant* constant(const Value& value) const;
  bool is_pattern_value(const Value& value) const;
  bool is_pattern_singleton(const Value& value) const;
  // True if the symbol is a non-negative integer of up to six digits, which is stored in `result`.
  bool number(const Value& value, int& result) const;

  // Returns the symbol at the place `from_top` of the stack of symbols, counted from 1 at the top.
  Value& top(int from_top) { return stack_.end()[-from_top]; }
  bool is(int from_top, Value::Is what) { return count_ >= from_top && top(from_top).is == what; }
  void drop(int values) { stack_.resize(stack_.size() - std::size_t(values)); }
  // Replaces the top `values` symbols on the stack by a symbol for the result of a test. `is_inverted` is true if the
  // pattern matches when the result of the test is false.
  int test(int values, bool is_inverted = false) {
    drop(values);
    stack_.push_back({Value::Is::test, -1, 0, 0, is_inverted});
    return at_ + 1;
  }
  int push(const Value& value) {
    stack_.push_back(value);
    return at_ + 1;
  }

  PatternExecution& execution_;
  Table<PatternNode>& nodes_;
  PatternExecution::State& state_;
  Table<Value>& stack_;
  const Instruction& instruction_;
  const int at_, arg_, count_;
};

// Executes an instruction that takes parts out of the subject of a class, mapping or sequence pattern.
class PartsStep : PatternCursor {
 public:
  explicit PartsStep(const PatternCursor& cursor) : PatternCursor(cursor) {}
  int run();

 private:
  int refuse() { return -1; }
  int match_shape();
  int match_class();
  int build_keys();
  int match_keys();
  int get_len();
  int unpack();
  int subtract();
  int subscript();
  int part_at();
  int start_rest() { return arg_ == 0 ? push({Value::Is::rest, -1}) : -1; }
  int fill_rest();
  int delete_key();
  int delete_keys();
  void push_parts(int node);
};

// Executes one instruction of a pattern that loads, moves or tests symbols or binds names. All other instructions are
// executed by `PartsStep`.
class PatternStep : PatternCursor {
 public:
  using PatternCursor::PatternCursor;
  int run();

 private:
  // Instructions that are not in the tables of PatternStep are executed by PartsStep.
  int parts() { return PartsStep(*this).run(); }
  int pop_top();
  int move();
  int store();
  int copy();
  int load_const();
  int load_int() { return push({Value::Is::constant, -1, at_, at_ + 1}); }
  int load_name() { return push({Value::Is::expression, -1, at_, at_ + 1}); }
  int load_attr();
  int to_bool() { return is(1, Value::Is::test) ? at_ + 1 : -1; }
  int compare();
  int is_op();
  int jump_if();
  int jump_if_none();
  void bind(int node);
  void bind_rest(int node);
};

int PatternExecution::step(int at, State& state) { return PatternStep(*this, at, state).run(); }

int PartsStep::run() {
  using Step = int (PartsStep::*)();
  static constexpr OpTable<Step> steps = {&PartsStep::refuse,
                                          {{{Op::match_sequence_, Op::match_mapping_}, &PartsStep::match_shape},
                                           {{Op::match_class_}, &PartsStep::match_class},
                                           {{Op::build_tuple_}, &PartsStep::build_keys},
                                           {{Op::match_keys_}, &PartsStep::match_keys},
                                           {{Op::get_len_}, &PartsStep::get_len},
                                           {{Op::unpack_sequence_, Op::unpack_ex_}, &PartsStep::unpack},
                                           {{Op::binary_op_}, &PartsStep::subtract},
                                           {{Op::binary_subscr_}, &PartsStep::subscript},
                                           {{Op::build_map_}, &PartsStep::start_rest},
                                           {{Op::dict_update_}, &PartsStep::fill_rest},
                                           {{Op::delete_subscr_}, &PartsStep::delete_key},
                                           {{Op::copy_dict_without_keys_}, &PartsStep::delete_keys}}};
  return (this->*steps[instruction_.op])();
}

int PatternStep::run() {
  using Step = int (PatternStep::*)();
  // The instructions in `ends` may follow the first store of a name; all other instructions must precede the first
  // store.
  static constexpr OpTable<Step> ends = {
      nullptr,
      {{{Op::pop_top_}, &PatternStep::pop_top},
       {{Op::swap_, Op::rotate_}, &PatternStep::move},
       {{Op::store_fast_, Op::store_name_, Op::store_global_, Op::store_deref_}, &PatternStep::store}}};
  static constexpr OpTable<Step> tests = {
      &PatternStep::parts,
      {{{Op::copy_}, &PatternStep::copy},
       {{Op::load_const_}, &PatternStep::load_const},
       {{Op::load_int_}, &PatternStep::load_int},
       {{Op::load_fast_, Op::load_name_, Op::load_global_, Op::load_deref_, Op::load_class_deref_},
        &PatternStep::load_name},
       {{Op::load_attr_}, &PatternStep::load_attr},
       {{Op::to_bool_}, &PatternStep::to_bool},
       {{Op::compare_op_}, &PatternStep::compare},
       {{Op::is_op_}, &PatternStep::is_op},
       {{Op::pop_jump_if_false_, Op::pop_jump_if_true_}, &PatternStep::jump_if},
       {{Op::pop_jump_if_none_, Op::pop_jump_if_not_none_}, &PatternStep::jump_if_none}}};
  if (const Step end = ends[instruction_.op]) return (this->*end)();
  // Once a name is bound, the pattern tests nothing more.
  return state_.stored ? -1 : (this->*tests[instruction_.op])();
}

const Constant* PatternCursor::constant(const Value& value) const {
  if (value.is != Value::Is::constant) return nullptr;
  const Instruction& load = execution_.code_[value.begin];
  return load.op == Op::load_const_ ? &execution_.decoded_.constant(load.arg) : nullptr;
}

// True if `value` may be a value pattern, which is a literal or a dotted name. A name without a dot is never a value
// pattern, but a capture pattern.
bool PatternCursor::is_pattern_value(const Value& value) const {
  if (value.is == Value::Is::expression) return execution_.code_[value.end - 1].op == Op::load_attr_;
  if (value.is != Value::Is::constant) return false;
  const Constant* loaded = constant(value);
  return loaded ? is_value(*loaded) : execution_.code_[value.begin].op == Op::load_int_;
}
bool PatternCursor::is_pattern_singleton(const Value& value) const {
  const Constant* loaded = constant(value);
  return loaded && is_singleton(*loaded);
}
// `Constant::text` contains an integer in decimal digits.
bool PatternCursor::number(const Value& value, int& result) const {
  if (value.is != Value::Is::constant) return false;
  if (execution_.code_[value.begin].op == Op::load_int_) return result = execution_.code_[value.begin].arg, true;
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

// POP_TOP pops a key, a tuple of parts, or a part of the subject. A part that is popped without a test is a wildcard.
int PatternStep::pop_top() {
  if (count_ == 0 || is(1, Value::Is::test)) return -1;
  if (is(1, Value::Is::node)) nodes_[top(1).node].dropped = true;
  drop(1);
  return at_ + 1;
}

// SWAP and ROT_N move symbols.
int PatternStep::move() {
  if (arg_ < 2 || arg_ > count_) return -1;
  if (instruction_.op == Op::swap_) std::swap(top(1), top(arg_));
  else std::rotate(stack_.end() - arg_, stack_.end() - 1, stack_.end());
  return at_ + 1;
}

// A store binds the name to a part of the subject, or to the rest of a mapping.
int PatternStep::store() {
  state_.stored = true;
  if (is(1, Value::Is::node)) bind(top(1).node);
  else if (is(1, Value::Is::rest) && top(1).node >= 0) bind_rest(top(1).node);
  else return -1;
  drop(1);
  return at_ + 1;
}

int PatternStep::copy() {
  if (arg_ < 1 || arg_ > count_ || top(arg_).is == Value::Is::test) return -1;
  stack_.push_back(Value(top(arg_)));
  return at_ + 1;
}

int PatternStep::load_const() {
  Value loaded{Value::Is::constant, -1, at_, at_ + 1};
  if (!constant(loaded) || constant(loaded)->kind == Constant::Kind::code) return -1;
  stack_.push_back(loaded);
  return at_ + 1;
}

// Adds an attribute to a dotted name, whose instructions must be contiguous.
int PatternStep::load_attr() {
  if (!is(1, Value::Is::expression) || execution_.skip(top(1).end) != at_) return -1;
  top(1).end = at_ + 1;
  return at_ + 1;
}

// Compares the length of a sequence or mapping with a number, or a part of the subject with a value.
int PatternStep::compare() {
  if (is(2, Value::Is::length)) {
    int length;
    if (!number(top(1), length)) return -1;
    PatternNode& node = nodes_[top(2).node];
    if (arg_ != int(CompareOp::eq) && arg_ != int(CompareOp::ge)) return -1;
    node.length = length, node.at_least = arg_ == int(CompareOp::ge);
    test(2);
    return at_ + 1;
  }
  if (!is(2, Value::Is::node) || arg_ != int(CompareOp::eq) || !execution_.plain(top(2).node)) return -1;
  if (!is_pattern_value(top(1))) return -1;
  nodes_[top(2).node].kind = Kind::value;
  nodes_[top(2).node].expression = {top(1).begin, top(1).end};
  test(2);
  return at_ + 1;
}

// Handles IS_OP, which compares with a singleton. In Dynamo's code, IS_OP also compares the tuple that MATCH_CLASS or
// MATCH_KEYS pushed with None.
int PatternStep::is_op() {
  if (is(2, Value::Is::parts) && constant(top(1)) && constant(top(1))->kind == Constant::Kind::none) {
    nodes_[top(2).node].found = true;
    test(2, arg_ == 0);
    return at_ + 1;
  }
  if (!is(2, Value::Is::node) || !is_pattern_singleton(top(1)) || !execution_.plain(top(2).node)) return -1;
  nodes_[top(2).node].kind = Kind::singleton, nodes_[top(2).node].constant = top(1).begin;
  test(2, arg_ != 0);
  return at_ + 1;
}

// Continues on the path on which the pattern matches, and records the target of the other path as a failure.
int PatternStep::jump_if() {
  if (!is(1, Value::Is::test)) return -1;
  const bool fails_there = (instruction_.op == Op::pop_jump_if_true_) == (top(1).number != 0);
  drop(1);
  const InstructionIndex behind = at_ + 1;
  state_.failures.push_back({fails_there ? instruction_.target : behind, int(stack_.size())});
  return fails_there ? behind : instruction_.target;
}

// POP_JUMP_IF_NONE or its opposite is either the test of the pattern `None` or checks whether MATCH_CLASS or MATCH_KEYS
// succeeded.
int PatternStep::jump_if_none() {
  bool parts = is(1, Value::Is::parts);
  if (parts) {
    nodes_[top(1).node].found = true;
  } else {
    if (!is(1, Value::Is::node) || !execution_.plain(top(1).node)) return -1;
    nodes_[top(1).node].kind = Kind::singleton;
  }
  drop(1);
  bool fails = (instruction_.op == Op::pop_jump_if_none_) == parts;
  const InstructionIndex behind = at_ + 1;
  state_.failures.push_back({fails ? instruction_.target : behind, int(stack_.size())});
  return fails ? behind : instruction_.target;
}

// MATCH_SEQUENCE and MATCH_MAPPING leave the subject on the stack and push a bool.
int PartsStep::match_shape() {
  if (!is(1, Value::Is::node) || !execution_.plain(top(1).node)) return -1;
  nodes_[top(1).node].kind = instruction_.op == Op::match_sequence_ ? Kind::sequence : Kind::mapping;
  test(0);
  return at_ + 1;
}

// MATCH_CLASS takes the subject, the class and the names of attributes, and pushes a tuple of the subject's attributes.
int PartsStep::match_class() {
  if (!is(3, Value::Is::node) || !is(2, Value::Is::expression) || !constant(top(1)) || !execution_.plain(top(3).node))
    return -1;
  if (constant(top(1))->kind != Constant::Kind::tuple) return -1;
  int node = top(3).node;
  PatternNode& info = nodes_[node];
  info.kind = Kind::class_pattern, info.positional = arg_;
  info.expression = {top(2).begin, top(2).end}, info.constant = top(1).begin;
  info.length = arg_ + int(constant(top(1))->items.size());
  drop(3);
  push_parts(node);
  return at_ + 1;
}

// BUILD_TUPLE packs the keys of a mapping pattern, which lie above the mapping on the stack.
int PartsStep::build_keys() {
  if (arg_ >= count_) return -1;
  int mapping = stack_.end()[-arg_ - 1].node;
  if (!is(arg_ + 1, Value::Is::node) || nodes_[mapping].kind != Kind::mapping || !nodes_[mapping].keys.empty())
    return -1;
  for (int n = arg_; n > 0; --n) {
    if (!is_pattern_value(top(n)) && !is_pattern_singleton(top(n))) return -1;
    nodes_[mapping].keys.push_back({top(n).begin, top(n).end});
  }
  drop(arg_);
  stack_.push_back({Value::Is::keys, mapping});
  return at_ + 1;
}

// MATCH_KEYS takes the mapping and its keys, and pushes the tuple of values above the keys. The keys may be one
// constant tuple.
int PartsStep::match_keys() {
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
  // The code must have compared the length of the mapping with the number of keys.
  if (keys > 0 && (info.length != keys || !info.at_least)) return -1;
  info.length = keys;
  push_parts(node);
  return at_ + 1;
}

int PartsStep::get_len() {
  if (!is(1, Value::Is::node)) return -1;
  Kind kind = nodes_[top(1).node].kind;
  if (kind != Kind::sequence && kind != Kind::mapping) return -1;
  stack_.push_back({Value::Is::length, top(1).node});
  return at_ + 1;
}

// Executes UNPACK_SEQUENCE or UNPACK_EX, which unpacks a sequence into its items, the tuple that MATCH_CLASS or
// MATCH_KEYS pushed into parts of the subject, or the tuple of keys of a mapping pattern.
int PartsStep::unpack() {
  if (stack_.empty()) return -1;
  Value value = stack_.back();
  if (value.node < 0) return -1;
  stack_.pop_back();
  const bool star = instruction_.op == Op::unpack_ex_;
  const int parts = instruction_.arg + (star ? instruction_.aux + 1 : 0);
  // Unpacked keys of a mapping pattern are deleted from the dict for `**rest` one by one.
  if (value.is == Value::Is::keys) {
    for (int index = 0; index < parts; ++index) stack_.push_back(value);
    return star || parts != nodes_[value.node].length ? -1 : at_ + 1;
  }
  if (value.is == Value::Is::node) {
    PatternNode& node = nodes_[value.node];
    if (node.kind != Kind::sequence || node.unpacked || parts > search_limits::pattern_parts) return -1;
    // Before UNPACK_SEQUENCE or UNPACK_EX, the code must have compared the length of the sequence, by == without a star
    // and by >= with a star.
    int least = std::max(node.length, 0);
    if (star ? least != parts - 1 : node.at_least || least != parts) return -1;
    node.star = star ? instruction_.arg : -1;
  } else if (value.is != Value::Is::parts || star || parts != nodes_[value.node].length) {
    return -1;
  }
  if (value.is == Value::Is::parts && !nodes_[value.node].found) return -1;
  if (nodes_[value.node].unpacked) return -1;
  nodes_[value.node].unpacked = true;
  Table<int> children;
  for (int index = 0; index < parts; ++index) children.push_back(execution_.fresh());
  nodes_[value.node].children = children;
  for (int index = parts - 1; index >= 0; --index) stack_.push_back(execution_.part(children[index]));
  return at_ + 1;
}

// Executes the BINARY_OP of GET_LEN; n; BINARY_OP -, which computes an index that is counted from the end of a
// sequence.
int PartsStep::subtract() {
  int from_end;
  if (BinaryOp(arg_) != BinaryOp::subtract || !is(2, Value::Is::length) || !number(top(1), from_end)) return -1;
  int node = top(2).node;
  if (!is(3, Value::Is::node) || top(3).node != node) return -1;
  drop(2);
  stack_.push_back({Value::Is::from_end, node, 0, 0, from_end});
  return at_ + 1;
}

// Executes a BINARY_SUBSCR that takes one item of a sequence by its index. The code takes items by index instead of
// unpacking the sequence if the starred item of the pattern is the wildcard `*_`.
int PartsStep::subscript() {
  if (is(2, Value::Is::parts)) return part_at();
  if (!is(2, Value::Is::node) || nodes_[top(2).node].kind != Kind::sequence) return -1;
  int node = top(2).node, index;
  if (is(1, Value::Is::from_end)) index = -top(1).number;
  else if (!number(top(1), index)) return -1;
  int child = execution_.fresh();
  if (index < 0) nodes_[node].from_end.push_back({-index, child});
  else nodes_[node].from_start.push_back({index, child});
  drop(2);
  stack_.push_back(execution_.part(child));
  return at_ + 1;
}

// Executes the DICT_UPDATE that copies the subject, a mapping, into the dict for `**rest`.
int PartsStep::fill_rest() {
  if (arg_ < 1 || !is(1, Value::Is::node) || nodes_[top(1).node].kind != Kind::mapping ||
      !is(arg_ + 1, Value::Is::rest))
    return -1;
  top(arg_ + 1).node = top(1).node;
  drop(1);
  return at_ + 1;
}

// Executes the DELETE_SUBSCR that deletes one key of the pattern from the dict for `**rest`.
int PartsStep::delete_key() {
  if (!is(1, Value::Is::keys) || !is(2, Value::Is::rest) || top(1).node != top(2).node) return -1;
  ++nodes_[top(1).node].removed;
  drop(2);
  return at_ + 1;
}

// Executes COPY_DICT_WITHOUT_KEYS (3.10), which replaces the tuple of keys on the stack by the dict for `**rest`.
int PartsStep::delete_keys() {
  if (!is(1, Value::Is::keys)) return -1;
  nodes_[top(1).node].removed = nodes_[top(1).node].length;
  top(1) = {Value::Is::rest, top(1).node};
  return at_ + 1;
}

// Pushes the tuple that is the result of MATCH_CLASS or MATCH_KEYS for `node`. Up to 3.10, a bool above the tuple is
// true if MATCH_CLASS or MATCH_KEYS succeeded.
void PartsStep::push_parts(int node) {
  stack_.push_back({Value::Is::parts, node});
  if (!execution_.tests_are_pushed()) return;
  nodes_[node].found = true;
  stack_.push_back({Value::Is::test});
}

// Executes the BINARY_SUBSCR that takes one part of a class pattern or a mapping by its index (to 3.10): COPY 1;
// LOAD_CONST i; BINARY_SUBSCR.
int PartsStep::part_at() {
  int index, node = stack_[stack_.size() - 2].node;
  if (!number(stack_.back(), index) || index >= nodes_[node].length || nodes_[node].unpacked) return -1;
  int child = execution_.fresh();
  nodes_[node].from_start.push_back({index, child});
  stack_.resize(stack_.size() - 2);
  stack_.push_back(execution_.part(child));
  return at_ + 1;
}

// Binds the name that the current instruction stores to the part `node` of the subject, and to the parts that the same
// name has in other alternatives.
void PatternStep::bind(int node) {
  nodes_[node].stores.push_back(at_);
  for (int twin : Table<int>(nodes_[node].same)) bind(twin);
}

void PatternStep::bind_rest(int node) {
  nodes_[node].rest = at_;
  for (int twin : Table<int>(nodes_[node].same_rest)) bind_rest(twin);
}

}  // namespace depyf
