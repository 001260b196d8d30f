// Decides where the variables of a code object live, and emits the operations that reach them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "dialect/dialect.h"
#include "lower/assembler.h"
#include "lower/scope.h"

namespace depyf::lowering {

enum class Access : std::uint8_t { load, store, remove };

// The variables of one code object.
class Variables {
 public:
  Variables(Scope* own, SymbolTable& symbols, const Dialect& dialect, LoweredCode& result, Assembler& code)
      : scope(own), symbols_(symbols), dialect_(dialect), result_(result), code_(code) {}

  // The scope whose names are being lowered: that of the code object, or of a comprehension inlined in it.
  Scope* scope;

  // Lays out the variables as CPython does: parameters first, then cells with a slot of their own, and free variables
  // last. Emits the operations that make the cells.
  void start();

  // Returns the name as it is stored: private names of a class are mangled.
  std::string_view mangled(std::string_view id) { return symbols_.mangled(id, *scope); }
  // Returns the name as the printer writes it: a private name without the name of the class.
  std::string_view spelled(std::string_view id) const;
  // Loads, stores or deletes a variable of the source.
  void name(std::string_view id, Access access) { variable(mangled(id), access); }
  // The same for a name that is mangled already.
  void variable(const NameKey& mangled, Access access);

  // Returns the slot of a variable that `owner` binds. It gets one at its first use.
  std::int32_t slot(Scope* owner, const NameKey& name) { return slot(name.text(), owner->symbols[name]); }
  std::int32_t slot(std::string_view name, Symbol& symbol) {
    return symbol.slot >= 0 ? symbol.slot : new_slot(name, symbol);
  }
  // Returns the slot of the cell that a function made in `scope` gets for one of its free variables.
  std::int32_t cell_slot(Scope* scope, const NameKey& name);

 private:
  // Appends a variable, under the name `shown`.
  std::int32_t new_slot(std::string_view shown, Symbol& symbol);
  // Each of these emits the access to a variable that lives in a certain place, as `owner` sees it. The first returns
  // false if the name is not found in the inlined comprehension.
  bool variable_of_comprehension(Scope* inlined, Symbol* symbol, const NameKey& id, Access access);
  void local_variable(Scope* owner, Symbol& symbol, const NameKey& id, Access access);
  void free_variable(Scope* owner, const NameKey& id, Access access);
  void implicit_global(Scope* owner, const NameKey& id, Access access);
  // Appends the parameters, and the cells that are none.
  void start_parameters();
  void start_cells();

  SymbolTable& symbols_;
  const Dialect& dialect_;
  LoweredCode& result_;
  Assembler& code_;
};

}  // namespace depyf::lowering
