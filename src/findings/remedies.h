// Statements and edits that make a finding go away.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "depyf/findings.h"
#include "diff/facts.h"

namespace depyf::findings {

using ReadSource = std::function<std::optional<std::string>(const std::string&)>;

// Returns a statement that removes a graph break or a recompilation without a change of what the program computes; empty
// if none is known.
std::string setting_for_break(const record::GraphBreak& graph_break);
// `is_first`: no recompilation of the function before had the same cause.
std::string setting_for_recompilation(const diff::Cause& cause, bool is_first);
// True if the guard that failed is about an attribute of a module that is a whole number.
bool is_whole_number_of_module(const diff::Cause& cause);
std::string setting_for_limit(const record::Compilation& compilation);

// Returns the edit that takes out the line of a graph break that the program asks for; nothing for any other line.
std::optional<Patch> edit_for_break(const record::GraphBreak& graph_break, const ReadSource& source);

// Returns the edit that inserts a statement behind `import torch`; nothing if the file cannot be read or lacks that.
std::optional<Patch> edit_for_setting(const std::string& setting, const std::string& file, const ReadSource& source);

}  // namespace depyf::findings
