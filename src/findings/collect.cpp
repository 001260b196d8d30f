#include <algorithm>

#include "findings/remedies.h"
#include "texts/counts.h"
#include "texts/words.h"

namespace depyf::findings {
namespace {

std::string at(const record::Place& place) {
  const std::string line = diff::quoted_line(place);
  return line.empty() ? "" : " at " + line;
}

// Collects the findings of one process.
class Collector {
 public:
  Collector(const record::Process& process, const ReadSource& source, std::vector<Finding>& findings)
      : process_(process), facts_(diff::facts_of(process)), source_(source), findings_(findings) {}

  void run() {
    for (const diff::Function& function : facts_.functions) {
      for (const diff::EagerFact& fact : function.eager) eager(function, fact);
      for (const diff::BreakFact& fact : function.breaks) graph_break(function, *fact.source);
      for (const diff::Cause& cause : function.recompilations) recompilation(function, cause);
      for (const record::Compilation* compilation : function.compilations) cache_misses(function, *compilation);
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
    if (fact.kind == "limit") set_remedy(finding, function, setting_for_limit(*fact.compilation));
  }

  void graph_break(const diff::Function& function, const record::GraphBreak& it) {
    Finding& finding = add("graph-break", function, it.place,
                           "The graph of " + function.title() + " ends" + at(it.place) + ": " + it.reason);
    finding.evidence = texts::hints(it);
    finding.verify = "depyf check --no-breaks";
    set_remedy(finding, function, setting_for_break(it));
    if (std::optional<Patch> edit = edit_for_break(it, source_)) finding.patch = std::move(edit);
  }

  void recompilation(const diff::Function& function, const diff::Cause& cause) {
    Finding& finding =
        add("recompilation", function, cause.place, function.title() + " was compiled again because of " + cause.text);
    finding.verify = "depyf check --recompiles 0";
    set_remedy(finding, function, setting_for_recompilation(cause));
  }

  void cache_misses(const diff::Function& function, const record::Compilation& compilation) {
    for (const record::CacheEvent& event : compilation.caches) {
      if (event.result != "miss") continue;
      Finding& finding =
          add("cache-miss", function, {}, "The cache " + event.cache + " had no entry for " + function.title());
      finding.verify = "depyf explain";
    }
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
      return known.rule == finding.rule && known.sentence == finding.sentence && known.place.line == finding.place.line;
    });
    if (!is_known) result.push_back(std::move(finding));
  }
  std::ranges::stable_sort(result, {}, [](const Finding& it) { return it.rule->severity; });
  return result;
}

}  // namespace depyf::findings
