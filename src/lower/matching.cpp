// Lowers match statements to the instructions that compiler_match in CPython's compiler emits (see
// flow/pattern_parser.cpp). Names are bound only when the whole pattern has matched; until then, the values for the
// names are kept on the stack below the operands of the remaining tests.
#include <algorithm>

#include "ast/overloaded.h"
#include "decode/op.h"
#include "lower/expressions.h"
#include "lower/matching.h"
#include "lower/statements.h"

namespace depyf::lowering {
using namespace ast;

// The state of the pattern that is being emitted.
struct PatternState {
  std::vector<std::string_view> names;  // the captured names whose values are on the stack, the topmost first
  std::vector<Label> failures;  // the targets of failed tests, indexed by the number of values to pop
  int on_top = 0;  // the number of values above the values of `names`
};

namespace {

// True for the pattern `_`.
bool is_wildcard(const Pattern* pattern) {
  auto* node = as<MatchAs>(pattern);
  return node && node->name.empty() && !node->pattern;
}

void sequence_pattern(Unit& unit, const ast::MatchSequence& node, PatternState& state);
void mapping_pattern(Unit& unit, const ast::MatchMapping& node, PatternState& state);
void class_pattern(Unit& unit, const ast::MatchClass& node, PatternState& state);
void or_pattern(Unit& unit, const ast::MatchOr& node, PatternState& state);

// Places the labels for failures: each label pops one value and falls through to the next, until no value of the
// pattern is left on the stack.
void fail_points(Assembler& code, PatternState& state) {
  while (state.failures.size() > 1) {
    code.place(state.failures.back());
    code.emit(Op::pop_top_);
    state.failures.pop_back();
  }
  if (!state.failures.empty()) code.place(state.failures[0]);
  state.failures.clear();
}

// Emits the jump `op` of a failed test. The jump leads to the label that pops all values that the pattern has on the
// stack.
void fail_if(Assembler& code, Op op, PatternState& state) {
  const std::size_t pops = static_cast<std::size_t>(state.on_top) + state.names.size();
  while (state.failures.size() <= pops) state.failures.push_back(code.label());
  // At each label in `failures`, the stack has one value more than at the label before it.
  code.jump(op, state.failures[pops]);
  for (std::size_t i = 0; i < pops; ++i) {
    std::int32_t& depth = code.depth_at(state.failures[i]);
    if (depth < 0) depth = code.depth_at(state.failures[pops]) - static_cast<std::int32_t>(pops - i);
  }
}

// Keeps the value on top of the stack for the name `name`, by moving the value below the values of the pattern. If
// `name` is empty, pops the value.
void capture(Assembler& code, std::string_view name, PatternState& state) {
  if (name.empty()) {
    code.emit(Op::pop_top_);
    return;
  }
  // ROT_N moves the value below the values that the pattern needs and below the values of earlier names.
  const std::int32_t places = state.on_top + static_cast<std::int32_t>(state.names.size()) + 1;
  if (places > 1) code.emit(Op::rotate_, places);
  state.names.push_back(name);
}

// Emits the tests of a pattern, which pop the subject from the top of the stack.
void pattern(Unit& unit, const Pattern* whole, PatternState& state) {
  if (!whole) fail("a pattern that is missing");
  std::visit(Overloaded{
                 [&](const MatchValue& n) {
                   expr(unit, n.value);
                   unit.code.emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::eq));
                   fail_if(unit.code, Op::pop_jump_if_false_, state);
                 },
                 [&](const MatchSingleton& n) {
                   unit.code.load(*n.value);
                   unit.code.emit(Op::is_op_, 0);
                   fail_if(unit.code, Op::pop_jump_if_false_, state);
                 },
                 [&](const MatchSequence& n) { sequence_pattern(unit, n, state); },
                 [&](const MatchMapping& n) { mapping_pattern(unit, n, state); },
                 [&](const MatchClass& n) { class_pattern(unit, n, state); },
                 [&](const MatchStar& n) { capture(unit.code, n.name, state); },
                 // `p as name` tests `p` on a copy of the value.
                 [&](const MatchAs& n) {
                   if (n.pattern) {
                     ++state.on_top;
                     unit.code.emit(Op::copy_, 1);
                     pattern(unit, n.pattern, state);
                     --state.on_top;
                   }
                   capture(unit.code, n.name, state);
                 },
                 [&](const MatchOr& n) { or_pattern(unit, n, state); },
             },
             whole->node);
}

// Emits the tests for [p, q, *rest]: the subject must be a sequence of the right length, and is unpacked, or
// subscripted if the star is the wildcard `*_`.
void sequence_pattern(Unit& unit, const MatchSequence& node, PatternState& state) {
  const auto size = static_cast<std::int32_t>(node.patterns.size());
  std::int32_t star = -1;
  bool only_wildcards = true, star_is_wildcard = false;
  for (std::int32_t i = 0; i < size; ++i) {
    const Pattern* each = node.patterns[static_cast<std::size_t>(i)];
    if (auto* starred = as<MatchStar>(each)) {
      star = i;
      star_is_wildcard = starred->name.empty();
      only_wildcards = only_wildcards && star_is_wildcard;
    } else {
      only_wildcards = only_wildcards && is_wildcard(each);
    }
  }
  ++state.on_top;
  unit.code.emit(Op::match_sequence_);
  fail_if(unit.code, Op::pop_jump_if_false_, state);
  // The patterns [*_] and [*rest] match a sequence of any length.
  if (star < 0 || size > 1) {
    unit.code.emit(Op::get_len_);
    unit.code.load_integer(star < 0 ? size : size - 1);
    unit.code.emit(Op::compare_op_, static_cast<std::int32_t>(star < 0 ? CompareOp::eq : CompareOp::ge));
    fail_if(unit.code, Op::pop_jump_if_false_, state);
  }
  --state.on_top;
  // If all items are wildcards, no item of the sequence is loaded.
  if (only_wildcards) {
    unit.code.emit(Op::pop_top_);
    return;
  }
  // Unpacking would build a list for `*_`, so each item is loaded by its index.
  if (star_is_wildcard) {
    ++state.on_top;
    for (std::int32_t i = 0; i < size; ++i) {
      const Pattern* each = node.patterns[static_cast<std::size_t>(i)];
      if (i == star || is_wildcard(each)) continue;
      unit.code.emit(Op::copy_, 1);
      if (i < star) {
        unit.code.load_integer(i);
        // Items behind the star are counted from the end.
      } else {
        unit.code.emit(Op::get_len_);
        unit.code.load_integer(size - i);
        unit.code.emit(Op::binary_op_, static_cast<std::int32_t>(BinaryOp::subtract));
      }
      unit.code.emit(Op::binary_subscr_);
      pattern(unit, each, state);
    }
    --state.on_top;
    unit.code.emit(Op::pop_top_);
    return;
  }
  if (star < 0) unit.code.emit(Op::unpack_sequence_, size);
  else unit.code.emit(Op::unpack_ex_, star, size - star - 1);
  state.on_top += size;
  for (const Pattern* each : node.patterns) {
    --state.on_top;
    pattern(unit, each, state);
  }
}

// Emits the tests of `patterns` for the items of the tuple on top of the stack, from item `first` on. The code that
// CPython 3.10 emits loads each item by its index.
void parts_by_index(Unit& unit, List<Pattern*> patterns, std::size_t first, PatternState& state) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (is_wildcard(patterns[i])) continue;
    unit.code.emit(Op::copy_, 1);
    unit.code.load_integer(static_cast<std::int64_t>(first + i));
    unit.code.emit(Op::binary_subscr_);
    pattern(unit, patterns[i], state);
  }
}

// Emits the test for None, which MATCH_KEYS and MATCH_CLASS push if the subject does not match.
void fail_if_none(Assembler& code, PatternState& state) {
  code.emit(Op::copy_, 1);
  code.load_none();
  code.emit(Op::is_op_, 1);
  fail_if(code, Op::pop_jump_if_false_, state);
}

// Emits the tests for {k: p, **rest}: the subject must be a mapping with enough items, whose values for the keys are
// loaded as a tuple.
void mapping_pattern(Unit& unit, const MatchMapping& node, PatternState& state) {
  const auto size = static_cast<std::int32_t>(node.keys.size());
  ++state.on_top;
  unit.code.emit(Op::match_mapping_);
  fail_if(unit.code, Op::pop_jump_if_false_, state);
  if (size == 0 && node.rest.empty()) {
    --state.on_top;
    unit.code.emit(Op::pop_top_);
    return;
  }
  // A mapping with fewer items than the pattern has keys cannot have all the keys.
  if (size > 0) {
    unit.code.emit(Op::get_len_);
    unit.code.load_integer(size);
    unit.code.emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::ge));
    fail_if(unit.code, Op::pop_jump_if_false_, state);
  }
  exprs(unit, node.keys);
  unit.code.emit(Op::build_tuple_, size);
  unit.code.emit(Op::match_keys_);
  // The keys and the tuple of values lie above the mapping on the stack.
  state.on_top += 2;
  fail_if_none(unit.code, state);
  if (unit.dialect.pushed_pattern_tests) {
    parts_by_index(unit, node.patterns, 0, state);
    unit.code.emit(Op::pop_top_);
    state.on_top -= 2;
    if (node.rest.empty()) {
      unit.code.emit(Op::pop_top_);
    } else {
      unit.code.emit(Op::copy_dict_without_keys_);
      capture(unit.code, node.rest, state);
    }
    --state.on_top;
    unit.code.emit(Op::pop_top_);
    return;
  }
  unit.code.emit(Op::unpack_sequence_, size);
  state.on_top += size - 1;
  for (const Pattern* each : node.patterns) {
    --state.on_top;
    pattern(unit, each, state);
  }
  state.on_top -= 2;
  if (node.rest.empty()) {
    unit.code.emit(Op::pop_top_);
    unit.code.emit(Op::pop_top_);
    return;
  }
  // The value of `**rest` is a copy of the mapping without the keys: BUILD_MAP 0; SWAP 3; DICT_UPDATE 2, and a deletion
  // for each key.
  unit.code.emit(Op::build_map_, 0);
  unit.code.emit(Op::swap_, 3);
  unit.code.emit(Op::dict_update_, 2);
  unit.code.emit(Op::unpack_sequence_, size);
  for (std::int32_t left = size; left > 0; --left) {
    unit.code.emit(Op::copy_, 1 + left);
    unit.code.emit(Op::swap_, 2);
    unit.code.emit(Op::delete_subscr_);
  }
  capture(unit.code, node.rest, state);
}

// Emits the tests for C(p, a=q). MATCH_CLASS pushes the tuple of attributes, or None if the subject does not match.
void class_pattern(Unit& unit, const MatchClass& node, PatternState& state) {
  const auto positional = static_cast<std::int32_t>(node.patterns.size());
  const auto named_count = static_cast<std::int32_t>(node.kwd_patterns.size());
  expr(unit, node.cls);
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (std::string_view attribute : node.kwd_attrs) {
    Constant& text = names.items.emplace_back();
    text.kind = Constant::Kind::string;
    text.text = attribute;
  }
  unit.code.load(std::move(names));
  unit.code.emit(Op::match_class_, positional);
  ++state.on_top;
  fail_if_none(unit.code, state);
  // The code that CPython 3.10 emits loads the items of the tuple of attributes by their indices.
  if (unit.dialect.pushed_pattern_tests) {
    parts_by_index(unit, node.patterns, 0, state);
    parts_by_index(unit, node.kwd_patterns, node.patterns.size(), state);
    --state.on_top;
    unit.code.emit(Op::pop_top_);
    return;
  }
  unit.code.emit(Op::unpack_sequence_, positional + named_count);
  state.on_top += positional + named_count - 1;
  for (List<Pattern*> list : {node.patterns, node.kwd_patterns})
    for (const Pattern* each : list) {
      --state.on_top;
      if (is_wildcard(each)) unit.code.emit(Op::pop_top_);
      else pattern(unit, each, state);
    }
}

// Emits the tests of `p | q` on copies of the subject. All alternatives must leave the values of the captured names on
// the stack in the order of the first alternative.
void or_pattern(Unit& unit, const MatchOr& node, PatternState& state) {
  const Label end = unit.code.label();
  std::vector<std::string_view> control;
  for (std::size_t i = 0; i < node.patterns.size(); ++i) {
    PatternState alternative;
    unit.code.emit(Op::copy_, 1);
    pattern(unit, node.patterns[i], alternative);
    // As in CPython, rotations sort the values of the names into the order of the first alternative.
    std::vector<std::string_view>& names = alternative.names;
    if (i == 0) control = names;
    if (names.size() != control.size()) fail("alternatives that bind different names");
    for (std::size_t place = names.size(); place-- > 0;) {
      const auto found = std::ranges::find(names, control[place]);
      if (found == names.end()) fail("alternatives that bind different names");
      const auto index = static_cast<std::size_t>(found - names.begin());
      if (index == place) continue;
      std::vector<std::string_view> moved(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(index) + 1);
      names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(index) + 1);
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(place - index), moved.begin(), moved.end());
      for (std::size_t turn = 0; turn <= index; ++turn)
        unit.code.emit(Op::rotate_, static_cast<std::int32_t>(place) + 1);
    }
    unit.code.jump(Op::jump_, end);
    fail_points(unit.code, alternative);
  }
  unit.code.emit(Op::pop_top_);
  fail_if(unit.code, Op::jump_, state);
  unit.code.place(end);
  // The values of the captured names are moved below the values that the enclosing pattern has on the stack.
  const auto rotations =
      static_cast<std::int32_t>(control.size() + 1 + static_cast<std::size_t>(state.on_top) + state.names.size());
  for (std::string_view bound : control) {
    unit.code.emit(Op::rotate_, rotations);
    state.names.push_back(bound);
  }
  unit.code.emit(Op::pop_top_);
}

}  // namespace

// Emits a match statement. All cases but the last test a copy of the subject; a last `case _` needs no subject at all.
void match_stmt(Unit& unit, const Match& node) {
  expr(unit, node.subject);
  const Label end = unit.code.label();
  const std::size_t count = node.cases.size();
  const bool has_default = count > 1 && is_wildcard(node.cases.back().pattern);
  const std::size_t tested = count - has_default;
  for (std::size_t i = 0; i < tested; ++i) {
    const MatchCase& each = node.cases[i];
    const bool last = i + 1 == tested;
    if (!last) unit.code.emit(Op::copy_, 1);
    PatternState state;
    pattern(unit, each.pattern, state);
    for (std::string_view bound : state.names) unit.names.name(bound, Access::store);
    // A failed guard jumps to the next case and pops nothing, because no value of the pattern is left on the stack.
    if (each.guard) {
      if (state.failures.empty()) state.failures.push_back(unit.code.label());
      condition(unit, each.guard, state.failures[0], false);
    }
    if (!last) unit.code.emit(Op::pop_top_);
    block(unit, each.body);
    unit.code.jump(Op::jump_, end);
    fail_points(unit.code, state);
  }
  if (has_default) {
    const MatchCase& each = node.cases.back();
    if (each.guard) condition(unit, each.guard, end, false);
    block(unit, each.body);
  }
  unit.code.place(end);
}

}  // namespace depyf::lowering
