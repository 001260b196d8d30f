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

// Reads a file, or all artifacts in a folder and in the folders below it, whose names are then relative to the
// folder. The sources that they depend on are compared with the files below `roots`.
ReadArtifacts read_artifacts(const std::string& path, const std::vector<std::string>& roots);

// Returns a line for each difference between the artifacts of two paths. For a key that a run recorded, it compares
// the entry of the other path that is nearest to the key.
std::vector<std::string> differences(const ReadArtifacts& first, const ReadArtifacts& second);

// Returns, for each file of `recorded`, which holds the key of a miss, how the nearest of the newest entries in
// `folder` differs from that key; empty if there is nothing to compare. The entries are read once for all keys.
std::vector<std::vector<std::string>> explain_misses(const std::vector<std::string>& recorded,
                                                     const std::string& folder);

// The key of a miss, as a log has it.
struct MissedKey {
  std::string compilation;  // the id of the compilation that asked for it
  std::string key;
  std::vector<std::string> differences;  // from the nearest entry; empty if there is nothing to compare
};

// Returns the keys that Inductor's cache did not have, in the order of a TORCH_TRACE log, with their differences from the
// nearest entry below `folder`. AOTAutograd stores no parts of its
// keys, so that its misses have nothing to compare.
std::vector<MissedKey> missed_keys(std::string_view log, const std::string& folder);

}  // namespace depyf::report
