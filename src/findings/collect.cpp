#include <algorithm>
#include <map>

#include "findings/remedies.h"
#include "texts/counts.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::findings {
namespace {

// The least number of guards that are reported as expensive; each guard takes about a tenth of a microsecond.
constexpr std::int64_t many_guards = 500;

std::string at(const record::Place& place) {
  const std::string line = diff::quoted_line(place);
  return line.empty() ? "" : " at " + line;
}

// Returns the value of which the subject of a guard is a part, such as TABLE for TABLE['k'] and for
// list(dict.keys(TABLE))[0].
std::string container_of(std::string_view subject) {
  subject = subject.substr(0, std::min(subject.rfind('['), subject.size()));
  for (const std::string_view call : {"list(dict.keys(", "list(dict.values(", "dict.__len__(", "len("})
    if (subject.starts_with(call)) {
      subject.remove_prefix(call.size());
      subject = subject.substr(0, subject.find(')'));
    }
  return std::string(subject);
}

// The guards on parts of one value.
struct Group {
  std::int64_t guards = 0;
  record::Place place;
};

// Collects the findings of one process.
class Collector {
 public:
  Collector(const record::Process& process, const ReadSource& source, std::vector<Finding>& findings)
      : process_(process), facts_(diff::facts_of(process)), source_(source), findings_(findings) {}

  void run() {
    for (const diff::Function& function : facts_.functions) {
      for (const diff::EagerFact& fact : function.eager) eager(function, fact);
      for (const diff::BreakFact& fact : function.breaks) graph_break(function, *fact.source);
      recompilations(function);
      for (const record::Compilation* compilation : function.compilations) {
        cache_misses(function, *compilation);
        expensive_guards(function, *compilation);
      }
    }
  }

 private:
  Finding& add(std::string_view code, const diff::Function& function, const record::Place& place,
               std::string sentence) {
    Finding& finding = findings_.emplace_back();
    finding.rule = rule_of(code);
    finding.function = function.title();
    finding.place = place.line ? place : function.place;
    finding.sentence = std::move(sentence);
    return finding;
  }

  void set_remedy(Finding& finding, const diff::Function& function, std::string setting) {
    finding.setting = std::move(setting);
    finding.patch = edit_for_setting(finding.setting, function.place.file, source_);
  }

  void eager(const diff::Function& function, const diff::EagerFact& fact) {
    const char* code = fact.kind == "limit"   ? "recompile-limit"
                       : fact.kind == "break" ? "eager-function"
                                              : "compile-error";
    Finding& finding = add(code, function, fact.place, texts::headline(*fact.compilation, function.title()));
    finding.evidence = texts::details(*fact.compilation);
    finding.verify = "depyf check --no-breaks";
    if (fact.kind != "limit") return;
    finding.evidence.push_back(
        "First remove the causes of the recompilations, or mark the values that vary as dynamic. With a higher limit, the "
        "function is still compiled again for each new value.");
    set_remedy(finding, function, setting_for_limit(*fact.compilation));
  }

  void graph_break(const diff::Function& function, const record::GraphBreak& it) {
    Finding& finding = add("graph-break", function, it.place,
                           "The graph of " + function.title() + " ends" + at(it.place) + ": " + it.reason);
    finding.evidence = texts::hints(it);
    finding.verify = "depyf check --no-breaks";
    set_remedy(finding, function, setting_for_break(it));
    if (finding.setting.starts_with("torch._dynamo.config.reorderable_logging_functions"))
      finding.evidence.push_back(
          "With the setting, PyTorch prints the text after the graph has run, which is later than without the setting.");
    if (std::optional<Patch> edit = edit_for_break(it, source_)) finding.patch = std::move(edit);
  }

  // Recompilations for the same value become one finding, unless the first recompilation needs another setting than the
  // later recompilations.
  void recompilations(const diff::Function& function) {
    struct Told {
      const diff::Cause* cause;
      std::size_t finding;
      std::vector<const diff::Cause*> again;
    };
    std::vector<Told> told;
    for (const diff::Cause& cause : function.recompilations) {
      const auto is_same = [&](const Told& earlier) { return earlier.cause->is_same_as(cause); };
      const bool is_first = std::ranges::none_of(told, is_same);
      const std::string setting = setting_for_recompilation(cause, is_first);
      const auto known = std::ranges::find_if(
          told, [&](const Told& earlier) { return is_same(earlier) && findings_[earlier.finding].setting == setting; });
      if (known != told.end()) {
        known->again.push_back(&cause);
        continue;
      }
      told.push_back({&cause, findings_.size(), {}});
      recompilation(function, cause, is_first);
    }
    for (const Told& each : told)
      if (!each.again.empty())
        findings_[each.finding].evidence.push_back("The same value caused " +
                                                   texts::counted(each.again.size(), "more recompilation") +
                                                   "; the cause of the last one was " + each.again.back()->text);
  }

  void recompilation(const diff::Function& function, const diff::Cause& cause, bool is_first) {
    Finding& finding =
        add("recompilation", function, cause.place, function.title() + " was compiled again because of " + cause.text);
    finding.verify = "depyf check --recompiles 0";
    if (is_first && is_whole_number_of_module(cause))
      finding.evidence.push_back(
          "PyTorch treats an integer attribute of a module as a constant until the attribute has changed once, whatever "
          "the settings are. Keep an attribute that changes out of the compiled function, or make it a tensor.");
    set_remedy(finding, function, setting_for_recompilation(cause, is_first));
  }

  void cache_misses(const diff::Function& function, const record::Compilation& compilation) {
    for (const record::CacheEvent& event : compilation.caches) {
      if (event.result != "miss") continue;
      Finding& finding =
          add("cache-miss", function, {}, "The cache " + event.cache + " had no entry for " + function.title());
      finding.verify = "depyf explain";
    }
  }

  void expensive_guards(const diff::Function& function, const record::Compilation& compilation) {
    std::int64_t all = compilation.guards.value_or(0);
    std::map<std::string, Group> groups;
    for (const record::Limit& limit : compilation.limits) {
      const std::int64_t count = diff::guards_in(limit);
      all += count;
      Group& group = groups[container_of(limit.subject)];
      group.guards += count;
      if (!group.place.line) group.place = limit.place;
    }
    if (all < many_guards) return;
    groups.erase("");
    const auto largest = std::ranges::max_element(groups, {}, [](const auto& it) { return it.second.guards; });
    const bool is_known = largest != groups.end() && largest->second.guards * 2 >= all;
    std::string sentence = "Each call of " + function.title() + " checks " + std::to_string(all) + " guards";
    if (is_known) sentence += ", " + std::to_string(largest->second.guards) + " of them on parts of " + largest->first;
    Finding& finding = add("expensive-guards", function, is_known ? largest->second.place : record::Place(), sentence);
    finding.verify = "depyf findings --fail-on expensive-guards";
  }

  const record::Process& process_;
  diff::Facts facts_;
  const ReadSource& source_;
  std::vector<Finding>& findings_;
};

}  // namespace

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "";
}

const Rule* rule_of(std::string_view code) {
  const auto rule = std::ranges::find(rules, code, &Rule::code);
  return rule == std::end(rules) ? nullptr : rule;
}

std::vector<Finding> findings_of(const record::Run& run, const ReadSource& source) {
  std::vector<Finding> all, result;
  for (const record::Process& process : run.processes) Collector(process, source, all).run();
  for (Finding& finding : all) {
    const bool is_known = std::ranges::any_of(result, [&](const Finding& known) {
      return known.rule == finding.rule && known.sentence == finding.sentence &&
             known.place.line == finding.place.line && known.place.file == finding.place.file;
    });
    if (!is_known) result.push_back(std::move(finding));
  }
  std::ranges::stable_sort(result, {}, [](const Finding& it) { return it.rule->severity; });
  return result;
}

}  // namespace depyf::findings
