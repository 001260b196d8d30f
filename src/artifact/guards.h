// Reads the guards of an artifact from the pickle of PyTorch's GuardsState.
#pragma once

#include "depyf/artifact.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// Adds to `part` the guards, the state of the process that guards check, and sentences about values that no guard
// checks. `reads` lists the globals that the guarded function reads.
void read_guards(const pickle::Value& guards_state, const std::vector<std::string>& reads, Part& part);

// Returns an expression over the locals L and the globals G; an empty text if no expression is known. The expression
// evaluates to the value that `source`, a source of Dynamo, describes.
std::string source_expression(const pickle::Value& source);

// The parts of a type guard of Dynamo. For the guard "___check_type_id(L['x'], 94), type=<class 'a.B'>", `value` is
// L['x'] and `type` is a.B.
struct TypeCheck {
  std::string value, type;
};
std::optional<TypeCheck> type_check(std::string_view words);

// Returns a condition that is true if the class of the value of `expression` is exactly the class with the dotted name
// `type`.
std::string has_type(const std::string& expression, const std::string& type);

}  // namespace depyf::artifact
