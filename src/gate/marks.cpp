#include "gate/marks.h"

#include <unordered_map>
#include <unordered_set>

#include "ast/visit.h"
#include "depyf/code_object.h"

namespace depyf {
using namespace ast;

namespace {

using TextByCode = std::unordered_map<const CodeObject*, std::string_view>;

// A definition in a tree; `collect` lists each definition once, inner definitions before the definitions around them.
// Several definitions may share one body.
struct Definition {
  Block* body;
  const CodeObject* code;
};

void collect(Block block, std::unordered_set<const Stmt*>& visited, std::vector<Definition>& definitions) {
  for (Stmt* stmt : block) {
    for_each_block(stmt, [&](Block& inner) { collect(inner, visited, definitions); });
    auto* function = as<FunctionDef>(stmt);
    auto* definition = as<ClassDef>(stmt);
    if ((!function && !definition) || !visited.insert(stmt).second) continue;
    Block& body = function ? function->body : definition->body;
    collect(body, visited, definitions);
    definitions.push_back({&body, function ? function->code : definition->code});
  }
}

// Assigns the texts of code objects to the definitions that have to show them.
class Assignment {
 public:
  Assignment(const std::vector<Definition>& definitions, const std::vector<CodeMark>& marks) {
    for (const CodeMark& mark : marks) marks_.try_emplace(mark.code, mark.text);
    for (const Definition& definition : definitions) printed_.insert(definition.code);
  }

  // Assigns the texts of `code` and of the code objects nested in it, down to `left` levels. `around` is the innermost
  // code object around `code` whose definition is in the tree.
  void assign(const CodeObject& code, const CodeObject* around, std::uint32_t left) {
    if (printed_.contains(&code)) around = &code;
    // A definition has one comment, not one for each lambda in it.
    if (const auto entry = marks_.find(&code); entry != marks_.end()) texts_.try_emplace(around, entry->second);
    if (left == 0) return;
    for (const Constant& constant : code.constants)
      if (constant.code) assign(*constant.code, around, left - 1);
  }
  bool is_empty() const { return texts_.empty(); }
  bool is_printed(const CodeObject& code) const { return printed_.contains(&code); }

  // Returns `body` with the comment of the definition of `code` in front. A body that already starts with a comment of
  // the same kind stays as it is.
  Block with_comment(Context& context, Block body, const CodeObject* code) const {
    const auto entry = texts_.find(code);
    if (entry == texts_.end()) return body;
    const std::string_view text = entry->second, kind = text.substr(0, text.find(": ", kind_at));
    auto* first = body.empty() ? nullptr : as<Comment>(body[0]);
    return first && first->text.starts_with(kind) ? body : context.with_comment(text, body);
  }

 private:
  // The offset of the kind of a mark in its text, behind `depyf: `.
  static constexpr std::size_t kind_at = 7;

  TextByCode marks_, texts_;
  std::unordered_set<const CodeObject*> printed_;
};

}  // namespace

bool add_marks(Context& context, Block& body, const CodeObject& root, bool is_module,
               const std::vector<CodeMark>& marks) {
  if (marks.empty()) return false;
  std::unordered_set<const Stmt*> visited;
  std::vector<Definition> definitions;
  collect(body, visited, definitions);
  Assignment assignment(definitions, marks);
  assignment.assign(root, &root, context.options.limits.depth);
  if (assignment.is_empty()) return false;
  for (const auto& [inner, code] : definitions) *inner = assignment.with_comment(context, *inner, code);
  if (is_module || !assignment.is_printed(root)) body = assignment.with_comment(context, body, &root);
  return true;
}

std::vector<CodeMark> marks_of(const std::vector<CodeProof>& proofs) {
  std::vector<CodeMark> marks;
  for (const CodeProof& proof : proofs) {
    if (proof.proved) continue;
    std::string text = "depyf: not proved: " + proof.reason;
    if (proof.offset >= 0) text += " (offset " + std::to_string(proof.offset) + ")";
    marks.push_back({proof.code, std::move(text)});
  }
  return marks;
}

}  // namespace depyf
