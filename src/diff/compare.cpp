#include <algorithm>
#include <cstdio>
#include <functional>

#include "depyf/diff.h"
#include "diff/facts.h"
#include "diff/graphs.h"
#include "support/words.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::diff {

using namespace record;
using texts::counted;

namespace {

std::string at(const Place& place) {
  const std::string text = quoted_line(place);
  return text.empty() ? "" : " at " + text;
}

std::string with_number(std::int64_t count, const std::string& noun) {
  return counted(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), noun);
}

// Returns a phrase such as "2 more kernels (5 instead of 3)".
std::string more_or_less(std::int64_t before, std::int64_t after, const char* noun) {
  const std::int64_t change = after > before ? after - before : before - after;
  return with_number(change, std::string(after > before ? "more " : "fewer ") + noun) + " (" + std::to_string(after) +
         " instead of " + std::to_string(before) + ")";
}

// Compares two processes.
class Comparison {
 public:
  Comparison(const Facts& before, const Facts& after, Difference& result)
      : before_(before), after_(after), result_(result) {}

  void run() {
    const std::vector<int> matches = matches_of(before_.functions, after_.functions);
    std::vector<bool> is_matched(after_.functions.size(), false);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (matches[i] < 0) {
        add("function-gone", Weight::neutral, before_.functions[i], before_.functions[i].place,
            "is no longer compiled");
        continue;
      }
      is_matched[static_cast<std::size_t>(matches[i])] = true;
    }
    for (std::size_t k = 0; k < is_matched.size(); ++k)
      if (!is_matched[k]) new_function(after_.functions[k]);
    for (std::size_t i = 0; i < matches.size(); ++i)
      if (matches[i] >= 0) {
        ++result_.functions;
        functions(before_.functions[i], after_.functions[static_cast<std::size_t>(matches[i])]);
      }
    backends();
    append_graph_changes(before_, after_, result_);
  }

 private:
  Change& add(const char* code, Weight weight, const Function& function, const Place& place, std::string sentence) {
    Change& change = result_.changes.emplace_back();
    change.code = code;
    change.weight = weight;
    change.function = function.title();
    change.place = place.line ? place : function.place;
    change.sentence = std::move(sentence);
    return change;
  }

  void new_function(const Function& function) {
    add("function-new", Weight::neutral, function, function.place, "is compiled, but was not compiled before");
    const Function nothing;
    functions(nothing, function);
  }

  void functions(const Function& before, const Function& after) {
    eager(before, after);
    breaks(before, after);
    recompilations(before, after);
    // A function that runs eagerly only in the second run has neither kernels nor guards in that run, so their
    // absence is not reported.
    if (!after.eager.empty() && before.eager.empty() && after.costs.operators.empty()) return;
    costs(before, after);
    guards(before, after);
  }

  void eager(const Function& before, const Function& after) {
    for (const EagerFact& fact : after.eager) {
      if (!before.eager.empty()) break;
      const std::vector<std::string> details = texts::details(*fact.compilation);
      Change& change = add(fact.kind == "limit" ? "limit-new" : "eager-new", Weight::worse, after, fact.place,
                           texts::headline(*fact.compilation, fact.kind == "limit" ? "it" : "it now"));
      change.details = details;
    }
    for (const EagerFact& fact : before.eager) {
      if (!after.eager.empty()) break;
      add("eager-gone", Weight::better, after, fact.place,
          "runs compiled now; before: " + texts::headline(*fact.compilation, "it"));
    }
  }

  static bool is_cause_of_eager(const BreakFact& fact, const Function& function) {
    return std::any_of(function.eager.begin(), function.eager.end(), [&](const EagerFact& eager) {
      return eager.kind == "break" && eager.place.line == fact.source->place.line;
    });
  }

  void breaks(const Function& before, const Function& after) {
    std::vector<bool> is_matched(after.breaks.size(), false);
    std::vector<const BreakFact*> gone;
    const auto find = [&](const BreakFact& fact, bool with_reason) {
      for (std::size_t k = 0; k < after.breaks.size(); ++k) {
        const BreakFact& candidate = after.breaks[k];
        if (is_matched[k] || candidate.line != fact.line) continue;
        if (with_reason && candidate.source->reason != fact.source->reason) continue;
        is_matched[k] = true;
        return static_cast<int>(k);
      }
      return -1;
    };
    std::vector<const BreakFact*> left;
    for (const BreakFact& fact : before.breaks)
      if (find(fact, true) < 0) left.push_back(&fact);
    for (const BreakFact* fact : left) {
      const int index = find(*fact, false);
      if (index < 0) {
        gone.push_back(fact);
        continue;
      }
      const GraphBreak& now = *after.breaks[static_cast<std::size_t>(index)].source;
      Change& change = add("break-reason", Weight::neutral, after, now.place,
                           "the graph break" + at(now.place) + " has a different reason: " + now.reason +
                               " instead of " + fact->source->reason);
      change.before = fact->source->reason, change.after = now.reason;
    }
    for (std::size_t k = 0; k < after.breaks.size(); ++k) {
      if (is_matched[k]) continue;
      const BreakFact& fact = after.breaks[k];
      if (before.eager.empty() && is_cause_of_eager(fact, after)) continue;
      Change& change = add("break-new", Weight::worse, after, fact.source->place,
                           "a new graph break" + at(fact.source->place) + ": " + fact.source->reason);
      change.after = fact.source->reason;
      if (!fact.source->explanation.empty()) change.details.push_back(fact.source->explanation);
      for (const std::string& hint : texts::hints(*fact.source)) change.details.push_back(hint);
    }
    for (const BreakFact* fact : gone)
      add("break-gone", Weight::better, after, fact->source->place,
          "the graph break" + at(fact->source->place) + " no longer occurs: " + fact->source->reason)
          .before = fact->source->reason;
  }

  void recompilations(const Function& before, const Function& after) {
    std::vector<const Cause*> gone;
    std::vector<bool> is_matched(after.recompilations.size(), false);
    for (const Cause& cause : before.recompilations) {
      std::size_t k = 0;
      while (k < is_matched.size() && (is_matched[k] || !cause.is_same_as(after.recompilations[k]))) ++k;
      if (k < is_matched.size()) is_matched[k] = true;
      else gone.push_back(&cause);
    }
    for (std::size_t k = 0; k < is_matched.size(); ++k) {
      if (is_matched[k]) continue;
      const Cause& cause = after.recompilations[k];
      Change& change = add("recompilation-new", Weight::worse, after, cause.place,
                           "is compiled once more than before, because of " + cause.text);
      change.after = cause.text;
    }
    for (const Cause* cause : gone)
      add("recompilation-gone", Weight::better, after, cause->place,
          "is compiled once less than before: it is no longer compiled again because of " + cause->text)
          .before = cause->text;
  }

  void costs(const Function& before, const Function& after) {
    if (!before_.reach || !after_.reach || before.compilations.empty()) return;
    const Costs &old = before.costs, &now = after.costs;
    if (before_.reach == Reach::kernels && after_.reach == Reach::kernels) {
      if (old.has_operators_alone() != now.has_operators_alone()) {
        add("backend", Weight::costs, after, {},
            now.has_operators_alone() ? "is compiled by a different backend, and no longer has kernels"
                                      : "is compiled by a different backend, and has kernels now");
      } else if (old.kernels != now.kernels) {
        Change& change = add("kernels", now.kernels > old.kernels ? Weight::costs : Weight::better, after, {},
                             more_or_less(old.kernels, now.kernels, "kernel") + fusion_reason(before, after, after_));
        change.before = std::to_string(old.kernels), change.after = std::to_string(now.kernels);
      }
      library_calls(before, after);
    }
    if (old.saved_bytes == now.saved_bytes || old.has_unknown_bytes || now.has_unknown_bytes) return;
    const bool is_more = now.saved_bytes > old.saved_bytes;
    Place place;
    std::int64_t largest = 0;
    std::vector<std::string> details;
    const Costs &larger = is_more ? now : old, &smaller = is_more ? old : now;
    for (const auto& [line, bytes] : larger.saved_at) {
      const auto other = smaller.saved_at.find(line);
      const std::int64_t change = bytes - (other == smaller.saved_at.end() ? 0 : other->second);
      const std::map<Line, Place>& places = is_more ? after_.places : before_.places;
      const auto known = places.find(line);
      if (change <= 0 || known == places.end()) continue;
      details.push_back(std::to_string(change) + " bytes" + at(known->second));
      if (change > largest) largest = change, place = known->second;
    }
    Change& change = add("saved-bytes", is_more ? Weight::costs : Weight::better, after, place,
                         more_or_less(old.saved_bytes, now.saved_bytes, "byte") + " saved for the backward" +
                             (place.line ? ", most of them" + at(place) : ""));
    change.before = std::to_string(old.saved_bytes), change.after = std::to_string(now.saved_bytes);
    change.details = std::move(details);
  }

  void library_calls(const Function& before, const Function& after) {
    std::set<std::string> names;
    for (const auto& [name, count] : before.costs.library_calls) names.insert(name);
    for (const auto& [name, count] : after.costs.library_calls) names.insert(name);
    for (const std::string& name : names) {
      const auto count_in = [&](const Function& function) {
        const auto known = function.costs.library_calls.find(name);
        return known == function.costs.library_calls.end() ? 0 : known->second;
      };
      const std::int64_t old = count_in(before), now = count_in(after);
      if (old == now) continue;
      Change& change = add("library-calls", now > old ? Weight::costs : Weight::better, after, {},
                           more_or_less(old, now, "call") + " of " + name);
      change.before = std::to_string(old), change.after = std::to_string(now);
    }
  }

  void guards(const Function& before, const Function& after) {
    if (before_.is_dump != after_.is_dump || before.compilations.empty()) return;
    std::vector<std::string> added, removed;
    for (const auto& [condition, place] : after.guards)
      if (!before.guards.contains(condition)) added.push_back(condition + at(place));
    for (const auto& [condition, place] : before.guards)
      if (!after.guards.contains(condition)) removed.push_back(condition + at(place));
    const bool is_other_count = before.costs.guards != after.costs.guards;
    if (added.empty() && removed.empty() && !is_other_count) return;
    Place place;
    for (const auto& [condition, where] : after.guards)
      if (!before.guards.contains(condition) && !place.line) place = where;
    std::string sentence = "different guards";
    if (is_other_count) sentence = more_or_less(before.costs.guards, after.costs.guards, "guard");
    if (!added.empty()) sentence += "; new: " + added[0];
    else if (!removed.empty()) sentence += "; removed: " + removed[0];
    if (added.size() + removed.size() > 1) sentence += ", and others";
    Change& change = add("guards", Weight::neutral, after, place, sentence);
    change.before = std::to_string(before.costs.guards), change.after = std::to_string(after.costs.guards);
    for (const std::string& condition : added) change.details.push_back("new: " + condition);
    for (const std::string& condition : removed) change.details.push_back("removed: " + condition);
  }

  void backends() {
    if (!before_.reach || !after_.reach || before_.reach == after_.reach || before_.functions.empty()) return;
    Change& change = result_.changes.emplace_back();
    change.code = "backend";
    change.weight = Weight::costs;
    change.place = after_.functions.empty() ? Place() : after_.functions[0].place;
    change.before = name_of(*before_.reach), change.after = name_of(*after_.reach);
    change.sentence = std::string("a different backend compiles the run: it produces ") + name_of(*after_.reach) +
                      ", and it produced " + name_of(*before_.reach) + " before";
  }

  const Facts& before_;
  const Facts& after_;
  Difference& result_;
};

void append_timings(const Facts& before, const Facts& after, Difference& result) {
  const auto seconds = [](const Process& process) {
    std::map<std::string, double> by_phase;
    const auto add = [&](const std::vector<Phase>& phases) {
      for (const Phase& phase : phases)
        if (!phase.is_parallel) by_phase[phase.name] += phase.self_us / 1e6;
    };
    for (const Compilation& compilation : process.compilations) add(compilation.phases);
    add(process.phases);
    return by_phase;
  };
  const auto old = seconds(*before.process), now = seconds(*after.process);
  std::vector<std::pair<double, std::string>> rows;
  const auto text = [](double was, double is, const std::string& what) {
    char buffer[80];
    std::snprintf(buffer, sizeof buffer, "%.3g s (before: %.3g s): ", is, was);
    return buffer + what;
  };
  double total_old = 0, total_now = 0;
  for (const Function& function : before.functions) total_old += function.seconds;
  for (const Function& function : after.functions) total_now += function.seconds;
  result.timings.push_back(text(total_old, total_now, "all compilations"));
  std::set<std::string> names;
  for (const auto& [name, value] : old) names.insert(name);
  for (const auto& [name, value] : now) names.insert(name);
  for (const std::string& name : names) {
    const double was = old.contains(name) ? old.at(name) : 0, is = now.contains(name) ? now.at(name) : 0;
    rows.emplace_back(std::max(was, is), text(was, is, name));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& one, const auto& two) { return one.first > two.first; });
  constexpr std::size_t rows_shown = 12;
  for (std::size_t i = 0; i < std::min(rows.size(), rows_shown); ++i) result.timings.push_back(rows[i].second);
}

// Returns the process of `other` that corresponds to process `index` of `run`: the process with the same rank, or else
// the process at the position `index`. Returns null if `other` has no corresponding process.
const Process* counterpart_of(const Run& run, std::size_t index, const Run& other) {
  const std::optional<std::int64_t> rank = run.processes[index].rank;
  if (rank && run.processes.size() > 1)
    for (const Process& process : other.processes)
      if (process.rank == rank) return &process;
  return index < other.processes.size() ? &other.processes[index] : nullptr;
}

}  // namespace

const char* name_of(Weight weight) {
  switch (weight) {
    case Weight::worse: return "worse";
    case Weight::costs: return "costs";
    case Weight::neutral: return "neutral";
    case Weight::better: return "better";
  }
  return "";
}

Difference compare(const Run& before, const Run& after) {
  Difference result;
  for (std::size_t i = 0; i < before.processes.size(); ++i) {
    const Process* other = counterpart_of(before, i, after);
    if (!other) continue;
    const std::size_t first = result.changes.size();
    const Facts old = facts_of(before.processes[i]), now = facts_of(*other);
    Comparison(old, now, result).run();
    append_timings(old, now, result);
    if (before.processes.size() > 1 && before.processes[i].rank)
      for (std::size_t k = first; k < result.changes.size(); ++k)
        result.changes[k].sentence =
            "rank " + std::to_string(*before.processes[i].rank) + ": " + result.changes[k].sentence;
    if (old.is_dump != now.is_dump)
      result.not_compared.emplace_back("Guards: a log contains only their number, and a dump of depyf lists them.");
    if (!old.reach || !now.reach)
      result.not_compared.emplace_back("Graphs and kernels: one of the runs has no record of them.");
  }
  if (before.processes.size() != after.processes.size()) {
    Change& change = result.changes.emplace_back();
    change.code = "processes";
    change.before = std::to_string(before.processes.size()), change.after = std::to_string(after.processes.size());
    change.sentence =
        with_number(static_cast<std::int64_t>(after.processes.size()), "process") + " instead of " + change.before;
  }
  std::sort(result.not_compared.begin(), result.not_compared.end());
  result.not_compared.erase(std::unique(result.not_compared.begin(), result.not_compared.end()),
                            result.not_compared.end());
  std::stable_sort(result.changes.begin(), result.changes.end(),
                   [](const Change& one, const Change& two) { return one.weight < two.weight; });
  return result;
}

}  // namespace depyf::diff
