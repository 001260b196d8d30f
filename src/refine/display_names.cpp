// t = [a]; t.append(f()); b = t; g(b)   ->   t = [a, f()]; g(t)
//
// Which names are read later, what is known of each, and the stores that stay after all: where something that is not
// followed reads a name, or what it was known to be gets another value.
#include <algorithm>
#include <set>

#include "refine/display_folder.h"

namespace depyf {
using namespace ast;

bool DisplayFolder::live(std::string_view name, const Intervals& within) const {
  return std::ranges::any_of(within, [&](Reads::Interval each) { return reads_.any(name, each); });
}

// Read by the statement at work, or later.
bool DisplayFolder::live_or_now(std::string_view name) const {
  return live(name) || (now_ && reads_.any(name, {reads_.number_of(now_), reads_.number_of(now_)}));
}

void DisplayFolder::forget_dead() {
  std::erase_if(state_->names, [&](const auto& entry) { return !live_or_now(entry.first); });
  std::set<int> kept;
  for (const auto& [name, value] : state_->names) reach(value, kept);
  std::erase_if(state_->objects, [&](const auto& entry) { return !kept.contains(entry.first); });
}

void DisplayFolder::reach(const Value& value, std::set<int>& found) const {
  std::vector<int> todo;
  if (value.object >= 0) todo.push_back(value.object);
  while (!todo.empty()) {
    int at = todo.back();
    todo.pop_back();
    if (!found.insert(at).second) continue;
    for (const Value& item : state_->objects.at(at).items)
      if (item.object >= 0) todo.push_back(item.object);
  }
}

bool DisplayFolder::reaches(const Value& value, int object) const {
  std::set<int> found;
  reach(value, found);
  return found.contains(object);
}

void DisplayFolder::bind(std::string_view name, Value value) {
  if (auto* same = as<Name>(value.atom); same && same->id == name) return;
  stored(name);
  if (!live(name)) return;
  state_->names[name] = value;
  auto* read = as<Name>(value.atom);
  if (!read || !is_temporary(read->id) || is_temporary(name)) return;
  auto [lent, fresh] = context_.lent.try_emplace(read->id, name);
  if (!fresh && lent->second != name) lent->second = {};
}

// The local gets another value: what is known to be its old one keeps that under another name.
void DisplayFolder::stored(std::string_view name) {
  state_->names.erase(name);
  Expr* copy = nullptr;
  auto replace = [&](Value& value) {
    auto* read = as<Name>(value.atom);
    if (!read || read->id != name) return;
    if (!copy) copy = named(context_.name(name)).atom;
    value.atom = copy;
  };
  for (auto& [other, value] : state_->names) replace(value);
  for (auto& [object, content] : state_->objects)
    for (Value& item : content.items) replace(item);
}

// t = expr
DisplayFolder::Value DisplayFolder::named(Expr* expr) {
  std::string_view id = context_.arena.copy("__temp_" + std::to_string(++fresh_) + "_");
  emit(Assign{context_.list({context_.name(id)}), expr}, now_);
  return {context_.name(id), -1};
}

// The name is stored after all.
void DisplayFolder::give_name(std::string_view name) {
  auto found = state_->names.find(name);
  if (found == state_->names.end()) return;
  if (found->second.object >= 0) return void(name_object(found->second.object, name));
  Expr* atom = found->second.atom;
  state_->names.erase(found);
  emit(Assign{context_.list({context_.name(name)}), copy_of(atom)}, now_);
}

void DisplayFolder::name_all_live(const Intervals& within) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : state_->names)
    if (live(name, within)) names.push_back(name);
  // Objects first by the names of people.
  std::ranges::stable_sort(names, {}, [](std::string_view name) { return is_temporary(name); });
  for (std::string_view name : names) give_name(name);
  state_->names.clear();
  state_->objects.clear();
}

std::string_view DisplayFolder::name_object(int object, std::string_view name) {
  if (name.empty()) {
    for (const auto& [each, value] : state_->names)
      if (value.object == object && (name.empty() || is_temporary(name))) name = each;
    if (name.empty()) name = context_.arena.copy("__temp_" + std::to_string(++fresh_) + "_");
  }
  Expr* display = written(object);
  state_->names.erase(name);
  emit(Assign{context_.list({context_.name(name)}), display}, now_);
  auto replace = [&](Value& value) {
    if (value.object == object) value = {context_.name(name), -1};
  };
  for (auto& [each, value] : state_->names) replace(value);
  for (auto& [each, content] : state_->objects)
    for (Value& item : content.items) replace(item);
  state_->objects.erase(object);
  given_names_[object] = name;
  return name;
}

void DisplayFolder::name_what_inner_scopes_read(Stmt* stmt) {
  std::set<std::string_view> inside;
  for_each_read(stmt, [&](std::string_view name, bool inner) {
    if (inner) inside.insert(name);
  });
  for (std::string_view name : inside) give_name(name);
}

}  // namespace depyf
