#include "lower/names.h"

#include "decode/op.h"
#include "lower/lower.h"

#include <algorithm>

namespace depyf::lowering {

namespace {

// The operations that load, store and delete a variable of one kind.
struct Accesses {
  Op load, store, remove;
  Op operator[](Access access) const {
    return access == Access::load ? load : access == Access::store ? store : remove;
  }
};
constexpr Accesses fast{Op::load_fast_, Op::store_fast_, Op::delete_fast_};
constexpr Accesses deref{Op::load_deref_, Op::store_deref_, Op::delete_deref_};
constexpr Accesses global{Op::load_global_, Op::store_global_, Op::delete_global_};
constexpr Accesses by_name{Op::load_name_, Op::store_name_, Op::delete_name_};

}  // namespace

// Gives free variables no slots yet. Slots for local variables are added while instructions are emitted, and the slots
// of free variables come behind all of them.
void Variables::start() {
  // A function has about as many variables as its scope has names.
  const std::size_t most = scope->is_function_like() ? scope->symbols.entries().size() : 0;
  result_.decoded.localsplus.reserve(most);
  start_parameters();
  start_cells();
  std::vector<std::string>& free = result_.code.freevars;
  for (std::string_view name : scope->free_names()) {
    scope->symbols[name].free_index = static_cast<std::int32_t>(free.size());
    free.emplace_back(name);
  }
  if (!free.empty()) code_.emit(Op::copy_free_vars_, static_cast<std::int32_t>(free.size()));
}

void Variables::start_parameters() {
  CodeObject& code = result_.code;
  code.varnames.reserve(scope->parameters.size());
  bool has_cells = false;
  for (std::string_view name : scope->parameters) {
    // In the code object, the parameter of `__annotate__` is called `format`. In the symbol table, the parameter of
    // `__annotate__` is called `.format`, because an annotation may use a variable with the name `format`.
    const bool format = name == ".format" && code.name == "__annotate__";
    const std::string_view shown = format ? "format" : name;
    code.varnames.emplace_back(shown);
    Symbol& symbol = scope->symbols[name];
    new_slot(shown, symbol);
    has_cells = has_cells || symbol.is_cell;
  }
  if (!has_cells) return;
  for (std::string_view name : scope->parameters)
    if (const Symbol& symbol = scope->symbols[name]; symbol.is_cell) code_.emit(Op::make_cell_, symbol.slot);
}

// CPython sorts the cells by name.
void Variables::start_cells() {
  std::vector<std::string_view> cells;
  for (const auto& [name, symbol] : scope->symbols.entries())
    if (symbol.is_cell && symbol.slot < 0) cells.push_back(name.text());
  std::ranges::sort(cells);
  for (std::string_view name : cells) code_.emit(Op::make_cell_, new_slot(name, scope->symbols[name]));
}

std::int32_t Variables::new_slot(std::string_view shown, Symbol& symbol) {
  DecodedCode& decoded = result_.decoded;
  symbol.slot = static_cast<std::int32_t>(decoded.localsplus.size());
  decoded.localsplus.push_back(shown);
  decoded.is_cell.push_back(symbol.is_cell);
  return symbol.slot;
}

// The scopes of comprehensions that are inlined in this code object have cells of their own, so they are searched
// first.
std::int32_t Variables::cell_slot(Scope* around, const NameKey& name) {
  for (;; around = around->parent) {
    Symbol* symbol = around->symbols.find(name);
    if (symbol && symbol->is_cell) return slot(name.text(), *symbol);
    if (around->inlined) continue;
    // Free variables get their indices at the end (see free_marker).
    if (!symbol || symbol->free_index < 0) fail("a free variable that nothing binds: " + std::string(name.text()));
    return free_marker - symbol->free_index;
  }
}

// In a class C, the mangled name `_C__x` is spelled `__x`.
std::string_view Variables::spelled(std::string_view id) const {
  const std::string_view around = scope->private_class;
  if (around.empty() || !id.starts_with('_') || id.ends_with("__")) return id;
  const std::string_view behind = id.substr(1);
  return behind.starts_with(around) && behind.substr(around.size()).starts_with("__") ? behind.substr(around.size())
                                                                                      : id;
}

// A comprehension that is inlined in a class does not look names up in the class.
bool Variables::variable_of_comprehension(Scope* inlined, Symbol* symbol, const NameKey& id, Access access) {
  const bool in_class = inlined->unit()->kind == ScopeKind::class_body;
  switch (symbol ? symbol->home : Home::unknown) {
    case Home::local: code_.emit((symbol->is_cell ? deref : fast)[access], slot(id.text(), *symbol)); return true;
    case Home::global_implicit:
      if (!in_class) return false;
      [[fallthrough]];
    case Home::global_explicit: code_.named(global[access], id); return true;
    case Home::unknown:
    case Home::free:
      if (inlined->parent->kind != ScopeKind::class_body) return false;
      code_.emit(deref[access], cell_slot(inlined->parent, id));
      return true;
  }
  return false;
}

// Locals of functions have slots, and those of classes and modules are in a dict.
void Variables::local_variable(Scope* owner, Symbol& symbol, const NameKey& id, Access access) {
  if (!owner->is_function_like()) return code_.named(by_name[access], id);
  // A type parameter of a definition in a class is looked up in the dict of the class first if it is a cell.
  if (symbol.is_cell && owner->sees_class && access == Access::load) {
    code_.emit(Op::load_deref_, cell_slot(owner, "__classdict__"));
    code_.emit(Op::load_from_dict_or_deref_, slot(id.text(), symbol));
    return;
  }
  code_.emit((symbol.is_cell ? deref : fast)[access], slot(id.text(), symbol));
}

void Variables::free_variable(Scope* owner, const NameKey& id, Access access) {
  // A class that reads `__class__` means the class around it, and may have a cell of this name for its methods, too.
  const Symbol& symbol = owner->symbols[id];
  const bool has_both = symbol.is_cell && symbol.free_index >= 0;
  const std::int32_t cell = has_both ? free_marker - symbol.free_index : cell_slot(owner, id);
  // A function that evaluates annotations or type parameters in a class looks up a free variable in the dict of the
  // class first.
  if (owner->sees_class && access == Access::load && id.text() != "__classdict__" &&
      id.text() != "__conditional_annotations__") {
    code_.emit(Op::load_deref_, cell_slot(owner, "__classdict__"));
    code_.emit(Op::load_from_dict_or_deref_, cell);
    return;
  }
  // A class body looks up a free variable in its own dict first.
  const bool class_body = owner->kind == ScopeKind::class_body && scope == owner;
  if (!class_body || access != Access::load) {
    code_.emit(deref[access], cell);
  } else if (dialect_.dict_or_cell_loads) {
    code_.emit(Op::load_locals_);
    code_.emit(Op::load_from_dict_or_deref_, cell);
  } else {
    code_.emit(Op::load_class_deref_, cell);
  }
}

void Variables::implicit_global(Scope* owner, const NameKey& id, Access access) {
  if (owner->sees_class && access == Access::load) {
    code_.emit(Op::load_deref_, cell_slot(owner, "__classdict__"));
    return code_.named(Op::load_from_dict_or_globals_, id);
  }
  code_.named((owner->is_function_like() ? global : by_name)[access], id);
}

// Emits the operation that accesses a variable from the current scope.
void Variables::variable(const NameKey& id, Access access) {
  // The compiler replaces `__debug__` by the constant True.
  if (access == Access::load && id.text() == "__debug__") {
    Constant value;
    value.kind = Constant::Kind::true_;
    return code_.load(value);
  }
  Scope* owner = scope;
  Symbol* symbol = owner->symbols.find(id);
  // Most variables are locals of a function that are no cells.
  if (symbol && symbol->home == Home::local && !symbol->is_cell && owner->is_function_like()) {
    code_.emit(fast[access], slot(id.text(), *symbol));
    return;
  }
  // The name is looked up first in the comprehensions that are inlined in the code object, from the innermost one
  // outwards.
  for (; owner->inlined; owner = owner->parent, symbol = owner->symbols.find(id))
    if (variable_of_comprehension(owner, symbol, id, access)) return;
  switch (symbol ? symbol->home : Home::unknown) {
    case Home::local: return local_variable(owner, *symbol, id, access);
    case Home::free: return free_variable(owner, id, access);
    case Home::global_explicit: return code_.named(global[access], id);
    case Home::global_implicit: return implicit_global(owner, id, access);
    case Home::unknown:
      return symbol && symbol->is_free ? free_variable(owner, id, access) : implicit_global(owner, id, access);
  }
}

}  // namespace depyf::lowering
