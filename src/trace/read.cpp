// Reads the records of a log, one after the other, into the record of a process.
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "depyf/trace.h"
#include "trace/compilations.h"
#include "trace/log.h"
#include "trace/metrics.h"
#include "trace/output_code.h"
#include "trace/phases.h"
#include "trace/places.h"
#include "trace/reasons.h"

namespace depyf {
namespace {

using namespace record;
using trace::Phases;
using trace::Record;

// The kinds of log records that are kept as artifacts, because the record of a process has no members for their
// content.
constexpr std::string_view artifact_kinds[] = {"dump_file",
                                               "link",
                                               "dynamo_output_graph",
                                               "dynamo_guards",
                                               "dynamo_cpp_guards_str",
                                               "compiled_autograd_graph",
                                               "optimize_ddp_split_graph",
                                               "optimize_ddp_split_child",
                                               "aot_joint_graph",
                                               "aot_forward_graph",
                                               "aot_backward_graph",
                                               "aot_inference_graph",
                                               "inductor_pre_grad_graph",
                                               "inductor_post_grad_graph",
                                               "graph_dump",
                                               "symbolic_shape_specialization",
                                               "propagate_real_tensors",
                                               "propagate_real_tensors_provenance",
                                               "guard_on_data_dependent_error",
                                               "expression_created",
                                               "missing_fake_kernel",
                                               "mismatched_fake_kernel",
                                               "export",
                                               "exported_program"};
// The kinds of log records that are only counted. The counted records have no payload, and describe inputs and guards.
// Symbolic sizes need no counted record: they are read from records of the kinds create_symbol and
// create_unbacked_symbol.
constexpr std::string_view counted_kinds[] = {"describe_source", "describe_storage", "describe_tensor", "guard_added",
                                              "guard_added_fast"};

template <std::size_t size>
bool is_in(const std::string_view (&list)[size], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// Returns the rank in the name of a file, such as 3 for a name with "_rank_3_" or "rank_3.log"; nothing if the name
// contains no rank.
std::optional<std::int64_t> rank_in(const std::string& path) {
  const std::size_t at = path.rfind("rank_");
  if (at == std::string::npos) return std::nullopt;
  std::int64_t rank = 0;
  auto [end, error] = std::from_chars(path.data() + at + 5, path.data() + path.size(), rank);
  return error == std::errc() ? std::optional(rank) : std::nullopt;
}

// The name of the event that contains all of AOTInductor's work on an exported program.
constexpr std::string_view ahead_of_time = "compile_fx_aot";

// Sets the place of an ahead-of-time compilation, whose records name no function, to the first line of the user's
// source that the graph names.
void find_place(Compilation& compilation, std::string_view payload) {
  static constexpr std::string_view mark = " File: ", library = "/site-packages/";
  bool is_users = false;
  for (std::size_t start = 0; !is_users && (start = payload.find(mark, start)) != std::string_view::npos;) {
    start += mark.size();
    std::string_view line = payload.substr(start);
    line = line.substr(0, line.find('\n'));
    const std::size_t code = line.find(", code: ");
    if (code == std::string_view::npos) continue;
    is_users = line.substr(0, code).find(library) == std::string_view::npos;
    if (!is_users && !compilation.place.function.empty()) continue;  // A library's place is only a fallback.
    compilation.place = trace::place_of(line.substr(0, code));
    compilation.place.text = line.substr(code + 8);
  }
}

// Sets the places of compilations whose records name no function. For a call beyond the limit of recompilations, a log
// has records that state only an id. All compilations with the same frame, which is the first number of an id, are
// compilations of one function.
void name_what_was_not_begun(Process& process) {
  std::unordered_map<std::string_view, const record::Place*> place_of_frame;
  auto frame_of = [](const Compilation& compilation) {
    return std::string_view(compilation.id).substr(0, compilation.id.rfind('/'));
  };
  for (const Compilation& compilation : process.compilations)
    if (!compilation.is_own_id && !compilation.place.function.empty())
      place_of_frame.try_emplace(frame_of(compilation), &compilation.place);
  for (Compilation& compilation : process.compilations) {
    if (compilation.is_own_id || !compilation.place.function.empty() || !compilation.place.file.empty()) continue;
    if (const auto known = place_of_frame.find(frame_of(compilation)); known != place_of_frame.end())
      compilation.place = *known->second;
  }
}

class LogReader {
 public:
  LogReader(std::string_view log, const std::string& path) : log_(log) { process_.log = path; }

  Process run() {
    process_.is_cut = trace::read_records(
        log_, [this](const Record& record) { read(record); },
        [this](std::size_t offset, std::string message) { problem(offset, std::move(message)); });
    finish();
    return std::move(process_);
  }

 private:
  using Handler = void (LogReader::*)(const Record&);

  void read(const Record& record) {
    ++process_.records[label_of(record)];
    if (record.is_altered && altered_++ == 0) first_altered_ = record.offset;
    if (!process_.pid) process_.pid = record.pid;
    if (auto rank = record.header["rank"].integer()) process_.rank = rank;
    static const std::unordered_map<std::string_view, Handler> handlers{
        {"str", &LogReader::file},
        {"chromium_event", &LogReader::chromium_event},
        {"dynamo_start", &LogReader::start},
        {"compilation_metrics", &LogReader::metrics},
        {"bwd_compilation_metrics", &LogReader::backward_metrics},
        {"compilation_metrics_runtime", &LogReader::runtime_metrics},
        {"bwd_compilation_metrics_runtime", &LogReader::runtime_metrics},
        {"dynamo_output_graph", &LogReader::captured_graph},
        {"aot_inference_graph", &LogReader::captured_graph},
        {"aot_joint_graph", &LogReader::captured_graph},
        {"inductor_output_code", &LogReader::output_code},
        {"create_symbol", &LogReader::symbol},
        {"create_unbacked_symbol", &LogReader::symbol},
        {"artifact", &LogReader::artifact},
    };
    if (const auto handler = handlers.find(record.kind); handler != handlers.end()) {
      (this->*handler->second)(record);
    } else if (!is_in(counted_kinds, record.kind)) {
      keep(record, is_in(artifact_kinds, record.kind));
    }
  }

  static std::string label_of(const Record& record) {
    std::string label(record.kind);
    if (record.kind == "artifact") label += ":" + record.value["name"].text();
    return label;
  }

  void problem(std::size_t offset, std::string message) {
    constexpr std::size_t problems_max = 1000;  // A file that is no log has a problem in each line.
    if (process_.problems.size() < problems_max) process_.problems.push_back({offset, std::move(message)});
  }

  void keep(const Record& record, bool is_known) {
    Artifact artifact;
    artifact.kind = record.kind;
    artifact.name = record.value["name"].text();
    artifact.offset = record.offset;
    artifact.size = record.payload.size();
    artifact.fingerprint = record.header["has_payload"].raw();
    artifact.is_known = is_known;
    Compilation* compilation = compilations_.find(record);
    (compilation ? compilation->artifacts : process_.artifacts).push_back(std::move(artifact));
  }

  // Each of the following functions reads the log records of one kind.

  void file(const Record& record) { places_.add(record.value); }

  void chromium_event(const Record& record) {
    if (auto error = event_.parse(record.payload)) {
      problem(record.offset, "a chromium event: " + error->message);
      return;
    }
    const json::Value event = event_.root();
    const std::string name = event["name"].text(), phase = event["ph"].text();
    const double us = event["ts"].number().value_or(0);
    const std::int64_t thread = event["tid"].integer().value_or(0);
    const bool has_id = !trace::id_in(record.header).empty();
    if (phase == "B") {
      if (!phases_.is_open()) compilations_.forget_span();
      // No record within an event `compile_fx_aot` states an id, and no frame is being compiled, so the event begins a
      // new compilation.
      if (!phases_.is_open() && !has_id && name == ahead_of_time) compilations_.begin_own();
      phases_.begin(thread, name, us, compilations_.index_of(record), has_id);
    } else if (phase == "E") {
      if (!phases_.end(thread, name, us, has_id, compilations_.span()))
        problem(record.offset, "the log has the end of an event without its begin: " + name);
    } else if (phase == "X") {
      phases_.whole(name, us, event["dur"].number().value_or(0), compilations_.index_of(record));
    }
  }

  void start(const Record& record) {
    Compilation* compilation = &compilations_.find_or_begin(record);
    if (!compilation->called_from.empty()) return;  // A restart logs the same stack.
    record.value["stack"].for_each_item(
        [&](json::Value frame) { compilation->called_from.push_back(places_.place_of(frame)); });
    if (compilation->called_from.empty()) return;
    // From PyTorch 2.5 on, the last frame of the logged stack is the frame of the compiled function, at the function's
    // first line. Before PyTorch 2.5, the last frame of the logged stack is the frame of the function's caller.
    if (compilation->place.function.empty() && compilation->called_from.back().text.empty())
      compilation->place = compilation->called_from.back();
  }

  void metrics(const Record& record) {
    trace::read_metrics(compilations_.find_or_begin(record), record.value, !trace::id_in(record.header).empty());
    const json::Value metrics = record.value;
    if (const json::Value version = metrics["pytorch_version"]; version.is(json::Kind::string))
      process_.torch_version = version.text();
    if (const json::Value version = metrics["python_version"]; version.is(json::Kind::string))
      process_.python_version = version.text().substr(0, version.text().find(' '));
  }

  void backward_metrics(const Record& record) {
    if (Compilation* compilation = compilations_.find(record))
      compilation->backward_seconds += trace::seconds_of(record.value);
  }

  void runtime_metrics(const Record& record) { compilations_.find(record); }

  void captured_graph(const Record& record) {
    keep(record, true);
    Compilation* compilation = compilations_.find(record);
    if (compilation && compilation->place.function.empty()) find_place(*compilation, record.payload);
  }

  void output_code(const Record& record) {
    if (Compilation* compilation = compilations_.find(record)) {
      std::vector<Kernel> kernels = trace::kernels_of(trace::without_tabs(record.payload));
      std::move(kernels.begin(), kernels.end(), std::back_inserter(compilation->kernels));
    }
    keep(record, true);
  }

  void symbol(const Record& record) {
    Compilation* compilation = compilations_.find(record);
    if (!compilation) return;
    Symbol symbol;
    symbol.name = record.value["symbol"].text();
    symbol.source = record.value["source"].text();
    symbol.value = record.value["val"].text();
    symbol.range = record.value["vr"].text();
    const json::Value stack = record.value["user_stack"];
    if (stack.size()) symbol.place = places_.place_of(stack.at(stack.size() - 1));
    compilation->symbols.push_back(std::move(symbol));
  }

  void artifact(const Record& record) {
    const std::string name = record.value["name"].text();
    keep(record, true);
    if (name == "torch_version") {
      if (!event_.parse(record.payload)) process_.torch_version = event_.root()["pytorch_version"].text();
      return;
    }
    Compilation* compilation = compilations_.find(record);
    if (!compilation) return;
    if (name == "dynamo_graph_break_reason") {
      GraphBreak graph_break = read_graph_break(trace::without_tabs(record.payload));
      auto is_same = [&](const GraphBreak& known) {  // A restart logs the same break.
        return known.place.file == graph_break.place.file && known.place.line == graph_break.place.line &&
               known.reason == graph_break.reason;
      };
      if (std::none_of(compilation->breaks.begin(), compilation->breaks.end(), is_same))
        compilation->breaks.push_back(std::move(graph_break));
    } else if (name == "recompile_reasons") {
      recompile_reasons(*compilation, record);
    } else if (const std::size_t at = name.find("_cache_"); at != std::string::npos) {
      const std::string result = name.substr(at + 7);
      if (result != "hit" && result != "miss" && result != "bypass") return;
      CacheEvent event{name.substr(0, at), result, ""};
      if (!event_.parse(record.payload)) event.key = event_.root()["key"].text();
      compilation->caches.push_back(std::move(event));
    }
  }

  // Reads the reasons of a recompilation. The payload of the record is a list in JSON, or a single reason as plain
  // text, although the log declares the payload as JSON.
  void recompile_reasons(Compilation& compilation, const Record& record) {
    compilation.reasons.clear();  // A restart logs the same reasons.
    if (!event_.parse(record.payload) && event_.root().is(json::Kind::array)) {
      event_.root().for_each_item(
          [&](json::Value reason) { compilation.reasons.push_back(trace::failed_guard_of(reason.text())); });
    } else {
      compilation.reasons.push_back(trace::failed_guard_of(trace::without_tabs(record.payload)));
    }
  }

  void finish() {
    if (!process_.rank) process_.rank = rank_in(process_.log);
    for (std::size_t index = 0; index < process_.compilations.size(); ++index) {
      Compilation& compilation = process_.compilations[index];
      compilation.phases = phases_.of(static_cast<int>(index));
      if (compilation.seconds == 0) compilation.seconds = trace::seconds_of(compilation.phases);
    }
    name_what_was_not_begun(process_);
    process_.unknown_strings = places_.unknown();
    process_.phases = phases_.of(Phases::no_compilation);
    process_.events = phases_.take_events();
    if (altered_)
      problem(first_altered_,
              std::to_string(altered_) +
                  " payloads are not those that PyTorch wrote: the log was edited or damaged, from here on");
    if (const std::size_t open = phases_.open_events())
      problem(log_.size(), std::to_string(open) + " events did not end: the log is cut, or the process still ran");
  }

  std::string_view log_;
  Process process_;
  Phases phases_;
  trace::Compilations compilations_{process_, phases_};
  json::Document event_;  // the document of the payload that is read
  trace::Places places_;
  std::size_t altered_ = 0, first_altered_ = 0;  // the count of altered payloads, and the offset of the first
};

}  // namespace

record::Process read_trace(std::string_view bytes, const std::string& path) { return LogReader(bytes, path).run(); }

std::string payload_of(std::string_view bytes, const record::Artifact& artifact) {
  if (artifact.offset >= bytes.size()) return {};
  const std::size_t end = bytes.find('\n', artifact.offset);
  return end == std::string_view::npos ? std::string() : trace::without_tabs(bytes.substr(end + 1, artifact.size));
}

}  // namespace depyf
