#include "refine/display_state.h"

namespace depyf::displays {

Object* State::object_of(const Value& value) {
  auto found = objects.find(value.object);
  return found == objects.end() ? nullptr : &found->second;
}

// An object may contain itself, so each object is visited only once.
void State::reach(const Value& value, std::set<int>& found) const {
  std::vector<int> todo;
  if (value.object >= 0) todo.push_back(value.object);
  while (!todo.empty()) {
    int at = todo.back();
    todo.pop_back();
    if (!found.insert(at).second) continue;
    for (const Value& item : objects.at(at).items)
      if (item.object >= 0) todo.push_back(item.object);
  }
}

bool State::reaches(const Value& value, int object) const {
  std::set<int> found;
  reach(value, found);
  return found.contains(object);
}

bool State::bound_to(std::string_view name, int object) const {
  auto found = names.find(name);
  return found != names.end() && found->second.object == object;
}

int State::times(int whole, int part) const {
  int count = 0;
  std::set<int> found;
  reach({nullptr, whole}, found);
  for (int each : found)
    for (const Value& item : objects.at(each).items) count += item.object == part;
  return count;
}

}  // namespace depyf::displays
