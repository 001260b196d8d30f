#include "report/reading.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>

#include "depyf/dump.h"
#include "depyf/links.h"
#include "depyf/trace.h"

namespace depyf::report {
namespace {

bool is_journal(const std::string& name) { return name.starts_with("journal_") && name.ends_with(".jsonl"); }

// File descriptors that stay open until the process ends. A block of `prepare_debug` locks its journal. POSIX drops the
// lock of a process on a file when the process closes any descriptor of that file. To keep the lock on its own journal,
// a process opens the journal for reading only once, and never closes the descriptor.
class KeptDescriptors {
 public:
  static bool has_to_keep(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::string own = "journal_" + std::to_string(::getpid());
    return is_journal(name) && name.starts_with(own) && name.substr(own.size()).find_first_of("._") == 0;
  }

  int open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = by_path_.try_emplace(path, -1);
    if (is_new) entry->second = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int file = entry->second;
    if (file < 0) by_path_.erase(entry);
    return file;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> by_path_;
};

KeptDescriptors& kept_descriptors() {
  static KeptDescriptors kept;
  return kept;
}

// The bytes of a file, mapped into memory instead of copied.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const bool is_kept = KeptDescriptors::has_to_keep(path);
    const int file = is_kept ? kept_descriptors().open(path) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      error_ = std::strerror(errno);
      return;
    }
    struct stat status{};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      error_ = S_ISDIR(status.st_mode) ? "the path is a directory" : "the path is not a regular file";
    } else if (status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped == MAP_FAILED) error_ = std::strerror(errno), size_ = 0;
      else data_ = static_cast<const char*>(mapped);
    }
    if (!is_kept) ::close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
  }
  std::string_view bytes() const { return data_ ? std::string_view(data_, size_) : std::string_view(); }
  const std::string& error() const { return error_; }  // Returns an error message; empty if the file was read.

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::string error_;
};

// Returns the paths of the logs in a directory, sorted by their names.
std::vector<std::string> logs_in(const std::string& directory) {
  std::vector<std::string> logs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (const std::string path = entry.path().string();
        entry.is_regular_file(error) && (path.ends_with(".log") || path.ends_with(".log.gz")))
      logs.push_back(path);
  std::sort(logs.begin(), logs.end());
  return logs;
}

bool is_dump(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::exists(directory + "/session.json", error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (is_journal(entry.path().filename().string())) return true;
  return false;
}

// Links the stages of the compilations of the processes from index `first` on, which were read from a dump. If
// `with_provenance` is set, the links in provenance.json, which depyf recorded in the process, are used too.
void link_dump(const std::string& directory, bool with_provenance, record::Run& run, std::size_t first) {
  for (std::size_t i = first; i < run.processes.size(); ++i)
    for (record::Compilation& compilation : run.processes[i].compilations) link(compilation);
  if (!with_provenance) return;
  const std::optional<std::string> provenance = content_of(directory + "/provenance.json");
  if (!provenance) return;
  std::vector<record::Process> processes;
  for (std::size_t i = first; i < run.processes.size(); ++i) processes.push_back(std::move(run.processes[i]));
  read_provenance(*provenance, processes);
  std::move(processes.begin(), processes.end(), run.processes.begin() + static_cast<std::ptrdiff_t>(first));
}

// True if the name of a folder in a dump has the form of the name of another process's dump. The folder rank_N is from
// a process of torchrun, and process_PID is from a process that the program started.
bool is_of_process(const std::string& name) { return name.starts_with("rank_") || name.starts_with("process_"); }

// Returns the folders of other processes in a dump, in the order of their ranks or ids.
std::vector<std::string> folders_of_processes(const std::string& directory) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (is_of_process(entry.path().filename().string()) && entry.is_directory(error))
      folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end(), [](const std::string& one, const std::string& two) {
    return one.size() != two.size() ? one.size() < two.size() : one < two;
  });
  return folders;
}

// Reads the dump in a directory, and the dumps of other processes in folders of the directory.
void read_dumps(const std::string& directory, bool with_graphs, bool with_provenance, record::Run& run) {
  std::error_code error;
  std::vector<std::string> journals;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (is_journal(name)) journals.push_back(name);
  }
  std::sort(journals.begin(), journals.end());
  const auto read_file = [&](const std::string& name) -> std::optional<std::string> {
    // The files of a dump are directly in its directory, so a name with a slash is not the name of a file of the
    // dump.
    if (name.find('/') != std::string::npos) return std::nullopt;
    const MappedFile file(directory + "/" + name);
    if (!file.error().empty()) return std::nullopt;
    return std::string(file.bytes());
  };
  const std::size_t first = run.processes.size();
  for (record::Process& process : read_dump(directory, journals, read_file, with_graphs))
    run.processes.push_back(std::move(process));
  if (with_graphs) link_dump(directory, with_provenance, run, first);
  for (const std::string& folder : folders_of_processes(directory))
    read_dumps(folder, with_graphs, with_provenance, run);
}

bool has_dumps(const std::string& directory) {
  const std::vector<std::string> folders = folders_of_processes(directory);
  return is_dump(directory) || std::any_of(folders.begin(), folders.end(), has_dumps);
}

// Returns the texts of a process that was read from a dump.
PageTexts texts_of_dump(const record::Process& process) {
  const std::string directory = process.log.substr(0, process.log.rfind('/'));
  return page_texts(process, [&](const record::Artifact& artifact) -> std::optional<std::string> {
    if (artifact.name.empty() || artifact.name.find('/') != std::string::npos) return std::nullopt;
    return content_of(directory + "/" + artifact.name);
  });
}

// True if the bytes are a record in JSON, which begins with a brace. A line of a log begins with a letter.
bool is_record(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

// Adds the processes of a record in JSON, which the option --json prints. A record in JSON has no texts of graphs or
// code.
void read_record(std::string_view bytes, const std::string& path, bool with_texts, Reading& reading) {
  std::variant<record::Run, record::Problem> record = record::from_json(bytes);
  if (const auto* problem = std::get_if<record::Problem>(&record)) {
    const std::string place = problem->offset > 0 ? ", byte " + std::to_string(problem->offset) : "";
    reading.errors.push_back(path + place + ": " + problem->message);
    reading.is_whole = false;
    return;
  }
  auto& run = std::get<record::Run>(record);
  std::move(run.measurements.begin(), run.measurements.end(), std::back_inserter(reading.run.measurements));
  for (record::Process& process : run.processes) {
    if (!process.problems.empty()) reading.is_whole = false;
    if (with_texts)
      process.notes.push_back("This page was written from a record (" + path.substr(path.rfind('/') + 1) +
                              "), which does not contain the texts of graphs, guards and kernels. Write the page from "
                              "the dump or the log to see these texts.");
    reading.run.processes.push_back(std::move(process));
    if (with_texts)
      reading.texts.push_back(page_texts(reading.run.processes.back(),
                                         [](const record::Artifact&) { return std::optional<std::string>(); }));
  }
}

// Returns the directory of the dump of a process's run. A process that the program started has a folder of its own in
// this directory.
std::string directory_of_run(const record::Process& process) {
  const std::filesystem::path folder = std::filesystem::path(process.log).parent_path();
  return (process.is_child ? folder.parent_path() : folder).string();
}

// Sorts the processes by rank, and their texts in the same order.
void sort_by_rank(record::Run& run, std::vector<PageTexts>& texts) {
  std::vector<std::size_t> order(run.processes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return run.processes[a].rank.value_or(-1) < run.processes[b].rank.value_or(-1);
  });
  record::Run sorted;
  std::vector<PageTexts> sorted_texts;
  for (const std::size_t index : order) {
    sorted.processes.push_back(std::move(run.processes[index]));
    if (index < texts.size()) sorted_texts.push_back(std::move(texts[index]));
  }
  run.processes = std::move(sorted.processes);
  texts = std::move(sorted_texts);
}

}  // namespace

std::optional<std::string> content_of(const std::string& path) {
  const MappedFile file(path);
  if (!file.error().empty()) return std::nullopt;
  return std::string(file.bytes());
}

Reading read(const std::vector<std::string>& paths, bool with_links, bool with_texts) {
  Reading reading;
  record::Run& run = reading.run;
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::vector<std::string> logs{path};
    if (std::filesystem::is_directory(path, ignored)) {
      logs = logs_in(path);
      const bool is_of_depyf = has_dumps(path);
      if (is_of_depyf) {
        const std::size_t first = run.processes.size();
        read_dumps(path, with_links, with_texts, run);
        for (std::size_t i = first; i < run.processes.size(); ++i) {
          if (!run.processes[i].problems.empty()) reading.is_whole = false;
          if (with_texts) reading.texts.push_back(texts_of_dump(run.processes[i]));
        }
        // `depyf run --profile` writes the run times of source lines as a record.
        const std::string times = path + "/run_time.json";
        if (const std::optional<std::string> bytes = content_of(times)) read_record(*bytes, times, with_texts, reading);
      }
      if (logs.empty() && !is_of_depyf) {
        reading.errors.push_back(path + ": the directory contains no *.log or *.log.gz file, and no dump of depyf");
        reading.is_whole = false;
      }
    }
    for (const std::string& log : logs) {
      const MappedFile file(log);
      if (!file.error().empty()) {
        reading.errors.push_back(log + ": cannot be read: " + file.error());
        reading.is_whole = false;
        continue;
      }
      std::string_view bytes = file.bytes();
      if (is_record(bytes)) {
        read_record(bytes, log, with_texts, reading);
        continue;
      }
      Unpacked unpacked;
      if (is_compressed(bytes)) {
        unpacked = unpack(bytes);
        bytes = unpacked.bytes;
      }
      run.processes.push_back(read_trace(bytes, log));
      if (unpacked.problem) {
        run.processes.back().is_cut = true;
        run.processes.back().problems.push_back(std::move(*unpacked.problem));
      }
      if (with_links) {
        read_graphs(bytes, run.processes.back());
        for (record::Compilation& compilation : run.processes.back().compilations) link(compilation);
      }
      if (with_texts)
        reading.texts.push_back(page_texts(run.processes.back(), [&](const record::Artifact& artifact) {
          return std::optional(payload_of(bytes, artifact));
        }));
      if (!run.processes.back().problems.empty()) reading.is_whole = false;
    }
  }
  sort_by_rank(run, reading.texts);
  return reading;
}

void read_graphs_of_different_ranks(record::Run& run) {
  if (run.processes.size() < 2) return;
  const std::vector<record::RankGroup> groups = record::compare_ranks(run);
  if (groups.size() < 2) return;
  for (const record::RankGroup& group : groups) {
    record::Process& process = run.processes[group.processes.front()];
    if (process.records.empty()) continue;  // The process was read from a dump.
    const MappedFile file(process.log);
    if (file.error().empty() && !is_compressed(file.bytes())) read_graphs(file.bytes(), process);
  }
}

namespace {

// Returns the number of the last run of `depyf run` in each directory; 0 for a directory in which no run has a
// number.
std::map<std::string, std::int64_t> last_runs_of(const record::Run& run) {
  std::map<std::string, std::int64_t> last_runs;
  for (const record::Process& process : run.processes) {
    std::int64_t& last = last_runs[directory_of_run(process)];
    last = std::max(last, process.run.value_or(0));
  }
  return last_runs;
}

}  // namespace

void drop_earlier_programs(Reading& reading) {
  const std::map<std::string, std::int64_t> last_runs = last_runs_of(reading.run);
  std::vector<record::Process> kept;
  std::vector<PageTexts> kept_texts;
  for (std::size_t i = 0; i < reading.run.processes.size(); ++i) {
    record::Process& process = reading.run.processes[i];
    const std::int64_t last = last_runs.at(directory_of_run(process));
    if (process.run && *process.run < last) continue;
    if (process.run && last > 1)
      process.notes.insert(
          process.notes.begin(),
          "this is run " + std::to_string(last) +
              " in this directory; earlier runs are left out, because the files of the program may have "
              "changed since then");
    kept.push_back(std::move(process));
    if (i < reading.texts.size()) kept_texts.push_back(std::move(reading.texts[i]));
  }
  reading.run.processes = std::move(kept);
  reading.texts = std::move(kept_texts);
}

void keep_last_runs(Reading& reading) {
  record::Run& run = reading.run;
  // Folders of processes of earlier runs can still exist, because the next run of a program does not remove them.
  const std::map<std::string, std::int64_t> last_runs = last_runs_of(run);
  std::vector<record::Process> kept;
  std::vector<PageTexts> kept_texts;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    const std::string log = run.processes[i].log;
    const bool is_earlier =
        run.processes[i].run && *run.processes[i].run < last_runs.at(directory_of_run(run.processes[i]));
    if (run.processes[i].is_child && is_earlier) continue;
    const auto is_of_dump = [&](const record::Process& process) { return process.log == log; };
    if (std::any_of(run.processes.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.processes.end(), is_of_dump))
      continue;
    record::Process& last = kept.emplace_back(run.processes[i]);
    if (i < reading.texts.size()) kept_texts.push_back(std::move(reading.texts[i]));
    if (const auto runs = std::count_if(run.processes.begin(), run.processes.end(), is_of_dump); runs > 1)
      last.notes.insert(last.notes.begin(), "the last of " + std::to_string(runs) + " runs in this directory");
  }
  run.processes = std::move(kept);
  reading.texts = std::move(kept_texts);
}

std::string write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (!file) return temporary + ": cannot be written: " + std::strerror(errno);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((std::fclose(file) != 0) | !is_written) return temporary + ": cannot be written: " + std::strerror(errno);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return path + ": cannot be written: " + std::strerror(errno);
  return {};
}

}  // namespace depyf::report
