// The guards of an artifact, from the pickle of PyTorch's GuardsState.
#pragma once

#include "depyf/artifact.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// Reads guards, settings of the process and what no guard checks into the part. `reads` are the globals that the function reads.
void read_guards(const pickle::Value& guards_state, const std::vector<std::string>& reads, Part& part);

// The expression over L and G for the value that a source of Dynamo leads to; empty where it has none that is known.
std::string source_expression(const pickle::Value& source);

// The class that a type guard of Dynamo names, and the expression that it is about: "___check_type_id(L['x'], 94), type=<class 'a.B'>".
struct TypeCheck {
  std::string value, type;
};
std::optional<TypeCheck> type_check(std::string_view words);

// A condition that the value of an expression has exactly the class of that dotted name.
std::string has_type(const std::string& expression, const std::string& type);

}  // namespace depyf::artifact
