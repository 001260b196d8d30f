// Reads dumps of depyf, which are the directories that prepare_debug and `depyf run` write. A dump contains a
// session.json once its prepare_debug block has ended. While the prepare_debug block is open, or after the process died
// in the block, a dump contains a journal_PID.jsonl in place of a session.json.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf {

// A function that returns the content of a file in the dump, or std::nullopt if the file cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& name)>;

// Returns the runs that are recorded in a dump, each as the record of its process. `journals` are the names of the
// journals in the directory. If `with_graphs` is true, the files of graphs and output code are read, too. If a part of
// the dump cannot be read, an error message about the part is added to `problems` of its process.
std::vector<record::Process> read_dump(const std::string& directory, const std::vector<std::string>& journals,
                                       const ReadFile& read_file, bool with_graphs);

// In each compilation, replaces the chains (record::Chain) that link() inferred by the chains that the dump recorded in
// provenance.json. `read_provenance` also reads which operations were not fused. `provenance` is the text of
// provenance.json, and `processes` are the processes of session.json. Parts of `provenance` that cannot be read are
// ignored.
void read_provenance(std::string_view provenance, std::vector<record::Process>& processes);

// Reads one compilation in the form that session.json has in `frames`. Missing fields keep their defaults. Returns an
// empty compilation if `frame` is not JSON.
record::Compilation read_compilation(std::string_view frame);

}  // namespace depyf
