// The match statement. Names are bound once the whole pattern has matched: until then their values wait on the stack,
// below what the pattern itself has there.
#include <algorithm>

#include "ast/overloaded.h"
#include "lower/lowerer.h"

namespace depyf::lowering {
using namespace ast;

struct Lowerer::PatternState {
  std::vector<std::string_view> names;  // whose values wait on the stack, the first deepest
  std::vector<Label> failures;          // by the number of values to pop
  int on_top = 0;                       // values above those that wait
};

namespace {

bool is_wildcard(const Pattern* pattern) {
  auto* node = as<MatchAs>(pattern);
  return node && node->name.empty() && !node->pattern;
}

}  // namespace

void Lowerer::match(const Match& node) {
  expr(node.subject);
  const Label end = label();
  const std::size_t count = node.cases.size();
  const bool has_default = count > 1 && is_wildcard(node.cases.back().pattern);
  const std::size_t tested = count - has_default;
  for (std::size_t i = 0; i < tested; ++i) {
    const MatchCase& each = node.cases[i];
    const bool last = i + 1 == tested;
    if (!last) emit(Op::copy_, 1);
    PatternState state;
    pattern(each.pattern, state);
    for (std::string_view bound : state.names) name(bound, Access::store);
    if (each.guard) {
      if (state.failures.empty()) state.failures.push_back(label());
      condition(each.guard, state.failures[0], false);
    }
    if (!last) emit(Op::pop_top_);
    block(each.body);
    jump(Op::jump_, end);
    fail_points(state);
  }
  if (has_default) {
    const MatchCase& each = node.cases.back();
    if (each.guard) condition(each.guard, end, false);
    block(each.body);
  }
  place(end);
}

// Where the pattern fails: pops what it left on the stack.
void Lowerer::fail_points(PatternState& state) {
  while (state.failures.size() > 1) {
    place(state.failures.back());
    emit(Op::pop_top_);
    state.failures.pop_back();
  }
  if (!state.failures.empty()) place(state.failures[0]);
  state.failures.clear();
}

void Lowerer::fail_if(Op op, PatternState& state) {
  const std::size_t pops = static_cast<std::size_t>(state.on_top) + state.names.size();
  while (state.failures.size() <= pops) state.failures.push_back(label());
  // Each label is reached with one value more than the one before.
  jump(op, state.failures[pops]);
  for (std::size_t i = 0; i < pops; ++i) {
    std::int32_t& depth = label_depth_[static_cast<std::size_t>(state.failures[i])];
    if (depth < 0)
      depth = label_depth_[static_cast<std::size_t>(state.failures[pops])] - static_cast<std::int32_t>(pops - i);
  }
}

void Lowerer::capture(std::string_view name, PatternState& state) {
  if (name.empty()) {
    emit(Op::pop_top_);
    return;
  }
  const std::int32_t places = state.on_top + static_cast<std::int32_t>(state.names.size()) + 1;
  if (places > 1) emit(Op::rotate_, places);
  state.names.push_back(name);
}

void Lowerer::pattern(const Pattern* pattern, PatternState& state) {
  if (!pattern) fail("a pattern that is missing");
  std::visit(Overloaded{
                 [&](const MatchValue& n) {
                   expr(n.value);
                   emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::eq));
                   fail_if(Op::pop_jump_if_false_, state);
                 },
                 [&](const MatchSingleton& n) {
                   load(*n.value);
                   emit(Op::is_op_, 0);
                   fail_if(Op::pop_jump_if_false_, state);
                 },
                 [&](const MatchSequence& n) { sequence_pattern(n, state); },
                 [&](const MatchMapping& n) { mapping_pattern(n, state); },
                 [&](const MatchClass& n) { class_pattern(n, state); },
                 [&](const MatchStar& n) { capture(n.name, state); },
                 [&](const MatchAs& n) {
                   if (n.pattern) {
                     ++state.on_top;
                     emit(Op::copy_, 1);
                     this->pattern(n.pattern, state);
                     --state.on_top;
                   }
                   capture(n.name, state);
                 },
                 [&](const MatchOr& n) { or_pattern(n, state); },
             },
             pattern->node);
}

void Lowerer::sequence_pattern(const MatchSequence& node, PatternState& state) {
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
  emit(Op::match_sequence_);
  fail_if(Op::pop_jump_if_false_, state);
  if (star < 0 || size > 1) {
    emit(Op::get_len_);
    load_integer(star < 0 ? size : size - 1);
    emit(Op::compare_op_, static_cast<std::int32_t>(star < 0 ? CompareOp::eq : CompareOp::ge));
    fail_if(Op::pop_jump_if_false_, state);
  }
  --state.on_top;
  if (only_wildcards) {
    emit(Op::pop_top_);
    return;
  }
  if (star_is_wildcard) {
    ++state.on_top;
    for (std::int32_t i = 0; i < size; ++i) {
      const Pattern* each = node.patterns[static_cast<std::size_t>(i)];
      if (i == star || is_wildcard(each)) continue;
      emit(Op::copy_, 1);
      if (i < star) {
        load_integer(i);
      } else {
        emit(Op::get_len_);
        load_integer(size - i);
        emit(Op::binary_op_, static_cast<std::int32_t>(BinaryOp::subtract));
      }
      emit(Op::binary_subscr_);
      pattern(each, state);
    }
    --state.on_top;
    emit(Op::pop_top_);
    return;
  }
  if (star < 0) emit(Op::unpack_sequence_, size);
  else emit(Op::unpack_ex_, star, size - star - 1);
  state.on_top += size;
  for (const Pattern* each : node.patterns) {
    --state.on_top;
    pattern(each, state);
  }
}

// To 3.10 parts are taken out of the tuple of values one by one.
void Lowerer::parts_by_index(List<Pattern*> patterns, std::size_t first, PatternState& state) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (is_wildcard(patterns[i])) continue;
    emit(Op::copy_, 1);
    load_integer(static_cast<std::int64_t>(first + i));
    emit(Op::binary_subscr_);
    pattern(patterns[i], state);
  }
}

void Lowerer::fail_if_none(PatternState& state) {
  emit(Op::copy_, 1);
  load_none();
  emit(Op::is_op_, 1);
  fail_if(Op::pop_jump_if_false_, state);
}

void Lowerer::mapping_pattern(const MatchMapping& node, PatternState& state) {
  const auto size = static_cast<std::int32_t>(node.keys.size());
  ++state.on_top;
  emit(Op::match_mapping_);
  fail_if(Op::pop_jump_if_false_, state);
  if (size == 0 && node.rest.empty()) {
    --state.on_top;
    emit(Op::pop_top_);
    return;
  }
  if (size > 0) {
    emit(Op::get_len_);
    load_integer(size);
    emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::ge));
    fail_if(Op::pop_jump_if_false_, state);
  }
  exprs(node.keys);
  emit(Op::build_tuple_, size);
  emit(Op::match_keys_);
  state.on_top += 2;
  fail_if_none(state);
  if (dialect_.pushed_pattern_tests) {
    parts_by_index(node.patterns, 0, state);
    emit(Op::pop_top_);
    state.on_top -= 2;
    if (node.rest.empty()) {
      emit(Op::pop_top_);
    } else {
      emit(Op::copy_dict_without_keys_);
      capture(node.rest, state);
    }
    --state.on_top;
    emit(Op::pop_top_);
    return;
  }
  emit(Op::unpack_sequence_, size);
  state.on_top += size - 1;
  for (const Pattern* each : node.patterns) {
    --state.on_top;
    pattern(each, state);
  }
  state.on_top -= 2;
  if (node.rest.empty()) {
    emit(Op::pop_top_);
    emit(Op::pop_top_);
    return;
  }
  emit(Op::build_map_, 0);
  emit(Op::swap_, 3);
  emit(Op::dict_update_, 2);
  emit(Op::unpack_sequence_, size);
  for (std::int32_t left = size; left > 0; --left) {
    emit(Op::copy_, 1 + left);
    emit(Op::swap_, 2);
    emit(Op::delete_subscr_);
  }
  capture(node.rest, state);
}

void Lowerer::class_pattern(const MatchClass& node, PatternState& state) {
  const auto positional = static_cast<std::int32_t>(node.patterns.size());
  const auto named_count = static_cast<std::int32_t>(node.kwd_patterns.size());
  expr(node.cls);
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (std::string_view attribute : node.kwd_attrs) {
    Constant& text = names.items.emplace_back();
    text.kind = Constant::Kind::string;
    text.text = attribute;
  }
  load(names);
  emit(Op::match_class_, positional);
  ++state.on_top;
  fail_if_none(state);
  if (dialect_.pushed_pattern_tests) {
    parts_by_index(node.patterns, 0, state);
    parts_by_index(node.kwd_patterns, node.patterns.size(), state);
    --state.on_top;
    emit(Op::pop_top_);
    return;
  }
  emit(Op::unpack_sequence_, positional + named_count);
  state.on_top += positional + named_count - 1;
  for (List<Pattern*> list : {node.patterns, node.kwd_patterns})
    for (const Pattern* each : list) {
      --state.on_top;
      if (is_wildcard(each)) emit(Op::pop_top_);
      else pattern(each, state);
    }
}

void Lowerer::or_pattern(const MatchOr& node, PatternState& state) {
  const Label end = label();
  std::vector<std::string_view> control;
  for (std::size_t i = 0; i < node.patterns.size(); ++i) {
    PatternState alternative;
    emit(Op::copy_, 1);
    pattern(node.patterns[i], alternative);
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
      for (std::size_t turn = 0; turn <= index; ++turn) emit(Op::rotate_, static_cast<std::int32_t>(place) + 1);
    }
    jump(Op::jump_, end);
    fail_points(alternative);
  }
  emit(Op::pop_top_);
  fail_if(Op::jump_, state);
  place(end);
  const auto rotations =
      static_cast<std::int32_t>(control.size() + 1 + static_cast<std::size_t>(state.on_top) + state.names.size());
  for (std::string_view bound : control) {
    emit(Op::rotate_, rotations);
    state.names.push_back(bound);
  }
  emit(Op::pop_top_);
}

}  // namespace depyf::lowering
