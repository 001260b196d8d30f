// The match statement. Names are bound once the whole pattern has matched: until then their values wait on the stack,
// below what the pattern itself has there.
#include <algorithm>

#include "ast/overloaded.h"
#include "decode/op.h"
#include "lower/expressions.h"
#include "lower/matching.h"
#include "lower/statements.h"

namespace depyf::lowering {
using namespace ast;

struct PatternState {
  std::vector<std::string_view> names;  // whose values wait on the stack, the first deepest
  std::vector<Label> failures;          // by the number of values to pop
  int on_top = 0;                       // values above those that wait
};

namespace {

bool is_wildcard(const Pattern* pattern) {
  auto* node = as<MatchAs>(pattern);
  return node && node->name.empty() && !node->pattern;
}

void sequence_pattern(Unit& unit, const ast::MatchSequence& node, PatternState& state);
void mapping_pattern(Unit& unit, const ast::MatchMapping& node, PatternState& state);
void class_pattern(Unit& unit, const ast::MatchClass& node, PatternState& state);
void or_pattern(Unit& unit, const ast::MatchOr& node, PatternState& state);

// Where the pattern fails: pops what it left on the stack.
void fail_points(Assembler& code, PatternState& state) {
  while (state.failures.size() > 1) {
    code.place(state.failures.back());
    code.emit(Op::pop_top_);
    state.failures.pop_back();
  }
  if (!state.failures.empty()) code.place(state.failures[0]);
  state.failures.clear();
}

void fail_if(Assembler& code, Op op, PatternState& state) {
  const std::size_t pops = static_cast<std::size_t>(state.on_top) + state.names.size();
  while (state.failures.size() <= pops) state.failures.push_back(code.label());
  // Each label is reached with one value more than the one before.
  code.jump(op, state.failures[pops]);
  for (std::size_t i = 0; i < pops; ++i) {
    std::int32_t& depth = code.depth_at(state.failures[i]);
    if (depth < 0) depth = code.depth_at(state.failures[pops]) - static_cast<std::int32_t>(pops - i);
  }
}

void capture(Assembler& code, std::string_view name, PatternState& state) {
  if (name.empty()) {
    code.emit(Op::pop_top_);
    return;
  }
  const std::int32_t places = state.on_top + static_cast<std::int32_t>(state.names.size()) + 1;
  if (places > 1) code.emit(Op::rotate_, places);
  state.names.push_back(name);
}

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
  if (star < 0 || size > 1) {
    unit.code.emit(Op::get_len_);
    unit.code.load_integer(star < 0 ? size : size - 1);
    unit.code.emit(Op::compare_op_, static_cast<std::int32_t>(star < 0 ? CompareOp::eq : CompareOp::ge));
    fail_if(unit.code, Op::pop_jump_if_false_, state);
  }
  --state.on_top;
  if (only_wildcards) {
    unit.code.emit(Op::pop_top_);
    return;
  }
  if (star_is_wildcard) {
    ++state.on_top;
    for (std::int32_t i = 0; i < size; ++i) {
      const Pattern* each = node.patterns[static_cast<std::size_t>(i)];
      if (i == star || is_wildcard(each)) continue;
      unit.code.emit(Op::copy_, 1);
      if (i < star) {
        unit.code.load_integer(i);
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

// To 3.10 parts are taken out of the tuple of values one by one.
void parts_by_index(Unit& unit, List<Pattern*> patterns, std::size_t first, PatternState& state) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (is_wildcard(patterns[i])) continue;
    unit.code.emit(Op::copy_, 1);
    unit.code.load_integer(static_cast<std::int64_t>(first + i));
    unit.code.emit(Op::binary_subscr_);
    pattern(unit, patterns[i], state);
  }
}

void fail_if_none(Assembler& code, PatternState& state) {
  code.emit(Op::copy_, 1);
  code.load_none();
  code.emit(Op::is_op_, 1);
  fail_if(code, Op::pop_jump_if_false_, state);
}

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
  if (size > 0) {
    unit.code.emit(Op::get_len_);
    unit.code.load_integer(size);
    unit.code.emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::ge));
    fail_if(unit.code, Op::pop_jump_if_false_, state);
  }
  exprs(unit, node.keys);
  unit.code.emit(Op::build_tuple_, size);
  unit.code.emit(Op::match_keys_);
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
  unit.code.load(names);
  unit.code.emit(Op::match_class_, positional);
  ++state.on_top;
  fail_if_none(unit.code, state);
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

void or_pattern(Unit& unit, const MatchOr& node, PatternState& state) {
  const Label end = unit.code.label();
  std::vector<std::string_view> control;
  for (std::size_t i = 0; i < node.patterns.size(); ++i) {
    PatternState alternative;
    unit.code.emit(Op::copy_, 1);
    pattern(unit, node.patterns[i], alternative);
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
  const auto rotations =
      static_cast<std::int32_t>(control.size() + 1 + static_cast<std::size_t>(state.on_top) + state.names.size());
  for (std::string_view bound : control) {
    unit.code.emit(Op::rotate_, rotations);
    state.names.push_back(bound);
  }
  unit.code.emit(Op::pop_top_);
}

}  // namespace

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
