#include <algorithm>

#include "lower/imports.h"

#include "decode/op.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// The flag of IMPORT_NAME (3.15) for an import that no setting can make lazy.
constexpr std::int32_t eager_import = 2;

// Returns the flag of IMPORT_NAME (3.15 and later): 1 for a lazy import, `eager_import` for one that no setting can
// make lazy, and 0 for any other import. Before 3.15, returns 0. Python's setting `-X lazy_imports` can make an import
// lazy only at module level, outside of try statements.
std::int32_t import_kind(const Unit& unit, bool lazy) {
  if (!unit.dialect.lazy_imports) return 0;
  if (lazy) return 1;
  const auto handles = [](const Frame& frame) {
    return frame.kind == Exit::try_body || frame.kind == Exit::finally_body || frame.kind == Exit::finally_handler ||
           frame.kind == Exit::handler;
  };
  return unit.names.scope->unit()->kind != ScopeKind::module || std::ranges::any_of(unit.frames, handles) ? eager_import
                                                                                                          : 0;
}

}  // namespace

// Emits `import a.b`, which stores a, and `import a.b as c`, which stores the attribute b.
void import_stmt(Unit& unit, const Import& node) {
  for (const Alias& alias : node.names) {
    unit.code.load_integer(0);
    unit.code.load_none();
    unit.code.named(Op::import_name_, alias.name, import_kind(unit, node.is_lazy));
    const std::size_t dot = alias.name.find('.');
    if (alias.asname.empty()) {
      unit.names.name(alias.name.substr(0, dot), Access::store);
      continue;
    }
    for (std::size_t at = dot; at != std::string_view::npos;) {
      const std::size_t end = alias.name.find('.', at + 1);
      unit.code.named(Op::import_from_, alias.name.substr(at + 1, end == alias.name.npos ? end : end - at - 1));
      unit.code.emit(Op::swap_, 2);
      unit.code.emit(Op::pop_top_);
      at = end;
    }
    unit.names.name(alias.asname, Access::store);
  }
}

// Emits `from m import x`. IMPORT_NAME gets the tuple of the imported names from the stack.
void import_from(Unit& unit, const ImportFrom& node) {
  unit.code.load_integer(node.level);
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (const Alias& alias : node.names) {
    Constant& name = names.items.emplace_back();
    name.kind = Constant::Kind::string;
    name.text = alias.name;
  }
  unit.code.load(std::move(names));
  const bool star = node.names.size() == 1 && node.names[0].name == "*";
  unit.code.named(Op::import_name_, node.module,
                  star && unit.dialect.lazy_imports ? eager_import : import_kind(unit, node.is_lazy));
  if (star) {
    unit.code.emit(Op::import_star_);
    return;
  }
  for (const Alias& alias : node.names) {
    unit.code.named(Op::import_from_, unit.names.mangled(alias.name));
    unit.names.name(alias.asname.empty() ? alias.name : alias.asname, Access::store);
  }
  unit.code.emit(Op::pop_top_);
}

}  // namespace depyf::lowering
