// Writes index.md and the files that it links to. Each section of index.md has a bound, so that the file is short for
// any program. The files of the compilations contain the entries that index.md leaves out.
#include <algorithm>
#include <cstdio>
#include <set>

#include "depyf/compile_costs.h"
#include "depyf/texts.h"
#include "support/words.h"
#include "texts/compilation_page.h"
#include "texts/counts.h"
#include "texts/guard_costs.h"
#include "texts/markdown.h"
#include "texts/page.h"
#include "texts/shown.h"
#include "texts/tables.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace record;
using namespace texts;

constexpr std::size_t failures_in_full = 3;  // the most functions without compiled code that are shown with all details
constexpr std::size_t failures_shown = 8, breaks_shown = 6, again_shown = 6, functions_shown = 12;
constexpr std::size_t missing_named = 6, guards_shown = 3;
constexpr std::size_t reasons_shown = 3;  // the most reasons for one function that was compiled again
constexpr std::size_t rows_shown = 24;  // the most rows of the table of compilations
constexpr std::size_t table_name_max = 60;  // the most characters of a name in the table

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 9.95 ? "%.2f" : "%.1f", seconds);
  return text;
}

// Returns the sentences about a graph break. The place of a graph break may contain source of the program in a code
// span.
std::string break_in_markdown(const GraphBreak& graph_break) {
  const std::string place = where(graph_break);
  return (is_known(graph_break.inside) ? prose(place) : literal(place)) +
         prose(sentence(graph_break).substr(place.size()));
}

class Index {
 public:
  Index(const Run& run, const std::vector<LogTexts>& texts) : run_(run), log_texts_(texts) {}

  std::map<std::string, std::string> files() {
    page_.heading("# What torch.compile did");
    const std::size_t count = run_.processes.size();
    if (count > 1) {
      page_.line("This directory contains the records of " + std::to_string(count) +
                 " runs. The latest run comes first.");
      page_.line();
    }
    for (std::size_t number = count; number-- > 0;) {
      if (count > 1) page_.heading(heading(run_.processes[number], number));
      process(run_.processes[number], number);
    }
    files_["index.md"] = page_.text();
    if (!provenance_.empty()) {
      Page page;
      page.heading("# From source to kernels");
      page.heading("The same data in a form for programs: " + file_link("provenance.json") + ".");
      files_["provenance.md"] = page.text() + "\n" + provenance_;
    }
    return std::move(files_);
  }

 private:
  static std::string heading(const Process& process, std::size_t number) {
    std::string text = "# Run " + std::to_string(number + 1);
    if (process.rank) text += ", rank " + std::to_string(*process.rank);
    if (process.pid) text += ", process " + std::to_string(*process.pid);
    return process.records.empty() ? text : text + ": " + literal(process.log);
  }

  void process(const Process& process, std::size_t number) {
    file_of_.clear();
    for (const Compilation& compilation : process.compilations) {
      std::string name = "compilation_";
      for (const char character : compilation.id) name += is_word(character) ? character : '_';
      if (number) name += "_run_" + std::to_string(number + 1);
      const std::string base = name;
      for (int again = 2; !names_.insert(name).second; ++again) name = base + "_" + std::to_string(again);
      file_of_[&compilation] = name + ".md";
    }
    log_ = process.records.empty() ? "" : process.log;
    overview(process);
    for (const Problem& problem : process.problems) {
      page_.line("**Problem.** Offset " + std::to_string(problem.offset) + ": " + prose(problem.message));
      page_.line();
    }
    not_compiled(process);
    breaks(process);
    again(process);
    at_run_time(process);
    guards(process);
    missing(process);
    read_first(process);
    table(process);
    if (std::string text = process.tables.empty() ? texts::tables(process) : process.tables; !text.empty()) {
      std::string name = "tables" + (number ? "_run_" + std::to_string(number + 1) : std::string());
      for (int again = 2; !names_.insert(name).second; ++again) name = "tables_" + std::to_string(again);
      files_[name + ".md"] = std::move(text);
      page_.line(
          "Costs by line of source: " + file_link(name + ".md") +
          " lists library calls and fallbacks, copies, the graphs on both sides of each break, and the tensors that are "
          "saved for the backward.");
      page_.line();
    }
    if (!process.artifacts.empty()) {
      page_.heading("## Files that belong to no compilation");
      for (const Artifact& artifact : process.artifacts)
        page_.line("- " +
                   (log_.empty() ? file_link(artifact.name) + ": " + prose(artifact.kind) : in_log(artifact, log_)));
      page_.line();
    }
    const CompilationPages pages(process, log_);
    for (std::size_t i = 0; i < process.compilations.size(); ++i) {
      const bool has_texts = number < log_texts_.size() && i < log_texts_[number].size();
      const Compilation& compilation = process.compilations[i];
      files_.merge(pages.files(compilation, file_of_.at(&compilation),
                               has_texts ? log_texts_[number][i] : std::vector<LogText>()));
      if (!compilation.provenance.empty()) provenance(compilation);
    }
  }

  void overview(const Process& process) {
    const Counts counts = counts_of(process);
    std::string versions;
    if (!process.torch_version.empty()) versions += "PyTorch " + process.torch_version;
    if (!process.python_version.empty())
      versions += (versions.empty() ? "" : ", ") + ("Python " + process.python_version);
    std::string text = prose(versions + (versions.empty() ? "" : "."));
    if (!process.compilations.empty()) {
      text += (text.empty() ? "" : " ") + counted(counts.functions, "function") + ", " +
              counted(counts.compilations, "compilation");
      if (counts.again) text += " (" + std::to_string(counts.again) + " of them because guards failed)";
      if (counts.seconds > 0) text += " in " + seconds_text(counts.seconds) + " s";
      text += ", " + counted(counts.breaks, "graph break") + ".";
      if (!counts.eager) text += " All of them run compiled.";
      else
        text += " " + counted(counts.eager, "function") + (counts.eager == 1 ? " does" : " do") +
                " not run compiled, or not for every call.";
    }
    page_.line(text);
    page_.line();
    if (const std::vector<std::string> rows = compile_time_in_markdown(process); !rows.empty()) {
      page_.line(rows[0]);
      for (std::size_t i = 1; i < rows.size(); ++i) page_.line((i == 1 ? "\n" : "") + rows[i]);
      page_.line();
    }
    for (const std::string& note : process.notes) page_.line("**Note.** " + prose(note)), page_.line();
  }

  void not_compiled(const Process& process) {
    std::size_t count = 0, left_out = 0;
    for (const Compilation& compilation : process.compilations) {
      if (!is_refused(compilation)) continue;
      if (count == 0) page_.heading("## Not compiled");
      if (++count > failures_shown) {
        ++left_out;
        continue;
      }
      page_.line(headline_in_markdown(compilation));
      page_.line();
      if (count <= failures_in_full) page_.block(details(compilation));
    }
    if (left_out)
      page_.line("The table below contains " + counted(left_out, "more compilation") + " that failed."), page_.line();
  }

  void breaks(const Process& process) {
    std::vector<DistinctBreak> found = distinct_breaks(process);
    if (found.empty()) return;
    page_.heading("## Graph breaks");
    std::stable_sort(found.begin(), found.end(), [](const DistinctBreak& a, const DistinctBreak& b) {
      return a.compilations.size() > b.compilations.size();
    });
    page_.line("Each graph break is listed once, with the compilations in which it occurs:");
    page_.line();
    std::set<std::vector<std::string>> remedies;  // the hints that were shown; breaks of one kind have the same hints
    for (std::size_t i = 0; i < std::min(found.size(), breaks_shown); ++i) {
      std::vector<std::pair<std::string, std::vector<std::string>>> functions;
      for (const Compilation* compilation : found[i].compilations) {
        auto known = std::find_if(functions.begin(), functions.end(),
                                  [&](const auto& function) { return function.first == name_of(*compilation); });
        if (known == functions.end()) known = functions.insert(functions.end(), {name_of(*compilation), {}});
        if (std::find(known->second.begin(), known->second.end(), compilation->id) == known->second.end())
          known->second.push_back(compilation->id);
      }
      std::string in;
      for (const auto& [name, ids] : functions) in += (in.empty() ? "" : "; ") + code(name) + ", " + joined_ids(ids);
      page_.line("- " + break_in_markdown(*found[i].graph_break) + " The break occurs in " + in + ".");
      const bool is_new = remedies.insert(found[i].graph_break->hints).second;
      for (const std::string& hint : hints(*found[i].graph_break))
        if (is_new || hint.starts_with("The line")) page_.line("  - " + prose(hint));
      if (!is_new && !found[i].graph_break->hints.empty()) page_.line("  - The hints are the same as above.");
    }
    if (found.size() > breaks_shown)
      page_.line("- And " + std::to_string(found.size() - breaks_shown) +
                 " more, which are listed in the files of the compilations.");
    page_.line();
  }

  void again(const Process& process) {
    std::vector<std::pair<std::string, std::vector<const Compilation*>>> functions;
    for (const Compilation& compilation : process.compilations) {
      if (!is_again(compilation)) continue;
      const std::string title = title_of(compilation);
      auto known = std::find_if(functions.begin(), functions.end(),
                                [&](const auto& function) { return function.first == title; });
      if (known == functions.end()) known = functions.insert(functions.end(), {title, {}});
      known->second.push_back(&compilation);
    }
    if (functions.empty()) return;
    page_.heading("## Compiled again");
    for (std::size_t i = 0; i < std::min(functions.size(), again_shown); ++i) {
      const auto& [title, compilations] = functions[i];
      page_.line("- " + code(title) + ", " + counted(compilations.size(), "time") + ":");
      for (std::size_t j = 0; j < std::min(compilations.size(), reasons_shown); ++j) {
        const Compilation& compilation = *compilations[j];
        page_.line("  - " + compilation.id + ": " + prose(why_again(compilation)));
      }
      if (compilations.size() > reasons_shown)
        page_.line("  - and " + counted(compilations.size() - reasons_shown, "more time"));
    }
    if (functions.size() > again_shown)
      page_.line("- And " + counted(functions.size() - again_shown, "more function") + ".");
    page_.line();
  }

  void at_run_time(const Process& process) {
    std::size_t count = 0;
    for (const Compilation& compilation : process.compilations) {
      const std::vector<std::string> rows = runtime_rows(compilation);
      if (rows.empty() || ++count > again_shown) continue;
      if (count == 1) page_.heading("## Known or checked only when a graph runs");
      page_.line(code(title_of(compilation)) + ", " + compilation.id + ":");
      page_.line();
      page_.block(rows);
    }
  }

  // Writes the times of the guards of those compilations whose guards were measured in groups. The compilations with
  // the slowest guards come first.
  void guards(const Process& process) {
    std::vector<const Compilation*> measured;
    for (const Compilation& compilation : process.compilations)
      if (!compilation.guard_groups.empty()) measured.push_back(&compilation);
    std::stable_sort(measured.begin(), measured.end(), [](const Compilation* a, const Compilation* b) {
      return a->guard_us.value_or(0) > b->guard_us.value_or(0);
    });
    if (measured.empty()) return;
    page_.heading("## Time of a check of the guards");
    page_.line("Measured with the call that was compiled, grouped by the values that the guards check:");
    page_.line();
    for (std::size_t i = 0; i < std::min(measured.size(), guards_shown); ++i) {
      page_.line(code(title_of(*measured[i])) + ", " + measured[i]->id + ":");
      page_.line();
      page_.block(guard_time_rows(*measured[i]));
    }
    if (measured.size() > guards_shown)
      page_.line("The table contains the total times of the " + std::to_string(measured.size() - guards_shown) +
                 " other compilations."),
          page_.line();
  }

  // Lists missing artifacts by the reason for which they are missing, because most of them have the same reason.
  void missing(const Process& process) {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const Compilation& compilation : process.compilations) {
      for (const MissingArtifact& one : compilation.missing) {
        auto known =
            std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == one.why; });
        if (known == reasons.end()) known = reasons.insert(reasons.end(), {one.why, {}});
        const std::string text =
            compilation.id + " " + one.kind + (one.direction.empty() ? "" : " (" + one.direction + ")");
        known->second.push_back(text);
      }
    }
    if (reasons.empty()) return;
    page_.heading("## Missing");
    for (const auto& [why, artifacts] : reasons) {
      std::string text;
      for (std::size_t i = 0; i < std::min(artifacts.size(), missing_named); ++i)
        text += (i ? ", " : "") + artifacts[i];
      if (artifacts.size() > missing_named)
        text += " and " + std::to_string(artifacts.size() - missing_named) + " more";
      page_.line("- " + prose(text + ": " + why));
    }
    page_.line();
  }

  void table(const Process& process) {
    if (process.compilations.empty()) return;
    page_.heading("## Compilations in chronological order");
    std::vector<const Compilation*> all;
    for (const Compilation& compilation : process.compilations) all.push_back(&compilation);
    std::vector<const Compilation*> dearest = all;
    std::stable_sort(dearest.begin(), dearest.end(),
                     [](const Compilation* a, const Compilation* b) { return seconds_of(*a) > seconds_of(*b); });
    dearest.resize(std::min(dearest.size(), rows_shown));
    rows(page_, all, {dearest.begin(), dearest.end()});
    if (all.size() <= rows_shown) return;
    Page whole;
    whole.heading("# Compilations in chronological order");
    rows(whole, all, {all.begin(), all.end()});
    std::string name = "compilations";
    for (int again = 2; !names_.insert(name).second; ++again) name = "compilations_" + std::to_string(again);
    files_[name + ".md"] = whole.text();
    page_.line("These are the " + std::to_string(rows_shown) + " compilations that took the longest; " +
               file_link(name + ".md") + " contains all " + std::to_string(all.size()) + ".");
    page_.line();
  }

  void rows(Page& page, const std::vector<const Compilation*>& compilations,
            const std::set<const Compilation*>& shown) const {
    page.line(
        "| function | place | compilation | seconds | us of guards | breaks | graphs | kernels | library calls | source |");
    page.line("|---|---|---|--:|--:|--:|--:|--:|--:|---|");
    for (const Compilation* compilation : compilations)
      if (shown.contains(compilation)) page.line(row(*compilation));
    page.line();
  }

  std::string row(const Compilation& compilation) const {
    std::string name = name_of(compilation);
    if (compilation.is_resume) name += " after a break";
    if (name.size() > table_name_max) name = texts::shown(name, table_name_max);
    std::size_t kernels = 0, library_calls = 0;
    for (const Kernel& kernel : compilation.kernels)
      (kernel.kind == "library" ? library_calls : kernels) += kernel.kind == "library" ? kernel.calls : 1;
    const auto graphs =
        std::count_if(compilation.artifacts.begin(), compilation.artifacts.end(), [](const Artifact& artifact) {
          return artifact.kind == "Captured_Graph" || artifact.kind == "dynamo_output_graph";
        });
    const std::string file = file_name(compilation.place.file);
    const std::string place = (file.empty() ? "" : file + ":") + std::to_string(compilation.place.line);
    const std::string state = is_ahead(compilation)       ? "see its file"
                              : !is_compiled(compilation) ? "not compiled"
                              : compilation.was_before    ? "compiled before"
                              : !compilation.is_proved    ? ""
                              : *compilation.is_proved    ? "proved"
                                                          : "not proved";
    const double seconds = seconds_of(compilation);
    std::string text = "| " + cell(code(name)) + " | " + cell(literal(texts::shown(place, table_name_max))) + " | [" +
                       literal(compilation.id) + "](" + file_of_.at(&compilation) + ") | " +
                       (seconds > 0 ? seconds_text(seconds) : "") + " | " + guard_time_cell(compilation);
    for (const std::size_t count :
         {compilation.breaks.size(), static_cast<std::size_t>(graphs), kernels, library_calls})
      text += " | " + std::to_string(count);
    return text + " | " + state + " |";
  }

  void read_first(const Process& process) {
    if (process.function_files.empty()) return;
    page_.heading("## Read first");
    page_.line("One file for each function, with its source, the code that runs, the graphs and the guards:");
    page_.line();
    std::size_t number = 0;
    for (const FunctionFile& file : process.function_files) {
      if (++number > functions_shown) break;
      page_.line(std::to_string(number) + ". " + file_link(file.file) + ": " + code(file.title) + ", " +
                 (file.compilations.size() == 1 ? "compilation " : "compilations ") + joined_ids(file.compilations));
    }
    if (process.function_files.size() > functions_shown)
      page_.line("\nAnd " + std::to_string(process.function_files.size() - functions_shown) +
                 " more files of this kind, whose names begin with full_code.");
    page_.line();
  }

  void provenance(const Compilation& compilation) {
    Page page;
    page.heading("## " + literal(compilation.id) + ": " + code(title_of(compilation)));
    for (const std::string& text : compilation.provenance) page.line(one_line(text));
    provenance_ += page.text() + "\n";
  }

  const Run& run_;
  const std::vector<LogTexts>& log_texts_;
  Page page_;
  std::map<std::string, std::string> files_;
  std::set<std::string> names_;
  std::map<const Compilation*, std::string> file_of_;
  std::string provenance_;
  std::string log_;  // the path of the log of the current process; empty for a dump
};

}  // namespace

std::map<std::string, std::string> index_files(const Run& run, const std::vector<LogTexts>& texts) {
  return Index(run, texts).files();
}

}  // namespace depyf
