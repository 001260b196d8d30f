// Compares the source lines that an artifact was compiled from with the lines of the modules on this machine. Modules
// are looked up as files, because importing a module would execute its code.
#include <algorithm>
#include <map>

#include "artifact/stages.h"
#include "page/sha256.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

// Returns "a/b" for the module a.b; empty if a part of the module's name is no identifier, because a path with other
// parts could lead out of a folder.
std::string relative_path(std::string_view module) {
  std::string path;
  while (!module.empty()) {
    const std::string_view name = module.substr(0, module.find('.'));
    if (name.empty() || word_at(name).size() != name.size()) return {};
    path += (path.empty() ? "" : "/") + std::string(name);
    module.remove_prefix(std::min(name.size() + 1, module.size()));
  }
  return path;
}

std::vector<std::string> candidates(const Source& source, const Part& part, const std::vector<std::string>& roots) {
  std::vector<std::string> paths;
  const std::string relative = source.module == "__main__" ? std::string() : relative_path(source.module);
  for (const std::string& root : roots) {
    if (relative.empty()) break;
    const std::string base = root.empty() ? relative : root + "/" + relative;
    paths.push_back(base + ".py");
    paths.push_back(base + "/__init__.py");
  }
  // A script has no module name, so its path is taken from the code objects and the guards.
  const std::string stem = relative.substr(relative.rfind('/') + 1) + ".py";
  const auto add = [&](const std::string& path) {
    const bool is_script = relative.empty() && path.find("/site-packages/") == std::string::npos;
    if (is_script || path.substr(path.rfind('/') + 1) == stem) paths.push_back(path);
  };
  for (const Function& function : part.functions) add(function.filename);
  for (const std::string& file : part.files) add(file);
  return paths;
}

}  // namespace

bool is_source_of(const Artifact& cache, std::string_view text) {
  return page::sha256_hexadecimal(text) == cache.source_checksum;
}

void check_sources(Artifact& artifact, const std::vector<std::string>& roots, const ReadFile& read_file) {
  std::map<std::string, std::optional<std::string>> files;
  for (Part& part : artifact.parts) {
    for (Source& source : part.sources) {
      source.match = Source::Match::not_found;
      for (const std::string& path : candidates(source, part, roots)) {
        auto file = files.find(path);
        if (file == files.end()) file = files.emplace(path, read_file(path)).first;
        if (!file->second) continue;
        const std::string_view lines = lines_between(*file->second, source.first_line, source.last_line);
        const bool is_same = page::sha256_hexadecimal(lines) == source.checksum;
        // If no file matches, the path of the first file that differs is reported.
        if (!is_same && source.match == Source::Match::changed) continue;
        source.match = is_same ? Source::Match::same : Source::Match::changed;
        source.path = path;
        if (is_same || source.module != "__main__") break;
      }
    }
  }
}

}  // namespace depyf::artifact
