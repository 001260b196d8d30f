// Assigns the variables of a code object to slots, cells and names, and emits the operations that access variables.
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

  // The scope whose names are being lowered: the scope of the code object, or of a comprehension that is inlined in
  // it.
  Scope* scope;

  // Lays out the variables as CPython does: parameters first, then cells with a slot of their own, and free variables
  // last. Emits MAKE_CELL for each cell variable, and COPY_FREE_VARS.
  void start();

  // Returns the name as it is stored: private names of a class are mangled.
  std::string_view mangled(std::string_view id) { return symbols_.mangled(id, *scope); }
  // Returns the name as the printer writes it: a private name without the name of the class.
  std::string_view spelled(std::string_view id) const;
  // Loads, stores or deletes a variable of the source.
  void name(std::string_view id, Access access) { variable(mangled(id), access); }
  // Loads, stores or deletes a variable whose name is mangled already.
  void variable(const NameKey& mangled, Access access);

  // Returns the slot of a variable that `owner` binds, and assigns a slot at the first use.
  std::int32_t slot(Scope* owner, const NameKey& name) { return slot(name.text(), owner->symbols[name]); }
  std::int32_t slot(std::string_view name, Symbol& symbol) {
    return symbol.slot >= 0 ? symbol.slot : new_slot(name, symbol);
  }
  // Returns the slot of the cell that the variable `name` has in `scope`. If the variable is free variable i of the
  // code object, returns `free_marker - i`.
  std::int32_t cell_slot(Scope* scope, const NameKey& name);

 private:
  // Appends a slot for a variable with the name `shown`, and returns its index.
  std::int32_t new_slot(std::string_view shown, Symbol& symbol);
  // Each of the next four functions emits an access from one scope to a variable of one kind (see `Home`).
  // `variable_of_comprehension` returns false, and emits nothing, if the name has to be looked up in the scope around
  // the inlined comprehension.
  bool variable_of_comprehension(Scope* inlined, Symbol* symbol, const NameKey& id, Access access);
  void local_variable(Scope* owner, Symbol& symbol, const NameKey& id, Access access);
  void free_variable(Scope* owner, const NameKey& id, Access access);
  void implicit_global(Scope* owner, const NameKey& id, Access access);
  // Appends slots for the parameters, and for the cells that are no parameters.
  void start_parameters();
  void start_cells();

  SymbolTable& symbols_;
  const Dialect& dialect_;
  LoweredCode& result_;
  Assembler& code_;
};

}  // namespace depyf::lowering
