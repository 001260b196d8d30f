// Replaces reads of names and items by expressions for the known values of the names and items. If t is known to be [a,
// b] and u to be {0: c}, `f(u[0], t)` becomes `f(c, [a, b])`. A read of a known list, tuple or dict becomes a display
// such as `[a, b]`. If other code may use the same known object, the object is stored under a name, because each
// evaluation of a display creates another object.
#include <set>

#include "refine/display_names.h"

namespace depyf::displays {
using namespace ast;

// True if the object with number `object` can be reached from a name other than `name`, or if a later statement can
// reach it from `name`.
bool Names::shared(int object, std::string_view name) const {
  for (const auto& [each, value] : state().names) {
    if (each == name ? !liveness_.live(each) : !liveness_.live_or_now(each)) continue;
    if (state().reaches(value, object)) return true;
  }
  return false;
}

Expr* Names::given(Value value, std::string_view through) {
  refresh(value);
  if (value.atom) return copy_of(value.atom);
  // If the current statement reads the variable `through` more than once, each read must yield the same object.
  const bool again = !through.empty() && liveness_.read_twice_now(through);
  std::set<int> parts;
  state().reach(value, parts);
  for (int part : parts) {
    if (part == value.object || !state().objects.contains(part)) continue;
    if (again || shared(part, through) || state().times(value.object, part) > 1) name_object(part);
  }
  if (!again && !shared(value.object, through)) return written(value.object);
  return context_.name(
      name_object(value.object, state().bound_to(through, value.object) ? through : std::string_view{}));
}

// Returns the object with number `id` as a display. Nested objects that can be reached in more than one way are stored
// under names.
Expr* Names::written(int id) {
  std::set<int> parts;
  state().reach({nullptr, id}, parts);
  parts.erase(id);
  for (int part : parts) {
    if (!state().objects.contains(part)) continue;
    bool others = false;
    for (const auto& [name, value] : state().names)
      others = others || (value.object == part && liveness_.live_or_now(name));
    if (others || state().times(id, part) > 1) name_object(part);
  }
  const Object object = state().objects.at(id);
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

}  // namespace depyf::displays
