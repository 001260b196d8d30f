// The guards of a compilation as Python that runs.
#pragma once

#include <string>
#include <vector>

namespace depyf {

struct GuardToPrint {
  std::string kind;  // the class of the guard in PyTorch, such as TENSOR_MATCH
  std::string text;  // in Dynamo's words
  std::string line;  // of the program, as `train.py:12 return gelu(x)`; empty if unknown
  std::string value;  // the expression, over L and G, for the value that it is about; empty if there is none
  std::vector<std::string>
      conditions;  // expressions over L, G and torch; `live[3](L, G)` of a guard without a Python form
  bool is_live = false;  // PyTorch's own object decides
  bool is_quiet = true;  // checked past every __torch_function__
};

// A long part of conditions that a definition replaces: `before`, any text, `behind`.
struct GuardShorthand {
  std::string before, behind;
  std::string short_before, short_behind;  // what stands around that text in its place
  std::string definition;  // an import, or a function
};

// The source of a function `name(L, G)`, with a third parameter `live` if any guard is live, that gives the verdict of the
// guards. `quiet` is the context in which those that are quiet are checked. No line is longer than 200 characters.
std::string guard_function(const std::string& name, const std::string& quiet, std::vector<GuardToPrint> guards,
                           const std::vector<GuardShorthand>& shorthands);

}  // namespace depyf
