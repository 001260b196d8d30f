#include "refine/static_attributes.h"

#include <algorithm>
#include <unordered_set>

#include "ast/visit.h"

namespace depyf {
using namespace ast;

namespace {

// Collects the names of all attributes that are stored by the statements of a block and of the functions that the block
// defines.
class StoredAttributes {
 public:
  void collect(Block body) {
    // Several definitions may share a body, so each body is visited only once.
    if (body.empty() || !seen_.insert(body.data()).second) return;
    for (Stmt* stmt : body) {
      if (auto* assign = as<Assign>(stmt)) {
        for (const Expr* each : assign->targets) target(each);
      } else if (auto* annotated = as<AnnAssign>(stmt)) {
        target(annotated->target);
      } else if (auto* loop = as<For>(stmt)) {
        target(loop->target);
      } else if (auto* with = as<With>(stmt)) {
        for (const WithItem& item : with->items) target(item.optional_vars);
      } else if (auto* function = as<FunctionDef>(stmt)) {
        collect(function->body);
      } else if (auto* definition = as<ClassDef>(stmt)) {
        collect(definition->body);
      }
      for_each_block(stmt, [&](Block inner) { collect(inner); });
    }
  }

  // True if an attribute called `name` is stored. The code of a class C may store `__a` as `_C__a`.
  bool has(std::string_view name) const {
    if (names_.contains(name)) return true;
    if (!name.starts_with("__")) return false;
    return std::ranges::any_of(
        names_, [&](std::string_view stored) { return stored.starts_with('_') && stored.ends_with(name); });
  }

 private:
  void target(const Expr* expr) {
    if (!expr) return;
    if (auto* attribute = as<Attribute>(expr)) {
      names_.insert(attribute->attr);
    } else if (auto* tuple = as<Tuple>(expr)) {
      for (const Expr* each : tuple->elts) target(each);
    } else if (auto* list = as<ListExpr>(expr)) {
      for (const Expr* each : list->elts) target(each);
    } else if (auto* starred = as<Starred>(expr)) {
      target(starred->value);
    }
  }

  std::unordered_set<std::string_view> names_;
  std::unordered_set<const Stmt* const*> seen_;
};

}  // namespace

std::vector<std::string_view> lost_attributes(const Constant& listed, Block body) {
  std::vector<std::string_view> lost;
  if (listed.kind != Constant::Kind::tuple || listed.items.empty()) return lost;
  StoredAttributes stored;
  stored.collect(body);
  for (const Constant& name : listed.items)
    if (!stored.has(name.text)) lost.push_back(name.text);
  return lost;
}

}  // namespace depyf
