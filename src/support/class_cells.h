// Names the cells that the compiler adds to a class.
#pragma once

#include <string_view>

namespace depyf {

// True for the name of a cell that the compiler adds to a class for the functions and annotations in the class. The name
// needs no declaration, and must stay as it is.
constexpr bool is_class_cell(std::string_view name) {
  return name == "__class__" || name == "__classdict__" || name == "__conditional_annotations__";
}

}  // namespace depyf
