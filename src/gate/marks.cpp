#include "gate/marks.h"

#include <set>
#include <unordered_map>

#include "ast/visit.h"
#include "refine/refine.h"

namespace depyf {
using namespace ast;

namespace {

using ProofByCode = std::unordered_map<const CodeObject*, const CodeProof*>;

class UnprovedMarker {
 public:
  UnprovedMarker(Context& context, const ProofByCode& reasons) : context_(context), reasons_(reasons) {}

  // Returns `body` with a comment that states the reason, if the definition of `code` is not proved; otherwise `body`
  // itself.
  Block with_mark(Block body, const CodeObject* code) {
    const auto reason = reasons_.find(code);
    if (reason == reasons_.end()) return body;
    const CodeProof& proof = *reason->second;
    std::string text = "depyf: not proved: " + proof.reason;
    if (proof.offset >= 0) text += " (offset " + std::to_string(proof.offset) + ")";
    return context_.with_comment(text, body);
  }

  // Visits all definitions in `body`. Several definitions may share one body; each definition gets a comment of its
  // own, outside of the shared body.
  void visit(Block body) {
    for (Stmt* stmt : body) {
      for_each_block(stmt, [&](Block& inner) { visit(inner); });
      auto* function = as<FunctionDef>(stmt);
      auto* definition = as<ClassDef>(stmt);
      if ((!function && !definition) || !visited_.insert(stmt).second) continue;
      Block& inner = function ? function->body : definition->body;
      visit(inner);
      inner = with_mark(inner, function ? function->code : definition->code);
    }
  }

 private:
  Context& context_;
  const ProofByCode& reasons_;  // keyed by the code object of the definition
  std::set<const Stmt*> visited_;
};

}  // namespace

bool mark_unproved(Context& context, Block& body, const CodeObject& root, bool is_module,
                   const std::vector<CodeProof>& proofs) {
  ProofByCode unproved, reasons;
  for (const CodeProof& proof : proofs)
    if (!proof.proved) unproved.emplace(proof.code, &proof);
  if (unproved.empty()) return false;
  // The reason for a lambda or comprehension is stored under the definition that surrounds it.
  for_each_code(root, context.options.limits.depth, [&](const CodeObject& code, const CodeObject* definition) {
    if (auto entry = unproved.find(&code); entry != unproved.end()) reasons.emplace(definition, entry->second);
  });
  if (reasons.empty()) return false;
  UnprovedMarker marker(context, reasons);
  marker.visit(body);
  if (is_module) body = marker.with_mark(body, &root);
  return true;
}

}  // namespace depyf
