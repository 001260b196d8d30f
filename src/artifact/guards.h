// Reads the guards of an artifact from the pickle of PyTorch's GuardsState.
#pragma once

#include "depyf/artifact.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// Adds the guards, the settings of the process, and the values that no guard checks to the part. `reads` lists the
// globals that the function reads.
void read_guards(const pickle::Value& guards_state, const std::vector<std::string>& reads, Part& part);

// Returns the expression over L and G that leads to the value of one of Dynamo's sources; empty if no expression is
// known.
std::string source_expression(const pickle::Value& source);

// The class that a type guard of Dynamo names, and the expression whose value it checks: "___check_type_id(L['x'],
// 94), type=<class 'a.B'>".
struct TypeCheck {
  std::string value, type;
};
std::optional<TypeCheck> type_check(std::string_view words);

// Returns a condition that the value of an expression is an instance of exactly the class with that dotted name.
std::string has_type(const std::string& expression, const std::string& type);

}  // namespace depyf::artifact
