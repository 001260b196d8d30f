#include "lower/lower.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lower/statements.h"
#include "lower/unit.h"

namespace depyf {

namespace {

// True if the tree imports `annotations` from __future__, which only its first statements can do.
bool imports_future_annotations(ast::Block body) {
  for (const ast::Stmt* stmt : body)
    if (auto* node = ast::as<ast::ImportFrom>(stmt); node && node->module == "__future__" && node->level == 0)
      for (const ast::Alias& alias : node->names)
        if (alias.name == "annotations") return true;
  return false;
}

}  // namespace

LoweredTree lower_tree(ast::Block body, const CodeObject& root, bool is_module, std::size_t most_bytes) {
  using namespace lowering;
  LoweredTree tree;
  const bool text = is_module ? imports_future_annotations(body) : (root.flags & CodeObject::future_annotations) != 0;
  // A tree that is no module may use variables of functions around it.
  std::set<std::string_view> around;
  if (!is_module) around.insert(root.freevars.begin(), root.freevars.end());
  SymbolTable symbols(root.version, text, std::move(around));
  Scope* scope = symbols.build(body);
  // `most_bytes` may be too large for `bytes_left`, which is a signed number.
  constexpr std::size_t most = std::size_t{1} << 40;
  const AssemblerSupplies supplies{.bytes_left = static_cast<std::int64_t>(std::min(most_bytes, most))};
  Shared shared{root.version, text, symbols, tree, supplies};
  Header header{.name = "<module>", .qualname = "<module>", .origin = is_module ? &root : nullptr};
  Unit(shared, scope, nullptr, header).run([&](Unit& unit) { lowering::module(unit, body); });
  tree.names = symbols.take_names();
  return tree;
}

}  // namespace depyf
