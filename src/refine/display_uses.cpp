// f(*t, u[0]), with t known to be [a, b] and u to be {0: c}   ->   f(a, b, c)
//
// What stands where a value is needed: an expression that is known, or a display, which gets a name where others may see
// the same object.
#include <set>

#include "refine/display_folder.h"

namespace depyf {
using namespace ast;

// Can others see the object, beside the one who gets it now through `name`?
bool DisplayFolder::shared(int object, std::string_view name) const {
  for (const auto& [each, value] : state_->names) {
    if (each == name ? !live(each) : !live_or_now(each)) continue;
    if (reaches(value, object)) return true;
  }
  return false;
}

// A name, or part of what it is known to be, is needed as a value.
Expr* DisplayFolder::given(Value value, std::string_view through) {
  refresh(value);
  if (value.atom) return copy_of(value.atom);
  bool again = !through.empty() && now_ && reads_.count(through, {reads_.number_of(now_), reads_.number_of(now_)}) > 1;
  std::set<int> parts;
  reach(value, parts);
  for (int part : parts) {
    if (part == value.object || !state_->objects.contains(part)) continue;
    if (again || shared(part, through) || times(value.object, part) > 1) name_object(part);
  }
  if (!again && !shared(value.object, through)) return written(value.object);
  return context_.name(name_object(value.object, bound_to(through, value.object) ? through : std::string_view{}));
}

bool DisplayFolder::bound_to(std::string_view name, int object) const {
  auto found = state_->names.find(name);
  return found != state_->names.end() && found->second.object == object;
}

// How often one object holds another, at any depth.
int DisplayFolder::times(int whole, int part) const {
  int count = 0;
  std::set<int> found;
  reach({nullptr, whole}, found);
  for (int each : found)
    for (const Value& item : state_->objects.at(each).items) count += item.object == part;
  return count;
}

// The object as a display. What it holds by more than one way has a name.
Expr* DisplayFolder::written(int id) {
  std::set<int> parts;
  reach({nullptr, id}, parts);
  parts.erase(id);
  for (int part : parts) {
    if (!state_->objects.contains(part)) continue;
    bool others = false;
    for (const auto& [name, value] : state_->names) others = others || (value.object == part && live_or_now(name));
    if (others || times(id, part) > 1) name_object(part);
  }
  const Object object = state_->objects.at(id);
  std::vector<Expr*> items;
  for (Value item : object.items) {
    refresh(item);
    items.push_back(item.atom ? copy_of(item.atom) : written(item.object));
  }
  auto list = context_.arena.copy(items);
  switch (object.kind) {
    case Object::Kind::list: return context_.expr(ListExpr{list});
    case Object::Kind::tuple: return context_.expr(Tuple{list});
    case Object::Kind::dict: return context_.expr(Dict{context_.arena.copy(object.keys), list});
  }
  return nullptr;
}

void DisplayFolder::use(Expr*& slot) {
  if (auto* name = as<Name>(slot)) {
    auto found = state_->names.find(name->id);
    if (found != state_->names.end()) slot = given(found->second, name->id);
    return;
  }
  if (is<Lambda>(slot) || is<ComprehensionExpr>(slot) || is_cell(slot)) return;
  if (is<Subscript>(slot)) {
    if (auto value = known(slot, false)) {
      slot = given(*value, base_name(slot));
      return;
    }
  }
  if (auto* walrus = as<NamedExpr>(slot)) {
    use(walrus->value);
    auto* name = as<Name>(walrus->target);
    if (!name) return;
    stored(name->id);
    if (locals_.foldable(name->id) && !live_or_now(name->id)) slot = walrus->value;
    return;
  }
  if (auto* call = as<Call>(slot)) {
    use(call->func);
    call->args = spread(call->args);
    for (Keyword& keyword : call->keywords) use(keyword.value);
    return;
  }
  if (auto* list = as<ListExpr>(slot)) {
    list->elts = spread(list->elts);
    return;
  }
  if (auto* tuple = as<Tuple>(slot)) {
    tuple->elts = spread(tuple->elts);
    return;
  }
  for_each_child(slot, [&](Expr*& child) { use(child); });
}

// Items, with displays that stand after a star in their place.
List<Expr*> DisplayFolder::spread(List<Expr*> items) {
  std::vector<Expr*> result;
  bool changed = false;
  for (Expr*& slot : items) {
    auto* starred = as<Starred>(slot);
    auto value = starred ? known(starred->value, false) : std::nullopt;
    std::vector<Value> parts;
    if (!value || !sequence(*value, parts)) {
      use(slot);
      result.push_back(slot);
      continue;
    }
    changed = true;
    for (const Value& part : parts) result.push_back(given(part, base_name(starred->value)));
  }
  return changed ? context_.arena.copy(result) : items;
}

std::string_view DisplayFolder::base_name(const Expr* expr) {
  while (auto* subscript = as<Subscript>(expr)) expr = subscript->value;
  auto* name = as<Name>(expr);
  return name ? name->id : std::string_view{};
}

// The expressions within a target; the names that it binds are left alone.
void DisplayFolder::use_parts(Expr* target) {
  if (is<Name>(target)) return;
  for_each_child(target, [&](Expr*& child) {
    if (is<Tuple>(target) || is<ListExpr>(target) || is<Starred>(target)) use_parts(child);
    else use(child);
  });
}

bool DisplayFolder::silent(const Expr* expr) const {
  auto* name = as<Name>(expr);
  return is<ConstantExpr>(expr) || (name && locals_.is_fast(name->id));
}

}  // namespace depyf
