// Names: where they live, and the operation that reaches them there.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "dialect/dialect.h"
#include "lower/assembler.h"
#include "lower/scope.h"

namespace depyf::lowering {

enum class Access : std::uint8_t { load, store, remove };

class Variables {
 public:
  Variables(Scope* own, SymbolTable& symbols, const Dialect& dialect, LoweredCode& result, Assembler& code)
      : scope(own), symbols_(symbols), dialect_(dialect), result_(result), code_(code) {}

  Scope* scope;  // of the names that are lowered now: the code object's own, or that of a comprehension in it

  // Locals are laid out as CPython does: parameters first, cells with a slot of their own behind them, free variables last.
  void start();

  std::string_view mangled(std::string_view id) { return symbols_.mangled(id, *scope); }
  // As the printer writes a name: a private one without the name of the class around.
  std::string_view spelled(std::string_view id) const;
  void name(std::string_view id, Access access) { variable(mangled(id), access); }
  void variable(std::string_view mangled, Access access);

  std::int32_t slot(const Scope* owner, std::string_view name);
  // The slot of the cell that a function which is made in `scope` gets for one of its free variables.
  std::int32_t cell_slot(Scope* scope, std::string_view name);

 private:
  std::int32_t new_slot(const Scope* owner, std::string_view name, bool cell);

  SymbolTable& symbols_;
  const Dialect& dialect_;
  LoweredCode& result_;
  Assembler& code_;
  std::map<std::pair<const Scope*, std::string_view>, std::int32_t> slots_;
};

}  // namespace depyf::lowering
