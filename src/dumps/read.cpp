// Turns session.json and journals into the record. Each frame of a session is a compilation. A line of a journal about
// a frame states only the fields of the frame that have changed.
#include <algorithm>
#include <map>

#include "depyf/dump.h"
#include "dumps/folders.h"
#include "dumps/members.h"
#include "record/graph.h"
#include "trace/md5.h"
#include "trace/output_code.h"
#include "trace/phases.h"
#include "trace/reasons.h"

namespace depyf {
namespace {

using namespace record;
using dumps::number_in_name, dumps::place_of, dumps::rank_in, dumps::text_of, dumps::texts_of;

constexpr int session_version = 1, journal_version = 1;  // the versions of the files that are read

GraphBreak break_of(json::Value item) {
  GraphBreak graph_break;
  graph_break.place = place_of(item["line"]);
  graph_break.inside = place_of(item["inside"]);
  graph_break.reason = text_of(item["reason"]);
  graph_break.explanation = text_of(item["explanation"]);
  graph_break.hints = texts_of(item["hints"]);
  graph_break.link = text_of(item["link"]);
  graph_break.then = text_of(item["then"]);
  return graph_break;
}

FailedGuard failure_of(json::Value item) {
  FailedGuard failure;
  failure.compilation = text_of(item["entry"]);
  failure.guard = text_of(item["condition"]);
  failure.place = place_of(item["line"]);
  failure.subject = text_of(item["subject"]);
  failure.expected = text_of(item["expected"]);
  failure.actual = text_of(item["actual"]);
  failure.origin = text_of(item["origin"]);
  failure.is_state = item["is_state"].is_true();
  failure.alike = texts_of(item["alike"]);
  failure.follows = texts_of(item["follows"]);
  return failure;
}

LimitReached limit_reached_of(json::Value item) {
  LimitReached reached;
  reached.setting = text_of(item["limit"]);
  reached.value = item["value"].integer();
  reached.compilations = texts_of(item["compile_ids"]);
  reached.reasons = texts_of(item["reasons"]);
  reached.accepted = texts_of(item["accepted"]);
  reached.is_still_used = item["still_used"].is_true();
  return reached;
}

// Returns a number without trailing zeros, as in logs, such as 0.5 for the 0.500000000000000 of SymPy in a dump.
std::string without_zeros(std::string value) {
  if (value.find('.') == std::string::npos || value.find_first_not_of("-.0123456789") != std::string::npos)
    return value;
  value.resize(value.find_last_not_of('0') + 1);
  return value.ends_with('.') ? value + "0" : value;
}

Symbol symbol_of(json::Value item) {
  Symbol symbol;
  symbol.name = text_of(item["name"]);
  std::vector<std::string> sources = texts_of(item["terms"]);
  if (sources.empty()) sources = texts_of(item["sources"]);
  for (const std::string& source : sources) symbol.source += (symbol.source.empty() ? "" : ", ") + source;
  symbol.value = without_zeros(text_of(item["hint"]));
  symbol.range = text_of(item["range"]);
  symbol.place = place_of(item["specialized_by"]);
  symbol.lower_from = text_of(item["lower_from"]);
  symbol.upper_from = text_of(item["upper_from"]);
  symbol.specialized_to = text_of(item["value"]);
  symbol.reason = text_of(item["reason"]);
  return symbol;
}

Artifact artifact_of(json::Value item) {
  Artifact artifact;
  artifact.kind = text_of(item["kind"]);
  artifact.name = text_of(item["file"]);
  artifact.direction = text_of(item["direction"]);
  return artifact;
}

// Returns the number of the program's run; std::nullopt if the number is 0, which means unknown.
std::optional<std::int64_t> run_number(json::Value run) {
  const std::optional<std::int64_t> number = run["run"].integer();
  return number.value_or(0) > 0 ? number : std::nullopt;
}

// Copies the fields of a frame into the compilation. Members without a field in the frame keep their values.
class Fields {
 public:
  Fields(json::Value frame, Compilation& compilation) : frame_(frame), compilation_(compilation) {}

  void apply() {
    if (has("compile_id")) compilation_.id = text_of(frame_["compile_id"]);
    if (has("function")) compilation_.place.function = text_of(frame_["function"]);
    if (has("filename")) compilation_.place.file = text_of(frame_["filename"]);
    if (has("line")) compilation_.place.line = static_cast<int>(frame_["line"].integer().value_or(0));
    if (has("name")) compilation_.name = text_of(frame_["name"]);
    if (has("attempt"))
      compilation_.attempts =
          static_cast<int>(std::clamp<std::int64_t>(frame_["attempt"].integer().value_or(0), 0, 1 << 20)) + 1;
    if (has("error")) compilation_.failure = text_of(frame_["error"]);
    if (has("stopped_by")) {
      compilation_.stopped_by.reset();
      if (frame_["stopped_by"].is(json::Kind::object)) compilation_.stopped_by = break_of(frame_["stopped_by"]);
      compilation_.failed_at = place_of(frame_["stopped_by"]["line"]);
    }
    if (has("exceeded")) {
      compilation_.limit_reached.reset();
      if (frame_["exceeded"].is(json::Kind::object)) compilation_.limit_reached = limit_reached_of(frame_["exceeded"]);
    }
    if (has("raised")) compilation_.is_raised = frame_["raised"].is_true();
    if (has("is_resume")) compilation_.is_resume = frame_["is_resume"].is_true();
    if (has("transformed_file")) compilation_.code_file = text_of(frame_["transformed_file"]);
    if (has("guards_file")) compilation_.guards_file = text_of(frame_["guards_file"]);
    if (has("not_proved")) compilation_.why_not_proved = text_of(frame_["not_proved"]);
    if (has("proved")) {
      compilation_.is_proved.reset();
      if (!frame_["proved"].is(json::Kind::null)) compilation_.is_proved = frame_["proved"].is_true();
    }
    if (has("status")) {
      const std::string status = text_of(frame_["status"]);
      compilation_.status = status != "not compiled" ? Status::compiled : Status::no_code;
      compilation_.was_before = status == "compiled before";
    }
    if (compilation_.status == Status::no_code && !compilation_.failure.empty()) compilation_.status = Status::failed;
    lists();
  }

 private:
  bool has(std::string_view name) const { return static_cast<bool>(frame_[name]); }

  template <typename Item, typename Read>
  void list(const char* name, std::vector<Item>& items, Read&& read) {
    if (!has(name)) return;
    items.clear();
    frame_[name].for_each_item([&](json::Value item) { items.push_back(read(item)); });
  }

  void lists() {
    list("recompile_reasons", compilation_.reasons_in_words, text_of);
    list("failures", compilation_.reasons, failure_of);
    if (compilation_.reasons.empty())
      for (const std::string& reason : compilation_.reasons_in_words)
        compilation_.reasons.push_back(trace::failed_guard_of(reason));
    list("breaks", compilation_.breaks, break_of);
    list("symbols", compilation_.symbols, symbol_of);
    list("artifacts", compilation_.artifacts, artifact_of);
    list("resume_names", compilation_.resume_names, text_of);
    list("resume_calls", compilation_.resume_calls, text_of);
    list("notes", compilation_.notes, text_of);
    list("provenance", compilation_.provenance, text_of);
    list("frontier", compilation_.limits, [](json::Value item) {
      return Limit{text_of(item["condition"]), text_of(item["subject"]), text_of(item["origin"]),
                   place_of(item["line"])};
    });
    list("runtime_values", compilation_.runtime_values, [](json::Value item) {
      return RuntimeValue{text_of(item["name"]), text_of(item["range"]), place_of(item["line"])};
    });
    list("runtime_asserts", compilation_.runtime_asserts, [](json::Value item) {
      return RuntimeAssert{text_of(item["condition"]), text_of(item["message"]), place_of(item["line"])};
    });
    list("missing", compilation_.missing, [](json::Value item) {
      return MissingArtifact{text_of(item["kind"]), text_of(item["why"]), text_of(item["direction"])};
    });
  }

  json::Value frame_;
  Compilation& compilation_;
};

class DumpReader {
 public:
  DumpReader(const std::string& directory, const ReadFile& read_file, bool with_graphs)
      : directory_(directory), read_file_(read_file), with_graphs_(with_graphs) {}

  std::vector<Process> run(const std::vector<std::string>& journals) {
    if (const std::optional<std::string> text = read_file_("session.json")) session(*text);
    for (const std::string& name : journals)
      if (const std::optional<std::string> text = read_file_(name)) journal(name, *text);
    for (Process& process : processes_)
      for (Compilation& compilation : process.compilations) files(compilation);
    return std::move(processes_);
  }

 private:
  Process& process(const std::string& file) {
    Process& process = processes_.emplace_back();
    process.log = directory_ + "/" + file;
    process.rank = rank_in(directory_);
    process.pid = number_in_name(directory_, "process_");
    process.is_child = process.pid.has_value();
    return process;
  }

  void session(const std::string& text) {
    json::Document document;
    if (auto error = document.parse(text)) {
      process("session.json").problems.push_back({error->offset, "session.json cannot be read: " + error->message});
      return;
    }
    const json::Value version = document.root()["schema_version"];
    if (version.integer() != session_version) {
      process("session.json")
          .problems.push_back({0, "session.json has the version " + std::string(version.raw()) + ", and 1 is read"});
      return;
    }
    document.root()["runs"].for_each_item([&](json::Value run) {
      Process& own = process("session.json");
      own.torch_version = text_of(run["torch_version"]);
      own.python_version = text_of(run["python_version"]);
      own.working_directory = text_of(run["working_directory"]);
      own.run = run_number(run);
      own.notes = texts_of(run["notes"]);
      run["other_artifacts"].for_each_item([&](json::Value item) { own.artifacts.push_back(artifact_of(item)); });
      run["full_code"].for_each_item([&](json::Value item) {
        const std::string title = text_of(item["title"]);
        own.function_files.push_back(
            {text_of(item["file"]), title.empty() ? text_of(item["function"]) : title, texts_of(item["compile_ids"])});
      });
      run["frames"].for_each_item([&](json::Value frame) { Fields(frame, own.compilations.emplace_back()).apply(); });
    });
    times();
  }

  // Reads times.json, which has the seconds, the times of guards, and the timeline of the last run.
  void times() {
    const std::optional<std::string> text = read_file_("times.json");
    json::Document document;
    if (!text || processes_.empty() || document.parse(*text)) return;
    std::size_t index = 0;
    std::vector<Compilation>& compilations = processes_.back().compilations;
    document.root()["seconds"].for_each_item([&](json::Value seconds) {
      if (index < compilations.size()) compilations[index++].seconds = seconds.number().value_or(0);
    });
    index = 0;
    document.root()["guard_times"].for_each_item([&](json::Value time) {
      if (index == compilations.size()) return;
      compilations[index].guard_us = time["microseconds"].number();
      compilations[index++].guard_groups = dumps::guard_groups_of(time["groups"]);
    });
    events(document.root(), processes_.back());
  }

  // Reads the phases of each compilation. An event that began before its compilation had an id belongs to the
  // compilation of the next event.
  static void events(json::Value times, Process& process) {
    const double start_us = times["start_us"].number().value_or(0);
    std::map<std::string, int, std::less<>> indices;  // maps a compile id to the index of the compilation
    for (std::size_t i = 0; i < process.compilations.size(); ++i)
      indices[process.compilations[i].id] = static_cast<int>(i);
    trace::Phases phases;
    int surrounding = trace::Phases::no_compilation;
    times["events"].for_each_item([&](json::Value event) {
      const std::string kind = text_of(event.at(0)), name = text_of(event.at(1)), id = text_of(event.at(3));
      const double us = start_us + event.at(2).number().value_or(0);
      const auto known =
          indices.find(std::string_view(id).substr(0, id.find('_')));  // the id without the number of the attempt
      const int own = known == indices.end() ? phases.current() : known->second;
      if (!phases.is_open()) surrounding = trace::Phases::no_compilation;
      if (own != trace::Phases::no_compilation) surrounding = own;
      if (kind == "B") phases.begin(0, name, us, own, !id.empty());
      else if (kind == "E") phases.end(0, name, us, !id.empty(), surrounding);
      else if (kind == "X") phases.whole(name, us, event.at(4).number().value_or(0), own);
    });
    for (std::size_t i = 0; i < process.compilations.size(); ++i)
      process.compilations[i].phases = phases.of(static_cast<int>(i));
    process.phases = phases.of(trace::Phases::no_compilation);
    process.events = phases.take_events();
  }

  void journal(const std::string& name, const std::string& text) {
    Process& own = process(name);
    own.is_cut = true;
    own.problems.push_back({text.size(), "the block did not end: its process died, or it is still open"});
    std::map<std::int64_t, std::size_t> frames;  // maps the number of a frame to the index of its compilation
    json::Document document;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      const std::size_t start = at;
      at = end + 1;
      if (line.empty()) continue;
      if (auto error = document.parse(line)) {
        own.problems.push_back({start + error->offset, "a line of the journal: " + error->message});
        continue;
      }
      const json::Value entry = document.root();
      if (auto version = entry["journal"].integer()) {
        own.pid = entry["process"].integer();
        own.torch_version = text_of(entry["torch_version"]);
        own.python_version = text_of(entry["python_version"]);
        own.working_directory = text_of(entry["working_directory"]);
        own.run = run_number(entry);
        if (*version == journal_version) continue;
        own.problems.push_back({start, "the journal has the version " + std::to_string(*version) + ", and 1 is read"});
        return;
      }
      const std::optional<std::int64_t> number = entry["frame"].integer();
      if (!number) continue;
      const auto [known, is_new] = frames.try_emplace(*number, own.compilations.size());
      if (is_new) own.compilations.emplace_back();
      Fields(entry["fields"], own.compilations[known->second]).apply();
      // A journal states only changes, so it does not state the initial status of a frame, "not compiled".
      Compilation& compilation = own.compilations[known->second];
      if (entry["of"]["ended"].is_true() && compilation.status == Status::unfinished)
        compilation.status = compilation.failure.empty() ? Status::no_code : Status::failed;
    }
  }

  // Sets the fingerprint of a captured graph, by which the graphs of different ranks are compared. The fingerprint
  // ignores the comments of the captured graph that name files and kernels.
  void add_fingerprint(Artifact& artifact) const {
    const std::optional<std::string> text = read_file_(artifact.name);
    if (!text) return;
    std::string code;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      const std::string_view line = std::string_view(*text).substr(at, end - at);
      const std::size_t last = line.substr(0, line.find('#')).find_last_not_of(' ');
      if (last != std::string_view::npos) code += std::string(line.substr(0, last + 1)) + "\n";
      at = end + 1;
    }
    trace::Md5 sum;
    sum.add(code);
    artifact.fingerprint = sum.hexadecimal();
  }

  void files(Compilation& compilation) {
    if (rank_in(directory_))
      for (Artifact& artifact : compilation.artifacts)
        if (artifact.kind == "Captured_Graph") add_fingerprint(artifact);
    const bool has_joint_graph = std::any_of(compilation.artifacts.begin(), compilation.artifacts.end(),
                                             [](const Artifact& artifact) { return artifact.kind == "Joint_graph"; });
    std::map<std::string, std::vector<std::size_t>> waiting;  // maps a direction to the graphs without output code
    for (const Artifact& artifact : compilation.artifacts) {
      if (artifact.kind == "kernel") {
        const std::optional<std::string> text = read_file_(artifact.name);
        if (!text) continue;
        std::vector<Kernel> kernels = trace::kernels_of(*text);
        std::move(kernels.begin(), kernels.end(), std::back_inserter(compilation.kernels));
        if (with_graphs_) compilation.output_codes.push_back(trace::read_output_code(*text));
        std::vector<std::size_t>& graphs = waiting[artifact.direction];
        if (!with_graphs_ || graphs.empty()) continue;
        compilation.graphs[graphs.front()].direction = compilation.output_codes.back().direction;
        compilation.graphs[graphs.front()].number = compilation.output_codes.back().number;
        graphs.erase(graphs.begin());
        continue;
      }
      const std::string_view stage = stage_of(artifact);
      if (!with_graphs_ || !is_linked(stage)) continue;
      const std::optional<std::string> text = read_file_(artifact.name);
      if (!text) continue;
      if (stage == "post_grad") waiting[artifact.direction].push_back(compilation.graphs.size());
      Graph graph = graph_of(*text);
      graph.stage = stage;
      graph.direction = direction_of(stage);
      // Without a backward, AOTAutograd creates only one graph, which has the name inference graph in logs.
      if (graph.stage == "forward" && !has_joint_graph) graph.stage = graph.direction = "inference";
      if (stage == "joint") mark_backward(graph);
      compilation.graphs.push_back(std::move(graph));
    }
  }

  const std::string& directory_;
  const ReadFile& read_file_;
  bool with_graphs_;
  std::vector<Process> processes_;
};

}  // namespace

std::vector<Process> read_dump(const std::string& directory, const std::vector<std::string>& journals,
                               const ReadFile& read_file, bool with_graphs) {
  return DumpReader(directory, read_file, with_graphs).run(journals);
}

Compilation dumps::compilation_of(json::Value frame) {
  Compilation compilation;
  Fields(frame, compilation).apply();
  return compilation;
}

Compilation read_compilation(std::string_view frame) {
  json::Document document;
  return document.parse(frame) ? Compilation() : dumps::compilation_of(document.root());
}

}  // namespace depyf
