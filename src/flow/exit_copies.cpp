// From 3.10 on the compiler copies a short block that leaves the function to where it is jumped to:
//
//     with a:              <a>; ...; <call of exit>; POP_TOP; LOAD_FAST x; RETURN_VALUE       (a copy)
//         ...              handler: ...; POP_TOP; POP_EXCEPT; POP_TOP
//     return x             LOAD_FAST x; RETURN_VALUE                                           (the block itself)
//
// Copies have the same instructions on the same lines. So has what is left of one expression with two ends:
//
//     return a, b if c else d     <a>; <c>; POP_JUMP_IF_FALSE L; <b>; BUILD_TUPLE 2; RETURN_VALUE
//                                 L: <d>; BUILD_TUPLE 2; RETURN_VALUE
#include <algorithm>
#include <array>
#include <map>

#include "decode/decode.h"
#include "flow/exception_regions.h"

namespace depyf {
namespace {

constexpr int longest = 4;  // instructions that the compiler copies

bool leaves(Op op) { return op == Op::return_value_ || op == Op::raise_ || op == Op::reraise_; }

}  // namespace

std::vector<int> find_exit_copies(const Cfg& cfg, const Flow& flow, const std::vector<bool>& entered,
                                  const std::vector<bool>& reachable, const DecodedCode& decoded) {
  using Key = std::vector<std::array<int, 7>>;
  const std::vector<Instruction>& code = cfg.code;
  std::vector<int> original(code.size() + 1, -1);
  std::map<Key, int> blocks;
  auto position = [&](int at) {
    const std::size_t unit = code[at].offset / 2;
    return unit < decoded.code->positions.size() ? decoded.code->positions[unit] : Position{};
  };
  // The last `count` instructions that do something, back from the end of a block; where they start.
  auto is_none = [&](int constant) {
    return constant >= 0 && constant < decoded.constant_count() &&
           decoded.constant(constant).kind == Constant::Kind::none;
  };
  auto walk = [&](int end, auto&& visit) {
    Key key;
    for (int at = end; at >= 0 && int(key.size()) < longest; --at) {
      const Instruction& it = code[at];
      if (at < end && (it.target >= 0 || !falls_through(it.op))) break;
      if (it.op != Op::nop_ && it.op != Op::resume_) {
        const Position place = position(at);
        key.push_back({int(it.op), it.arg, it.aux, it.line, place.column, place.end_column, cfg.region_of[at]});
        if (visit(key, at)) break;
      }
      if (entered[at]) break;
    }
  };
  auto whole = [&](int at) {  // does a block start at `at`, or just before it?
    while (at > 0 && !entered[at] && (code[at - 1].op == Op::nop_ || code[at - 1].op == Op::resume_)) --at;
    return entered[at];
  };
  auto constant_return = [&](const Key& key) {  // each place that returns a constant does so by itself
    return key.size() == 2 && Op(key[1][0]) == Op::load_const_ && Op(key[0][0]) == Op::return_value_;
  };
  for (int end = 0; end < int(code.size()); ++end) {
    if (!leaves(code[end].op) || !reachable[end]) continue;
    walk(end, [&](const Key& key, int at) {
      if (!whole(at)) return false;
      if (!constant_return(key)) blocks[key] = at;
      return true;
    });
  }
  struct Shared {
    int start, split;  // of the statement or expression; of what takes its value
  };
  // One value of the block's own lies on the stack: where what comes next takes it, and what lay there before.
  auto rest_of_expression = [&](int end) -> Shared {
    int start = end, depth = 0, value = -1;  // where the last value of the block's own is complete
    while (start > 0 && !entered[start]) --start;
    for (int at = start; at < end; ++at) {
      StackEffect effect = stack_effect(code[at], decoded.code->version, false);
      if (code[at].op == Op::pop_top_ && depth == 0) {  // the iterator of a loop that is left
        start = at + 1, value = -1;
        continue;
      }
      if (effect.pops > depth) return {start, value};
      depth += effect.pushes - effect.pops;
      if (depth == 1 && code[at].op != Op::nop_) value = at + 1;
      if (depth == 0) start = at + 1;
    }
    // A return of None may be the end of the function, which has no place of its own: that of both instructions is one.
    const Position value_at = position(start), return_at = position(end);
    bool none = code[start].op == Op::load_const_ && is_none(code[start].arg) && start + 1 == end &&
                (value_at.column < 0 || (value_at.column == return_at.column && value_at.line == return_at.line));
    return {start, depth == 1 && !none ? end : -1};
  };
  auto shared = [&](int end, auto&& visit) {
    if (!reachable[end] || code[end].line < 0 || (code[end].op != Op::return_value_ && code[end].op != Op::raise_))
      return;
    Shared found = rest_of_expression(end);
    if (found.split < 0 || (found.split < end && decoded.code->version < Version{3, 10})) return;
    walk(end, [&](const Key& key, int at) {
      if (at == found.split) visit(key, found);
      return at == found.split;
    });
  };
  std::vector<int> before(code.size() + 1, -1);  // what falls through to it
  for (int at = 0; at < int(code.size()); ++at)
    if (int to = flow.next[at]; to >= 0 && (before[to] < 0 || to != at + 1)) before[to] = at;
  // A return whose value is made before it: is that of the same statement? Else what it returns is another value elsewhere.
  auto takes_own = [&](int at, int end) {
    if (code[end].op != Op::return_value_) return true;
    int depth = 0;
    for (int index = at; index <= end && depth >= 0; ++index) {
      StackEffect effect = stack_effect(code[index], decoded.code->version, false);
      depth =
          effect.pops > depth && code[index].op != Op::pop_top_ ? -1 : std::max(0, depth + effect.pushes - effect.pops);
    }
    int made = before[at];
    while (made >= 0 && code[made].op == Op::nop_) made = before[made];
    if (depth >= 0 || made < 0) return true;
    const Position statement = position(end);
    return code[made].line >= code[end].line && code[made].line <= std::max(code[end].line, statement.end_line);
  };
  auto same_value = [&](Shared one, Shared two) {  // copies of one statement
    if (one.split - one.start != two.split - two.start) return false;
    for (int at = one.start, other = two.start; at < one.split; ++at, ++other)
      if (code[at].op != code[other].op || code[at].arg != code[other].arg || code[at].aux != code[other].aux)
        return false;
    return true;
  };
  std::map<Key, Shared> ends;
  for (int end = 0; end < int(code.size()); ++end)
    shared(end, [&](const Key& key, Shared last) { ends.insert_or_assign(key, last); });
  for (int end = 0; end < int(code.size()); ++end) {
    if (!leaves(code[end].op) || !reachable[end]) continue;
    int start = -1, same = -1;
    shared(end, [&](const Key& key, Shared own) {
      auto last = ends.find(key);
      if (last == ends.end() || last->second.split <= own.split) return;
      if (!same_value(own, last->second)) start = own.split, same = last->second.split;
      else if (position(end).column >= 0) start = own.start, same = last->second.start;
    });
    walk(end, [&](const Key& key, int at) {
      auto found = blocks.find(key);
      if (found != blocks.end() && found->second > at && takes_own(at, end)) start = at, same = found->second;
      return false;
    });
    if (start >= 0) original[start] = same;
  }
  return original;
}

}  // namespace depyf
