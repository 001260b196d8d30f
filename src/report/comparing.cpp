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

Says what torch.compile did otherwise in the second of two runs: functions, graph breaks, recompilations, what runs eagerly,
operators by line, kernels and fusions, library calls, values saved for the backward, guards. What matters most stands
first. Names that PyTorch gives, addresses, hashes, folders and the order of compilations do not count.

BEFORE and AFTER are each a dump of depyf, its session.json, a TORCH_TRACE log, a directory of logs, or a record (--json). Of a dump that several
runs were written to, the last one counts. Ranks are compared with the rank of the same number; to compare two ranks of
one run, name their logs or folders.

options:
  --details   what each difference consists of, and seconds by phase
  --json      print it as JSON (docs/differences.md)
  --html FILE write the report of AFTER, a page that opens with the differences; an existing file needs --force
  --help      print this text

exit status: 0 if nothing differs; 1 if something does; 2 if a run could not be read, or the command line is wrong.
)";

constexpr const char* check_help = R"(usage: depyf-report check [--baseline FILE] [--json] PATH
       depyf-report check [--no-breaks] [--recompiles N] [--kernels N] [--json] PATH
       depyf-report check --write [--baseline FILE] [--without NAME,...] [--seconds RATIO] PATH

Checks a run against the contract of a program: a small file, which is committed, that states what torch.compile has to make of
it. The functions have to be compiled, with no graph break and no recompilation but those that the contract lists, and with at most
so many kernels, library calls, saved bytes and guards; each line of the graphs has to compute the same. What a function of the
contract does not state is not checked, so that members can be deleted. A function that the contract does not have must be
compiled whole, and once. Places are known by the text of their line, so that edits elsewhere do not move them.

PATH is a dump of depyf, its session.json, a TORCH_TRACE log, a directory of logs, or a record (--json). Of a dump that several
runs were written to, the last one counts.

options:
  --baseline FILE      the contract; depyf-contract.json if it is not given
  --no-breaks          instead of a contract: allow no graph break, and no function that runs eagerly
  --recompiles N       instead of a contract: allow N recompilations in all
  --kernels N          instead of a contract: allow N kernels in all
  --write              write the contract from the run (an existing one is replaced)
  --without NAME,...   leave sections out: breaks, recompilations, eager, kernels, library_calls, saved_bytes, guards,
                       operators, backend
  --seconds RATIO      allow all compilations to take at most RATIO times what they took in this run
  --json               print the verdict as JSON
  --help               print this text

exit status: 0 if the contract holds (or was written); 1 if it is broken; 2 if that could not be told: a file cannot be read, is
damaged or no contract, the run compiled nothing, or the command line is wrong.
)";

constexpr const char* findings_help =
    R"(usage: depyf-report findings [--json | --sarif] [--fail-on CODE,...] [--root DIR] PATH...

Lists what torch.compile did that a user may want to change: graph breaks, recompilations, limits, functions that run eagerly, errors,
cache misses. Each finding has a stable code, a severity, its place, what PyTorch says of it, and, where one is known, a statement or
a patch that makes it go away (docs/findings.md).

PATH is a dump of depyf, a TORCH_TRACE log, a directory of logs, or a record (--json).

options:
  --json            print the findings as JSON
  --sarif           print them as SARIF 2.1.0, which GitHub and editors show at their lines
  --fail-on CODE,...  codes whose findings make the exit status 1; "break" stands for graph-break, eager-function and compile-error,
                    "recompile" for recompilation and recompile-limit, "any" for all; without it none does
  --root DIR        the folder that paths in SARIF are relative to; the one at hand if it is not given
  --help            print this text

exit status: 0; 1 if there is a finding that --fail-on names; 2 if a run could not be read, or the command line is wrong.
)";

// Returns the run that a path names. Earlier runs that were written to the same dump are left out. Stores the texts of
// the run's processes in `texts`, unless `texts` is null.
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
  return {unknown, "", "depyf-report: " + message + "; --help says more\n"};
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
    else if (argument == "--html" && i + 1 == arguments.size()) return wrong_usage("--html needs a file");
    else if (argument == "--html") page = arguments[++i];
    else if (argument.size() > 1 && argument[0] == '-') return wrong_usage("unknown option " + argument);
    else paths.push_back(argument);
  }
  if (paths.size() != 2) return wrong_usage("diff takes two runs");
  if (std::error_code error; !page.empty() && !force && std::filesystem::exists(page, error))
    return {unknown, "", "depyf-report: " + page + " is there already; --force replaces it\n"};
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
  std::string problem;  // empty if the command line is right
};

// Reads the names of sections, with commas between them. Returns a message about an unknown section; empty if there is
// none.
std::string read_sections(const std::string& names, std::vector<std::string>& without) {
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    without.push_back(names.substr(start, end - start));
    if (std::ranges::find(contract::sections, without.back()) == std::end(contract::sections))
      return "a contract has no section \"" + without.back() + "\"";
    start = end + 1;
  }
  return {};
}

std::string read_ratio(const std::string& text, std::optional<double>& ratio) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    return "--seconds takes a number above 0, not \"" + text + "\"";
  ratio = value;
  return {};
}

std::string read_count(const std::string& name, const std::string& text, std::optional<std::int64_t>& count) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return name + " takes a number that is not negative, not \"" + text + "\"";
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
    else options.problem = "check takes one run";
  }
  options.has_bounds = !options.allows_breaks || options.recompilations || options.kernels;
  if (options.problem.empty() && options.has_bounds && options.writes)
    options.problem = "--write takes no bounds; they stand in the file";
  if (options.problem.empty() && !options.is_help && options.path.empty()) options.problem = "check takes one run";
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
    if (!text) return unclear(options.baseline + ": cannot be read; `check --write` makes it from a run");
    baseline = contract::from_json(*text);
    if (const auto* problem = std::get_if<std::string>(&baseline)) return unclear(options.baseline + ": " + *problem);
  }
  const record::Run run = run_at(options.path, result);
  if (result.status == unknown)
    return unclear(options.path + ": the run could not be read as a whole, so nothing was checked");
  if (!has_functions(run)) return unclear(options.path + ": nothing was compiled in this run");
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
  std::string problem;  // empty if the command line is right
};

// Reads codes of findings with commas between them. Returns a message about an unknown code; empty if there is none.
std::string read_codes(const std::string& names, std::vector<std::string>& codes) {
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const std::string name = names.substr(start, end - start);
    if (name == "break") codes.insert(codes.end(), {"graph-break", "eager-function", "compile-error"});
    else if (name == "recompile") codes.insert(codes.end(), {"recompilation", "recompile-limit"});
    else if (name == "any")
      for (const findings::Rule& rule : findings::rules) codes.emplace_back(rule.code);
    else if (findings::rule_of(name)) codes.push_back(name);
    else return "there is no finding with the code \"" + name + "\"";
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
  if (options.problem.empty() && !options.is_help && options.paths.empty()) options.problem = "findings takes a run";
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
