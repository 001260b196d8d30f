#include "report/comparing.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <variant>

#include "depyf/contract.h"
#include "depyf/diff.h"
#include "depyf/findings.h"
#include "report/reading.h"

namespace depyf::report {
namespace {

constexpr int same = 0, different = 1, unknown = 2;  // the exit statuses

constexpr const char* diff_help = R"(usage: depyf-report diff [--details] [--json] [--html FILE [--force]] BEFORE AFTER

Prints what torch.compile did differently in the second of two runs: functions, graph breaks, recompilations, code that
runs eagerly, operators by line, kernels and fusions, library calls, values saved for the backward, and guards. The most
important differences are printed first. Names that PyTorch generates, addresses, hashes, folders and the order of
compilations do not count as differences.

BEFORE and AFTER are each a dump of depyf, its session.json, a TORCH_TRACE log, a directory of logs, or a record
(--json). If several runs were written to a dump, the last run is compared. Each rank is compared with the rank of the
same number; to compare two ranks of one run, name their logs or folders.

options:
  --details    also print the parts of each difference, and the seconds of each phase
  --json       print the differences as JSON (docs/differences.md)
  --html FILE  also write the report about AFTER to FILE; the page begins with the differences
  --force      overwrite FILE if it exists
  --help       print this text

The exit status is 0 if there is no difference, 1 if there is a difference, and 2 if a run cannot be read or if the
command line is wrong.
)";

constexpr const char* check_help = R"(usage: depyf-report check [--baseline FILE] [--json] PATH
       depyf-report check [--no-breaks] [--recompiles N] [--kernels N] [--json] PATH
       depyf-report check --write [--baseline FILE] [--without NAME,...] [--seconds RATIO] PATH

Checks a run against the contract of a program, which is a small file that is committed with the program. The run keeps
the contract if all functions of the contract are compiled, if they have no graph breaks and no recompilations other
than the listed ones, if the kernels, library calls, saved bytes and guards do not exceed the listed numbers, and if
each line of the graphs computes the same as before. A member that was deleted from the file is not checked. A function
that the contract does not list must be compiled as a whole, and only once. The contract identifies a place by the text
of its line, so that edits of other lines do not move the place.

PATH is a dump of depyf, its session.json, a TORCH_TRACE log, a directory of logs, or a record (--json). If several runs
were written to a dump, the last run is checked.

options:
  --baseline FILE      the file of the contract (default: depyf-contract.json)
  --no-breaks          instead of a contract: allow no graph breaks, and no functions that run eagerly
  --recompiles N       instead of a contract: allow N recompilations in total
  --kernels N          instead of a contract: allow N kernels in total
  --write              write the contract from this run, and replace an existing contract
  --without NAME,...   with --write: leave these sections out of the contract (a list with commas): breaks,
                       recompilations, eager, kernels, library_calls, saved_bytes, guards, operators, backend
  --seconds RATIO      with --write: allow all compilations together RATIO times the seconds that they took in this run
  --json               print the verdict as JSON
  --help               print this text

The exit status is 0 if the contract holds or was written, 1 if the contract is broken, and 2 if the run cannot be
checked: a file cannot be read or is damaged, the file is not a contract, the run compiled nothing, or the command line
is wrong.
)";

constexpr const char* findings_help =
    R"(usage: depyf-report findings [--json | --sarif] [--fail-on CODE,...] [--root DIR] PATH...

Lists what torch.compile did that a user may want to change: graph breaks, recompilations, limits, functions that run
eagerly, errors, and cache misses. Each finding has a stable code, a severity, its place, PyTorch's own explanation,
and, if one is known, a statement or a patch that should remove the finding (docs/findings.md).

PATH is a dump of depyf, a TORCH_TRACE log, a directory of logs, or a record (--json).

options:
  --json              print the findings as JSON
  --sarif             print the findings as SARIF 2.1.0, which GitHub and editors show at the lines of the findings
  --fail-on CODE,...  make the exit status 1 if there is a finding with one of these codes (a list with commas);
                      "break" stands for graph-break, eager-function and compile-error, "recompile" for recompilation
                      and recompile-limit, "any" for all codes
  --root DIR          make the paths in SARIF relative to DIR (default: the current directory)
  --help              print this text

The exit status is 0, 1 if there is a finding with a code of --fail-on, and 2 if a run cannot be read or if the command
line is wrong.
)";

// Returns the run in the dump, log or record at a path; if a dump contains several runs, returns the last run. Stores
// the texts of the run's processes in `texts`, unless `texts` is null.
record::Run run_at(const std::string& path, CommandResult& result, std::vector<PageTexts>* texts = nullptr) {
  std::string directory = path;
  if (const std::size_t name = path.rfind("session.json"); name != std::string::npos && name + 12 == path.size())
    directory = name ? path.substr(0, name - (name > 1 ? 1 : 0)) : ".";
  Reading reading = read({directory}, true, texts != nullptr);
  for (const std::string& error : reading.errors) result.errors += error + "\n";
  for (const record::Process& process : reading.run.processes)
    for (const record::Problem& problem : process.problems)
      result.errors += process.log + ": offset " + std::to_string(problem.offset) + ": " + problem.message + "\n";
  keep_last_runs(reading);
  if (texts) *texts = std::move(reading.texts);
  if (!reading.is_whole || reading.run.processes.empty()) result.status = unknown;
  return std::move(reading.run);
}

CommandResult wrong_usage(const std::string& message) {
  return {unknown, "", "depyf-report: " + message + "; see --help\n"};
}

CommandResult diff_command(const std::vector<std::string>& arguments) {
  bool with_details = false, as_json = false, force = false;
  std::string page;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") return {0, diff_help, ""};
    if (argument == "--details") with_details = true;
    else if (argument == "--json") as_json = true;
    else if (argument == "--force") force = true;
    else if (argument == "--html" && i + 1 == arguments.size()) return wrong_usage("--html needs the name of a file");
    else if (argument == "--html") page = arguments[++i];
    else if (argument.size() > 1 && argument[0] == '-') return wrong_usage("unknown option " + argument);
    else paths.push_back(argument);
  }
  if (paths.size() != 2) return wrong_usage("diff needs two runs");
  if (std::error_code error; !page.empty() && !force && std::filesystem::exists(page, error))
    return {unknown, "",
            "depyf-report: " + page + " exists already; name another file, or overwrite the file with --force\n"};
  CommandResult result;
  std::vector<PageTexts> texts;
  const record::Run before = run_at(paths[0], result),
                    after = run_at(paths[1], result, page.empty() ? nullptr : &texts);
  if (before.processes.empty() || after.processes.empty()) return result;
  const diff::Difference difference = diff::compare(before, after);
  result.output =
      as_json ? diff::to_json(difference, before, after) : diff::to_text(difference, before, after, with_details);
  if (result.status == same && !difference.changes.empty()) result.status = different;
  if (page.empty()) return result;
  const std::string command = "depyf diff --html " + page + " " + paths[0] + " " + paths[1];
  const std::string html =
      html_page(after, texts, content_of, {command, false, PageChanges{difference, paths[0], paths[1]}});
  if (const std::string problem = write_file(page, html); !problem.empty())
    return {unknown, result.output, "depyf-report: " + problem + "\n"};
  if (!as_json) result.output += "\nWrote " + page + ".\n";
  return result;
}

// The command line of `check`.
struct CheckOptions {
  std::string baseline = "depyf-contract.json", path;
  std::vector<std::string> without;
  std::optional<double> seconds_ratio;
  bool writes = false, as_json = false, is_help = false;
  // The bounds on the command line, which replace a contract.
  bool has_bounds = false, allows_breaks = true;
  std::optional<std::int64_t> recompilations, kernels;
  std::string problem;  // an error message; empty if the command line is valid
};

// Reads the names of sections, with commas between them. Returns a message about an unknown section; empty if all
// sections are known.
std::string read_sections(const std::string& names, std::vector<std::string>& without) {
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    without.push_back(names.substr(start, end - start));
    if (std::ranges::find(contract::sections, without.back()) == std::end(contract::sections))
      return "--without: a contract has no section \"" + without.back() + "\"";
    start = end + 1;
  }
  return {};
}

std::string read_ratio(const std::string& text, std::optional<double>& ratio) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    return "--seconds needs a number above 0, not \"" + text + "\"";
  ratio = value;
  return {};
}

std::string read_count(const std::string& name, const std::string& text, std::optional<std::int64_t>& count) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return name + " needs a whole number of at least 0, not \"" + text + "\"";
  count = value;
  return {};
}

// Returns a contract that consists only of the bounds of the command line.
contract::Contract bounds_of(const CheckOptions& options) {
  contract::Contract bounds;
  if (options.allows_breaks) bounds.others.breaks.reset(), bounds.others.eager.reset();
  bounds.others.recompilations.reset();
  bounds.recompilations = options.recompilations;
  bounds.kernels = options.kernels;
  return bounds;
}

CheckOptions check_options(const std::vector<std::string>& arguments) {
  CheckOptions options;
  for (std::size_t i = 0; i < arguments.size() && options.problem.empty(); ++i) {
    std::string name = arguments[i];
    std::optional<std::string> value;
    if (const std::size_t sign = name.find('='); name.starts_with("--") && sign != std::string::npos)
      value = name.substr(sign + 1), name.resize(sign);
    const bool takes_value = name == "--baseline" || name == "--without" || name == "--seconds" ||
                             name == "--recompiles" || name == "--kernels";
    if (takes_value && !value) {
      if (i + 1 == arguments.size()) options.problem = name + " needs a value";
      else value = arguments[++i];
    }
    if (!options.problem.empty()) break;
    if (name == "--baseline") options.baseline = *value;
    else if (name == "--without") options.problem = read_sections(*value, options.without);
    else if (name == "--seconds") options.problem = read_ratio(*value, options.seconds_ratio);
    else if (name == "--recompiles") options.problem = read_count(name, *value, options.recompilations);
    else if (name == "--kernels") options.problem = read_count(name, *value, options.kernels);
    else if (name == "--no-breaks") options.allows_breaks = false;
    else if (name == "--write") options.writes = true;
    else if (name == "--json") options.as_json = true;
    else if (name == "--help" || name == "-h") options.is_help = true;
    else if (name.size() > 1 && name[0] == '-') options.problem = "unknown option " + name;
    else if (options.path.empty()) options.path = arguments[i];
    else options.problem = "check needs one run";
  }
  options.has_bounds = !options.allows_breaks || options.recompilations || options.kernels;
  if (options.problem.empty() && options.has_bounds && options.writes)
    options.problem =
        "--write cannot be used with --no-breaks, --recompiles or --kernels; edit the contract to change its bounds";
  if (options.problem.empty() && !options.is_help && options.path.empty()) options.problem = "check needs one run";
  return options;
}

bool has_functions(const record::Run& run) {
  return std::ranges::any_of(run.processes, [](const record::Process& it) { return !it.compilations.empty(); });
}

CommandResult check_command(const std::vector<std::string>& arguments) {
  const CheckOptions options = check_options(arguments);
  if (options.is_help) return {0, check_help, ""};
  if (!options.problem.empty()) return wrong_usage(options.problem);
  CommandResult result;
  const auto unclear = [&](const std::string& message) {
    result.errors += message + "\n";
    result.status = unknown;
    return result;
  };
  std::variant<contract::Contract, std::string> baseline;
  if (options.has_bounds) {
    baseline = bounds_of(options);
  } else if (!options.writes) {
    const std::optional<std::string> text = content_of(options.baseline);
    if (!text)
      return unclear(options.baseline + ": the contract cannot be read; `check --write` writes a contract from a run");
    baseline = contract::from_json(*text);
    if (const auto* problem = std::get_if<std::string>(&baseline)) return unclear(options.baseline + ": " + *problem);
  }
  const record::Run run = run_at(options.path, result);
  if (result.status == unknown)
    return unclear(options.path + ": the run could not be read completely, so nothing was checked");
  if (!has_functions(run)) return unclear(options.path + ": nothing was compiled in this run, so nothing was checked");
  if (options.writes) {
    const contract::Contract written = contract::contract_of(run, options.without, options.seconds_ratio);
    if (const std::string error = write_file(options.baseline, contract::to_json(written)); !error.empty())
      return unclear(error);
    result.output = "Wrote " + options.baseline + ", the contract of " + std::to_string(written.functions.size()) +
                    (written.functions.size() == 1 ? " function.\n" : " functions.\n");
    return result;
  }
  const contract::Verdict verdict = contract::check(std::get<contract::Contract>(baseline), run);
  const std::string name = options.has_bounds ? "the bounds of the command line" : options.baseline;
  result.output = options.as_json ? contract::to_json(verdict, name) : contract::to_text(verdict, name);
  if (!verdict.broken.empty()) result.status = different;
  return result;
}

// The command line of `findings`.
struct FindingsOptions {
  std::vector<std::string> paths, fatal;
  std::string root = std::filesystem::current_path().string();
  bool as_json = false, as_sarif = false, is_help = false;
  std::string problem;  // an error message; empty if the command line is valid
};

// Reads codes of findings with commas between them. Returns a message about an unknown code; empty if all codes are
// known.
std::string read_codes(const std::string& names, std::vector<std::string>& codes) {
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const std::string name = names.substr(start, end - start);
    if (name == "break") codes.insert(codes.end(), {"graph-break", "eager-function", "compile-error"});
    else if (name == "recompile") codes.insert(codes.end(), {"recompilation", "recompile-limit"});
    else if (name == "any")
      for (const findings::Rule& rule : findings::rules) codes.emplace_back(rule.code);
    else if (findings::rule_of(name)) codes.push_back(name);
    else return "--fail-on: no finding has the code \"" + name + "\"";
    start = end + 1;
  }
  return {};
}

FindingsOptions findings_options(const std::vector<std::string>& arguments) {
  FindingsOptions options;
  for (std::size_t i = 0; i < arguments.size() && options.problem.empty(); ++i) {
    const std::string& name = arguments[i];
    const bool takes_value = name == "--fail-on" || name == "--root";
    if (takes_value && i + 1 == arguments.size()) options.problem = name + " needs a value";
    else if (name == "--fail-on") options.problem = read_codes(arguments[++i], options.fatal);
    else if (name == "--root") options.root = arguments[++i];
    else if (name == "--json") options.as_json = true;
    else if (name == "--sarif") options.as_sarif = true;
    else if (name == "--help" || name == "-h") options.is_help = true;
    else if (name.size() > 1 && name[0] == '-') options.problem = "unknown option " + name;
    else options.paths.push_back(name);
  }
  if (options.problem.empty() && !options.is_help && options.paths.empty()) options.problem = "findings needs a run";
  return options;
}

CommandResult findings_command(const std::vector<std::string>& arguments) {
  const FindingsOptions options = findings_options(arguments);
  if (options.is_help) return {0, findings_help, ""};
  if (!options.problem.empty()) return wrong_usage(options.problem);
  CommandResult result;
  record::Run run;
  for (const std::string& path : options.paths) {
    record::Run part = run_at(path, result);
    std::ranges::move(part.processes, std::back_inserter(run.processes));
  }
  const std::vector<findings::Finding> found =
      findings::findings_of(run, [](const std::string& path) { return content_of(path); });
  result.output = options.as_sarif  ? findings::to_sarif(found, options.root, {})
                  : options.as_json ? findings::to_json(found)
                                    : findings::to_text(found);
  const bool is_fatal = std::ranges::any_of(found, [&](const findings::Finding& it) {
    return std::ranges::find(options.fatal, it.rule->code) != options.fatal.end();
  });
  if (result.status == same && is_fatal) result.status = different;
  return result;
}

}  // namespace

std::optional<CommandResult> comparing_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (arguments[0] == "diff") return diff_command(rest);
  if (arguments[0] == "check") return check_command(rest);
  if (arguments[0] == "findings") return findings_command(rest);
  return std::nullopt;
}

}  // namespace depyf::report
