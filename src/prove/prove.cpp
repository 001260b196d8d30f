#include "depyf/prove.h"

#include <set>

#include "prove/program.h"
#include "prove/walk.h"
#include "support/deep_stack.h"

namespace depyf {
namespace {

Proof prove_here(const CodeObject& one, const CodeObject& two) {
  // Nested code objects are proved once, under the assumption that all pairs hold: they hold together or not at all.
  std::vector<CodePair> todo{{&one, &two}};
  std::set<CodePair> seen;
  for (std::size_t at = 0; at < todo.size(); ++at) {
    CodePair pair = todo[at];
    if (!seen.insert(pair).second) continue;
    Proof proof;
    proof.reason = header_difference(*pair.first, *pair.second, at == 0);
    if (proof.reason.empty()) proof = walk(*pair.first, *pair.second, todo);
    if (proof.proved) continue;
    proof.where.function = pair.first->qualname;
    return proof;
  }
  return {.proved = true, .reason = {}, .where = {}};
}

}  // namespace

Proof prove(const CodeObject& one, const CodeObject& two) {
  return with_deep_stack([&] { return prove_here(one, two); });
}

}  // namespace depyf
