// From 3.10 on the compiler copies a short block that leaves the function to where it is jumped to:
//
//     with a:              <a>; ...; <call of exit>; POP_TOP; LOAD_FAST x; RETURN_VALUE       (a copy)
//         ...              handler: ...; POP_TOP; POP_EXCEPT; POP_TOP
//     return x             LOAD_FAST x; RETURN_VALUE                                           (the block itself)
//
// Copies have the same instructions on the same lines.
#include <array>
#include <map>

#include "flow/exception_regions.h"

namespace depyf {
namespace {

constexpr int longest = 4;  // instructions that the compiler copies

bool leaves(Op op) { return op == Op::return_value_ || op == Op::raise_ || op == Op::reraise_; }

}  // namespace

std::vector<int> find_exit_copies(const Cfg& cfg, const std::vector<bool>& leader, const std::vector<bool>& reachable) {
  using Key = std::vector<std::array<int, 5>>;
  const std::vector<Instruction>& code = cfg.code;
  std::vector<int> original(code.size() + 1, -1);
  std::map<Key, int> blocks;
  // The last `count` instructions that do something, back from the end of a block; where they start.
  auto walk = [&](int end, auto&& visit) {
    Key key;
    for (int at = end; at >= 0 && int(key.size()) < longest; --at) {
      const Instruction& it = code[at];
      if (at < end && (it.target >= 0 || !falls_through(it.op))) break;
      if (it.op != Op::nop_ && it.op != Op::resume_) {
        key.push_back({int(it.op), it.arg, it.aux, it.line, cfg.region_of[at]});
        if (visit(key, at)) break;
      }
      if (leader[at]) break;
    }
  };
  auto whole = [&](int at) {  // does a block start at `at`, or just before it?
    while (at > 0 && !leader[at] && (code[at - 1].op == Op::nop_ || code[at - 1].op == Op::resume_)) --at;
    return leader[at];
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
  for (int end = 0; end < int(code.size()); ++end) {
    if (!leaves(code[end].op) || !reachable[end]) continue;
    int start = -1, same = -1;
    walk(end, [&](const Key& key, int at) {
      if (auto found = blocks.find(key); found != blocks.end() && found->second > at) start = at, same = found->second;
      return false;
    });
    if (start >= 0) original[start] = same;
  }
  return original;
}

}  // namespace depyf
