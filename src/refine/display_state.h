// Defines the known values of names and the known objects at one point of the code; see fold_displays.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "ast/node.h"

namespace depyf::displays {

// The known value of a name or item: either an expression that may be copied to any place (a local, a constant, a
// cell), or an object.
struct Value {
  ast::Expr* atom = nullptr;
  int object = -1;  // the number of the object in State::objects, or -1 if the value is `atom`
};

// A list, tuple or dict that only locals and other known objects refer to.
struct Object {
  enum class Kind : std::uint8_t { list, tuple, dict } kind = Kind::list;
  std::vector<ast::Expr*> keys;  // the keys of a dict, all of which are constants
  std::vector<Value> items;
};

// The known values and objects at one point of the code.
struct State {
  // Maps each name to its known value.
  std::map<std::string_view, Value> names;
  std::map<int, Object> objects;

  // Returns the object of `value`; null if `value` is an expression, or if the object is not tracked any more.
  Object* object_of(const Value& value);
  // Adds to `found` the number of the object of `value`, and the numbers of the objects that this object contains at
  // any depth. Adds nothing if `value` is an expression.
  void reach(const Value& value, std::set<int>& found) const;
  // True if `value` is the object with number `object`, or contains that object at any depth.
  bool reaches(const Value& value, int object) const;
  // True if the known value of `name` is the object with number `object`.
  bool bound_to(std::string_view name, int object) const;
  // Returns the number of references to the object `part` that the object `whole` contains at any depth.
  int times(int whole, int part) const;
};

}  // namespace depyf::displays
