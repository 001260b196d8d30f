// Files of artifacts, found in folders.
#pragma once

#include <string>
#include <vector>

#include "depyf/artifact.h"

namespace depyf::report {

struct ReadArtifacts {
  std::vector<artifact::Artifact> artifacts;
  std::vector<std::string> errors;  // with the path of each
};

// Reads a file, or all files of a folder and the folders in it that are artifacts; of a folder, names are relative to it. The
// sources are compared with the files below `roots`.
ReadArtifacts read_artifacts(const std::string& path, const std::vector<std::string>& roots);

// How the artifacts of two paths differ, a line each. Of the key that a run recorded, how the nearest of the other's entries
// differs from it.
std::vector<std::string> differences(const ReadArtifacts& first, const ReadArtifacts& second);

// Returns, for each file of `recorded`, why a cache whose entries are files of a folder has none with the key in that file: how the
// nearest of its newest entries differs. It is empty if there is nothing to compare. The entries are read once for all keys.
std::vector<std::vector<std::string>> explain_misses(const std::vector<std::string>& recorded,
                                                     const std::string& folder);

}  // namespace depyf::report
