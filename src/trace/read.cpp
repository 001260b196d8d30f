// The records of a log, one after the other, become the record of a process.
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "depyf/trace.h"
#include "trace/log.h"
#include "trace/output_code.h"
#include "trace/phases.h"
#include "trace/reasons.h"

namespace depyf {
namespace {

using namespace record;
using trace::Phases;
using trace::Record;

// Kinds that hold a text or a fact which stays an artifact: the record has no part of its own for them.
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
// Kinds without a payload that are counted and not kept: they describe inputs, and every symbol has its own record.
constexpr std::string_view counted_kinds[] = {"describe_source", "describe_storage", "describe_tensor", "guard_added",
                                              "guard_added_fast"};

template <std::size_t size>
bool is_in(const std::string_view (&list)[size], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// "_rank_3_" or "rank_3.log" in the name of the file.
std::optional<std::int64_t> rank_in(const std::string& path) {
  const std::size_t at = path.rfind("rank_");
  if (at == std::string::npos) return std::nullopt;
  std::int64_t rank = 0;
  auto [end, error] = std::from_chars(path.data() + at + 5, path.data() + path.size(), rank);
  return error == std::errc() ? std::optional(rank) : std::nullopt;
}

// The event around all that AOTInductor does with an exported program.
constexpr std::string_view ahead_of_time = "compile_fx_aot";

class Reader {
 public:
  Reader(std::string_view log, const std::string& path) : log_(log) { process_.log = path; }

  Process run() {
    process_.is_cut = trace::read_records(
        log_, [this](const Record& record) { read(record); },
        [this](std::size_t offset, std::string message) { problem(offset, std::move(message)); });
    finish();
    return std::move(process_);
  }

 private:
  using Handler = void (Reader::*)(const Record&);

  void read(const Record& record) {
    ++process_.records[label_of(record)];
    if (record.is_altered && altered_++ == 0) first_altered_ = record.offset;
    if (!process_.pid) process_.pid = record.pid;
    if (auto rank = record.header["rank"].integer()) process_.rank = *rank;
    static const std::unordered_map<std::string_view, Handler> handlers{
        {"str", &Reader::string},
        {"chromium_event", &Reader::chromium_event},
        {"dynamo_start", &Reader::start},
        {"compilation_metrics", &Reader::metrics},
        {"bwd_compilation_metrics", &Reader::backward_metrics},
        {"compilation_metrics_runtime", &Reader::runtime_metrics},
        {"bwd_compilation_metrics_runtime", &Reader::runtime_metrics},
        {"dynamo_output_graph", &Reader::captured_graph},
        {"aot_inference_graph", &Reader::captured_graph},
        {"aot_joint_graph", &Reader::captured_graph},
        {"inductor_output_code", &Reader::output_code},
        {"create_symbol", &Reader::symbol},
        {"create_unbacked_symbol", &Reader::symbol},
        {"artifact", &Reader::artifact},
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
    constexpr std::size_t problems_max = 1000;  // a file that is no log has one in each line
    if (process_.problems.size() < problems_max) process_.problems.push_back({offset, std::move(message)});
  }

  // -- where a record belongs

  // "frame/compilation", "!autograd" or "!autograd/frame/compilation"; empty: the record does not say.
  static std::string id_in(json::Value header) {
    std::string id;
    if (auto autograd = header["compiled_autograd_id"].integer()) id = "!" + std::to_string(*autograd);
    const auto frame = header["frame_id"].integer(), compilation = header["frame_compile_id"].integer();
    if (!frame || !compilation) return id;
    if (!id.empty()) id += "/";
    return id + std::to_string(*frame) + "/" + std::to_string(*compilation);
  }

  int compilation_named(const std::string& id) {
    auto [found, is_new] = by_id_.try_emplace(id, static_cast<int>(process_.compilations.size()));
    if (is_new) {
      process_.compilations.emplace_back();
      process_.compilations.back().id = id;
    }
    return found->second;
  }

  // A record without an id (ahead-of-time compilation has nearly none) belongs to the compilation that the outermost open
  // event was about, or, if none is open, to the one of the event that ended last.
  int compilation_of(const Record& record) {
    if (const std::string id = id_in(record.header); !id.empty()) {
      last_ = compilation_named(id);
      if (auto attempt = record.header["attempt"].integer()) {
        Compilation& compilation = process_.compilations[static_cast<std::size_t>(last_)];
        const int attempts = static_cast<int>(std::clamp<std::int64_t>(*attempt, 0, 1 << 20)) + 1;
        if (attempts > compilation.attempts) compilation.symbols.clear();  // the tracing starts again and makes its own
        compilation.attempts = std::max(compilation.attempts, attempts);
      }
      span_ = last_;
      return last_;
    }
    if (const int open = phases_.current(); open != Phases::no_compilation) return open;
    return phases_.is_open() || record.header["stack"] ? span_ : Phases::no_compilation;
  }

  Compilation* find(const Record& record) {
    const int index = compilation_of(record);
    return index == Phases::no_compilation ? nullptr : &process_.compilations[static_cast<std::size_t>(index)];
  }

  void keep(const Record& record, bool is_known) {
    Artifact artifact;
    artifact.kind = record.kind;
    artifact.name = record.value["name"].text();
    artifact.offset = record.offset;
    artifact.size = record.payload.size();
    artifact.fingerprint = record.header["has_payload"].raw();
    artifact.is_known = is_known;
    Compilation* compilation = find(record);
    (compilation ? compilation->artifacts : process_.artifacts).push_back(std::move(artifact));
  }

  // -- places

  void string(const Record& record) {
    if (auto number = record.value.at(1).integer()) strings_[*number] = record.value.at(0).text();
  }

  Place place_of(json::Value frame) {
    Place place;
    place.line = static_cast<int>(std::clamp<std::int64_t>(frame["line"].integer().value_or(0), 0, 1 << 30));
    place.function = frame["name"].text();
    place.text = frame["loc"].text();
    const std::int64_t number = frame["filename"].integer().value_or(-1);
    if (number < 0) return place;
    if (const auto known = strings_.find(number); known != strings_.end()) {
      place.file = known->second;
    } else {
      ++process_.unknown_strings;
    }
    return place;
  }

  // -- one kind each

  void chromium_event(const Record& record) {
    if (auto error = event_.parse(record.payload)) {
      problem(record.offset, "a chromium event: " + error->message);
      return;
    }
    const json::Value event = event_.root();
    const std::string name = event["name"].text(), phase = event["ph"].text();
    const double us = event["ts"].number().value_or(0);
    const std::int64_t thread = event["tid"].integer().value_or(0);
    const bool has_id = !id_in(record.header).empty();
    if (phase == "B") {
      if (!phases_.is_open()) span_ = Phases::no_compilation;
      // Nothing within it states an id, and no frame is compiled: what it holds is a compilation of its own.
      if (!phases_.is_open() && !has_id && name == ahead_of_time) own_compilation();
      phases_.begin(thread, name, us, compilation_of(record), has_id);
    } else if (phase == "E") {
      if (!phases_.end(thread, name, us, has_id, span_))
        problem(record.offset, "the end of an event that did not begin: " + name);
    } else if (phase == "X") {
      phases_.whole(name, us, event["dur"].number().value_or(0), compilation_of(record));
    }
  }

  void start(const Record& record) {
    Compilation* compilation = find(record);
    if (!compilation) {  // no id, and no event around it: one of its own
      compilation = &process_.compilations[static_cast<std::size_t>(own_compilation())];
    }
    if (!compilation->called_from.empty()) return;  // a restart tells the same
    record.value["stack"].for_each_item(
        [&](json::Value frame) { compilation->called_from.push_back(place_of(frame)); });
    if (compilation->called_from.empty()) return;
    // The last frame is the compiled function's own, at its first line (since 2.5; before, a caller's).
    if (compilation->place.function.empty() && compilation->called_from.back().text.empty())
      compilation->place = compilation->called_from.back();
  }

  int own_compilation() {
    const int index = compilation_named("#" + std::to_string(++own_ids_));
    process_.compilations[static_cast<std::size_t>(index)].is_own_id = true;
    span_ = index;
    return index;
  }

  void metrics(const Record& record) {
    Compilation* compilation = find(record);
    if (!compilation) compilation = &process_.compilations[static_cast<std::size_t>(own_compilation())];
    const json::Value metrics = record.value;
    if (metrics["co_name"].is(json::Kind::string)) {
      compilation->place = {};
      compilation->place.function = metrics["co_name"].text();
      compilation->place.file = metrics["co_filename"].text();
      compilation->place.line = static_cast<int>(metrics["co_firstlineno"].integer().value_or(0));
    }
    compilation->guards = metrics["guard_count"].integer();
    compilation->graph_nodes = metrics["graph_node_count"].integer();
    compilation->graph_operators = metrics["graph_op_count"].integer();
    if (!id_in(record.header).empty()) compilation->seconds += seconds_of(metrics);
    compilation->start_us = metrics["start_time_us"].number().value_or(compilation->start_us);
    metrics["restart_reasons"].for_each_item(
        [&](json::Value reason) { compilation->restart_reasons.push_back(reason.text()); });
    if (metrics["fail_type"].is(json::Kind::string)) {
      compilation->failure = metrics["fail_type"].text() + ": " + metrics["fail_reason"].text();
      compilation->failed_at.file = metrics["fail_user_frame_filename"].text();
      if (!metrics["fail_user_frame_filename"].is(json::Kind::string)) compilation->failed_at.file.clear();
      compilation->failed_at.line = static_cast<int>(metrics["fail_user_frame_lineno"].integer().value_or(0));
      compilation->status = Status::failed;
    } else {
      const json::Value has_code = metrics["has_guarded_code"];
      // A frame that Dynamo found nothing to do in has neither guards nor a graph, though the log says that it has code.
      // AOTInductor has no guards.
      const bool has_graph = std::any_of(compilation->artifacts.begin(), compilation->artifacts.end(),
                                         [](const Artifact& artifact) { return artifact.kind.ends_with("_graph"); });
      const bool has_nothing = metrics["guard_count"] && !compilation->guards && !has_graph;
      compilation->status =
          has_nothing || (has_code.is(json::Kind::boolean) && !has_code.is_true()) ? Status::no_code : Status::compiled;
    }
    if (const json::Value version = metrics["pytorch_version"]; version.is(json::Kind::string))
      process_.torch_version = version.text();
    if (const json::Value version = metrics["python_version"]; version.is(json::Kind::string))
      process_.python_version = version.text().substr(0, version.text().find(' '));
  }

  static double seconds_of(json::Value metrics) {
    // The first is of 2.6 and later, the last of 2.4 and 2.5.
    for (const char* microseconds : {"duration_us", "dynamo_cumulative_compile_time_us"})
      if (auto us = metrics[microseconds].number()) return *us / 1e6;
    return metrics["entire_frame_compile_time_s"].number().value_or(0);
  }

  // Metrics without an id (of ahead-of-time compilation) state the time of the last step alone: the events have it all.
  static double seconds_of(const std::vector<Phase>& phases) {
    double us = 0;
    for (const Phase& phase : phases)
      if (!phase.is_parallel) us += phase.self_us;
    return us / 1e6;
  }

  void backward_metrics(const Record& record) {
    if (Compilation* compilation = find(record)) compilation->backward_seconds += seconds_of(record.value);
  }

  void runtime_metrics(const Record& record) { find(record); }

  // Ahead-of-time compilation states no function: the first line of the user's source that the graph names is in it.
  void captured_graph(const Record& record) {
    keep(record, true);
    Compilation* compilation = find(record);
    if (!compilation || !compilation->place.function.empty()) return;
    static constexpr std::string_view mark = " File: ", library = "/site-packages/";
    bool is_users = false;
    for (std::size_t start = 0; !is_users && (start = record.payload.find(mark, start)) != std::string_view::npos;) {
      start += mark.size();
      std::string_view line = record.payload.substr(start);
      line = line.substr(0, line.find('\n'));
      const std::size_t code = line.find(", code: ");
      if (code == std::string_view::npos) continue;
      is_users = line.substr(0, code).find(library) == std::string_view::npos;
      if (!is_users && !compilation->place.function.empty())
        continue;  // the first of a library's, if there is no other
      compilation->place = trace::place_of(line.substr(0, code));
      compilation->place.text = line.substr(code + 8);
    }
  }

  void output_code(const Record& record) {
    if (Compilation* compilation = find(record)) {
      std::vector<Kernel> kernels = trace::kernels_of(trace::without_tabs(record.payload));
      std::move(kernels.begin(), kernels.end(), std::back_inserter(compilation->kernels));
    }
    keep(record, true);
  }

  void symbol(const Record& record) {
    Compilation* compilation = find(record);
    if (!compilation) return;
    Symbol symbol;
    symbol.name = record.value["symbol"].text();
    symbol.source = record.value["source"].text();
    symbol.value = record.value["val"].text();
    symbol.range = record.value["vr"].text();
    const json::Value stack = record.value["user_stack"];
    if (stack.size()) symbol.place = place_of(stack.at(stack.size() - 1));
    compilation->symbols.push_back(std::move(symbol));
  }

  void artifact(const Record& record) {
    const std::string name = record.value["name"].text();
    keep(record, true);
    if (name == "torch_version") {
      if (!event_.parse(record.payload)) process_.torch_version = event_.root()["pytorch_version"].text();
      return;
    }
    Compilation* compilation = find(record);
    if (!compilation) return;
    if (name == "dynamo_graph_break_reason") {
      GraphBreak graph_break = read_graph_break(trace::without_tabs(record.payload));
      auto is_same = [&](const GraphBreak& known) {  // the tracing starts again and meets it again
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

  // A list of reasons as JSON, or one reason as plain text, although the log calls it JSON.
  void recompile_reasons(Compilation& compilation, const Record& record) {
    compilation.reasons.clear();  // the tracing starts again and tells the same
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
      if (compilation.seconds == 0) compilation.seconds = seconds_of(compilation.phases);
    }
    name_what_was_not_begun();
    process_.phases = phases_.of(Phases::no_compilation);
    process_.events = phases_.take_events();
    if (altered_)
      problem(first_altered_,
              std::to_string(altered_) +
                  " payloads are not those that PyTorch wrote: the log was edited or damaged, from here on");
    if (const std::size_t open = phases_.open_events())
      problem(log_.size(), std::to_string(open) + " events did not end: the log is cut, or the process still ran");
  }

  // A call beyond the limit of recompilations has an id, and its records name no function. All compilations of a frame, the first
  // number of an id, are of one function.
  void name_what_was_not_begun() {
    std::unordered_map<std::string_view, const record::Place*> place_of_frame;
    auto frame_of = [](const Compilation& compilation) {
      return std::string_view(compilation.id).substr(0, compilation.id.rfind('/'));
    };
    for (const Compilation& compilation : process_.compilations)
      if (!compilation.is_own_id && !compilation.place.function.empty())
        place_of_frame.try_emplace(frame_of(compilation), &compilation.place);
    for (Compilation& compilation : process_.compilations) {
      if (compilation.is_own_id || !compilation.place.function.empty() || !compilation.place.file.empty()) continue;
      if (const auto known = place_of_frame.find(frame_of(compilation)); known != place_of_frame.end())
        compilation.place = *known->second;
    }
  }

  std::string_view log_;
  Process process_;
  Phases phases_;
  json::Document event_;  // of the payload that is looked at
  std::unordered_map<std::string, int> by_id_;
  std::unordered_map<std::int64_t, std::string> strings_;
  int last_ = Phases::no_compilation;
  int span_ = Phases::no_compilation;  // the compilation that the open events are about, or were
  int own_ids_ = 0;
  std::size_t altered_ = 0, first_altered_ = 0;  // payloads; the offset of the first one's record
};

}  // namespace

record::Process read_trace(std::string_view bytes, const std::string& path) { return Reader(bytes, path).run(); }

std::string payload_of(std::string_view bytes, const record::Artifact& artifact) {
  if (artifact.offset >= bytes.size()) return {};
  const std::size_t end = bytes.find('\n', artifact.offset);
  return end == std::string_view::npos ? std::string() : trace::without_tabs(bytes.substr(end + 1, artifact.size));
}

}  // namespace depyf
