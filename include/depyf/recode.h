// Changes code objects: their names, constants, variables and positions, and the few instructions that depend on
// the names, constants and variables. The functions of this file never make a valid code object invalid.
//
// Each function that changes a code object also changes the nested code objects, and returns whether anything changed.
// A nested code object in which nothing changes stays the same object.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

using NewNames = std::map<std::string, std::string, std::less<>>;
using NameSet = std::set<std::string, std::less<>>;
using ConstantsByName = std::map<std::string, Constant, std::less<>>;

// Returns a problem that makes a code object unsafe to run, since CPython does not check bytecode; an empty string if
// there is no problem. Problems are an instruction or argument that the version does not have, a jump or handler that
// leads to no instruction, and a stack that overflows or underflows. Only the number of values on the stack is checked,
// not their types. Nested code is not examined.
std::string problem(const CodeObject& code);

// The first problem in a code object or in the code nested in it.
struct NestedProblem {
  std::string function;  // the name of the code object
  std::string words;  // a description of the problem; empty if there is no problem
};
NestedProblem first_problem(const CodeObject& code);

// Returns true if both code objects have the same bytecode, and run it on the same names and constants. The names,
// files, positions and stack sizes of the two code objects may differ. Returns false if any constant is not a
// number, a string, bytes, None, a bool, an ellipsis or a tuple of these, because other constants have no order or
// contain positions of their own.
bool same_code(const CodeObject& one, const CodeObject& two);

// `global_names` returns the global names that a code object and its nested code read, write or delete.
// `assigned_names` returns the global names that a code object and its nested code assign, including those in bodies of
// classes and modules. Each name is returned once, and malformed bytecode yields no names.
std::vector<std::string> global_names(const CodeObject& code);
std::vector<std::string> assigned_names(const CodeObject& code);

// Returns a short name for each name that ends with a UUID, as names that Dynamo generates do, unless the short name is
// already used.
NewNames short_names(const CodeObject& code);

// Renames names in co_names.
bool rename_names(CodeObject& code, const NewNames& names);

// Renames locals of the outermost code object.
bool rename_locals(CodeObject& code, const NewNames& names);

// Replaces each load of a global name in `values` by the load of its constant.
bool bind_names(CodeObject& code, const ConstantsByName& values);

// Replaces nested code objects, which are given by their index among the constants. A nested function gets its cells
// in the order of its code's free variables, so if the new code has a different order, the loads of the cells are
// reordered. Instructions of an unknown shape stay unchanged, so the caller has to prove that the result is
// equivalent to the original.
void replace_nested(CodeObject& code, const std::map<std::uint32_t, Constant>& nested);

// Subtracts one from all line numbers after the first line of the code, so that the second line becomes the first.
bool raise_by_one_line(CodeObject& code);

// Replaces each constant that is not plain data by the name of the constant's type.
bool keep_data_alone(CodeObject& code);

// Returns new names for the free and cell variables of `code`, with which the compiler puts the variables into the
// order that they have in `code`. The compiler sorts free and cell variables by name, but Dynamo does not. The new
// names also order the variables of each nested code object, unless the order in the nested code contradicts the order
// in outer code. The result is empty if the variables are sorted already.
NewNames names_that_sort(const CodeObject& code);

// A function that was compiled from source, and the original function that it shall replace.
struct StandInRequest {
  const CodeObject* compiled = nullptr;  // the new function, compiled inside of functions that bind its free variables
  const CodeObject* original = nullptr;
  NewNames sorted;  // the result of `names_that_sort` that the function was compiled with
  NewNames hidden_arguments;  // maps names in the source to argument names that no source can contain
  std::string prefix;  // the qualified name that the function got when it was compiled
  std::string written_name;  // the name of the function in the source
  bool kept = false;  // true if the source mentions all variables in `StandIn::keep` of an earlier call
};

// The answer to a StandInRequest.
struct StandIn {
  CodeObject code;
  // The variables that the source has to mention so that the compiled code has these variables. If `keep` is not
  // empty, `code` is not set.
  std::vector<std::string> keep;
  std::string reason;  // the reason why the function cannot replace the original; if it is not empty, `code` is not set
};

// Changes the function `request.compiled` so that it can replace the function `request.original`. The result has the
// arguments, free variables, cell variables, flags, names and qualified names of the original function, and at least as
// many locals as the original function.
StandIn stand_in(const StandInRequest& request);

// Sets the qualified name of a class body, and the copy of the name that the body stores, to the qualified name of
// `original`. `prefix` is the qualified name that the class got when it was compiled.
void requalify_class(CodeObject& compiled, const CodeObject& original, const std::string& prefix);

// Decodes and encodes the instructions and tables of a code object. Returns the difference between the encoded code
// object and `code`, or an empty string if they are equal, which is the expected outcome. Tests and fuzzers use this
// function.
std::string round_trip_difference(const CodeObject& code);

// Sets the qualified name of a function to the qualified name of `original`. The flag of `from __future__ import
// annotations` is removed if `original` does not have the flag, because annotations are not a part of a function's
// code.
void name_like(CodeObject& code, const CodeObject& original);

}  // namespace depyf
