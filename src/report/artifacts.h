// Reads artifacts from files and folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/artifact.h"

namespace depyf::report {

struct ReadArtifacts {
  std::vector<artifact::Artifact> artifacts;
  std::vector<std::string> errors;  // each error with the path of its file
};

// Reads the artifact in a file, or all artifacts below a folder, with names relative to the folder. The sources that
// the artifacts depend on are compared with the files below `roots`.
ReadArtifacts read_artifacts(const std::string& path, const std::vector<std::string>& roots);

// Returns a line for each difference between the artifacts of two paths. A key that a run recorded is compared with the
// nearest entry of the other path.
std::vector<std::string> differences(const ReadArtifacts& first, const ReadArtifacts& second);

// Each file of `recorded` contains the key of a cache miss. Returns, for each key in `recorded`, how the nearest of the
// newest entries in `folder` differs from the key; an empty list if there is nothing to compare. The entries in
// `folder` are read once for all keys.
std::vector<std::vector<std::string>> explain_misses(const std::vector<std::string>& recorded,
                                                     const std::string& folder);

// The key of a cache miss that a log records.
struct MissedKey {
  std::string compilation;  // the id of the compilation that looked up the key
  std::string key;
  std::vector<std::string> differences;  // differences from the nearest entry; empty if there is nothing to compare
};

// Returns the keys that Inductor's cache did not have, in the order of a TORCH_TRACE log, with their differences from
// the nearest entry below `folder`. The misses of AOTAutograd's cache are left out, because it stores no parts of its
// keys that could be compared.
std::vector<MissedKey> missed_keys(std::string_view log, const std::string& folder);

}  // namespace depyf::report
