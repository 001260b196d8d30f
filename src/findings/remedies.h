// Finds statements and edits that remove the cause of a finding.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "depyf/findings.h"
#include "diff/facts.h"

namespace depyf::findings {

using ReadSource = std::function<std::optional<std::string>(const std::string&)>;

// Returns a statement that removes a graph break or a recompilation without changing the results of the program; an
// empty text if no such statement is known.
std::string setting_for_break(const record::GraphBreak& graph_break);
// `is_first` is true if `cause` was not the cause of an earlier recompilation of the function.
std::string setting_for_recompilation(const diff::Cause& cause, bool is_first);
// True if the guard that failed checks an attribute of a module, and the value of the attribute is a whole number.
bool is_whole_number_of_module(const diff::Cause& cause);
std::string setting_for_limit(const record::Compilation& compilation);

// Returns the edit that removes a call `torch._dynamo.graph_break()` from the program; std::nullopt for a graph break
// of any other kind.
std::optional<Patch> edit_for_break(const record::GraphBreak& graph_break, const ReadSource& source);

// Returns the edit that inserts a statement behind `import torch`; std::nullopt if the file cannot be read, does not
// import torch, or belongs to an installed package.
std::optional<Patch> edit_for_setting(const std::string& setting, const std::string& file, const ReadSource& source);

}  // namespace depyf::findings
