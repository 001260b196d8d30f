#include "depyf/prove.h"

#include <algorithm>
#include <set>

#include "decode/decode.h"
#include "depyf/code_object.h"
#include "prove/program.h"
#include "prove/walk.h"
#include "support/deep_stack.h"

namespace depyf {
namespace {

// Returns every index at which `nested` is among the constants of `code`.
std::vector<std::int32_t> indices_of(const CodeObject& nested, const CodeObject& code) {
  std::vector<std::int32_t> result;
  for (std::size_t index = 0; index < code.constants.size(); ++index) {
    if (code.constants[index].code.get() == &nested) result.push_back(static_cast<std::int32_t>(index));
  }
  return result;
}

// Returns the value of Proof::nested: for each pair of code objects in `pairs`, their indices in the constants of `one`
// and `two`. The walk over the outermost code objects, `one` and `two`, has found `pairs`.
std::vector<std::pair<std::int32_t, std::int32_t>> nested_pairs(const std::set<CodePair>& pairs, const CodeObject& one,
                                                                const CodeObject& two) {
  std::vector<std::pair<std::int32_t, std::int32_t>> result;
  for (auto [left, right] : pairs) {
    for (std::int32_t i : indices_of(*left, one)) {
      for (std::int32_t j : indices_of(*right, two)) result.emplace_back(i, j);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Turns values that are kept too long into a failure of the proof, with the first such value as its reason.
void judge_lifetimes(Proof& proof) {
  const KeptValue& first = proof.kept.front();
  proof.proved = false;
  proof.reason = first.value + " is kept alive longer";
  if (!first.local.empty()) proof.reason += ", by " + first.local;
  proof.where.function = first.function;
  proof.where.offset_two = first.offset;
  proof.where.line_two = first.line;
  proof.where.two = first.effect;
}

Proof prove_here(const CodeObject& one, const CodeObject& two, const ProofOptions& options) {
  // Each pair of nested code objects is proved once, under the assumption that all pairs are equivalent. The whole
  // proof fails if the proof of one pair fails.
  std::vector<CodePair> todo{{&one, &two}};
  std::set<CodePair> seen, outermost;
  std::vector<KeptValue> kept;
  const auto decoder = [](const CodeObject& code) { return decoded_anew(code); };
  // The walk appends nested pairs to `todo` while the loop runs.
  for (std::size_t at = 0; at < todo.size(); ++at) {
    CodePair pair = todo[at];
    if (!seen.insert(pair).second) continue;
    Proof proof;
    proof.reason = header_difference(*pair.first, *pair.second, at == 0);
    if (proof.reason.empty()) proof = walk(*pair.first, *pair.second, options, todo, decoder, decoder);
    for (KeptValue& value : proof.kept) {
      value.outermost = at == 0;
      kept.push_back(std::move(value));
    }
    if (at == 0) outermost = {todo.begin() + 1, todo.end()};
    if (proof.proved) continue;
    proof.kept.clear();
    proof.where.function = pair.first->qualname;
    return proof;
  }
  Proof proof{.proved = true,
              .same_effects = true,
              .reason = {},
              .where = {},
              .nested = nested_pairs(outermost, one, two),
              .kept = std::move(kept)};
  if (options.lifetimes && !proof.kept.empty()) judge_lifetimes(proof);
  return proof;
}

}  // namespace

Proof prove(const CodeObject& one, const CodeObject& two, const ProofOptions& options) {
  // Constants and code objects may nest deeply, so the proof runs on a large stack.
  return with_deep_stack([&] { return prove_here(one, two, options); });
}

}  // namespace depyf
