// with a: <body>          <body>; LOAD_CONST None (3 times); CALL; POP_TOP; <rest>
// <rest>                  H: PUSH_EXC_INFO; WITH_EXCEPT_START; ...; POP_TOP; POP_EXCEPT; POP_TOP; POP_TOP; <rest>
//
// where <rest> is short and returns or raises. It becomes one: the body's end goes on where a suppressed exception does.
#include "flow/exception_regions.h"

namespace depyf {
namespace {

constexpr int longest = 40;

int plain(const std::vector<Instruction>& code, const Flow& flow, int at) {
  for (int steps = 0; steps < 1000 && at >= 0; ++steps) {
    if (code[at].op == Op::jump_ && code[at].target >= 0) at = code[at].target;
    else if (code[at].op == Op::nop_) at = flow.next[at];
    else break;
  }
  return at;
}

// Do both do the same, on the same lines, in one straight line, until they leave?
bool same(const Cfg& cfg, const Flow& flow, int one, int two) {
  for (int steps = 0; steps < longest; ++steps) {
    one = plain(cfg.code, flow, one), two = plain(cfg.code, flow, two);
    if (one < 0 || two < 0) return false;
    if (one == two) return true;
    const Instruction &a = cfg.code[one], &b = cfg.code[two];
    if (a.op != b.op || a.arg != b.arg || a.aux != b.aux || a.line != b.line || a.target >= 0 || b.target >= 0)
      return false;
    if (cfg.region_of[one] != cfg.region_of[two]) return false;
    if (!falls_through(a.op)) return true;
    one = flow.next[one], two = flow.next[two];
  }
  return false;
}

// The POP_TOP after LOAD_CONST None (3 times); CALL; [await]; -1: something else is there.
int after_exit(const std::vector<Instruction>& code, const Flow& flow, int at) {
  int loads = 0;
  at = plain(code, flow, at);
  while (at >= 0 && code[at].op == Op::load_const_) ++loads, at = plain(code, flow, flow.next[at]);
  if (loads != 3 || at < 0 || (code[at].op != Op::call_ && code[at].op != Op::call_function_)) return -1;
  at = plain(code, flow, flow.next[at]);
  if (at >= 0 && code[at].op == Op::get_awaitable_)
    for (Op op : {Op::get_awaitable_, Op::load_const_, Op::yield_from_}) {
      if (at < 0 || code[at].op != op) return -1;
      at = plain(code, flow, flow.next[at]);
    }
  return at >= 0 && code[at].op == Op::pop_top_ && flow.next[at] >= 0 ? at : -1;
}

}  // namespace

void join_with_ends(const Cfg& cfg, Flow& flow, const std::vector<bool>& reachable) {
  const auto& code = cfg.code;
  for (int at = 0; at < int(code.size()); ++at) {
    if (!reachable[at] || cfg.region_of[at] < 0) continue;
    const int out = code[at].op == Op::jump_ ? code[at].target : flow.next[at];
    if (out < 0) continue;
    for (int index = cfg.region_of[at]; index >= 0 && !cfg.inside(cfg.region_of[out], index);
         index = cfg.regions[index].parent) {
      const Region& region = cfg.regions[index];
      if (region.kind != Region::Kind::with || region.follow_at < 0) continue;
      int pop = after_exit(code, flow, out);
      if (pop >= 0 && same(cfg, flow, flow.next[pop], region.follow_at)) flow.next[pop] = region.follow_at;
    }
  }
}

}  // namespace depyf
