// Prints the guards of a compilation as executable Python code.
#pragma once

#include <string>
#include <vector>

namespace depyf {

// A guard with the data that is needed to print it.
struct GuardToPrint {
  std::string kind;   // the class of the guard in PyTorch, such as TENSOR_MATCH
  std::string text;   // the text of the guard in Dynamo
  std::string line;   // the line of the program, as `train.py:12 return gelu(x)`; empty if it is unknown
  std::string value;  // the expression over L and G for the guarded value; empty if there is none
  // Expressions over L, G and torch; a guard that cannot be written in Python has an expression such as `live[3](L,
  // G)`, a call of PyTorch's own object.
  std::vector<std::string> conditions;
  bool is_live = false;  // true if PyTorch's own object checks the guard
  bool is_quiet = true;  // true if the guard is checked without calling __torch_function__
};

// An abbreviation for a long part of conditions that consists of `before`, any text, and `behind`.
struct GuardShorthand {
  std::string before, behind;
  std::string short_before, short_behind;  // the replacements of `before` and `behind`
  std::string definition;                  // the import or the function that the short form uses
};

// Returns the source of a function `name(L, G)` that evaluates the guards. The printed function has a third parameter
// `live` if any guard is live. `quiet` is the expression of the context manager in which guards with `is_quiet` are
// checked. No line of the source is longer than 200 characters.
std::string guard_function(const std::string& name, const std::string& quiet, std::vector<GuardToPrint> guards,
                           const std::vector<GuardShorthand>& shorthands);

}  // namespace depyf
