// Names: where they live, and the operation that reaches them there.
#include <algorithm>

#include "lower/lowerer.h"

namespace depyf::lowering {

std::int32_t Lowerer::new_slot(const Scope* owner, std::string_view name, bool cell) {
  DecodedCode& decoded = result_->decoded;
  const auto index = static_cast<std::int32_t>(decoded.localsplus.size());
  slots_[{owner, name}] = index;
  decoded.localsplus.push_back(name);
  decoded.is_cell.push_back(cell);
  return index;
}

std::int32_t Lowerer::slot(const Scope* owner, std::string_view name) {
  if (auto known = slots_.find({owner, name}); known != slots_.end()) return known->second;
  return new_slot(owner, name, owner->cells.contains(name));
}

// The slot of the cell that a function which is made in `scope` gets for one of its free variables.
std::int32_t Lowerer::cell_slot(Scope* scope, std::string_view name) {
  for (; scope; scope = scope->parent) {
    if (scope->cells.contains(name)) return slot(scope, name);
    if (!scope->inlined) break;
  }
  if (!scope) fail("a free variable that nothing binds");
  const auto& free = result_->code.freevars;
  auto found = std::ranges::find(free, name);
  if (found == free.end()) fail("a free variable that nothing binds: " + std::string(name));
  return free_marker - static_cast<std::int32_t>(found - free.begin());
}

// As the printer writes a name: a private one without the name of the class around.
std::string_view Lowerer::spelled(std::string_view id) const {
  const std::size_t stripped = scope_->class_name.find_first_not_of('_');
  if (stripped == std::string::npos || !id.starts_with('_') || id.ends_with("__")) return id;
  const std::string_view around = std::string_view(scope_->class_name).substr(stripped);
  return id.substr(1).starts_with(around) && id.substr(1 + around.size()).starts_with("__")
             ? id.substr(1 + around.size())
             : id;
}

void Lowerer::name(std::string_view id, Access access) { variable(mangled(id), access); }

void Lowerer::variable(std::string_view id, Access access) {
  if (id == "__debug__" && access == Access::load) {
    Constant value;
    value.kind = Constant::Kind::true_;
    return load(value);
  }
  static constexpr Op fast[] = {Op::load_fast_, Op::store_fast_, Op::delete_fast_};
  static constexpr Op deref[] = {Op::load_deref_, Op::store_deref_, Op::delete_deref_};
  static constexpr Op global[] = {Op::load_global_, Op::store_global_, Op::delete_global_};
  static constexpr Op by_name[] = {Op::load_name_, Op::store_name_, Op::delete_name_};
  const auto which = static_cast<std::size_t>(access);

  // Through the comprehensions whose code stands in this code object.
  Scope* scope = scope_;
  for (; scope->inlined; scope = scope->parent) {
    auto known = scope->homes.find(id);
    const Home home = known == scope->homes.end() ? Home::free : known->second;
    if (home == Home::local) {
      const bool cell = scope->cells.contains(id);
      emit((cell ? deref : fast)[which], slot(scope, id));
      return;
    }
    if (home == Home::global_explicit) return named(global[which], id);
    // What is global for the comprehension is so in spite of a class around it.
    if (home == Home::global_implicit && scope_->unit()->kind == ScopeKind::class_body) return named(global[which], id);
  }
  auto known = scope->homes.find(id);
  const Home home =
      known == scope->homes.end() ? (scope->frees.contains(id) ? Home::free : Home::global_implicit) : known->second;
  const bool function = scope->is_function_like();
  switch (home) {
    case Home::local:
      if (function) {
        const bool cell = scope->cells.contains(id);
        emit((cell ? deref : fast)[which], slot(scope, id));
      } else {
        named(by_name[which], id);
      }
      return;
    case Home::free: {
      const std::int32_t cell = cell_slot(scope, id);
      const bool class_body = scope->kind == ScopeKind::class_body && scope_ == scope;
      if (scope->sees_class && access == Access::load && id != "__classdict__" && id != "__conditional_annotations__") {
        emit(Op::load_deref_, cell_slot(scope, "__classdict__"));
        emit(Op::load_from_dict_or_deref_, cell);
        return;
      }
      if (!class_body || access != Access::load) {
        emit(deref[which], cell);
      } else if (dialect_.dict_or_cell_loads) {
        emit(Op::load_locals_);
        emit(Op::load_from_dict_or_deref_, cell);
      } else {
        emit(Op::load_class_deref_, cell);
      }
      return;
    }
    case Home::global_explicit: return named(global[which], id);
    case Home::global_implicit:
      if (scope->sees_class && access == Access::load) {
        emit(Op::load_deref_, cell_slot(scope, "__classdict__"));
        return named(Op::load_from_dict_or_globals_, id);
      }
      return named((function ? global : by_name)[which], id);
  }
}

}  // namespace depyf::lowering
