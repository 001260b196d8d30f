#include "report/reading.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "depyf/page.h"
#include "depyf/texts.h"
#include "gil.h"
#include "python_text.h"
#include "report.h"
#include "report/comparing.h"

namespace nb = nanobind;

namespace depyf {
namespace {

std::vector<std::string> write_page(const std::vector<std::string>& paths, const std::string& output,
                                    const std::string& command, bool is_redacted) {
  const ReleasedGil released;
  report::Reading reading = report::read(paths, true, true);
  if (reading.run.processes.empty()) return std::move(reading.errors);
  report::drop_earlier_programs(reading);
  if (std::string problem =
          report::write_file(output, html_page(reading.run, reading.texts, report::content_of, {command, is_redacted}));
      !problem.empty())
    reading.errors.push_back(std::move(problem));
  return std::move(reading.errors);
}

nb::tuple summary_of(const std::vector<std::string>& paths, bool last_runs) {
  std::string text;
  report::Reading reading;
  {
    const ReleasedGil released;
    reading = report::read(paths, false, false);
    if (last_runs) report::keep_last_runs(reading);
    report::read_graphs_of_different_ranks(reading.run);
    text = reading.run.processes.empty() ? "" : summary(reading.run);
  }
  return nb::make_tuple(python_text(text), python_list(reading.errors), reading.is_whole);
}

nb::tuple comparing_command(const std::vector<std::string>& arguments) {
  report::CommandResult result;
  {
    const ReleasedGil released;
    result = report::comparing_command(arguments).value_or(report::CommandResult{2, "", "unknown command\n"});
  }
  return nb::make_tuple(result.status, python_text(result.output), python_text(result.errors));
}

}  // namespace

void bind_report(nb::module_& module) {
  module.def("write_page", &write_page, nb::arg("paths"), nb::arg("output"), nb::arg("command"),
             nb::arg("is_redacted") = false);
  module.def("summary", &summary_of, nb::arg("paths"), nb::arg("last_runs") = false);
  module.def("comparing_command", &comparing_command, nb::arg("arguments"));
}

}  // namespace depyf
