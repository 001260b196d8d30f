// What is known of names and of objects at one point of a code object whose displays are folded; see fold_displays.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "ast/node.h"

namespace depyf::displays {

// What a name or an item is known to be: an expression that may stand anywhere (a local, a constant, a cell), or an object.
struct Value {
  ast::Expr* atom = nullptr;
  int object = -1;
};

struct Object {
  enum class Kind : std::uint8_t { list, tuple, dict } kind = Kind::list;
  std::vector<ast::Expr*> keys;  // of a dict: constants
  std::vector<Value> items;
};

struct State {
  std::map<std::string_view, Value> names;
  std::map<int, Object> objects;

  // The object that the value is; null if it is none, or one that is not followed any more.
  Object* object_of(const Value& value);
  // Adds to `found` the objects that the value is or holds, at any depth.
  void reach(const Value& value, std::set<int>& found) const;
  bool reaches(const Value& value, int object) const;
  bool bound_to(std::string_view name, int object) const;
  // How often one object holds another, at any depth.
  int times(int whole, int part) const;
};

}  // namespace depyf::displays
