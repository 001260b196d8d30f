#include "texts/compilation_page.h"

#include <algorithm>
#include <utility>

#include "texts/counts.h"
#include "texts/markdown.h"
#include "texts/page.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::texts {

using namespace record;

namespace {

constexpr std::size_t ids_max = 12;  // the most ids in a list that is not abbreviated

std::vector<Stage>::const_iterator stage_of(std::string_view kind) {
  return std::find_if(stages().begin(), stages().end(), [&](const Stage& stage) { return stage.kind == kind; });
}

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

void outcome(Page& page, const Compilation& compilation) {
  if (compilation.is_resume) {
    std::string names;
    for (const std::string& name : compilation.resume_names)
      names += (names.empty() ? ", called as " : ", ") + code(name);
    page.line("The function continues after a graph break: " + code(compilation.place.function) + names + ".");
  }
  if (is_ahead(compilation)) return;  // A compilation that serves no call has a note that states its purpose.
  const std::string restarts =
      compilation.attempts > 1 ? ", after " + std::to_string(compilation.attempts - 1) + " restart(s)" : "";
  page.line((compilation.was_before     ? "The function was compiled before the recording began"
             : is_compiled(compilation) ? "The function was compiled"
                                        : "The function was not compiled") +
            restarts + ".");
  if (is_compiled(compilation)) return;
  page.line();
  page.line(headline_in_markdown(compilation));
  page.line();
  page.block(details(compilation));
}

void limits(Page& page, const Compilation& compilation) {
  if (compilation.limits.empty()) return;
  page.heading("The compilation is used again if all of these conditions hold:");
  std::vector<std::string> items;
  for (const Limit& limit : compilation.limits) {
    const std::string text = limit_text(limit);
    const std::string why = text.substr(limit.condition.size());
    items.push_back("- " + code(limit.condition) + (why.empty() ? "" : " (" + prose(why.substr(4)) + ")"));
  }
  for (const std::string& item : folded_conditions(std::move(items))) page.line(item);
  page.line();
}

// Writes the graphs, output code and guards of a log as files, named as in a dump.
void log_files(Page& page, const std::string& base, const std::vector<LogText>& texts,
               std::map<std::string, std::string>& files) {
  std::map<std::string, std::size_t> numbers;
  for (const LogText& text : texts) {
    const std::string number = std::to_string(numbers[text.kind]++);
    const auto stage = stage_of(text.kind);
    const bool is_python = stage != stages().end() && !text.kind.starts_with("ir_");
    const std::string file =
        base + "." + text.kind + (text.kind == "kernel" ? "_" : ".") + number + (is_python ? ".py" : ".txt");
    files[file] = text.text;
    page.line("- " + file_link(file) + ": " +
              (stage == stages().end() ? "the guards, as PyTorch logs them" : std::string(stage->about)) +
              in_brackets(text.direction));
  }
  if (!texts.empty()) page.line(), page.line("All texts of the log about the compilation:"), page.line();
}

// Lists the files of a dump in the order of the stages. The files of stages that each direction has (`Stage::is_late`)
// come last: first those of the forward, and then those of the backward.
void dumped_files(Page& page, const Compilation& compilation) {
  if (!compilation.code_file.empty()) {
    const std::string proof =
        compilation.why_not_proved.empty() ? "proved equivalent" : "not proved: " + prose(compilation.why_not_proved);
    page.line("- " + file_link(compilation.code_file) + ": the code that runs instead of the function; " + proof);
  }
  if (!compilation.guards_file.empty())
    page.line("- " + file_link(compilation.guards_file) + ": the guards as a function");
  std::vector<std::pair<std::size_t, const Artifact*>> ordered;
  for (const Artifact& artifact : compilation.artifacts) {
    const auto stage = stage_of(artifact.kind);
    const bool is_known_kind = stage != stages().end();
    std::size_t rank = is_known_kind ? static_cast<std::size_t>(stage - stages().begin()) + 1 : 0;
    if (is_known_kind && stage->is_late && artifact.direction == "backward") rank += stages().size();
    ordered.emplace_back(rank, &artifact);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, artifact] : ordered) {
    const std::string about = rank == 0 ? "a graph that PyTorch reported under this name"
                                        : std::string(stages()[(rank - 1) % stages().size()].about);
    const bool has_direction = !artifact->direction.empty() && artifact->kind != "Joint_graph";
    page.line("- " + file_link(artifact->name) + ": " + about +
              (has_direction ? in_brackets(artifact->direction) : ""));
  }
}

}  // namespace

std::string file_link(const std::string& file) { return "[" + literal(file) + "](" + file + ")"; }

std::string joined_ids(const std::vector<std::string>& ids) {
  if (ids.size() > ids_max)
    return ids.front() + ", " + ids[1] + ", ... to " + ids.back() + " (" + std::to_string(ids.size()) + ")";
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ", ") + id;
  return text;
}

std::string headline_in_markdown(const Compilation& compilation) {
  const std::string title = title_of(compilation);
  return code(title) + prose(headline(compilation, title).substr(title.size()));
}

std::string in_log(const Artifact& artifact, const std::string& log) {
  return prose(artifact.kind + (artifact.name.empty() ? "" : " " + artifact.name) + ": " +
               counted(artifact.size, "byte") + " at offset " + std::to_string(artifact.offset) + " of " +
               file_name(log));
}

CompilationPages::CompilationPages(const Process& process, std::string log) : log_(std::move(log)) {
  for (const Compilation& compilation : process.compilations)
    for (const std::string& name : compilation.resume_names) resumed_[name].push_back(compilation.id);
}

std::string CompilationPages::resume_calls(const Compilation& compilation) const {
  std::string calls;
  for (const std::string& name : compilation.resume_calls) {
    const auto resumed = resumed_.find(name);
    calls += (calls.empty() ? "" : ", ") + code(name) + " (" +
             (resumed == resumed_.end() ? "not compiled in this block" : joined_ids(resumed->second)) + ")";
  }
  return "Then, the code calls " + calls + ".";
}

std::map<std::string, std::string> CompilationPages::files(const Compilation& compilation, const std::string& file,
                                                           const std::vector<LogText>& texts) const {
  std::map<std::string, std::string> files;
  Page page;
  page.heading("# " + literal(compilation.id) + ": " + code(title_of(compilation)));
  outcome(page, compilation);
  page.line();
  page.block(reasons(compilation));
  limits(page, compilation);
  page.block(symbol_rows(compilation.symbols));
  page.block(runtime_rows(compilation));
  if (!compilation.resume_calls.empty()) page.line(resume_calls(compilation)), page.line();
  log_files(page, file.substr(0, file.size() - std::string_view(".md").size()), texts, files);
  if (log_.empty()) dumped_files(page, compilation);
  else
    for (const Artifact& artifact : compilation.artifacts) page.line("- " + in_log(artifact, log_));
  if (!compilation.provenance.empty())
    page.line("- " + file_link("provenance.md") +
              ": the path from source lines to kernels, and the operations that were not fused");
  for (const MissingArtifact& missing : compilation.missing)
    page.line("- missing: " + prose(missing.kind + in_brackets(missing.direction) + ": " + missing.why));
  for (const std::string& note : compilation.notes) page.line("- " + prose(note));
  files[file] = page.text();
  return files;
}

}  // namespace depyf::texts
