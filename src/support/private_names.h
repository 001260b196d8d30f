// The names that the compiler changes in a class: within a class C, `__x` becomes `_C__x`.
#pragma once

#include <algorithm>
#include <string_view>

namespace depyf {

// True for a name that a class changes. Names that also end with two underscores, and names with a dot, which the
// compiler makes, stay as they are.
constexpr bool is_private_name(std::string_view name) {
  return name.starts_with("__") && !name.ends_with("__") && name.find('.') == name.npos;
}

// Returns the part of the name of a class that stands in changed names: the name without its leading underscores. It is
// empty for a class that changes no names.
constexpr std::string_view class_in_private_names(std::string_view class_name) {
  return class_name.substr(std::min(class_name.find_first_not_of('_'), class_name.size()));
}

}  // namespace depyf
