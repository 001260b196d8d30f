// The command depyf-report, which reports the compilations of a run of torch.compile from its TORCH_TRACE logs or its
// dump.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "depyf/compile_costs.h"
#include "depyf/links.h"
#include "depyf/page.h"
#include "depyf/texts.h"
#include "report/comparing.h"
#include "report/reading.h"

namespace {

constexpr const char* help_text =
    R"(usage: depyf-report diff [--details] [--json] BEFORE AFTER
       depyf-report --costs [--json] LOG|DIR...
       depyf-report [--json] [--links] [-o DIR|PAGE.html [--force] [--redact]] LOG|DIR...

Prints what torch.compile did in a finished run: functions, compilations, graph breaks, recompilations with the guard
that failed, seconds, and the differences between the ranks of a run.

A LOG is a log that PyTorch writes if the environment variable TORCH_TRACE=DIR is set. The log may be cut off,
compressed by gzip, or incomplete because PyTorch still writes to it. In a DIR, each file *.log or *.log.gz belongs to
one process. A DIR may also be a dump of depyf (prepare_debug, depyf run), even if the process has died. A record that
--json printed can be given instead of its log, but the record does not contain the texts of graphs and code.

depyf-report diff compares two runs; `depyf-report diff --help` describes this command.

options:
  --costs     print where the time of compiling went, and what changes of the program would save (docs/costs.md); with
              --json, print a list with one object for each process
  --links     also read the graphs and the output code, and link lines of source to kernels
  --json      print the whole record as JSON (docs/record.md) instead of the summary
  --schema    print the JSON Schema of the record
  -o PAGE.html
              write the report as one file, which any browser opens without a network; the report shows the source, the
              graphs and the kernels, linked by line
  -o DIR      write index.md, a page for each compilation, tables by line of source, and the graphs, output code and
              guards of logs as files to DIR; existing files are not overwritten
  --force     overwrite existing files
  --redact    with -o PAGE.html: leave out source text, paths, strings, numbers other than sizes, and error messages;
              keep operators, shapes, times, line numbers, and names that consist of words of PyTorch and Python;
              replace other names by name1, file1.py and so on
  --help      print this text
  --version   print the version

examples:
  TORCH_TRACE=trace python train.py && depyf-report trace
  depyf-report -o report.html trace
  depyf-report -o report trace && less report/index.md
  depyf-report trace/*rank_0*.log trace/*rank_1*.log
  depyf-report --json trace | jq '.processes[].compilations[] | {id, seconds}'

The exit status is 0 if all logs were read completely, 1 if a log could not be read completely or a file could not be
written, and 2 if the command line is wrong.
)";

std::string is_there(const std::string& path) {
  return path + " exists already, so nothing was written; choose another name, or overwrite the file with --force";
}

// Returns the texts of the processes that were read from logs, because `depyf-report` writes the texts of logs as
// files. The texts of a dump are already in files.
std::vector<depyf::LogTexts> texts_of_logs(const depyf::report::Reading& reading) {
  const std::vector<depyf::record::Stage>& stages = depyf::record::stages();
  std::vector<depyf::LogTexts> result;
  for (std::size_t i = 0; i < reading.run.processes.size(); ++i) {
    depyf::LogTexts& of_process = result.emplace_back();
    if (reading.run.processes[i].records.empty()) continue;
    for (const std::vector<depyf::PageText>& of_compilation : reading.texts[i]) {
      std::vector<depyf::LogText>& texts = of_process.emplace_back();
      for (const depyf::PageText& text : of_compilation) {
        const auto stage = std::find_if(stages.begin(), stages.end(),
                                        [&](const depyf::record::Stage& known) { return known.key == text.stage; });
        texts.push_back({stage == stages.end() ? text.stage : std::string(stage->kind), text.direction, text.text});
      }
    }
  }
  return result;
}

// Writes the pages about a run. Returns an error message; empty if there was no error.
std::string write_pages(const depyf::report::Reading& reading, const std::string& directory, bool force) {
  const std::map<std::string, std::string> pages = depyf::index_files(reading.run, texts_of_logs(reading));
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return directory + ": the directory cannot be created: " + error.message();
  for (const auto& [name, text] : pages)
    if (const std::string path = directory + "/" + name; !force && std::filesystem::exists(path, error))
      return is_there(path);
  for (const auto& [name, text] : pages)
    if (std::string problem = depyf::report::write_file(directory + "/" + name, text); !problem.empty()) return problem;
  return {};
}

std::string costs_of(const depyf::record::Run& run, bool as_json) {
  std::string text;
  for (const depyf::record::Process& process : run.processes) {
    std::string costs = depyf::compile_costs(process, "");
    while (!costs.empty() && costs.back() == '\n') costs.pop_back();
    if (as_json) text += (text.empty() ? "[" : ",\n") + costs;
    else
      text += (run.processes.size() > 1 ? process.log + "\n" : "") + depyf::compile_costs_text(costs) + "\n" +
              (&process == &run.processes.back() ? "" : "\n");
  }
  return as_json ? (text.empty() ? "[" : text) + "]\n" : text;
}

std::string joined(int argc, char** argv) {
  std::string text = "depyf-report";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  return text;
}

// Writes to standard output. Prints a message and returns false if the write fails.
bool print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
  std::fputs("depyf-report: standard output cannot be written\n", stderr);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto result = depyf::report::comparing_command({argv + 1, argv + argc})) {
    std::fputs(result->errors.c_str(), stderr);
    return print(result->output) ? result->status : 1;
  }
  bool as_json = false, with_costs = false, with_links = false, force = false, redact = false;
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
    if (argument == "--schema") {
      std::fputs(depyf::record::json_schema().c_str(), stdout);
      return 0;
    }
    if (argument == "--json") {
      as_json = true;
    } else if (argument == "--costs") {
      with_costs = true;
    } else if (argument == "--links") {
      with_links = true;
    } else if (argument == "--force") {
      force = true;
    } else if (argument == "--redact") {
      redact = true;
    } else if (argument == "-o" && i + 1 < argc) {
      output = argv[++i];
    } else if (argument == "-o") {
      std::fputs("depyf-report: -o needs the name of a directory or of a file PAGE.html; see depyf-report --help\n",
                 stderr);
      return 2;
    } else if (argument.size() > 1 && argument[0] == '-') {
      std::fprintf(stderr, "depyf-report: unknown option %s; see depyf-report --help\n", argument.c_str());
      return 2;
    } else {
      paths.push_back(argument);
    }
  }
  if (paths.empty()) {
    std::fputs("depyf-report: no log, directory of logs or dump is given; see depyf-report --help\n", stderr);
    return 2;
  }
  if (with_costs && !output.empty()) {
    std::fputs("depyf-report: --costs and -o cannot be used together, because --costs only prints\n", stderr);
    return 2;
  }
  const bool as_html = output.ends_with(".html");
  if (redact && (!as_html || as_json)) {
    std::fputs("depyf-report: --redact needs -o PAGE.html, without --json, because only the page can be redacted\n",
               stderr);
    return 2;
  }
  if (std::error_code error; as_html && !force && std::filesystem::exists(output, error)) {
    std::fprintf(stderr, "depyf-report: %s\n", is_there(output).c_str());
    return 1;
  }
  depyf::report::Reading reading =
      depyf::report::read(paths, with_costs || with_links || !output.empty(), !output.empty());
  for (const std::string& error : reading.errors) std::fprintf(stderr, "%s\n", error.c_str());
  const int status = reading.is_whole ? 0 : 1;
  if (with_costs) return print(costs_of(reading.run, as_json)) ? status : 1;
  if (!as_json && output.empty() && !with_links) depyf::report::read_graphs_of_different_ranks(reading.run);
  if (as_html) depyf::report::drop_earlier_programs(reading);
  const depyf::record::Run& run = reading.run;
  if (as_html) {
    const std::string page =
        depyf::html_page(run, reading.texts, depyf::report::content_of, {joined(argc, argv), redact});
    if (const std::string problem = depyf::report::write_file(output, page); !problem.empty()) {
      std::fprintf(stderr, "depyf-report: %s\n", problem.c_str());
      return 1;
    }
    if (!as_json) std::printf("Wrote %s.\n", output.c_str());
    if (!as_json) return status;
  } else if (!output.empty()) {
    if (const std::string problem = write_pages(reading, output, force); !problem.empty()) {
      std::fprintf(stderr, "depyf-report: %s\n", problem.c_str());
      return 1;
    }
    if (!as_json) std::printf("Wrote %s/index.md and the pages to which index.md links.\n", output.c_str());
    if (!as_json && !with_links) return status;
  }
  const std::string text = as_json ? depyf::record::to_json(run) : depyf::summary(run) + depyf::links_text(run);
  return print(text) ? status : 1;
}
