#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "contract/facts.h"
#include "support/words.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::contract {
namespace {

using diff::Change, diff::Weight;

std::string at(const record::Place& place) {
  const std::string line = diff::quoted_line(place);
  return line.empty() ? "" : " at " + line;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return texts::counted(static_cast<std::size_t>(count), noun);
}

std::string own_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

// Checks one process against the contract.
class Check {
 public:
  Check(const Contract& contract, const record::Process& process, Verdict& verdict)
      : contract_(contract), facts_(diff::facts_of(process)), now_(functions_of(facts_)), verdict_(verdict) {}

  void run() {
    match();
    for (std::size_t i = 0; i < matches_.size(); ++i) {
      if (matches_[i] < 0) continue;
      ++verdict_.functions;
      check_function(contract_.functions[i], static_cast<std::size_t>(matches_[i]));
    }
    for (std::size_t k = 0; k < now_.size(); ++k)
      if (!is_matched_[k]) check_new(k);
    backend();
    operators();
    totals();
    seconds();
  }

  // Returns the indices of the functions of the contract that the process did not compile.
  std::vector<std::size_t> missing() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < matches_.size(); ++i)
      if (matches_[i] < 0) result.push_back(i);
    return result;
  }

 private:
  // Pairs the functions of the contract with the functions of the run by their recorded names. If the contract or the
  // run records only the plain name of a function, plain names are compared instead of qualified names.
  void match() {
    matches_.assign(contract_.functions.size(), -1);
    is_matched_.assign(now_.size(), false);
    for (const bool by_plain_name : {false, true})
      for (std::size_t i = 0; i < matches_.size(); ++i)
        for (std::size_t k = 0; k < now_.size() && matches_[i] < 0; ++k) {
          const Function &known = contract_.functions[i], &now = now_[k];
          const bool is_same = by_plain_name
                                   ? own_name(known.name) == own_name(now.name) &&
                                         (known.name == own_name(known.name) || now.name == own_name(now.name))
                                   : known.name == now.name;
          if (is_matched_[k] || known.file != now.file || !is_same) continue;
          matches_[i] = static_cast<int>(k);
          is_matched_[k] = true;
        }
  }

  Change& add(const char* code, Weight weight, std::size_t index, const record::Place& place, std::string sentence) {
    Change& change = verdict_.broken.emplace_back();
    change.code = code;
    change.weight = weight;
    change.function = facts_.functions[index].title();
    change.place = place.line ? place : facts_.functions[index].place;
    change.sentence = std::move(sentence);
    return change;
  }

  void check_new(std::size_t index) {
    const std::size_t before = verdict_.broken.size();
    check_function(contract_.others, index);
    if (contract_.functions.empty()) ++verdict_.functions;
    for (std::size_t i = before; i < verdict_.broken.size() && !contract_.functions.empty(); ++i)
      verdict_.broken[i].sentence += " (the contract does not contain this function)";
  }

  void check_function(const Function& known, std::size_t index) {
    const std::size_t before = verdict_.broken.size();
    if (known.eager) eager(known, index);
    if (known.breaks) breaks(known, index);
    if (known.recompilations) recompilations(known, index);
    std::vector<std::string> exceeded;
    const bool is_explained = verdict_.broken.size() > before;
    bounds(known, index, is_explained ? &exceeded : nullptr);
    // A new break or recompilation explains why costs exceed their bounds, so the exceeded bounds become details of the
    // break or recompilation.
    for (std::string& sentence : exceeded) verdict_.broken[before].details.push_back(std::move(sentence));
  }

  void eager(const Function& known, std::size_t index) {
    for (const diff::EagerFact& fact : facts_.functions[index].eager) {
      if (std::ranges::find(*known.eager, fact.kind) != known.eager->end()) continue;
      Change& change = add(fact.kind == "limit" ? "limit-new" : "eager-new", Weight::worse, index, fact.place,
                           texts::headline(*fact.compilation, "it"));
      change.details = texts::details(*fact.compilation);
    }
    if (facts_.functions[index].eager.empty() && !known.eager->empty())
      verdict_.better.push_back(facts_.functions[index].title() + " runs compiled now");
  }

  bool is_cause_of_eager(const diff::BreakFact& fact, std::size_t index) const {
    return std::ranges::any_of(facts_.functions[index].eager, [&](const diff::EagerFact& eager) {
      return eager.kind == "break" && eager.place.line == fact.source->place.line;
    });
  }

  void breaks(const Function& known, std::size_t index) {
    std::vector<bool> is_used(known.breaks->size(), false);
    const auto allowed = [&](const Break& now, bool with_reason) {
      for (std::size_t i = 0; i < is_used.size(); ++i) {
        const Break& it = (*known.breaks)[i];
        if (is_used[i] || it.line != now.line || (with_reason && it.reason != now.reason)) continue;
        is_used[i] = true;
        return static_cast<int>(i);
      }
      return -1;
    };
    std::vector<std::size_t> left;
    for (std::size_t k = 0; k < now_[index].breaks->size(); ++k)
      if (allowed((*now_[index].breaks)[k], true) < 0) left.push_back(k);
    for (const std::size_t k : left) {
      const diff::BreakFact& fact = facts_.functions[index].breaks[k];
      const int other = allowed((*now_[index].breaks)[k], false);
      if (other >= 0) {
        Change& change =
            add("break-reason", Weight::neutral, index, fact.source->place,
                "the graph break" + at(fact.source->place) + " has a different reason: " + fact.source->reason +
                    "; the contract allows " + (*known.breaks)[static_cast<std::size_t>(other)].reason);
        change.before = (*known.breaks)[static_cast<std::size_t>(other)].reason, change.after = fact.source->reason;
        continue;
      }
      if (known.eager && known.eager->empty() && is_cause_of_eager(fact, index)) continue;
      Change& change = add("break-new", Weight::worse, index, fact.source->place,
                           "a graph break" + at(fact.source->place) + ": " + fact.source->reason);
      change.after = fact.source->reason;
      change.details = texts::hints(*fact.source);
    }
    for (std::size_t i = 0; i < is_used.size(); ++i)
      if (!is_used[i])
        verdict_.better.push_back(facts_.functions[index].title() + ": the graph break at `" + (*known.breaks)[i].line +
                                  "` no longer occurs");
  }

  void recompilations(const Function& known, std::size_t index) {
    std::vector<bool> is_used(known.recompilations->size(), false);
    for (const diff::Cause& cause : facts_.functions[index].recompilations) {
      std::size_t i = 0;
      while (i < is_used.size() && (is_used[i] || (*known.recompilations)[i].kind != cause.kind ||
                                    (*known.recompilations)[i].subject != cause.subject))
        ++i;
      if (i < is_used.size()) {
        is_used[i] = true;
        continue;
      }
      add("recompilation-new", Weight::worse, index, cause.place, "is compiled again because of " + cause.text).after =
          cause.text;
    }
    const auto gone = std::ranges::count(is_used, false);
    if (gone)
      verdict_.better.push_back(facts_.functions[index].title() + " has " +
                                texts::counted(static_cast<std::size_t>(gone), "fewer recompilation"));
  }

  // A bound that the contract sets for a function, and that the run exceeds: the contract allows `allowed`, and the run
  // has `now`.
  struct Exceeded {
    const char* code;
    std::int64_t now, allowed;
    std::string noun, behind;  // "call", " of extern_kernels.mm"
    record::Place place;
  };

  // Adds an exceeded bound to the verdict. If `sentences` is not null, adds a sentence about the bound to `sentences`,
  // and nothing to the verdict.
  void add_exceeded(std::size_t index, const Exceeded& it, std::vector<std::string>* sentences) {
    std::string sentence = counted(it.now, it.noun) + it.behind + "; the contract allows " + std::to_string(it.allowed);
    if (sentences) return sentences->push_back(std::move(sentence));
    Change& change = add(it.code, Weight::costs, index, it.place, std::move(sentence));
    change.before = std::to_string(it.allowed), change.after = std::to_string(it.now);
  }

  void bounds(const Function& known, std::size_t index, std::vector<std::string>* exceeded) {
    const Function& now = now_[index];
    if (facts_.reach == diff::Reach::kernels && known.kernels && facts_.functions[index].costs.has_operators_alone() &&
        (*known.kernels || (known.library_calls && !known.library_calls->empty())))
      add("backend", Weight::costs, index, {},
          "is compiled by a different backend: it has no kernels, and the contract has " +
              counted(*known.kernels, "kernel"));
    if (known.kernels && now.kernels && *now.kernels > *known.kernels)
      add_exceeded(index, {"kernels", *now.kernels, *known.kernels, "kernel", {}, {}}, exceeded);
    if (known.library_calls && now.library_calls)
      for (const auto& [name, count] : *now.library_calls) {
        const auto bound = std::ranges::find(*known.library_calls, name, &std::pair<std::string, std::int64_t>::first);
        const std::int64_t allowed = bound == known.library_calls->end() ? 0 : bound->second;
        if (count > allowed)
          add_exceeded(index, {"library-calls", count, allowed, "call", " of " + name, {}}, exceeded);
      }
    if (known.saved_bytes && now.saved_bytes && *now.saved_bytes > *known.saved_bytes)
      add_exceeded(index,
                   {"saved-bytes", *now.saved_bytes, *known.saved_bytes, "byte", " saved for the backward",
                    largest_saved(index)},
                   exceeded);
    if (known.guards && now.guards && contract_.is_of_dump == facts_.is_dump && *now.guards > *known.guards)
      add_exceeded(index, {"guards", *now.guards, *known.guards, "guard", {}, {}}, exceeded);
    if (known.guards && contract_.is_of_dump != facts_.is_dump)
      unchecked("Guards: a log counts them in a different way than a dump of depyf.");
    if (known.kernels && !now.kernels && contract_.backend == name_of(diff::Reach::kernels))
      unchecked("Kernels and library calls: the run has no record of them.");
  }

  record::Place largest_saved(std::size_t index) const {
    record::Place place;
    std::int64_t most = 0;
    for (const auto& [line, bytes] : facts_.functions[index].costs.saved_at) {
      const auto known = facts_.places.find(line);
      if (bytes > most && known != facts_.places.end()) most = bytes, place = known->second;
    }
    return place;
  }

  void unchecked(std::string sentence) {
    if (std::ranges::find(verdict_.unchecked, sentence) == verdict_.unchecked.end())
      verdict_.unchecked.push_back(std::move(sentence));
  }

  Change& add_for_run(const char* code, const record::Place& place, std::string sentence) {
    Change& change = verdict_.broken.emplace_back();
    change.code = code;
    change.weight = Weight::costs;
    change.place = place;
    change.sentence = std::move(sentence);
    return change;
  }

  void backend() {
    if (contract_.backend.empty()) return;
    if (!facts_.reach) return unchecked("Graphs and kernels: the run has no record of them.");
    const std::string now = name_of(*facts_.reach);
    if (now == contract_.backend) return;
    Change& change = add_for_run(
        "backend", facts_.functions.empty() ? record::Place() : facts_.functions[0].place,
        "a different backend compiles the run: it produces " + now + ", and the contract has " + contract_.backend);
    change.before = contract_.backend, change.after = now;
  }

  // Compares the operators that each line computes with the operators in the contract. An edited line that computes the
  // same operators does not break the contract.
  void operators() {
    if (!contract_.operators) return;
    const std::vector<LineOperators> now = operators_of(facts_);
    if (now.empty() && !facts_.reach) return unchecked("Operators by line: the run has no record of graphs.");
    std::vector<const std::pair<std::string, std::string>*> gone;
    std::set<std::string> known_lines;
    for (const auto& known : *contract_.operators) {
      known_lines.insert(known.first);
      const auto row = std::ranges::find(now, known.first, &LineOperators::line);
      if (row == now.end()) gone.push_back(&known);
      else if (row->operators != known.second) other_operators(*row, known.second, {});
    }
    std::vector<const LineOperators*> added;
    for (const LineOperators& row : now)
      if (!known_lines.contains(row.line)) added.push_back(&row);
    std::erase_if(added, [&](const LineOperators* row) {
      const auto same = std::ranges::find_if(gone, [&](const auto* known) { return known->second == row->operators; });
      if (same == gone.end()) return false;
      gone.erase(same);
      return true;
    });
    for (std::size_t i = 0; i < std::max(added.size(), gone.size()); ++i) {
      if (i >= added.size()) {
        const bool is_now_elsewhere = !verdict_.broken.empty() && verdict_.broken.back().code == "break-new";
        Change& change = add_for_run(
            "operators", place_of(gone[i]->first),
            "`" + gone[i]->first + "` no longer computes anything; in the contract, it computes " + gone[i]->second);
        change.before = gone[i]->second;
        if (is_now_elsewhere) change.details.emplace_back("The line may run eagerly because of the graph break.");
      } else {
        other_operators(*added[i], i < gone.size() ? gone[i]->second : "", i < gone.size() ? gone[i]->first : "");
      }
    }
  }

  // Returns a place for a line that the run does not have: the file of the line, and its text.
  static record::Place place_of(const std::string& line) {
    record::Place place;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) return place;
    place.file = line.substr(0, colon);
    place.text = line.substr(colon + 2);
    return place;
  }

  void other_operators(const LineOperators& row, const std::string& known, const std::string& line_before) {
    std::string sentence = diff::quoted_line(row.place) + " computes ";
    if (known.empty()) sentence += row.operators + "; the contract does not contain this line";
    else
      sentence += only_in(row.operators, known) + ", and the contract has " + only_in(known, row.operators) +
                  (line_before.empty() ? "" : " at `" + line_before + "`");
    Change& change = add_for_run("operators", row.place, std::move(sentence));
    change.before = known, change.after = row.operators;
  }

  // Checks the bounds on the sums over all functions.
  void totals() {
    std::int64_t recompilations = 0, kernels = 0;
    std::vector<std::string> causes, costs;
    record::Place place;
    for (std::size_t i = 0; i < now_.size(); ++i) {
      for (const diff::Cause& cause : facts_.functions[i].recompilations) {
        if (recompilations++ == 0) place = cause.place.line ? cause.place : facts_.functions[i].place;
        causes.push_back(facts_.functions[i].title() + " is compiled again because of " + cause.text);
      }
      if (!now_[i].kernels.value_or(0)) continue;
      kernels += *now_[i].kernels;
      costs.push_back(facts_.functions[i].title() + ": " + std::to_string(*now_[i].kernels));
    }
    const auto bound = [&](const char* code, std::int64_t now, const std::optional<std::int64_t>& allowed,
                           const char* noun, const record::Place& where, std::vector<std::string> details) {
      if (!allowed || now <= *allowed) return;
      Change& change = add_for_run(code, where,
                                   counted(now, noun) + "; at most " + std::to_string(*allowed) +
                                       (*allowed == 1 ? " is allowed" : " are allowed"));
      change.before = std::to_string(*allowed), change.after = std::to_string(now);
      change.details = std::move(details);
    };
    bound("recompilation-new", recompilations, contract_.recompilations, "recompilation", place, std::move(causes));
    bound("kernels", kernels, contract_.kernels, "kernel", {}, std::move(costs));
  }

  void seconds() {
    if (!contract_.seconds || !contract_.seconds_ratio) return;
    double total = 0;
    for (const diff::Function& function : facts_.functions) total += function.seconds;
    if (total <= *contract_.seconds * *contract_.seconds_ratio) return;
    char text[160];
    std::snprintf(
        text, sizeof text,
        "compiling takes %.3g s, which is %.3g times the %.3g s of the contract; the contract allows %.3g times", total,
        total / *contract_.seconds, *contract_.seconds, *contract_.seconds_ratio);
    add_for_run("seconds", {}, text);
  }

  const Contract& contract_;
  diff::Facts facts_;
  std::vector<Function> now_;
  Verdict& verdict_;
  std::vector<int> matches_;      // maps a function of the contract to a function of the run; -1 if the run lacks it
  std::vector<bool> is_matched_;  // true for the functions of the run that have a match
};

}  // namespace

Verdict check(const Contract& contract, const record::Run& run) {
  Verdict verdict;
  std::map<std::size_t, std::size_t> missing;  // maps a function (its index) to the number of processes that lack it
  for (const record::Process& process : run.processes) {
    const std::size_t first = verdict.broken.size();
    Check of_process(contract, process, verdict);
    of_process.run();
    for (const std::size_t index : of_process.missing()) ++missing[index];
    if (run.processes.size() > 1 && process.rank)
      for (std::size_t i = first; i < verdict.broken.size(); ++i)
        verdict.broken[i].sentence = "rank " + std::to_string(*process.rank) + ": " + verdict.broken[i].sentence;
  }
  for (const auto& [index, count] : missing) {
    if (count < run.processes.size()) continue;
    Change& change = verdict.broken.emplace_back();
    change.code = "function-gone";
    change.weight = Weight::worse;
    change.function = title_of(contract.functions[index]);
    change.place.file = contract.functions[index].file;
    change.place.function = own_name(contract.functions[index].name);
    change.sentence = "is no longer compiled";
  }
  std::ranges::stable_sort(verdict.broken, {}, &Change::weight);
  return verdict;
}

}  // namespace depyf::contract
