#include "texts/counts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "texts/words.h"

namespace depyf::texts {

using namespace record;

namespace {

constexpr std::string_view resume_prefix = "torch_dynamo_resume_in_";

// Returns the name of the user's function that was compiled, even if only the rest of the function behind a graph break
// was compiled, as a resume function. A log has no qualified names, but Dynamo's name for a resume function contains
// the name of the function: torch_dynamo_resume_in_forward_at_24.
std::string function_name(const Compilation& compilation) {
  const std::string& name = compilation.place.function;
  if (!compilation.name.empty() || !name.starts_with(resume_prefix)) return name_of(compilation);
  const std::size_t end = name.rfind("_at_");
  return name.substr(resume_prefix.size(), end == std::string::npos ? end : end - resume_prefix.size());
}

bool goes_on(const Compilation& compilation) {
  return compilation.is_resume || compilation.place.function.starts_with(resume_prefix);
}

void add_breaks(const Process& process, std::vector<DistinctBreak>& distinct) {
  for (const Compilation& compilation : process.compilations) {
    for (const GraphBreak& graph_break : compilation.breaks) {
      auto known = std::find_if(distinct.begin(), distinct.end(),
                                [&](const DistinctBreak& entry) { return is_same(*entry.graph_break, graph_break); });
      if (known == distinct.end()) known = distinct.insert(distinct.end(), {&graph_break, {}, 0});
      if (!known->compilations.empty() && known->compilations.back() == &compilation) continue;
      known->compilations.push_back(&compilation);
      known->seconds += seconds_of(compilation);
    }
  }
}

class Counter {
 public:
  void add(const Process& process) {
    for (const Compilation& compilation : process.compilations) {
      const Function function{function_name(compilation), compilation.place.file};
      (goes_on(compilation) ? resumed_ : whole_).insert({function, compilation.place.line});
      if (!is_compiled(compilation) && !is_ahead(compilation)) eager_.insert(function);
      counts_.not_compiled += is_refused(compilation);
      counts_.again += is_again(compilation);
      counts_.seconds += seconds_of(compilation);
    }
    counts_.compilations += process.compilations.size();
    add_breaks(process, breaks_);
  }

  Counts counts() const {
    Counts counts = counts_;
    std::set<Function> known, only_resumed;
    for (const auto& [function, line] : whole_) known.insert(function);
    // A resume function counts as a function of the user if the beginning of the resumed function was not compiled in
    // any of the processes.
    for (const auto& [function, line] : resumed_)
      if (!known.contains(function)) only_resumed.insert(function);
    counts.functions = whole_.size() + only_resumed.size();
    counts.eager = eager_.size();
    counts.breaks = breaks_.size();
    return counts;
  }

 private:
  using Function = std::pair<std::string, std::string>;  // the name and the file of a function

  Counts counts_;
  std::set<std::pair<Function, int>> whole_, resumed_;  // functions and their first lines, because names may repeat
  std::set<Function> eager_;
  std::vector<DistinctBreak> breaks_;
};

}  // namespace

double seconds_of(const Compilation& compilation) { return compilation.seconds + compilation.backward_seconds; }

bool is_compiled(const Compilation& compilation) { return compilation.status == Status::compiled; }

bool is_ahead(const Compilation& compilation) {
  return !is_compiled(compilation) && !compilation.notes.empty() && compilation.failure.empty();
}

bool is_again(const Compilation& compilation) {
  return is_compiled(compilation) && (!compilation.reasons.empty() || !compilation.reasons_in_words.empty());
}

bool is_refused(const Compilation& compilation) {
  return !is_compiled(compilation) && (!compilation.failure.empty() || compilation.limit_reached);
}

std::vector<DistinctBreak> distinct_breaks(const Process& process) {
  std::vector<DistinctBreak> distinct;
  add_breaks(process, distinct);
  return distinct;
}

Counts counts_of(const Process& process) {
  Counter counter;
  counter.add(process);
  return counter.counts();
}

Counts counts_of(const Run& run) {
  Counter counter;
  for (const Process& process : run.processes) counter.add(process);
  return counter.counts();
}

std::string why_again(const Compilation& compilation) {
  std::string why = deciding_reason(compilation.reasons);
  const bool is_in_words = compilation.reasons.empty() || compilation.reasons[0].is_in_words;
  if (is_in_words && !compilation.reasons_in_words.empty()) why = compilation.reasons_in_words[0];
  return why.substr(0, why.find('\n'));
}

}  // namespace depyf::texts
