#include <algorithm>
#include <cstdio>
#include <map>

#include "depyf/texts.h"
#include "texts/counts.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace record;
using namespace texts;

constexpr std::size_t reason_characters_max = 160;  // the most characters of a reason; the JSON has the whole reason
constexpr std::size_t compilations_shown = 8;  // the most compilations of one function: PyTorch's recompilation limit
constexpr std::size_t functions_shown = 24;  // the most functions with compiled code; the slowest are shown
constexpr std::size_t phases_shown = 6;
constexpr std::size_t problems_shown = 10;
constexpr std::size_t files_shown = 12;  // the most files of a dump, one for each function
constexpr double wait_seconds_min = 0.001;  // the shortest wait of a rank that is not noise
constexpr std::size_t wait_phases_shown = 3;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 0.0995 ? "%.3f s" : seconds < 9.95 ? "%.2f s" : "%.1f s", seconds);
  return text;
}

std::string place_text(const Place& place) {
  if (place.file.empty())
    return place.line ? "line " + std::to_string(place.line) + " of a file that the log does not name"
                      : "an unknown place";
  return shown(file_name(place.file)) + ":" + std::to_string(place.line);
}

// Returns the name and the place of a function, such as "forward (train.py:22)", or "forward, resumed (train.py:24)"
// for a resume function.
std::string function_text(const Place& place, const std::string& qualified_name) {
  static constexpr std::string_view resumed = "torch_dynamo_resume_in_";
  std::string name = place.function;
  std::string suffix;
  if (name.starts_with(resumed)) {
    const std::size_t at = name.rfind("_at_");
    name = name.substr(resumed.size(), at == std::string::npos ? at : at - resumed.size());
    suffix = ", resumed";
  }
  if (!qualified_name.empty()) name = qualified_name;
  if (name.empty()) return "a function that the log does not name";
  return shown(name) + suffix + " (" + place_text(place) + ")";
}

class Summary {
 public:
  std::string run(const Run& run) {
    overview(run);
    const auto peers = std::count_if(run.processes.begin(), run.processes.end(),
                                     [&](const Process& process) { return is_peer(run, process); });
    if (peers > 1) ranks(run);
    for (std::size_t index = 0; index < run.processes.size(); ++index)
      process(run.processes[index], run.processes.size() > 1);
    const bool has_log = std::any_of(run.processes.begin(), run.processes.end(),
                                     [](const Process& process) { return !process.records.empty(); });
    if (has_log) {
      line("");
      line(
          "A log contains no bytecode of first frames, no guards as Python and no names of classes; to get these, run the "
          "program with depyf.");
    }
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  void overview(const Run& run) {
    const Counts all = counts_of(run);
    double backward = 0;
    for (const Process& process : run.processes)
      for (const Compilation& compilation : process.compilations) backward += compilation.backward_seconds;
    const bool are_runs = run.processes.size() > 1 &&
                          std::all_of(run.processes.begin(), run.processes.end(), [&](const Process& process) {
                            return process.records.empty() && process.log == run.processes[0].log;
                          });
    line((are_runs ? counted(run.processes.size(), "run") + " in this directory"
                   : counted(run.processes.size(), "process", "es")) +
         ": " + counted(all.functions, "function") + ", " + counted(all.compilations, "compilation") + ", " +
         counted(all.breaks, "distinct graph break") + ", " + counted(all.again, "recompilation") +
         (all.not_compiled ? ", " + std::to_string(all.not_compiled) + " not compiled" : "") +
         (all.seconds > 0 ? "; " + seconds_text(all.seconds) + " spent compiling" : "") +
         (backward > 0 ? ", " + seconds_text(backward) + " of it for the backward" : "") + ".");
  }

  static std::string name_of_process(const Process& process) {
    if (process.rank) return "rank " + std::to_string(*process.rank);
    if (process.pid) return "process " + std::to_string(*process.pid);
    return process.run ? "the program" : shown(process.log);
  }

  void ranks(const Run& run) {
    const std::vector<RankGroup> groups = compare_ranks(run);
    line("");
    waits(run);
    if (groups.size() == 1) return line("All processes have the same compilations.");
    auto names_of = [&](const RankGroup& group) {
      std::string names;
      for (std::size_t index : group.processes)
        names += (names.empty() ? "" : ", ") + name_of_process(run.processes[index]);
      return names;
    };
    for (const RankGroup& group : groups) {
      if (group.parts_at.empty())
        line((group.processes.size() > 1 ? "The same compilations: " : "") + names_of(group) + ".");
      else
        line(names_of(group) + ": first differs from " + names_of(groups[group.nearest]) + " in compilation " +
             group.parts_at + ": " + shown(group.difference, reason_characters_max));
    }
  }

  // Writes the time that each rank waited. Only ranks of one run wait for each other, so no times are written if a
  // process has no rank.
  void waits(const Run& run) {
    if (std::any_of(run.processes.begin(), run.processes.end(),
                    [&](const Process& process) { return is_peer(run, process) && !process.rank; }))
      return;
    const std::vector<RankWait> waits = rank_waits(run);
    for (std::size_t index = 0; index < waits.size(); ++index) {
      if (waits[index].seconds < wait_seconds_min) continue;
      std::string phases;
      for (std::size_t i = 0; i < std::min(waits[index].phases.size(), wait_phases_shown); ++i)
        phases +=
            (i ? ", " : "") + shown(waits[index].phases[i].first) + " " + seconds_text(waits[index].phases[i].second);
      line(name_of_process(run.processes[index]) + " waited " + seconds_text(waits[index].seconds) +
           " for the slowest rank of each compilation" +
           (phases.empty() ? "." : ", which was longer in " + phases + "."));
    }
  }

  void process(const Process& process, bool is_one_of_several) {
    line("");
    if (is_one_of_several) line("== " + name_of_process(process) + ", " + shown(process.log));
    std::string versions;
    if (!process.torch_version.empty()) versions += "PyTorch " + shown(process.torch_version);
    if (!process.python_version.empty())
      versions += (versions.empty() ? "" : ", ") + ("Python " + shown(process.python_version));
    if (!versions.empty()) line(versions + ".");
    for (const std::string& note : process.notes) line("note: " + shown(note));
    if (process.compilations.empty()) line("Nothing was compiled.");
    std::vector<const Compilation*> dearest;
    for (const Compilation& compilation : process.compilations) dearest.push_back(&compilation);
    std::map<std::string, double> cost;
    for (const Compilation* it : dearest)
      cost[function_text(it->place, it->name)] += it->seconds + it->backward_seconds;
    std::stable_sort(dearest.begin(), dearest.end(), [&](const Compilation* one, const Compilation* two) {
      const std::string a = function_text(one->place, one->name), b = function_text(two->place, two->name);
      return a != b && (cost[a] != cost[b] ? cost[a] > cost[b] : a < b);
    });
    std::string last;
    std::size_t shown_of_function = 0, left_out = 0;
    std::size_t functions_listed = 0, functions_left_out = 0;
    auto say_left_out = [&] {
      if (left_out)
        line("  and " + counted(left_out, "more compilation") + "; the output of --json contains all of them");
      left_out = 0;
    };
    for (const Compilation* it : dearest) {
      const std::string function = function_text(it->place, it->name);
      if (function != last) {
        say_left_out();
        shown_of_function = 0;
        if (++functions_listed <= functions_shown || is_refused(*it))
          line(function + (cost[function] > 0 ? ", " + seconds_text(cost[function]) : ""));
        else ++functions_left_out;
      }
      last = function;
      if (functions_listed > functions_shown && !is_refused(*it)) continue;
      if (shown_of_function++ < compilations_shown) compilation(*it);
      else ++left_out;
    }
    say_left_out();
    if (functions_left_out)
      line("and " + counted(functions_left_out, "function") +
           " that took less time; the output of --json contains all of them");
    phases(process);
    damage(process);
    files(process);
  }

  // Writes the names of the files of a dump that a reader of the summary should read next.
  void files(const Process& process) {
    const bool has_index = process.records.empty() && process.log.ends_with("/session.json");
    if (!has_index || process.function_files.empty()) return;
    const std::string directory = shown(process.log.substr(0, process.log.rfind('/') + 1));
    line("Read on in " + directory + "index.md");
    for (std::size_t i = 0; i < std::min(process.function_files.size(), files_shown); ++i)
      line("       and " + directory + shown(process.function_files[i].file) + ": " +
           shown(process.function_files[i].title));
    if (process.function_files.size() > files_shown)
      line("       and " + counted(process.function_files.size() - files_shown, "more file") +
           " whose names begin with full_code");
  }

  void compilation(const Compilation& it) {
    std::size_t kernels = 0, library_calls = 0;
    for (const Kernel& kernel : it.kernels)
      (kernel.kind == "library" ? library_calls : kernels) += kernel.kind == "library" ? kernel.calls : 1;
    std::vector<std::string> parts;
    if (seconds_of(it) > 0)
      parts.push_back(
          seconds_text(it.seconds) +
          (it.backward_seconds > 0 ? " and " + seconds_text(it.backward_seconds) + " for the backward" : ""));
    if (it.status != Status::compiled) parts.emplace_back(name_of(it.status));
    if (it.guards) parts.push_back(counted(static_cast<std::size_t>(std::max<std::int64_t>(*it.guards, 0)), "guard"));
    if (kernels) parts.push_back(counted(kernels, "kernel"));
    if (library_calls) parts.push_back(counted(library_calls, "library call"));
    std::string text = "  " + it.id;
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? ", " : "  ") + parts[i];
    line(text);
    if (is_again(it)) {
      const std::string& earlier = it.reasons.empty() ? std::string() : it.reasons[0].compilation;
      line("       compiled again" + (earlier.empty() ? "" : ", since " + earlier + " refused the call") + ": " +
           shown(why_again(it), reason_characters_max));
    }
    if (is_refused(it)) {
      const std::string title = title_of(it);
      line("       " + shown(headline(it, title)));
      for (const std::string& detail : details(it)) line("         " + shown(detail));
    }
    for (const GraphBreak& graph_break : it.breaks) ends_at(it, graph_break);
  }

  // Writes the whole text of a graph break at its first occurrence, and only its place and reason at each later
  // occurrence.
  void ends_at(const Compilation& it, const GraphBreak& graph_break) {
    const bool is_headline = is_refused(it) && it.stopped_by && is_same(*it.stopped_by, graph_break);
    const bool is_known = std::any_of(known_breaks_.begin(), known_breaks_.end(),
                                      [&](const GraphBreak* known) { return is_same(*known, graph_break); });
    known_breaks_.push_back(&graph_break);
    if (is_headline) return;
    line("       graph break at " + (is_known
                                         ? shown(where(graph_break) + ": " + graph_break.reason, reason_characters_max)
                                         : shown(sentence(graph_break))));
  }

  void phases(const Process& process) {
    std::map<std::string, double> self;
    double total = 0;
    auto add = [&](const std::vector<Phase>& phases) {
      for (const Phase& phase : phases)
        if (!phase.is_parallel) self[phase.name] += phase.self_us, total += phase.self_us;
    };
    for (const Compilation& compilation : process.compilations) add(compilation.phases);
    add(process.phases);
    if (total <= 0) return;
    std::vector<std::pair<double, std::string>> largest;
    for (const auto& [name, us] : self) largest.emplace_back(us, name);
    std::stable_sort(largest.begin(), largest.end(),
                     [](const auto& one, const auto& two) { return one.first > two.first; });
    std::string text;
    for (std::size_t i = 0; i < std::min(largest.size(), phases_shown); ++i) {
      char percent[16];
      std::snprintf(percent, sizeof percent, " %.1f %%", 100 * largest[i].first / total);
      text += (text.empty() ? "" : ", ") + shown(largest[i].second) + percent;
    }
    line("Time of each phase, without the phases within it: " + text + ".");
  }

  void damage(const Process& process) {
    for (std::size_t i = 0; i < std::min(process.problems.size(), problems_shown); ++i)
      line("offset " + std::to_string(process.problems[i].offset) + ": " + shown(process.problems[i].message));
    if (process.problems.size() > problems_shown)
      line("and " + counted(process.problems.size() - problems_shown, "more problem") + ".");
    if (process.unknown_strings)
      line("The log does not contain the file names of " + counted(process.unknown_strings, "frame") +
           " in its stacks, because a forked child wrote the log and continued the numbering of its parent.");
    std::string unknown;
    for (const Artifact& artifact : process.artifacts)
      if (!artifact.is_known) unknown += " " + shown(artifact.kind);
    for (const Compilation& it : process.compilations)
      for (const Artifact& artifact : it.artifacts)
        if (!artifact.is_known) unknown += " " + shown(artifact.kind);
    if (!unknown.empty()) line("Kinds of records that this release does not know, kept as they are:" + unknown);
  }

  std::string text_;
  std::vector<const GraphBreak*> known_breaks_;
};

}  // namespace

std::string summary(const record::Run& run) { return Summary().run(run); }

}  // namespace depyf
