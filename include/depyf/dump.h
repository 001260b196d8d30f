// Reads dumps of depyf, which are the directories that prepare_debug and `depyf run` write. A block that ended has a
// session.json. A block that is still open, or whose process died, has a journal_PID.jsonl.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns the content of a file in the directory; nothing if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& name)>;

// Returns the runs that are recorded in a dump, each as the record of its process. `journals` are the names of the
// journals in the directory. `with_graphs` says whether the files of graphs and output code are read, too. A part that
// cannot be read becomes a problem of its process.
std::vector<record::Process> read_dump(const std::string& directory, const std::vector<std::string>& journals,
                                       const ReadFile& read_file, bool with_graphs);

// Replaces the chains that link() inferred by the chains that the dump recorded in provenance.json, compilation by
// compilation. The function also reads which operations were not fused. `provenance` is the text of the file, and
// `processes` are those of session.json. Parts that cannot be read change nothing.
void read_provenance(std::string_view provenance, std::vector<record::Process>& processes);

// Reads one compilation in the form that session.json has in `frames`. Missing fields keep their defaults. A text that
// is no JSON gives an empty compilation.
record::Compilation read_compilation(std::string_view frame);

}  // namespace depyf
