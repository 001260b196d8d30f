// Exception ranges to a tree of statements' regions.
#pragma once
#include <vector>
#include "decode/op.h"
#include "flow/cfg.h"
namespace depyf {

// Where control goes beside what the instructions say: copies of finally bodies are jumped over.
struct Flow {
  std::vector<int> next;   // by instruction: where it falls through to; -1: nowhere
};

constexpr bool falls_through(Op op) {
  return op != Op::jump_ && op != Op::return_value_ && op != Op::raise_ && op != Op::reraise_ &&
         op != Op::end_async_for_ && op != Op::unreachable_;
}

// Fills cfg.regions and cfg.region_of from `ranges` (3.11 and later shapes of handlers).
void build_regions(Cfg& cfg, const std::vector<ProtectedRange>& ranges, const std::vector<char>& reachable);

// Compares each way out of a try_finally region with the finally body in its handler; jumps over the copies that are equal.
// A region where one way out is no copy becomes try_except (it catches all and raises again).
void remove_finally_copies(Cfg& cfg, Flow& flow, const std::vector<char>& reachable, const DecodedCode& decoded);

// By instruction: where the code stands that a copy of it starting here equals; -1: none does. Empty where no code is a copy.
std::vector<int> find_exit_copies(const Cfg& cfg, const Flow& flow, const std::vector<char>& reachable,
                                  const DecodedCode& decoded);

}  // namespace depyf
