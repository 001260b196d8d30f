// Converts the facts of a run to the form in which a contract states them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "depyf/contract.h"
#include "diff/facts.h"

namespace depyf::contract {

// Returns a line as a contract names it: the text of the line, with the name of the line's file in front unless the
// name is `file`.
std::string line_in(const diff::Line& line, const std::string& file);

// The operators that a line of source computes, such as "2 linear f32[4, 8], relu f32[4, 8]".
struct LineOperators {
  std::string line;       // the text of the line with its file
  std::string operators;  // the operators; empty if the line computes nothing
  record::Place place;
};

// Returns the operators by line, in the order of files and lines.
std::vector<LineOperators> operators_of(const diff::Facts& facts);

// Returns the functions of the facts as functions of a contract with all sections, in the same order.
std::vector<Function> functions_of(const diff::Facts& facts);

// Returns the operators of a line that `these` contains and `others` lacks; "nothing more" if `others` contains all
// operators of `these`.
std::string only_in(const std::string& these, const std::string& others);

// Returns the title of a function in a contract, such as "Net.forward (model.py)".
std::string title_of(const Function& function);

}  // namespace depyf::contract
