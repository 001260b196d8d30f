// Recognises the private names that the compiler mangles in a class: within a class C, `__x` becomes `_C__x`.
#pragma once

#include <algorithm>
#include <string_view>

namespace depyf {

// True for a name that the compiler mangles in a class. The compiler mangles neither names that begin and end with two
// underscores, nor names with a dot, which only the compiler itself creates.
constexpr bool is_private_name(std::string_view name) {
  return name.starts_with("__") && !name.ends_with("__") && name.find('.') == name.npos;
}

// Returns the part of a class name that mangled names contain: the name without its leading underscores. The result is
// empty for a class such as `__`, in which no names are mangled.
constexpr std::string_view class_in_private_names(std::string_view class_name) {
  return class_name.substr(std::min(class_name.find_first_not_of('_'), class_name.size()));
}

}  // namespace depyf
