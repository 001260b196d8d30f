#include <algorithm>
#include <cstdio>
#include <map>

#include "depyf/texts.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace record;
using texts::counted;
using texts::file_name;
using texts::shown;

constexpr std::size_t reason_characters_max = 160;  // of one reason; the whole of it is in the JSON
constexpr std::size_t compilations_shown = 8;  // of one function, PyTorch's own limit of recompilations
constexpr std::size_t phases_shown = 6;
constexpr std::size_t problems_shown = 10;
constexpr double wait_seconds_min = 0.001;  // of a rank: less is noise
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

// "forward (train.py:22)", "forward, resumed (train.py:24)".
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
    if (run.processes.size() > 1) ranks(run);
    for (std::size_t index = 0; index < run.processes.size(); ++index)
      process(run.processes[index], run.processes.size() > 1);
    const bool has_log = std::any_of(run.processes.begin(), run.processes.end(),
                                     [](const Process& process) { return !process.records.empty(); });
    if (has_log) {
      line("");
      line(
          "A log has no bytecode of first frames, no guards as Python and no names of classes: run the program with depyf to get them.");
    }
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  void overview(const Run& run) {
    std::size_t compilations = 0, breaks = 0, again = 0;
    double forward = 0, backward = 0;
    std::map<std::string, int> functions;
    for (const Process& process : run.processes) {
      for (const Compilation& compilation : process.compilations) {
        ++compilations;
        again += !compilation.reasons.empty();
        breaks += compilation.breaks.size();
        forward += compilation.seconds, backward += compilation.backward_seconds;
        ++functions[function_text(compilation.place, compilation.name)];
      }
    }
    line(counted(run.processes.size(), "process", "es") + ": " + counted(functions.size(), "function") + ", " +
         counted(compilations, "compilation") + " in " + seconds_text(forward + backward) +
         (backward > 0 ? " (" + seconds_text(backward) + " of it for the backward)" : "") + ", " +
         counted(breaks, "graph break") + ", " + counted(again, "recompilation") + ".");
  }

  static std::string name_of_process(const Process& process) {
    if (process.rank) return "rank " + std::to_string(*process.rank);
    return process.pid ? "process " + std::to_string(*process.pid) : shown(process.log);
  }

  void ranks(const Run& run) {
    const std::vector<RankGroup> groups = compare_ranks(run);
    line("");
    waits(run);
    if (groups.size() == 1) return line("All processes compiled the same.");
    auto names_of = [&](const RankGroup& group) {
      std::string names;
      for (std::size_t index : group.processes)
        names += (names.empty() ? "" : ", ") + name_of_process(run.processes[index]);
      return names;
    };
    for (const RankGroup& group : groups) {
      if (group.parts_at.empty())
        line((group.processes.size() > 1 ? "Compiled the same: " : "") + names_of(group) + ".");
      else
        line(names_of(group) + ": first differs from " + names_of(groups[group.nearest]) + " in compilation " +
             group.parts_at + ": " + shown(group.difference, reason_characters_max));
    }
  }

  // Processes that are no ranks of one run do not wait for each other.
  void waits(const Run& run) {
    if (std::any_of(run.processes.begin(), run.processes.end(), [](const Process& process) { return !process.rank; }))
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
    auto say_left_out = [&] {
      if (left_out) line("  and " + counted(left_out, "compilation") + " more; --json has them");
      left_out = 0;
    };
    for (const Compilation* it : dearest) {
      const std::string function = function_text(it->place, it->name);
      if (function != last) {
        say_left_out();
        line(function + ", " + seconds_text(cost[function]));
        shown_of_function = 0;
      }
      last = function;
      if (shown_of_function++ < compilations_shown) compilation(*it);
      else ++left_out;
    }
    say_left_out();
    phases(process);
    damage(process);
  }

  void compilation(const Compilation& it) {
    std::size_t kernels = 0, library_calls = 0;
    for (const Kernel& kernel : it.kernels)
      (kernel.kind == "library" ? library_calls : kernels) += kernel.kind == "library" ? kernel.calls : 1;
    std::string text = "  " + it.id + "  " + seconds_text(it.seconds);
    if (it.backward_seconds > 0) text += " and " + seconds_text(it.backward_seconds) + " for the backward";
    if (it.status != Status::compiled) text += std::string(", ") + name_of(it.status);
    if (it.guards) text += ", " + counted(static_cast<std::size_t>(std::max<std::int64_t>(*it.guards, 0)), "guard");
    if (kernels) text += ", " + counted(kernels, "kernel");
    if (library_calls) text += ", " + counted(library_calls, "library call");
    line(text);
    if (!it.reasons.empty()) {
      const FailedGuard& reason = it.reasons[0];
      std::string place = reason.place.line ? "  # " + place_text(reason.place) : "";
      line("       compiled again, because " + (reason.compilation.empty() ? "a compilation" : reason.compilation) +
           " refused the call: " + shown(reason.guard, reason_characters_max) + place);
    }
    for (const GraphBreak& graph_break : it.breaks)
      line("       graph break at " + place_text(graph_break.place) + ": " +
           shown(graph_break.reason, reason_characters_max));
    if (!it.failure.empty()) line("       " + shown(it.failure, reason_characters_max));
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
    line("Time by phase, each without those within it: " + text + ".");
  }

  void damage(const Process& process) {
    for (std::size_t i = 0; i < std::min(process.problems.size(), problems_shown); ++i)
      line("offset " + std::to_string(process.problems[i].offset) + ": " + shown(process.problems[i].message));
    if (process.problems.size() > problems_shown)
      line("and " + counted(process.problems.size() - problems_shown, "problem") + " more.");
    if (process.unknown_strings)
      line("The log does not hold the file names that " + counted(process.unknown_strings, "frame") +
           " of its stacks refer" + (process.unknown_strings == 1 ? "s" : "") +
           " to: it is that of a forked child, which goes on counting where its parent was.");
    std::string unknown;
    for (const Artifact& artifact : process.artifacts)
      if (!artifact.is_known) unknown += " " + shown(artifact.kind);
    for (const Compilation& it : process.compilations)
      for (const Artifact& artifact : it.artifacts)
        if (!artifact.is_known) unknown += " " + shown(artifact.kind);
    if (!unknown.empty()) line("Kinds of records that this release does not know, kept as they are:" + unknown);
  }

  std::string text_;
};

}  // namespace

std::string summary(const record::Run& run) { return Summary().run(run); }

}  // namespace depyf
