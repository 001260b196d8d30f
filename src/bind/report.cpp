#include "report/reading.h"

#include <algorithm>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "depyf/page.h"
#include "depyf/texts.h"
#include "gil.h"
#include "python_text.h"
#include "report.h"

namespace nb = nanobind;

namespace depyf {
namespace {

std::vector<std::string> write_page(const std::vector<std::string>& paths, const std::string& output,
                                    const std::string& command, bool is_redacted) {
  const ReleasedGil released;
  report::Reading reading = report::read(paths, true, true);
  if (reading.run.processes.empty()) return std::move(reading.errors);
  if (std::string problem =
          report::write_file(output, html_page(reading.run, reading.texts, report::content_of, {command, is_redacted}));
      !problem.empty())
    reading.errors.push_back(std::move(problem));
  return std::move(reading.errors);
}

// Keeps only the last run of each dump, and adds a note on how many runs there are.
void keep_last_runs(record::Run& run) {
  std::vector<record::Process> kept;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    const std::string log = run.processes[i].log;
    const auto is_of_dump = [&](const record::Process& process) { return process.log == log; };
    if (std::any_of(run.processes.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.processes.end(), is_of_dump))
      continue;
    record::Process& last = kept.emplace_back(run.processes[i]);
    if (const auto runs = std::count_if(run.processes.begin(), run.processes.end(), is_of_dump); runs > 1)
      last.notes.insert(last.notes.begin(), "the last of " + std::to_string(runs) + " runs in this directory");
  }
  run.processes = std::move(kept);
}

nb::tuple summary_of(const std::vector<std::string>& paths, bool last_runs) {
  std::string text;
  report::Reading reading;
  {
    const ReleasedGil released;
    reading = report::read(paths, false, false);
    if (last_runs) keep_last_runs(reading.run);
    report::read_graphs_of_different_ranks(reading.run);
    text = reading.run.processes.empty() ? "" : summary(reading.run);
  }
  return nb::make_tuple(python_text(text), python_list(reading.errors), reading.is_whole);
}

}  // namespace

void bind_report(nb::module_& module) {
  module.def("write_page", &write_page, nb::arg("paths"), nb::arg("output"), nb::arg("command"),
             nb::arg("is_redacted") = false,
             "Writes the report of logs and dumps as one HTML file. Returns what went wrong.");
  module.def("summary", &summary_of, nb::arg("paths"), nb::arg("last_runs") = false,
             "What logs and dumps tell, in sentences, as depyf-report prints it");
}

}  // namespace depyf
