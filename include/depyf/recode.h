// Changes to code objects: names, constants, variables, places and the few instructions that these ask for. A changed
// code object is as sound as the one before.
//
// A change reaches nested code, and returns whether there was one. A nested code object in which nothing changes stays
// the very same.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "depyf/code_object.h"

namespace depyf {

using NewNames = std::map<std::string, std::string, std::less<>>;  // by the name before
using NameSet = std::set<std::string, std::less<>>;
using ConstantsByName = std::map<std::string, Constant, std::less<>>;

// What is wrong with a code object that CPython would run unasked: an instruction or an argument that the version does
// not have, a jump or a handler to where no instruction begins, or a stack that runs over or under. Empty where nothing
// is. Of the values on the stack only the number is known. Nested code is not looked at.
std::string problem(const CodeObject& code);

struct NestedProblem {
  std::string function;  // the name of the code object
  std::string words;  // what is wrong; empty: nothing, here and in all that is nested
};
NestedProblem first_problem(const CodeObject& code);

// Do both have the same bytecode and run it on the same names and constants? Their own names, files, positions and
// stack sizes may differ. No where a constant is anything but a number, a string, bytes, None, a bool, an ellipsis or a
// tuple of these: the rest has no order or holds positions of its own.
bool same_code(const CodeObject& one, const CodeObject& two);

// Global names that a code object and those in it read, write or delete; and those that they assign, in the bodies of
// classes and modules too. Each once. Of malformed bytecode: none.
std::vector<std::string> global_names(const CodeObject& code);
std::vector<std::string> assigned_names(const CodeObject& code);

// Dynamo ends names with a uuid. The short name of each such name, where it is nobody else's.
NewNames short_names(const CodeObject& code);

// Gives names in co_names other names.
bool rename_names(CodeObject& code, const NewNames& names);

// Gives locals of the outermost code object other names.
bool rename_locals(CodeObject& code, const NewNames& names);

// Makes each load of a global name a load of a constant.
bool bind_names(CodeObject& code, const ConstantsByName& values);

// Puts other code objects in the place of nested ones, by their index among the constants. A function gets its cells in
// the order of its code's free variables, so where that order is another one, they are loaded in the other order; where
// the instructions have another shape they stay as they are, so that the result has to be proved.
void replace_nested(CodeObject& code, const std::map<std::uint32_t, Constant>& nested);

// Gives code of the same file as the outermost another file, and a place so many lines further down.
bool move_to(CodeObject& code, const std::string* file, std::int32_t lines_down);

// Moves all that stands below the first line up by one line, so that statements of the second line stand at the first.
bool raise_by_one_line(CodeObject& code);

// Leaves out constants that are no plain data: their types' names stand in their place.
bool keep_data_alone(CodeObject& code);

// A compiler sorts free and cell variables by name; Dynamo does not. Names to compile with, so that the variables come in
// the order that they have in `code`, and in nested code as far as the orders agree. Empty where they are sorted already.
NewNames names_that_sort(const CodeObject& code);

// What is compiled from source, and what it is to stand in for.
struct StandInRequest {
  const CodeObject* compiled = nullptr;  // the function, compiled within others
  const CodeObject* original = nullptr;
  NewNames sorted;  // of `names_that_sort`, by which it was compiled
  NewNames hidden_arguments;  // names of arguments that no source can have, by those in the source
  std::string prefix;  // qualified name of the function in what was compiled
  std::string written_name;  // of the function in the source
  bool kept = false;  // the source mentions all that an answer before asked for
};

struct StandIn {
  CodeObject code;
  std::vector<std::string>
      keep;  // variables that the source has to mention, so that the code has them; not empty: no code yet
  std::string reason;  // why it cannot stand in; not empty: no code
};

// Makes a compiled function one that can stand in for another: arguments, free variables, cell variables, flags, names
// and qualified names are those of the other, and there are at least as many locals.
StandIn stand_in(const StandInRequest& request);

// The same for the body of a class, which stores its qualified name. `prefix`: of the class in what was compiled.
void requalify_class(CodeObject& compiled, const CodeObject& original, const std::string& prefix);

// Takes a code object apart and puts it together again, instructions and tables. Returns what differs then; empty, as it
// should be, if nothing does. For tests and fuzzers.
std::string round_trip_difference(const CodeObject& code);

// Gives a function the qualified name of another, and takes the mark of `from __future__ import annotations` from it if
// the other has it not: annotations are no part of a function's code.
void name_like(CodeObject& code, const CodeObject& original);

}  // namespace depyf
