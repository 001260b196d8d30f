#include "depyf/story.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "depyf/texts.h"
#include "dumps/members.h"
#include "json/json.h"
#include "support/utf8.h"
#include "support/words.h"
#include "texts/lines.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace texts;
using dumps::text_of, dumps::texts_of;
using Lines = std::vector<std::string>;

constexpr std::size_t title_width = 96;
constexpr std::size_t comment_max = 196;  // the most characters of a comment behind `# `
constexpr std::string_view limit_indent = "        ";  // the indentation of continuation lines of a limit
constexpr std::string_view graph_base = "(torch.nn.Module):";
constexpr std::string_view imports =
    "from __future__ import annotations\n\nimport torch\nfrom torch import device, inf, nan";

// Returns a text as a comment of one line.
std::string remark(std::string_view text) { return std::string(stripped_end("# " + one_line(text))); }

// Returns a text as comments of at most `width` characters each. White space within a text of at most `width`
// characters is kept.
Lines remarks(const std::string& text, std::size_t width, std::string_view indent = {}) {
  Lines lines = characters_in(text) > width ? wrapped(text, width, indent) : Lines{text};
  for (std::string& line : lines) line = remark(line);
  return lines;
}

Lines title_rows(const std::string& text) {
  const std::string rule = "# " + std::string(title_width, '-');
  Lines lines{"", "", rule};
  append(remarks(text, title_width), lines);
  lines.push_back(rule);
  return lines;
}

// Returns the text of a file of a dump without the comments at its head, and the number of the first line that follows
// the comments.
std::pair<std::string, std::size_t> body_of(const std::string& text) {
  const Lines lines = python_lines(text);
  auto is_head = [](const std::string& line) {
    if (line.empty()) return true;
    const auto kept = {"# proved", "# not proved", "# __const_", "# not exact"};
    return line[0] == '#' &&
           std::none_of(kept.begin(), kept.end(), [&](const char* start) { return line.starts_with(start); });
  };
  const auto first = std::find_if_not(lines.begin(), lines.end(), is_head);
  const std::string body = joined(Lines(first, lines.end()), "\n");
  return {std::string(stripped_end(body)), static_cast<std::size_t>(first - lines.begin()) + 1};
}

// Returns the name of the class that begins at a line of a graph's text; an empty text if no class begins there.
std::string_view class_in(std::string_view line) {
  std::string_view rest = line;
  if (!take(rest, "class ")) return {};
  std::string_view name = rest;
  if (rest.starts_with("<lambda>")) {
    rest.remove_prefix(std::string_view("<lambda>").size());
  } else {
    const std::size_t end = std::min(rest.find('('), rest.size());  // a name may have letters beyond ASCII
    if (rest.substr(0, end).find_first_of(" \t<>.:,") != std::string_view::npos) return {};
    rest.remove_prefix(end);
  }
  name.remove_suffix(rest.size());
  return rest.starts_with(graph_base) ? name : std::string_view();
}

// Returns the conditions in a tree of guards, which PyTorch prints with one condition on a line. The many guards that
// check whether dimensions of a tensor are marked as dynamic are only counted. Returns all lines of the tree if no line
// is a condition.
Lines conditions_in(const Lines& tree) {
  constexpr std::string_view mark_guard = "DIMENSION_DYNAMIC_MARKING_GUARD";
  Lines conditions;
  std::size_t marks = 0;
  for (const std::string& line : tree) {
    std::string_view rest = line;
    rest.remove_prefix(std::min(rest.find_first_not_of("| "), rest.size()));
    if (!take(rest, "+- ")) continue;
    const std::size_t end = std::min(rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"), rest.size());
    const std::string_view kind = rest.substr(0, end);
    rest.remove_prefix(end);
    if (kind.size() < 2 || kind[0] < 'A' || kind[0] > 'Z' || !take(rest, ": ") || rest.empty()) continue;
    if (kind == mark_guard) {
      ++marks;
      continue;
    }
    Lines words;
    while (!(rest = stripped(rest)).empty()) {
      const std::size_t word_end = std::min(rest.find_first_of(blanks), rest.size());
      words.emplace_back(rest.substr(0, word_end));
      rest.remove_prefix(word_end);
    }
    conditions.push_back(std::string(kind) + ": " + joined(words, " "));
  }
  if (marks) conditions.push_back(std::string(mark_guard) + ": " + std::to_string(marks) + " guards");
  return conditions.empty() ? tree : conditions;
}

struct LimitGroup {
  std::string name;
  Lines limits;
};

// Returns the limits in groups. The first group contains the limits on values, which callers can change most easily.
std::vector<LimitGroup> limit_groups(const std::vector<record::Limit>& limits) {
  enum Group { values, sizes, tensors, modules };
  std::vector<LimitGroup> groups{{"Values", {}}, {"Sizes", {}}, {"Tensors", {}}, {"Modules and global state", {}}};
  for (const record::Limit& limit : limits) {
    auto has = [&](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    const Group group = limit.subject.empty()                                             ? modules
                        : has(limit.subject, ".shape[") || has(limit.subject, ".stride(") ? sizes
                        : has(limit.condition, " is a tensor like the one that was seen") ? tensors
                                                                                          : values;
    groups[group].limits.push_back(limit_text(limit));
  }
  std::erase_if(groups, [](const LimitGroup& group) { return group.limits.empty(); });
  return groups;
}

struct ToldFrame {
  json::Value data;
  record::Compilation compilation;
  std::string guard_file;  // the file with the guards as a function; empty if the list of guards is unknown
};

struct Section {
  json::Value data;
  std::vector<ToldFrame> frames;
};

// Returns the artifacts in the order in which a reader should read them: by stage, the forward before the backward.
std::vector<const record::Artifact*> in_order(const record::Compilation& compilation) {
  const std::vector<record::Stage>& stages = record::stages();
  auto key = [&](const record::Artifact* artifact) {
    const auto stage = std::find_if(stages.begin(), stages.end(),
                                    [&](const record::Stage& known) { return known.kind == artifact->kind; });
    const bool is_known = stage != stages.end(), is_late = is_known && stage->is_late;
    return std::tuple(is_late, is_late && artifact->direction == "backward",
                      is_known ? stage - stages.begin() : std::ptrdiff_t{-1});
  };
  std::vector<const record::Artifact*> ordered;
  for (const record::Artifact& artifact : compilation.artifacts) ordered.push_back(&artifact);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const record::Artifact* left, const record::Artifact* right) { return key(left) < key(right); });
  return ordered;
}

class Story {
 public:
  Story(json::Value sections, const StorySources& sources) : sources_(sources) {
    sections.for_each_item([&](json::Value data) {
      Section& section = sections_.emplace_back(Section{data, {}});
      std::size_t number = 0;
      data["frames"].for_each_item([&](json::Value frame) {
        section.frames.push_back({frame, dumps::compilation_of(frame), text_of(data["guard_files"].at(number++))});
      });
    });
    for (const Section& section : sections_)
      for (const std::string& name : section.frames[0].compilation.resume_names) known_[name] = &section;
  }

  std::string text() {
    head();
    for (const Section& section : sections_) add(section);
    append(
        Lines{"", "#============ end of " + one_line(text_of(sections_[0].data["code_name"])) + " ============#", ""},
        lines_);
    return joined(lines_, "\n");
  }

 private:
  static std::string name_in(const ToldFrame& frame, const std::string& otherwise) {
    const std::string resume_name = text_of(frame.data["resume_name"]);
    if (!resume_name.empty()) return resume_name;
    return frame.compilation.name.empty() ? otherwise : frame.compilation.name;
  }

  // Returns the name of the graph that the code of a compilation calls; an empty text if the code calls no graph.
  static std::string graph_name(const ToldFrame& frame) {
    const std::optional<std::int64_t> number = frame.data["compiled_fn"].integer();
    return number ? "__compiled_fn_" + std::to_string(*number) : std::string();
  }

  void head() {
    lines_ = {
        remark("Everything that torch.compile generated from " + title_of(sections_[0].frames[0].compilation) + "."),
        "# Read the file from top to bottom: the original function; then each compilation with the code that runs, the",
        "# graph that this code calls, and the guards under which the code runs; then the same for the functions that",
        "# continue after graph breaks. The file is for reading and not for running: code that is the same in each layer",
        "# of a model appears once, and the graphs of later stages and the kernels are in the files that are named here.",
        "#"};
    for (const Section& section : sections_) {
      const std::string name = name_in(section.frames[0], text_of(section.data["code_name"]));
      for (const ToldFrame& frame : section.frames) {
        Lines leads = frame.compilation.resume_calls;
        if (const std::string graph = graph_name(frame); !graph.empty()) leads.insert(leads.begin(), graph);
        lines_.push_back(remark("  " + name + ": compilation " + frame.compilation.id +
                                (leads.empty() ? "" : " -> " + joined(leads, ", "))));
      }
    }
    append(Lines{"", std::string(imports)}, lines_);
  }

  void add(const Section& section) {
    const record::Compilation& first = section.frames[0].compilation;
    if (first.is_resume) {
      const std::string names = first.resume_names.empty() ? first.place.function : joined(first.resume_names, " or ");
      append(title_rows(names + ": " + title_of(first) + ", which Dynamo generated as " + first.place.function),
             lines_);
      for (const std::string& name : first.resume_names)
        if (const json::Value place = section.data["own_places"][name]) {
          lines_.emplace_back();
          append(marked(place), lines_);
          break;
        }
    } else {
      append(title_rows(title_of(first) + ": the original function"), lines_);
      append(Lines{"", text_of(section.data["source"])}, lines_);
    }
    for (const ToldFrame& frame : section.frames) add(frame);
    not_compiled(section);
  }

  void add(const ToldFrame& frame) {
    const record::Compilation& compilation = frame.compilation;
    const std::string status = text_of(frame.data["status"]);
    append(title_rows(name_in(frame, compilation.place.function) + ": compilation " + compilation.id + ", " + status),
           lines_);
    const Words words = words_of(compilation, "");
    if (status == "not compiled") {
      remark_on(words.headline);
      for (const std::string& line : words.details) remark_on(line);
    }
    for (const Lines* rows : {&words.reasons, &words.symbols, &words.at_run_time})
      for (const std::string& line : *rows) remark_on(line);
    if (!compilation.code_file.empty()) {
      const auto [body, first_line] = body_of(sources_.read(compilation.code_file));
      append(Lines{"", "# " + compilation.code_file,
                   std::string(stripped_end(folded(body, compilation.code_file, first_line)))},
             lines_);
    }
    for (const std::string& name : compilation.resume_calls) resumed(name);
    graph(frame);
    for (const record::MissingArtifact& missing : compilation.missing)
      remark_on("Missing: " + missing.kind + (missing.direction.empty() ? "" : " (" + missing.direction + ")") + ": " +
                missing.why + ".");
    guards(frame);
  }

  void graph(const ToldFrame& frame) {
    const record::Compilation& compilation = frame.compilation;
    const auto captured =
        std::find_if(compilation.artifacts.begin(), compilation.artifacts.end(),
                     [](const record::Artifact& artifact) { return artifact.kind == "Captured_Graph"; });
    if (captured == compilation.artifacts.end()) return;
    const std::string& file = captured->name;
    std::string name = graph_name(frame);
    if (name.empty()) name = "GraphModule";
    append(Lines{"", "# " + file + ": the graph of " + name + " as Dynamo captured it.",
                 graph_body(sources_.read(file), name, file)},
           lines_);
    Lines later;
    for (const record::Artifact* artifact : in_order(compilation))
      if (artifact->kind != "Captured_Graph") later.push_back("#   " + artifact->name);
    if (later.empty()) return;
    append(Lines{"", "# Graphs and code that the backend generated from " + name + ", in this order:"}, lines_);
    append(later, lines_);
  }

  // Writes the limits that the guards of a compilation set for the next call, grouped by kind. If no limits are known,
  // only the texts of the guards are written.
  void guards(const ToldFrame& frame) {
    if (frame.guard_file.empty() && frame.data["guards"].size() == 0) return;
    const std::string where = frame.guard_file.empty() ? "" : "; " + frame.guard_file + " contains them as a function";
    lines_.emplace_back();
    remark_on("Guards: the code above runs if all of these conditions hold" + where + ".");
    if (frame.compilation.limits.empty())
      for (const std::string& line : conditions_in(texts_of(frame.data["guards"]))) remark_on("  " + line);
    for (LimitGroup& group : limit_groups(frame.compilation.limits)) {
      remark_on(group.name + ":");
      for (const std::string& line : folded_conditions(std::move(group.limits)))
        append(remarks("  " + one_line(line), comment_max, limit_indent), lines_);
    }
  }

  // Writes a comment that states where the file contains the code of a resume function.
  void resumed(const std::string& name) {
    std::string place = "it was not compiled in this block, see below";
    if (const auto compiled = known_.find(name); compiled != known_.end()) {
      Lines ids;
      for (const ToldFrame& frame : compiled->second->frames) ids.push_back(frame.compilation.id);
      place = std::string("see ") + (ids.size() == 1 ? "compilation " : "compilations ") + joined(ids, ", ") + " below";
    }
    lines_.emplace_back();
    remark_on(name + " continues after the graph break; " + place + ".");
  }

  // Writes the resume functions that were not compiled in the prepare_debug block: the user's source, with a comment at
  // the line where each resume function continues.
  void not_compiled(const Section& section) {
    for (const ToldFrame& frame : section.frames)
      for (const std::string& name : frame.compilation.resume_calls) {
        if (known_.contains(name)) continue;
        const json::Value place = section.data["resume_places"][name];
        if (!place) {
          append(title_rows(name + ": not compiled in this block"), lines_);
          continue;
        }
        const record::Place line = dumps::place_of(place);
        append(title_rows(name + ": continues at " + file_name(line.file) + ":" + std::to_string(line.line) +
                          "; not compiled in this block"),
               lines_);
        lines_.emplace_back();
        append(marked(place), lines_);
      }
  }

  Lines marked(json::Value place) const {
    const record::Place line = dumps::place_of(place);
    return sources_.marked(line.file, line.line);
  }

  void remark_on(const std::string& text) { lines_.push_back(remark(text)); }

  const StorySources& sources_;
  std::vector<Section> sections_;
  std::map<std::string, const Section*> known_;  // maps the name of a resume function to the section that shows it
  Lines lines_;
};

}  // namespace

std::string full_code(std::string_view sections, const StorySources& sources) {
  json::Document document;
  if (document.parse(sections) || document.root().size() == 0) return {};
  return Story(document.root(), sources).text();
}

std::string graph_body(std::string_view text, const std::string& name, std::string_view file) {
  Lines lines = python_lines(text);
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("class "); });
  if (first == lines.end()) {
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with('#'); });
    return joined(lines, "\n");
  }
  const auto first_line = static_cast<std::size_t>(first - lines.begin()) + 1;
  std::string body(stripped_end(joined(Lines(first, lines.end()), "\n")));
  if (!file.empty()) body = stripped_end(folded(body, file, first_line));
  for (std::size_t start = 0; start < body.size();) {
    const std::size_t end = std::min(body.find('\n', start), body.size());
    const std::string_view line = std::string_view(body).substr(start, end - start);
    if (const std::string_view old = class_in(line); !old.empty()) {
      body.replace(static_cast<std::size_t>(old.data() - body.data()), old.size(), name);
      break;
    }
    start = end + 1;
  }
  return body;
}

}  // namespace depyf
