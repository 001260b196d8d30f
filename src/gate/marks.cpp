#include "gate/marks.h"

#include <unordered_map>
#include <unordered_set>

#include "ast/visit.h"
#include "depyf/code_object.h"

namespace depyf {
using namespace ast;

namespace {

using TextByCode = std::unordered_map<const CodeObject*, std::string_view>;

// A function or class definition in a tree. `collect` lists each definition once, behind the definitions that its body
// contains. Several definitions may share one body.
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

// Assigns the marks of code objects (the texts of comments) to the definitions into whose bodies the comments are
// inserted.
class Assignment {
 public:
  Assignment(const std::vector<Definition>& definitions, const std::vector<CodeMark>& marks) {
    for (const CodeMark& mark : marks) marks_.try_emplace(mark.code, mark.text);
    for (const Definition& definition : definitions) printed_.insert(definition.code);
  }

  // Assigns the marks of `code` and of the code objects that are nested in it at most `left` levels deep. `around` is
  // the innermost code object around `code` whose definition is in the tree.
  void assign(const CodeObject& code, const CodeObject* around, std::uint32_t left) {
    if (printed_.contains(&code)) around = &code;
    // A definition gets only one comment, even if several lambdas in the definition have a mark.
    if (const auto entry = marks_.find(&code); entry != marks_.end()) texts_.try_emplace(around, entry->second);
    if (left == 0) return;
    for (const Constant& constant : code.constants)
      if (constant.code) assign(*constant.code, around, left - 1);
  }
  bool is_empty() const { return texts_.empty(); }
  bool is_printed(const CodeObject& code) const { return printed_.contains(&code); }

  // Inserts the comment for the definition of `code` at the start of its body `body`, and returns the result. If `body`
  // already starts with a comment of the same kind, such as `depyf: not proved`, it is returned unchanged.
  Block with_comment(Context& context, Block body, const CodeObject* code) const {
    const auto entry = texts_.find(code);
    if (entry == texts_.end()) return body;
    const std::string_view text = entry->second, kind = text.substr(0, text.find(": ", kind_at));
    auto* first = body.empty() ? nullptr : as<Comment>(body[0]);
    return first && first->text.starts_with(kind) ? body : context.with_comment(text, body);
  }

 private:
  // The offset in the text of a comment at which the kind of the comment, such as `not proved`, begins. The text starts
  // with `depyf: `.
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
