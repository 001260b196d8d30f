// Joins import statements that were one statement of the source, if all of them begin at one place of the source. The
// statement `import a, b` compiles to IMPORT_NAME a; STORE a; IMPORT_NAME b; STORE b.
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

// True if `before` and `stmt` are imports that were one statement of the source.
bool is_one_import(const Stmt* before, const Stmt* stmt) {
  auto *first = as<Import>(before), *import = as<Import>(stmt);
  return first && import && stmt->line >= 0 && stmt->line == before->line && stmt->column == before->column &&
         import->is_lazy == first->is_lazy;
}

void join_imports(Context& context, std::vector<Stmt*>& statements) {
  if (std::ranges::adjacent_find(statements, is_one_import) == statements.end()) return;
  std::vector<Stmt*> joined;
  for (Stmt* stmt : statements) {
    Stmt* before = joined.empty() ? nullptr : joined.back();
    if (is_one_import(before, stmt)) {
      auto *first = as<Import>(before), *import = as<Import>(stmt);
      std::vector<Alias> names(first->names.begin(), first->names.end());
      names.insert(names.end(), import->names.begin(), import->names.end());
      first->names = context.arena.copy(names);
    } else {
      joined.push_back(stmt);
    }
  }
  statements = std::move(joined);
}

}  // namespace

Block imports(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  return rewrite_blocks(context, body, StmtKinds::of<Import>(),
                        [&](std::vector<Stmt*>& statements) { join_imports(context, statements); });
}

}  // namespace depyf
