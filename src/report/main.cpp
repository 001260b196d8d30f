// depyf-report: what torch.compile did, from the TORCH_TRACE logs of a run that is over.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "depyf/dump.h"
#include "depyf/links.h"
#include "depyf/page.h"
#include "depyf/texts.h"
#include "depyf/trace.h"

namespace {

constexpr const char* help_text =
    R"(usage: depyf-report [--json] [--links] [-o DIR|PAGE.html [--force]] LOG|DIR...

Says what torch.compile did in a run that is over, from the logs that TORCH_TRACE=DIR made PyTorch write: functions,
compilations, graph breaks, recompilations with the guard that failed, seconds, and where the ranks of a run differ.
A log may be cut, still be written, or compressed by gzip. In a DIR each file *.log or *.log.gz is one process;
a DIR may also be a dump of depyf (prepare_debug, depyf run), of a process that died too.

options:
  --links     read the graphs and the output code too, and link lines of source to kernels
  --json      print the whole record as JSON (docs/record.md) instead of the summary
  -o NAME.html
              write the report as one file that any browser opens, without a network: source, graphs and kernels, linked
  -o DIR      write index.md, and a page for each compilation, into DIR; nothing is overwritten
  --force     overwrite what is there under the same names
  --help      print this text
  --version   print the version

examples:
  TORCH_TRACE=trace python train.py && depyf-report trace
  depyf-report -o report.html trace
  depyf-report -o report trace && less report/index.md
  depyf-report trace/*rank_0*.log trace/*rank_1*.log
  depyf-report --json trace | jq '.processes[].compilations[] | {id, seconds}'

exit status: 0; 1 if a log could not be read whole, or a file not be written; 2 if the command line is wrong.
)";

// The bytes of a file, without a copy of them in memory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      error_ = std::strerror(errno);
      return;
    }
    struct stat status{};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      error_ = S_ISDIR(status.st_mode) ? "it is a directory" : "it is no regular file";
    } else if (status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped == MAP_FAILED) error_ = std::strerror(errno), size_ = 0;
      else data_ = static_cast<const char*>(mapped);
    }
    ::close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
  }
  std::string_view bytes() const { return data_ ? std::string_view(data_, size_) : std::string_view(); }
  const std::string& error() const { return error_; }  // empty: the file was read

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::string error_;
};

// The logs in a directory, in the order of their names.
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

bool is_journal(const std::string& name) { return name.starts_with("journal_") && name.ends_with(".jsonl"); }

bool is_dump(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::exists(directory + "/session.json", error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (is_journal(entry.path().filename().string())) return true;
  return false;
}

// The content of a file; nothing if it cannot be read.
std::optional<std::string> content_of(const std::string& path) {
  const MappedFile file(path);
  if (!file.error().empty()) return std::nullopt;
  return std::string(file.bytes());
}

// Links the processes from `first` on, which a dump tells of.
void link_dump(const std::string& directory, depyf::record::Run& run, std::size_t first) {
  for (std::size_t i = first; i < run.processes.size(); ++i)
    for (depyf::record::Compilation& compilation : run.processes[i].compilations) depyf::link(compilation);
  const std::optional<std::string> provenance = content_of(directory + "/provenance.json");
  if (!provenance) return;
  std::vector<depyf::record::Process> processes;
  for (std::size_t i = first; i < run.processes.size(); ++i) processes.push_back(std::move(run.processes[i]));
  depyf::read_provenance(*provenance, processes);
  std::move(processes.begin(), processes.end(), run.processes.begin() + static_cast<std::ptrdiff_t>(first));
}

// The dump in a directory. Under torchrun each process has its own folder rank_n in it.
void read_dumps(const std::string& directory, bool with_graphs, depyf::record::Run& run) {
  std::error_code error;
  std::vector<std::string> journals, folders;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (is_journal(name)) journals.push_back(name);
    if (name.starts_with("rank_") && entry.is_directory(error) && is_dump(entry.path().string()))
      folders.push_back(entry.path().string());
  }
  std::sort(journals.begin(), journals.end());
  std::sort(folders.begin(), folders.end());
  const auto read_file = [&](const std::string& name) -> std::optional<std::string> {
    if (name.find('/') != std::string::npos) return std::nullopt;  // the files of a dump lie side by side
    const MappedFile file(directory + "/" + name);
    if (!file.error().empty()) return std::nullopt;
    return std::string(file.bytes());
  };
  const std::size_t first = run.processes.size();
  for (depyf::record::Process& process : depyf::read_dump(directory, journals, read_file, with_graphs))
    run.processes.push_back(std::move(process));
  if (with_graphs) link_dump(directory, run, first);
  for (const std::string& folder : folders) read_dumps(folder, with_graphs, run);
}

bool has_dumps(const std::string& directory) {
  std::error_code error;
  if (is_dump(directory)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().filename().string().starts_with("rank_") && entry.is_directory(error) &&
        is_dump(entry.path().string()))
      return true;
  return false;
}

// Writes a file under another name first, so that it is never half written, and a link is replaced, not followed. Returns what
// went wrong; empty if nothing did.
std::string write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (!file) return temporary + ": cannot be written: " + std::strerror(errno);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((std::fclose(file) != 0) | !is_written) return temporary + ": cannot be written: " + std::strerror(errno);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return path + ": cannot be written: " + std::strerror(errno);
  return {};
}

std::string is_there(const std::string& path) {
  return path + " is there already, and nothing was written; choose another name, or say --force";
}

// Writes the pages on a run. Returns what went wrong; empty if nothing did.
std::string write_pages(const depyf::record::Run& run, const std::string& directory, bool force) {
  const std::map<std::string, std::string> pages = depyf::index_files(run);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return directory + ": cannot be made: " + error.message();
  for (const auto& [name, text] : pages)
    if (const std::string path = directory + "/" + name; !force && std::filesystem::exists(path, error))
      return is_there(path);
  for (const auto& [name, text] : pages)
    if (std::string problem = write_file(directory + "/" + name, text); !problem.empty()) return problem;
  return {};
}

// The texts of a process that a dump in a directory tells of.
depyf::PageTexts texts_of_dump(const depyf::record::Process& process) {
  const std::string directory = process.log.substr(0, process.log.rfind('/'));
  return depyf::page_texts(process, [&](const depyf::record::Artifact& artifact) -> std::optional<std::string> {
    if (artifact.name.empty() || artifact.name.find('/') != std::string::npos) return std::nullopt;
    return content_of(directory + "/" + artifact.name);
  });
}

// Sorts the processes, and with them their texts if there are any.
void sort_by_rank(depyf::record::Run& run, std::vector<depyf::PageTexts>& texts) {
  std::vector<std::size_t> order(run.processes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return run.processes[a].rank.value_or(-1) < run.processes[b].rank.value_or(-1);
  });
  depyf::record::Run sorted;
  std::vector<depyf::PageTexts> sorted_texts;
  for (const std::size_t index : order) {
    sorted.processes.push_back(std::move(run.processes[index]));
    if (index < texts.size()) sorted_texts.push_back(std::move(texts[index]));
  }
  run = std::move(sorted);
  texts = std::move(sorted_texts);
}

std::string joined(int argc, char** argv) {
  std::string text = "depyf-report";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  bool as_json = false, with_links = false, force = false;
  std::string output;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(help_text, stdout);
      return 0;
    }
    if (argument == "--version") {
      std::puts("depyf-report " DEPYF_VERSION);
      return 0;
    }
    if (argument == "--json") {
      as_json = true;
    } else if (argument == "--links") {
      with_links = true;
    } else if (argument == "--force") {
      force = true;
    } else if (argument == "-o" && i + 1 < argc) {
      output = argv[++i];
    } else if (argument == "-o") {
      std::fputs("depyf-report: -o needs the name of a directory; --help says more\n", stderr);
      return 2;
    } else if (argument.size() > 1 && argument[0] == '-') {
      std::fprintf(stderr, "depyf-report: unknown option %s; --help lists the options\n", argument.c_str());
      return 2;
    } else {
      paths.push_back(argument);
    }
  }
  if (paths.empty()) {
    std::fputs("depyf-report: name a log or a directory of logs (TORCH_TRACE=DIR writes them); --help says more\n",
               stderr);
    return 2;
  }
  const bool as_html = output.ends_with(".html");
  if (std::error_code error; as_html && !force && std::filesystem::exists(output, error)) {
    std::fprintf(stderr, "depyf-report: %s\n", is_there(output).c_str());
    return 1;
  }
  with_links |= as_html;
  int status = 0;
  depyf::record::Run run;
  std::vector<depyf::PageTexts> texts;  // of each process, if the page is to be written
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::vector<std::string> logs{path};
    if (std::filesystem::is_directory(path, ignored)) {
      logs = logs_in(path);
      const bool is_of_depyf = has_dumps(path);
      if (is_of_depyf) {
        const std::size_t first = run.processes.size();
        read_dumps(path, with_links, run);
        for (std::size_t i = first; i < run.processes.size(); ++i) {
          if (!run.processes[i].problems.empty()) status = 1;
          if (as_html) texts.push_back(texts_of_dump(run.processes[i]));
        }
      }
      if (logs.empty() && !is_of_depyf) {
        std::fprintf(stderr, "%s: no *.log in the directory, and no dump of depyf\n", path.c_str());
        status = 1;
      }
    }
    for (const std::string& log : logs) {
      const MappedFile file(log);
      if (!file.error().empty()) {
        std::fprintf(stderr, "%s: cannot be read: %s\n", log.c_str(), file.error().c_str());
        status = 1;
        continue;
      }
      std::string_view bytes = file.bytes();
      depyf::Unpacked unpacked;
      if (depyf::is_compressed(bytes)) {
        unpacked = depyf::unpack(bytes);
        bytes = unpacked.bytes;
      }
      run.processes.push_back(depyf::read_trace(bytes, log));
      if (unpacked.problem) {
        run.processes.back().is_cut = true;
        run.processes.back().problems.push_back(std::move(*unpacked.problem));
      }
      if (with_links) {
        depyf::read_graphs(bytes, run.processes.back());
        for (depyf::record::Compilation& compilation : run.processes.back().compilations) depyf::link(compilation);
      }
      if (as_html)
        texts.push_back(depyf::page_texts(run.processes.back(), [&](const depyf::record::Artifact& artifact) {
          return std::optional(depyf::payload_of(bytes, artifact));
        }));
      if (!run.processes.back().problems.empty()) status = 1;
    }
  }
  sort_by_rank(run, texts);
  if (as_html) {
    const std::string page = depyf::html_page(run, texts, content_of, {joined(argc, argv)});
    if (const std::string problem = write_file(output, page); !problem.empty()) {
      std::fprintf(stderr, "depyf-report: %s\n", problem.c_str());
      return 1;
    }
    if (!as_json) std::printf("Wrote %s.\n", output.c_str());
    if (!as_json) return status;
  } else if (!output.empty()) {
    if (const std::string problem = write_pages(run, output, force); !problem.empty()) {
      std::fprintf(stderr, "depyf-report: %s\n", problem.c_str());
      return 1;
    }
    if (!as_json) std::printf("Wrote %s/index.md and the pages that it leads to.\n", output.c_str());
    if (!as_json && !with_links) return status;
  }
  const std::string text = as_json ? depyf::record::to_json(run) : depyf::summary(run) + depyf::links_text(run);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    std::fputs("depyf-report: standard output cannot be written\n", stderr);
    return 1;
  }
  return status;
}
