#include "report/comparing.h"

#include "depyf/diff.h"
#include "report/reading.h"

namespace depyf::report {
namespace {

constexpr int same = 0, different = 1, unknown = 2;  // the exit statuses

constexpr const char* diff_help = R"(usage: depyf-report diff [--details] [--json] BEFORE AFTER

Says what torch.compile did otherwise in the second of two runs: functions, graph breaks, recompilations, what runs eagerly,
operators by line, kernels and fusions, library calls, values saved for the backward, guards. What matters most stands
first. Names that PyTorch gives, addresses, hashes, folders and the order of compilations do not count.

BEFORE and AFTER are each a dump of depyf, its session.json, a TORCH_TRACE log, a directory of logs, or a record (--json). Of a dump that several
runs were written to, the last one counts. Ranks are compared with the rank of the same number; to compare two ranks of
one run, name their logs or folders.

options:
  --details   what each difference consists of, and seconds by phase
  --json      print it as JSON (docs/differences.md)
  --help      print this text

exit status: 0 if nothing differs; 1 if something does; 2 if a run could not be read, or the command line is wrong.
)";

// Returns the only process of the run that a path names. Earlier runs that were written to the same dump are left
// out.
record::Run run_at(const std::string& path, CommandResult& result) {
  std::string directory = path;
  if (const std::size_t name = path.rfind("session.json"); name != std::string::npos && name + 12 == path.size())
    directory = name ? path.substr(0, name - (name > 1 ? 1 : 0)) : ".";
  Reading reading = read({directory}, true, false);
  for (const std::string& error : reading.errors) result.errors += error + "\n";
  for (const record::Process& process : reading.run.processes)
    for (const record::Problem& problem : process.problems)
      result.errors += process.log + ": offset " + std::to_string(problem.offset) + ": " + problem.message + "\n";
  keep_last_runs(reading.run);
  if (!reading.is_whole || reading.run.processes.empty()) result.status = unknown;
  return std::move(reading.run);
}

CommandResult wrong_usage(const std::string& message) {
  return {unknown, "", "depyf-report: " + message + "; --help says more\n"};
}

CommandResult diff_command(const std::vector<std::string>& arguments) {
  bool with_details = false, as_json = false;
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") return {0, diff_help, ""};
    if (argument == "--details") with_details = true;
    else if (argument == "--json") as_json = true;
    else if (argument.size() > 1 && argument[0] == '-') return wrong_usage("unknown option " + argument);
    else paths.push_back(argument);
  }
  if (paths.size() != 2) return wrong_usage("diff takes two runs");
  CommandResult result;
  const record::Run before = run_at(paths[0], result), after = run_at(paths[1], result);
  if (before.processes.empty() || after.processes.empty()) return result;
  const diff::Difference difference = diff::compare(before, after);
  result.output =
      as_json ? diff::to_json(difference, before, after) : diff::to_text(difference, before, after, with_details);
  if (result.status == same && !difference.changes.empty()) result.status = different;
  return result;
}

}  // namespace

std::optional<CommandResult> comparing_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (arguments[0] == "diff") return diff_command(rest);
  return std::nullopt;
}

}  // namespace depyf::report
