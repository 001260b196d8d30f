// Changes code objects: their names, constants, variables and places, and the few instructions that depend on these. A
// changed code object is as sound as the original.
//
// Each change also applies to nested code, and returns whether anything changed. A nested code object in which nothing
// changes stays the same object.
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

// Returns what is wrong with a code object that CPython would run unchecked; an empty string if nothing is wrong. Wrong
// are an instruction or argument that the version does not have, a jump or handler that leads to no instruction, and a
// stack that overflows or underflows. Only the number of values on the stack is known. Nested code is not examined.
std::string problem(const CodeObject& code);

// The first problem in a code object or in the code nested in it.
struct NestedProblem {
  std::string function;  // the name of the code object
  std::string words;  // what is wrong; empty if nothing is
};
NestedProblem first_problem(const CodeObject& code);

// Returns true if both have the same bytecode and run it on the same names and constants. Their own names, files,
// positions and stack sizes may differ. Returns false if any constant is not a number, a string, bytes, None, a bool,
// an ellipsis or a tuple of these, because other constants have no order or hold positions of their own.
bool same_code(const CodeObject& one, const CodeObject& two);

// The first function returns the global names that a code object and its nested code read, write or delete. The second
// returns the global names that they assign, including those in bodies of classes and modules. Both return each name
// once, and nothing for malformed bytecode.
std::vector<std::string> global_names(const CodeObject& code);
std::vector<std::string> assigned_names(const CodeObject& code);

// Returns a short name for each name that ends with a uuid, as Dynamo makes them, if nothing else has the short name.
NewNames short_names(const CodeObject& code);

// Renames names in co_names.
bool rename_names(CodeObject& code, const NewNames& names);

// Renames locals of the outermost code object.
bool rename_locals(CodeObject& code, const NewNames& names);

// Turns each load of a global name into the load of a constant.
bool bind_names(CodeObject& code, const ConstantsByName& values);

// Replaces nested code objects, which are given by their index among the constants. A function gets its cells in the
// order of its code's free variables, so a different order needs loads in a different order. Instructions of an unknown
// shape stay unchanged, so the caller has to prove the result.
void replace_nested(CodeObject& code, const std::map<std::uint32_t, Constant>& nested);

// Moves all code of the outermost code's file to another file, and down by a number of lines.
bool move_to(CodeObject& code, const std::string* file, std::int32_t lines_down);

// Moves everything below the first line up by one line, so that statements of the second line stand on the first.
bool raise_by_one_line(CodeObject& code);

// Replaces constants that are no plain data by the names of their types.
bool keep_data_alone(CodeObject& code);

// Returns names to compile with, so that the compiler puts variables into the order that they have in `code`. The
// compiler sorts free and cell variables by name, but Dynamo does not. Nested code is covered as far as the orders
// agree. The result is empty if the variables are sorted already.
NewNames names_that_sort(const CodeObject& code);

// A function that was compiled from source, and the function that it shall stand in for.
struct StandInRequest {
  const CodeObject* compiled = nullptr;  // the function, compiled inside of other functions
  const CodeObject* original = nullptr;
  NewNames sorted;            // the result of `names_that_sort` that the function was compiled with
  NewNames hidden_arguments;  // for names in the source: arguments whose names no source can contain
  std::string prefix;         // the qualified name of the function where it was compiled
  std::string written_name;   // the name of the function in the source
  bool kept = false;          // true if the source mentions all variables that an earlier answer asked for
};

// The answer to a StandInRequest.
struct StandIn {
  CodeObject code;
  // Variables that the source has to mention, so that the code has them. There is no code yet if this is not empty.
  std::vector<std::string> keep;
  std::string reason;  // why the function cannot stand in; there is no code if this is not empty
};

// Makes a compiled function one that can stand in for the original. It gets the original's arguments, free variables,
// cell variables, flags, names and qualified names, and has at least as many locals.
StandIn stand_in(const StandInRequest& request);

// Gives the body of a class, which stores its own qualified name, the qualified name of the original. `prefix` is the
// qualified name of the class where it was compiled.
void requalify_class(CodeObject& compiled, const CodeObject& original, const std::string& prefix);

// Takes a code object apart and puts it together again, instructions and tables. Returns the difference that this
// makes; an empty string, as it should be, if there is none. Tests and fuzzers use it.
std::string round_trip_difference(const CodeObject& code);

// Gives a function the qualified name of another one. The function also removes the flag of `from __future__ import
// annotations` if the other code object does not have it, because annotations are no part of a function's code.
void name_like(CodeObject& code, const CodeObject& original);

}  // namespace depyf
