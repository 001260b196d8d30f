#include "lower/names.h"

#include "decode/op.h"
#include "lower/lower.h"

#include <algorithm>

namespace depyf::lowering {

// The free variables are not among the slots yet: other slots are added when they are met.
void Variables::start() {
  DecodedCode& decoded = result_.decoded;
  CodeObject& code = result_.code;
  for (std::string_view name : scope->parameters) {
    slots_[scope][name] = static_cast<std::int32_t>(decoded.localsplus.size());
    // An annotation may use the name `format`, so the parameter is called `.format` here, but `format` for callers.
    const bool format = name == ".format" && code.name == "__annotate__";
    const std::string_view shown = format ? "format" : name;
    code.varnames.emplace_back(shown);
    decoded.localsplus.push_back(shown);
    decoded.is_cell.push_back(scope->cells.contains(name));
  }
  // The free variables come next here: the machine finds them by first_free, and other slots are added as they are met.
  code.freevars.assign(scope->frees.begin(), scope->frees.end());
  for (std::string_view name : scope->parameters)
    if (scope->cells.contains(name)) code_.emit(Op::make_cell_, slots_[scope].at(name));
  for (std::string_view name : scope->cells)
    if (!slots_[scope].contains(name)) code_.emit(Op::make_cell_, new_slot(scope, name, true));
  if (!code.freevars.empty()) code_.emit(Op::copy_free_vars_, static_cast<std::int32_t>(code.freevars.size()));
}

std::int32_t Variables::new_slot(const Scope* owner, std::string_view name, bool cell) {
  DecodedCode& decoded = result_.decoded;
  const auto index = static_cast<std::int32_t>(decoded.localsplus.size());
  slots_[owner][name] = index;
  decoded.localsplus.push_back(name);
  decoded.is_cell.push_back(cell);
  return index;
}

// Returns the slot, which is made at the first use.
std::int32_t Variables::slot(const Scope* owner, std::string_view name) {
  const auto& known = slots_[owner];
  if (auto found = known.find(name); found != known.end()) return found->second;
  return new_slot(owner, name, owner->cells.contains(name));
}

// Comprehensions inlined in this code object have cells of their own.
std::int32_t Variables::cell_slot(Scope* around, std::string_view name) {
  for (; around; around = around->parent) {
    if (around->cells.contains(name)) return slot(around, name);
    if (!around->inlined) break;
  }
  if (!around) fail("a free variable that nothing binds");
  const auto& free = result_.code.freevars;
  auto found = std::ranges::find(free, name);
  // Free variables get their indices at the end (see free_marker).
  if (found == free.end()) fail("a free variable that nothing binds: " + std::string(name));
  return free_marker - static_cast<std::int32_t>(found - free.begin());
}

// Private names are shown without the mangling.
std::string_view Variables::spelled(std::string_view id) const {
  const std::size_t stripped = scope->class_name.find_first_not_of('_');
  if (stripped == std::string::npos || !id.starts_with('_') || id.ends_with("__")) return id;
  const std::string_view around = std::string_view(scope->class_name).substr(stripped);
  return id.substr(1).starts_with(around) && id.substr(1 + around.size()).starts_with("__")
             ? id.substr(1 + around.size())
             : id;
}

// Emits the operation that reaches a variable from the current scope.
void Variables::variable(std::string_view id, Access access) {
  // __debug__ is a constant.
  if (id == "__debug__" && access == Access::load) {
    Constant value;
    value.kind = Constant::Kind::true_;
    return code_.load(value);
  }
  static constexpr Op fast[] = {Op::load_fast_, Op::store_fast_, Op::delete_fast_};
  static constexpr Op deref[] = {Op::load_deref_, Op::store_deref_, Op::delete_deref_};
  static constexpr Op global[] = {Op::load_global_, Op::store_global_, Op::delete_global_};
  static constexpr Op by_name[] = {Op::load_name_, Op::store_name_, Op::delete_name_};
  const auto which = static_cast<std::size_t>(access);

  // Look in the comprehensions that are inlined in this code object first.
  Scope* owner = scope;
  for (; owner->inlined; owner = owner->parent) {
    auto known = owner->homes.find(id);
    const Home home = known == owner->homes.end() ? Home::free : known->second;
    if (home == Home::local) {
      const bool cell = owner->cells.contains(id);
      code_.emit((cell ? deref : fast)[which], slot(owner, id));
      return;
    }
    if (home == Home::global_explicit) return code_.named(global[which], id);
    // A name that is global or free for an inlined comprehension is not looked up in the class around it.
    if (home == Home::global_implicit && owner->unit()->kind == ScopeKind::class_body)
      return code_.named(global[which], id);
    if (home == Home::free && owner->parent->kind == ScopeKind::class_body) {
      code_.emit(deref[which], cell_slot(owner->parent, id));
      return;
    }
  }
  auto known = owner->homes.find(id);
  const Home home =
      known == owner->homes.end() ? (owner->frees.contains(id) ? Home::free : Home::global_implicit) : known->second;
  const bool function = owner->is_function_like();
  // Locals of functions have slots, and those of classes and modules are in a dict.
  switch (home) {
    case Home::local:
      if (function) {
        const bool cell = owner->cells.contains(id);
        // Type parameters of a definition in a class are looked up in the dict of that class first, once they are cells.
        if (cell && owner->sees_class && access == Access::load) {
          code_.emit(Op::load_deref_, cell_slot(owner, "__classdict__"));
          code_.emit(Op::load_from_dict_or_deref_, slot(owner, id));
          return;
        }
        code_.emit((cell ? deref : fast)[which], slot(owner, id));
      } else {
        code_.named(by_name[which], id);
      }
      return;
    case Home::free: {
      const std::int32_t cell = cell_slot(owner, id);
      // A class body looks a free variable up in its own dict first.
      const bool class_body = owner->kind == ScopeKind::class_body && scope == owner;
      // So do functions that evaluate something in a class.
      if (owner->sees_class && access == Access::load && id != "__classdict__" && id != "__conditional_annotations__") {
        code_.emit(Op::load_deref_, cell_slot(owner, "__classdict__"));
        code_.emit(Op::load_from_dict_or_deref_, cell);
        return;
      }
      if (!class_body || access != Access::load) {
        code_.emit(deref[which], cell);
      } else if (dialect_.dict_or_cell_loads) {
        code_.emit(Op::load_locals_);
        code_.emit(Op::load_from_dict_or_deref_, cell);
      } else {
        code_.emit(Op::load_class_deref_, cell);
      }
      return;
    }
    case Home::global_explicit: return code_.named(global[which], id);
    case Home::global_implicit:
      if (owner->sees_class && access == Access::load) {
        code_.emit(Op::load_deref_, cell_slot(owner, "__classdict__"));
        return code_.named(Op::load_from_dict_or_globals_, id);
      }
      return code_.named((function ? global : by_name)[which], id);
  }
}

}  // namespace depyf::lowering
