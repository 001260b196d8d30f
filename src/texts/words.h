// Describes a compilation in sentences of plain text: its name, the reason why it has no code, and the reason for
// compiling again.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf::texts {

// `file_name` returns the name of a file without its folders; `package_path` keeps the folders of an installed package,
// as in torch/optim/optimizer.py.
std::string file_name(const std::string& path);
std::string package_path(const std::string& path);

// Returns a place with its line of source, such as "train.py:30 return self.head(x)"; an empty text if the place is
// unknown.
std::string line_text(const record::Place& place);
bool is_known(const record::Place& place);

// `name_of` returns the name of the function, such as LM.forward. `title_of` returns the name with the place of the
// function, such as "LM.forward (model.py:12)".
std::string name_of(const record::Compilation& compilation);
std::string title_of(const record::Compilation& compilation);

// Returns the place of a graph break. If the break is in PyTorch, PyTorch's line comes first, and the line of the
// user's code that called PyTorch follows. If the text quotes a line of the program, the quoted line is in a code span
// of Markdown.
std::string where(const record::GraphBreak& graph_break);
std::string sentence(const record::GraphBreak& graph_break);
// Returns hints about the break as a list: the line of source if it is known, the ways to avoid the break, and a link.
std::vector<std::string> hints(const record::GraphBreak& graph_break);

// True if two compilations end at the same break.
bool is_same(const record::GraphBreak& one, const record::GraphBreak& two);

// Returns one line with the reason for a compilation: the reason why the nearest existing compilation does not accept
// the call, and the number of further reasons.
std::string deciding_reason(const std::vector<record::FailedGuard>& failures);
// Returns, for each existing compilation, the reason why it does not accept a call. The nearest compilation comes
// first.
std::vector<std::string> failure_lines(const std::vector<record::FailedGuard>& failures);
// Returns the reasons why a function was compiled again, and the places where its graph ends.
std::vector<std::string> reasons(const record::Compilation& compilation);

// Returns one sentence about a function that was not compiled: the function, which `title` names, the code that runs,
// and the cause.
std::string headline(const record::Compilation& compilation, const std::string& title);
// Returns the lines that follow the headline: the rest of an error, the compilations that exhausted a limit, hints.
std::vector<std::string> details(const record::Compilation& compilation);

// `symbol_rows` returns the symbolic sizes of a graph, and `runtime_rows` returns the values and checks that are known
// only when the graph runs. Each line has one item.
std::vector<std::string> symbol_rows(const std::vector<record::Symbol>& symbols);
std::vector<std::string> runtime_rows(const record::Compilation& compilation);

// Returns the condition of a limit, with its origin as a comment: "condition # why".
std::string limit_text(const record::Limit& limit);

}  // namespace depyf::texts
