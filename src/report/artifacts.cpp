#include "artifacts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "depyf/trace.h"

namespace depyf::report {
namespace {

namespace fs = std::filesystem;

// The maximum size in bytes of a file that is read. Artifacts are smaller than 2 GiB, because PyTorch saves weights in
// separate files.
constexpr std::uintmax_t file_max = std::uintmax_t{2} << 30;
constexpr std::uintmax_t source_max = std::uintmax_t{64} << 20;  // the largest Python file that is read, in bytes
constexpr std::size_t files_max = 10'000;  // the maximum number of files that are read from a folder
constexpr std::size_t entries_max = 50;  // the number of cache entries that a miss is compared with
constexpr std::uintmax_t entry_max = std::uintmax_t{16} << 20;  // the largest compared entry in bytes
constexpr std::size_t hash_min = 24;  // the least length of a path component that counts as a hash

// Returns the bytes of a regular file of at most `size_max` bytes; nothing for other files, because a device or a pipe
// may have no end.
std::optional<std::string> content(const fs::path& path, std::uintmax_t size_max) {
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return {};
  const std::uintmax_t size = fs::file_size(path, problem);
  if (problem || size > size_max) return {};
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return file.bad() ? std::nullopt : std::optional(std::move(bytes));
}

// Returns all regular files below a folder, sorted. Symbolic links are not followed.
std::vector<fs::path> files_below(const fs::path& folder, std::vector<std::string>& errors) {
  std::vector<fs::path> files;
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, problem);
  for (const fs::recursive_directory_iterator end; !problem && entry != end; entry.increment(problem)) {
    std::error_code unreadable;
    if (entry->is_symlink(unreadable) || !entry->is_regular_file(unreadable)) continue;
    if (files.size() == files_max) {
      errors.push_back(folder.string() + ": only the first " + std::to_string(files_max) + " files were read");
      break;
    }
    files.push_back(entry->path());
  }
  if (problem) errors.push_back(folder.string() + ": " + problem.message());
  std::sort(files.begin(), files.end());
  return files;
}

// Returns a path without the components that are hashes.
std::string without_hashes(const std::string& name) {
  std::string result;
  for (const fs::path& part : fs::path(name))
    if (part.string().size() < hash_min) result += "/" + part.string();
  return result;
}

// Looks for the source file of a cache of torch.compiler.precompile in the folder of the cache. Adds a fact to the
// first part of the cache. The fact states that the source file is missing, unchanged or changed, because PyTorch
// refuses a cache if its source has changed.
void check_pair(artifact::Artifact& cache, const fs::path& file) {
  if (cache.source_checksum.empty() || cache.parts.empty()) return;
  const fs::path beside = fs::path(file).replace_extension(".py");
  const std::optional<std::string> text = content(beside, source_max);
  const std::string name = beside.filename().string();
  std::string words = name + " is missing in the folder of the cache";
  if (text) {
    const bool is_same = artifact::is_source_of(cache, *text);
    words = name + (is_same ? " is unchanged" : " has changed, so PyTorch refuses the pair");
  }
  cache.parts.front().facts.push_back({"source", words});
}

std::size_t counterpart(const artifact::Artifact& wanted, const std::vector<artifact::Artifact>& others,
                        const std::vector<bool>& is_paired) {
  for (const bool is_exact : {true, false}) {
    for (std::size_t index = 0; index < others.size(); ++index) {
      if (is_paired[index]) continue;
      const std::string& name = others[index].name;
      if (is_exact ? name == wanted.name : without_hashes(name) == without_hashes(wanted.name)) return index;
    }
  }
  return others.size();
}

// Reads only the newest entries of the cache in `folder`, with which the keys of cache misses are compared.
std::vector<artifact::Artifact> newest_entries(const std::string& folder) {
  std::vector<std::string> errors;
  std::vector<std::pair<fs::file_time_type, fs::path>> newest;
  for (fs::path& file : files_below(folder, errors)) {
    std::error_code problem;
    const fs::file_time_type time = fs::last_write_time(file, problem);
    if (!problem) newest.emplace_back(time, std::move(file));
  }
  std::sort(newest.rbegin(), newest.rend());
  newest.resize(std::min(newest.size(), entries_max));
  std::vector<artifact::Artifact> entries;
  for (const auto& [time, file] : newest)
    if (const std::optional<std::string> entry = content(file, entry_max); entry && artifact::is_likely(*entry))
      entries.push_back(artifact::read(*entry, file.lexically_relative(folder).string()));
  return entries;
}

// Returns the differences between a key that a run recorded and the nearest entry; empty if no entry can be compared.
std::vector<std::string> explained(const std::string& recorded, const std::string& name,
                                   const std::vector<artifact::Artifact>& entries) {
  const artifact::Artifact asked = artifact::read(recorded, name);
  if (asked.parts.size() != 1) return {};
  return artifact::nearest_differences(asked.parts[0], entries).value_or(std::vector<std::string>{});
}

}  // namespace

ReadArtifacts read_artifacts(const std::string& path, const std::vector<std::string>& roots) {
  ReadArtifacts result;
  std::error_code problem;
  const bool is_folder = fs::is_directory(path, problem);
  const std::vector<fs::path> files = is_folder ? files_below(path, result.errors) : std::vector<fs::path>{path};
  for (const fs::path& file : files) {
    std::optional<std::string> bytes = content(file, file_max);
    if (!bytes) {
      if (!is_folder) result.errors.push_back(path + ": cannot be read; only regular files of at most 2 GiB are read");
      continue;
    }
    // The folder of a cache also contains source code and compiled libraries, which are no artifacts.
    if (is_folder && !artifact::is_likely(*bytes)) continue;
    artifact::Artifact read = artifact::read(*bytes, is_folder ? file.lexically_relative(path).string() : path);
    artifact::check_sources(read, roots, [](const std::string& source) { return content(source, source_max); });
    check_pair(read, file);
    result.artifacts.push_back(std::move(read));
  }
  if (is_folder && result.artifacts.empty())
    result.errors.push_back(path + ": the directory contains no file in which PyTorch saved compilations");
  return result;
}

std::vector<std::vector<std::string>> explain_misses(const std::vector<std::string>& recorded,
                                                     const std::string& folder) {
  const std::vector<artifact::Artifact> entries = newest_entries(folder);
  std::vector<std::vector<std::string>> result;
  for (const std::string& path : recorded) {
    std::vector<std::string>& lines = result.emplace_back();
    if (const std::optional<std::string> bytes = content(path, source_max)) lines = explained(*bytes, path, entries);
  }
  return result;
}

std::vector<MissedKey> missed_keys(std::string_view log, const std::string& folder) {
  std::vector<MissedKey> missed;
  std::vector<artifact::Artifact> entries;
  bool are_read = false;
  for (const record::Compilation& compilation : read_trace(log, "").compilations) {
    for (const record::Artifact& recorded : compilation.artifacts) {
      if (recorded.name != "fx_graph_cache_miss") continue;
      if (!are_read) entries = newest_entries(folder);
      are_read = true;
      const std::string bytes = payload_of(log, recorded);
      const artifact::Artifact asked = artifact::read(bytes, recorded.name);
      if (asked.parts.size() == 1)
        missed.push_back({compilation.id, asked.parts[0].key, explained(bytes, recorded.name, entries)});
    }
  }
  return missed;
}

std::vector<std::string> differences(const ReadArtifacts& first, const ReadArtifacts& second) {
  const auto is_recorded = [](const ReadArtifacts& read) {
    return read.artifacts.size() == 1 && read.artifacts[0].parts.size() == 1 &&
           read.artifacts[0].format.starts_with("the key of");
  };
  if (is_recorded(first) != is_recorded(second)) {
    const artifact::Part& asked = (is_recorded(first) ? first : second).artifacts[0].parts[0];
    auto lines = artifact::nearest_differences(asked, (is_recorded(first) ? second : first).artifacts);
    if (!lines) return {"no entry of " + asked.kind + " contains the parts of its key, so the keys cannot be compared"};
    return *std::move(lines);
  }
  if (first.artifacts.size() == 1 && second.artifacts.size() == 1)
    return artifact::differences(first.artifacts[0], second.artifacts[0]);
  std::vector<std::string> lines;
  std::vector<bool> is_paired(second.artifacts.size());
  for (const artifact::Artifact& one : first.artifacts) {
    const std::size_t index = counterpart(one, second.artifacts, is_paired);
    if (index == second.artifacts.size()) {
      lines.push_back("only the first has " + one.name);
      continue;
    }
    is_paired[index] = true;
    for (const std::string& line : artifact::differences(one, second.artifacts[index]))
      lines.push_back(one.name + ": " + line);
  }
  for (std::size_t index = 0; index < is_paired.size(); ++index)
    if (!is_paired[index]) lines.push_back("only the second has " + second.artifacts[index].name);
  return lines;
}

}  // namespace depyf::report
