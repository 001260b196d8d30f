#include "gate/gate.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "lower/lower.h"
#include "prove/program.h"
#include "prove/walk.h"

namespace depyf {

namespace {

// Proves pairs of an original code object and the code object that its printed source is lowered to.
class Gate {
 public:
  Gate(const LoweredTree& tree, const CodeObject& root, bool is_module, const Options& given,
       const DecodedCodes& decoded)
      : tree_(tree),
        root_(root),
        is_module_(is_module),
        most_depth_(given.limits.depth),
        decoded_(decoded),
        options_(proof_options(given)) {
    options_.steps = steps_of_all(tree);
    results_.reserve(tree.codes.size());
  }

  std::vector<CodeProof> run() {
    if (is_module_) todo_.emplace_back(&root_, &tree_.codes.front()->code);
    drain();
    // The prover appends a nested code object to `todo_` only if it has proved all code up to the load of the nested
    // code object. The following loop proves the nested code objects that the prover has not reached.
    for (const auto& lowered : tree_.codes)
      if (lowered->origin && !results_.contains(lowered->origin)) {
        todo_.emplace_back(lowered->origin, &lowered->code);
        drain();
      }
    proofs_.reserve(tree_.codes.size());
    gather(root_, false, 0);
    return std::move(proofs_);
  }

 private:
  // Returns the number of steps of symbolic execution that the proofs of the whole tree may take. The proof of real
  // code takes a few steps for each instruction; a proof that takes many more steps is not worth the time.
  static std::int64_t steps_of_all(const LoweredTree& tree) {
    constexpr std::int64_t least = 100000, of_instruction = 40;
    std::int64_t steps = least;
    for (const auto& code : tree.codes)
      steps += of_instruction * static_cast<std::int64_t>(code->decoded.instructions.size());
    return steps;
  }

  // The lifetimes of values are not compared: printed source is read and not run, so it may keep values alive longer
  // than the bytecode does.
  static ProofOptions proof_options(const Options& given) {
    ProofOptions options;
    options.lifetimes = options.list_kept = false;
    options.lockstep = ProofOptions::Lockstep::first;
    options.installed = given.installed;
    for (const auto& [name, items] : given.outputs) options.outputs[name] = static_cast<int>(items.size());
    return options;
  }

  // Proves all pairs in `todo_`, including the pairs of nested code objects that the proofs append to `todo_`.
  void drain() {
    while (!todo_.empty()) {
      const CodePair pair = todo_.back();
      todo_.pop_back();
      if (!seen_.insert(pair).second) continue;
      CodeProof proof = judge(pair);
      auto [entry, fresh] = results_.try_emplace(pair.first, proof);
      // A code object whose proof succeeds against one printed definition and fails against another counts as not
      // proved.
      if (!fresh && !proof.proved) entry->second = std::move(proof);
    }
  }

  // Returns the proof result for one pair of code objects. The parameters and flags are compared first, because the
  // code need not be executed symbolically if they differ.
  CodeProof judge(const CodePair& pair) {
    CodeProof result;
    result.code = pair.first;
    const auto lowered = tree_.by_code.find(pair.second);
    if (lowered == tree_.by_code.end()) {
      result.reason = "code that the tree does not hold";
      return result;
    }
    if (!lowered->second->failure.empty()) {
      result.reason = lowered->second->failure;
      return result;
    }
    result.reason = header_difference(*pair.first, *pair.second, !is_module_ && pair.first == &root_);
    if (!result.reason.empty()) return result;
    const auto original = [&](const CodeObject& code) {
      const auto known = decoded_.find(&code);
      return known == decoded_.end() ? decoded_anew(code) : Decoding(known->second);
    };
    // The returned pointer owns nothing, because `tree_` keeps the lowered instructions alive until `walk` has
    // returned.
    const auto of_tree = [&](const CodeObject&) -> Decoding {
      return std::shared_ptr<const DecodedCode>(std::shared_ptr<void>(), &lowered->second->decoded);
    };
    const Proof proof = walk(*pair.first, *pair.second, options_, todo_, original, of_tree);
    options_.steps -= std::min(options_.steps, proof.steps);
    result.proved = proof.proved;
    if (proof.proved) return result;
    result.reason = proof.reason;
    if (!proof.where.one.empty()) result.reason += ": " + proof.where.one + "; the source has " + proof.where.two;
    result.offset = proof.where.offset_one;
    return result;
  }

  // Appends the results for `code` and for all code objects nested in it, each once. A code object that no execution
  // reaches counts as proved if the enclosing code object is proved.
  void gather(const CodeObject& code, bool around_is_proved, std::uint32_t depth) {
    if (depth > most_depth_ || !gathered_.insert(&code).second) return;
    CodeProof& proof = proofs_.emplace_back();
    proof.code = &code;
    if (auto known = results_.find(&code); known != results_.end()) proof = std::move(known->second);
    else if (around_is_proved) proof.proved = true;
    else proof.reason = "the code around it is not proved";
    const bool is_proved = proof.proved;
    for (const Constant& constant : code.constants)
      if (constant.code) gather(*constant.code, is_proved, depth + 1);
  }

  const LoweredTree& tree_;
  const CodeObject& root_;
  const bool is_module_;
  const std::uint32_t most_depth_;
  const DecodedCodes& decoded_;
  ProofOptions options_;  // `steps` is the number of steps that the remaining proofs may take together
  std::vector<CodePair> todo_;
  std::set<CodePair> seen_;
  std::unordered_map<const CodeObject*, CodeProof> results_;
  std::unordered_set<const CodeObject*> gathered_;
  std::vector<CodeProof> proofs_;
};

}  // namespace

std::vector<CodeProof> prove_tree(ast::Block body, const CodeObject& root, bool is_module, const Options& options,
                                  const DecodedCodes& decoded) {
  // Lowering a tree needs memory besides the tree itself, so the lowered tree gets half of the memory limit.
  const LoweredTree tree = lower_tree(body, root, is_module, options.limits.tree / 2);
  return Gate(tree, root, is_module, options, decoded).run();
}

}  // namespace depyf
