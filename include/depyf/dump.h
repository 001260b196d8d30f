// Dumps of depyf: the directories that prepare_debug and `depyf run` write, of blocks that ended (session.json), that are open
// still or whose process died (journal_PID.jsonl).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// Returns the content of a file of the directory; nothing if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& name)>;

// The runs that a dump tells of, each as the record of its process. `journals`: the names of the journals in the directory.
// `with_graphs`: whether the files of graphs and output code are read too. What cannot be read is a problem of its process.
std::vector<record::Process> read_dump(const std::string& directory, const std::vector<std::string>& journals,
                                       const ReadFile& read_file, bool with_graphs);

// Puts what a dump recorded in provenance.json (its text) in place of the chains that link() inferred, compilation by compilation,
// and what was not fused. `processes` are those of session.json. What cannot be read changes nothing.
void read_provenance(std::string_view provenance, std::vector<record::Process>& processes);

// One compilation, as session.json has it in `frames`; its fields that are not there are as in a new one. An empty
// compilation if the text is no JSON.
record::Compilation read_compilation(std::string_view frame);

}  // namespace depyf
