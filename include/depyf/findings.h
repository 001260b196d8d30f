// Finds problems in a run of torch.compile that a user may want to fix. Each finding has a stable code, a line of
// source, a remedy, and a command that checks whether the remedy helped.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"

namespace depyf::findings {

// The version of the JSON form, which docs/findings.md describes.
inline constexpr std::int64_t schema_version = 1;

enum class Severity : std::uint8_t { error, warning, note };
const char* name_of(Severity severity);

// A kind of finding. The member `code` of a rule is the same in all releases of depyf.
struct Rule {
  std::string_view code;
  Severity severity;
  std::string_view title, remedy;
};
inline constexpr Rule rules[] = {
    {"recompile-limit", Severity::error, "Dynamo no longer compiles the function, because it was compiled too often",
     "Remove the recompilations, or raise torch._dynamo.config.recompile_limit."},
    {"compile-error", Severity::error, "An error ended the compilation",
     "Read the error; the function runs eagerly, or the caller received the error."},
    {"eager-function", Severity::warning, "The function runs eagerly because of a graph break",
     "Remove the graph break that the finding names."},
    {"graph-break", Severity::warning, "A graph ends, and code runs eagerly until the next graph begins",
     "Follow the hints of the finding."},
    {"recompilation", Severity::warning, "The function was compiled again, because a guard failed",
     "Keep the value that the guard checks constant, or mark it as dynamic."},
    {"expensive-guards", Severity::note, "Each call of the function checks many guards",
     "Keep large containers and many attributes out of the compiled function; depyf.guard_costs measures the guards."},
    {"cache-miss", Severity::note, "A cache of compiled code had no entry for a compilation",
     "Compare the keys of the entries with `depyf open`."},
};
const Rule* rule_of(std::string_view code);

// A change of one of the user's files: lines that are removed, and lines that are inserted in their place.
struct Patch {
  std::string file;
  int line = 0;  // the first removed line, or the line before which lines are inserted; from 1
  int removed = 0;  // the number of removed lines
  std::vector<std::string> inserted;
  std::string diff;  // the change as a unified diff, for `patch -p0`
};

struct Finding {
  const Rule* rule = nullptr;
  record::Place place;
  std::string function;  // the title of the function
  std::string sentence;
  std::vector<std::string> evidence;  // hints and reasons that PyTorch reported
  std::string setting;  // a Python statement that prevents the finding; empty if no such statement is known
  std::optional<Patch> patch;  // `setting` or another edit as a change of a file; std::nullopt if the file is unknown
  std::string verify;  // a shell command that fails as long as the finding exists
};

// Returns the findings of a run without duplicates, the severest first. `source` returns the text of a file, or
// std::nullopt if the file cannot be read.
std::vector<Finding> findings_of(const record::Run& run,
                                 const std::function<std::optional<std::string>(const std::string&)>& source);

std::string to_text(const std::vector<Finding>& findings);
std::string to_json(const std::vector<Finding>& findings);
// Returns the findings as SARIF 2.1.0. `directory` is the folder to which the paths in the SARIF are relative.
std::string to_sarif(const std::vector<Finding>& findings, const std::string& directory, const std::string& version);

}  // namespace depyf::findings
