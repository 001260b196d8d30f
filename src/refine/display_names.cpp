// Tracks the known values of names. A store of a known value is emitted only if the remaining code reads the stored
// name. For example, `t = [a]; t.append(f()); b = t; g(b)` becomes `t = [a, f()]; g(t)`.
#include "refine/display_names.h"

#include <algorithm>
#include <set>
#include <string>

namespace depyf::displays {
using namespace ast;

std::string_view Names::fresh_name() { return context_.arena.copy("__temp_" + std::to_string(++fresh_) + "_"); }

Value Names::make(Object object) {
  int id = ++objects_;
  state().objects.emplace(id, std::move(object));
  return {nullptr, id};
}

bool Names::sequence(const Value& value, std::vector<Value>& items) {
  if (const Object* object = state().object_of(value)) {
    if (object->kind == Object::Kind::dict) return false;
    items = object->items;
    return true;
  }
  // The items of a constant tuple are known too, although a constant tuple is not tracked as an object.
  const Constant* constant = constant_of(value.atom, Constant::Kind::tuple);
  if (!constant) return false;
  for (const Constant& item : constant->items) items.push_back({context_.expr(ConstantExpr{&item}), -1});
  return true;
}

void Names::refresh(Value& value) const {
  if (value.object < 0 || state().objects.contains(value.object)) return;
  if (auto named = given_names_.find(value.object); named != given_names_.end())
    value = {context_.name(named->second), -1};
}

// Drops the names that no statement from the current one on reads, and the objects to which no remaining name refers.
void Names::forget_dead() {
  std::erase_if(state().names, [&](const auto& entry) { return !liveness_.live_or_now(entry.first); });
  std::set<int> kept;
  for (const auto& [name, value] : state().names) state().reach(value, kept);
  std::erase_if(state().objects, [&](const auto& entry) { return !kept.contains(entry.first); });
}

void Names::bind(std::string_view name, Value value) {
  // `x = x` changes nothing.
  if (auto* same = as<Name>(value.atom); same && same->id == name) return;
  stored(name);
  if (!liveness_.live(name)) return;
  state().names[name] = value;
  // A temporary that was copied to a local may get the local's name (see name_temporaries.cpp).
  auto* read = as<Name>(value.atom);
  if (!read || !is_temporary(read->id) || is_temporary(name)) return;
  auto [lent, fresh] = context_.lent.try_emplace(read->id, name);
  if (!fresh && lent->second != name) lent->second = {};
}

void Names::stored(std::string_view name) {
  state().names.erase(name);
  // The old value of the local is copied to a temporary only if some known value refers to the local.
  Expr* copy = nullptr;
  auto replace = [&](Value& value) {
    auto* read = as<Name>(value.atom);
    if (!read || read->id != name) return;
    if (!copy) copy = named(context_.name(name)).atom;
    value.atom = copy;
  };
  for (auto& [other, value] : state().names) replace(value);
  for (auto& [object, content] : state().objects)
    for (Value& item : content.items) replace(item);
}

Value Names::named(Expr* expr) {
  std::string_view id = fresh_name();
  emit(Assign{context_.list({context_.name(id)}), expr}, liveness_.now());
  return {context_.name(id), -1};
}

void Names::give_name(std::string_view name) {
  auto found = state().names.find(name);
  if (found == state().names.end()) return;
  if (found->second.object >= 0) return void(name_object(found->second.object, name));
  Expr* atom = found->second.atom;
  state().names.erase(found);
  emit(Assign{context_.list({context_.name(name)}), copy_of(atom)}, liveness_.now());
}

void Names::name_all_live(const Intervals& within) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : state().names)
    if (liveness_.live(name, within)) names.push_back(name);
  // Names that people chose come first, so that an object gets the name that a person chose rather than that of a
  // temporary.
  std::ranges::stable_sort(names, {}, [](std::string_view name) { return is_temporary(name); });
  for (std::string_view name : names) give_name(name);
  state().names.clear();
  state().objects.clear();
}

std::string_view Names::name_object(int object, std::string_view name) {
  if (name.empty()) {
    for (const auto& [each, value] : state().names)
      // A name that a person chose is preferred to that of a temporary.
      if (value.object == object && (name.empty() || is_temporary(name))) name = each;
    if (name.empty()) name = fresh_name();
  }
  Expr* display = written(object);
  state().names.erase(name);
  emit(Assign{context_.list({context_.name(name)}), display}, liveness_.now());
  auto replace = [&](Value& value) {
    if (value.object == object) value = {context_.name(name), -1};
  };
  for (auto& [each, value] : state().names) replace(value);
  for (auto& [each, content] : state().objects)
    for (Value& item : content.items) replace(item);
  state().objects.erase(object);
  given_names_[object] = name;
  return name;
}

void Names::name_what_inner_scopes_read(Stmt* stmt) {
  std::set<std::string_view> inside;
  for_each_read(stmt, [&](std::string_view name, bool inner) {
    if (inner) inside.insert(name);
  });
  for (std::string_view name : inside) give_name(name);
}

}  // namespace depyf::displays
