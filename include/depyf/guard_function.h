// Prints the guards of a compilation as Python code that runs.
#pragma once

#include <string>
#include <vector>

namespace depyf {

// A guard, and what is known about it.
struct GuardToPrint {
  std::string kind;   // the class of the guard in PyTorch, such as TENSOR_MATCH
  std::string text;   // the guard in Dynamo's words
  std::string line;   // the line of the program, as `train.py:12 return gelu(x)`; empty if it is unknown
  std::string value;  // the expression over L and G for the guarded value; empty if there is none
  // Expressions over L, G and torch; a guard without a Python form has the expression `live[3](L, G)`.
  std::vector<std::string> conditions;
  bool is_live = false;  // true if PyTorch's own object decides
  bool is_quiet = true;  // true if the guard is checked without calling __torch_function__
};

// A long part of conditions that a definition shortens: any text between `before` and `behind`.
struct GuardShorthand {
  std::string before, behind;
  std::string short_before, short_behind;  // what replaces `before` and `behind` around that text
  std::string definition;                  // an import, or a function
};

// Returns the source of a function `name(L, G)` that gives the verdict of the guards. The function has a third
// parameter `live` if any guard is live. `quiet` is the context in which quiet guards are checked. No line is longer
// than 200 characters.
std::string guard_function(const std::string& name, const std::string& quiet, std::vector<GuardToPrint> guards,
                           const std::vector<GuardShorthand>& shorthands);

}  // namespace depyf
