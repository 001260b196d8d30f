// Prints the guards of a compilation as executable Python code.
#pragma once

#include <string>
#include <vector>

namespace depyf {

// A guard with the data that is needed to print it.
struct GuardToPrint {
  std::string kind;   // the class of the guard in PyTorch, such as TENSOR_MATCH
  std::string text;   // the text with which Dynamo describes the guard
  std::string line;   // the user's line that caused the guard, as `train.py:12 return gelu(x)`; empty if unknown
  std::string value;  // the expression over L and G for the guarded value; empty if the guard has no value
  // The conditions as expressions over L, G and torch. If a guard cannot be written in Python, its expression calls
  // PyTorch's own guard object, as in `live[3](L, G)`.
  std::vector<std::string> conditions;
  bool is_live = false;  // true if PyTorch's own object checks the guard
  bool is_quiet = true;  // true if __torch_function__ is disabled while the guard is checked
};

// An abbreviation for a long part of conditions that consists of `before`, any text, and `behind`.
struct GuardShorthand {
  std::string before, behind;
  std::string short_before, short_behind;  // the replacements of `before` and `behind`
  std::string definition;                  // the import or the function that the short form uses
};

// Returns the source of a function `name(L, G)` that evaluates the guards. The printed function has a third parameter
// `live` if PyTorch's own object checks any of the guards. `quiet` is the expression of the context manager in which
// guards with `is_quiet` are checked. No line of the source is longer than 200 characters.
std::string guard_function(const std::string& name, const std::string& quiet, std::vector<GuardToPrint> guards,
                           const std::vector<GuardShorthand>& shorthands);

}  // namespace depyf
