// Reads artifacts from files and folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/artifact.h"

namespace depyf::report {

struct ReadArtifacts {
  std::vector<artifact::Artifact> artifacts;
  std::vector<std::string> errors;  // error messages, each with the path of its file
};

// Reads the artifact in a file, or all artifacts below a folder, whose names are relative to the folder. The sources
// from which the artifacts were compiled are compared with the files below `roots`.
ReadArtifacts read_artifacts(const std::string& path, const std::vector<std::string>& roots);

// Returns a line for each difference between the artifacts of two paths. If an artifact is the key that a run
// recorded for a cache miss, the key is compared with the nearest entry of the other path.
std::vector<std::string> differences(const ReadArtifacts& first, const ReadArtifacts& second);

// Each file of `recorded` contains the key of a cache miss. Returns, for each key in `recorded`, the differences
// between the key and the nearest of the newest entries in `folder`; an empty list if no entry can be compared. The
// entries in `folder` are read once for all keys.
std::vector<std::vector<std::string>> explain_misses(const std::vector<std::string>& recorded,
                                                     const std::string& folder);

// The key of a cache miss that a log records.
struct MissedKey {
  std::string compilation;  // the id of the compilation that looked up the key
  std::string key;
  std::vector<std::string> differences;  // the differences from the nearest entry; empty if no entry can be compared
};

// Returns the keys that Inductor's cache did not have, in the order of a TORCH_TRACE log, with their differences from
// the nearest entry below `folder`. The misses of AOTAutograd's cache are left out, because AOTAutograd's cache
// stores no parts of its keys that could be compared.
std::vector<MissedKey> missed_keys(std::string_view log, const std::string& folder);

}  // namespace depyf::report
