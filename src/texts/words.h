// A compilation in sentences, all plain text: what it is called, why there is no code, why it was made again.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf::texts {

// A file's name without its folders; of an installed package with them: torch/optim/optimizer.py.
std::string file_name(const std::string& path);
std::string package_path(const std::string& path);

// "train.py:30 return self.head(x)"; empty if the place is unknown.
std::string line_text(const record::Place& place);
bool is_known(const record::Place& place);

// The function without its place, LM.forward, and for readers, "LM.forward (model.py:12)".
std::string name_of(const record::Compilation& compilation);
std::string title_of(const record::Compilation& compilation);

// The place of a graph break: PyTorch's own line first if the break is there, then the user's that led there. Source of
// the program stands in a code span.
std::string where(const record::GraphBreak& graph_break);
std::string sentence(const record::GraphBreak& graph_break);
// What a reader can do about it, a line each, with its own line of source first.
std::vector<std::string> hints(const record::GraphBreak& graph_break);

// Whether two compilations end at the same break.
bool is_same(const record::GraphBreak& one, const record::GraphBreak& two);

// Why a compilation was needed, in one line: the reason against the nearest one that was there, and how many more there are.
std::string deciding_reason(const std::vector<record::FailedGuard>& failures);
// Why each of the compilations that were there does not serve a call, the nearest one first.
std::vector<std::string> failure_lines(const std::vector<record::FailedGuard>& failures);
// Why a function was compiled again, and where its graph ends.
std::vector<std::string> reasons(const record::Compilation& compilation);

// One sentence on a function that was not compiled: the function, called `title`, what runs, and the cause.
std::string headline(const record::Compilation& compilation, const std::string& title);
// The lines that follow it: the rest of an error, what used a limit up, hints.
std::vector<std::string> details(const record::Compilation& compilation);

// The sizes that a graph leaves open, and what is known only when it runs, one line each; none if there are none.
std::vector<std::string> symbol_rows(const std::vector<record::Symbol>& symbols);
std::vector<std::string> runtime_rows(const record::Compilation& compilation);

// "condition  # why"
std::string limit_text(const record::Limit& limit);

}  // namespace depyf::texts
