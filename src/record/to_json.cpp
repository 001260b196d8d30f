#include "depyf/record.h"
#include "json/writer.h"

namespace depyf::record {
namespace {

class ToJson {
 public:
  std::string run(const Run& run) {
    out_.begin_object();
    out_.member("schema_version", schema_version);
    list("processes", run.processes, [&](const Process& process) { this->process(process); });
    out_.end_object();
    return out_.take();
  }

 private:
  template <class Items, class Write>
  void list(std::string_view name, const Items& items, Write write) {
    out_.key(name);
    out_.begin_array();
    for (const auto& item : items) write(item);
    out_.end_array();
  }

  void strings(std::string_view name, const std::vector<std::string>& texts) {
    list(name, texts, [&](const std::string& text) { out_.string(text); });
  }

  void optional(std::string_view name, const std::optional<std::int64_t>& value) {
    out_.key(name);
    value ? out_.integer(*value) : out_.null();
  }

  // An empty text is unknown.
  void text(std::string_view name, const std::string& value) {
    out_.key(name);
    value.empty() ? out_.null() : out_.string(value);
  }

  void number(std::string_view name, double value) { out_.key(name), out_.number(value); }

  void process(const Process& process) {
    out_.begin_object();
    out_.member("log", process.log);
    optional("pid", process.pid);
    optional("rank", process.rank);
    text("torch_version", process.torch_version);
    text("python_version", process.python_version);
    text("working_directory", process.working_directory);
    out_.key("is_cut"), out_.boolean(process.is_cut);
    out_.member("unknown_strings", static_cast<std::int64_t>(process.unknown_strings));
    list("problems", process.problems, [&](const Problem& problem) {
      out_.begin_object();
      out_.member("offset", static_cast<std::int64_t>(problem.offset));
      out_.member("message", problem.message);
      out_.end_object();
    });
    out_.key("records");
    out_.begin_object();
    for (const auto& [kind, count] : process.records) out_.member(kind, static_cast<std::int64_t>(count));
    out_.end_object();
    list("compilations", process.compilations, [&](const Compilation& it) { compilation(it); });
    list("artifacts", process.artifacts, [&](const Artifact& it) { artifact(it); });
    list("phases", process.phases, [&](const Phase& it) { phase(it); });
    out_.end_object();
  }

  void place(std::string_view name, const Place& place) {
    out_.key(name);
    this->place(place);
  }
  void place(const Place& place) {
    out_.begin_object();
    text("file", place.file);
    out_.member("line", place.line);
    text("function", place.function);
    text("text", place.text);
    out_.end_object();
  }

  void compilation(const Compilation& it) {
    out_.begin_object();
    out_.member("id", it.id);
    out_.key("is_own_id"), out_.boolean(it.is_own_id);
    out_.member("attempts", it.attempts);
    out_.member("status", name_of(it.status));
    place("place", it.place);
    text("name", it.name);
    text("failure", it.failure);
    if (!it.failure.empty()) place("failed_at", it.failed_at);
    number("seconds", it.seconds);
    number("backward_seconds", it.backward_seconds);
    number("start_us", it.start_us);
    optional("guards", it.guards);
    optional("graph_nodes", it.graph_nodes);
    optional("graph_operators", it.graph_operators);
    strings("restart_reasons", it.restart_reasons);
    list("reasons", it.reasons, [&](const FailedGuard& guard) {
      out_.begin_object();
      text("compilation", guard.compilation);
      out_.member("guard", guard.guard);
      place("place", guard.place);
      out_.end_object();
    });
    list("breaks", it.breaks, [&](const GraphBreak& graph_break) {
      out_.begin_object();
      place("place", graph_break.place);
      out_.member("reason", graph_break.reason);
      text("explanation", graph_break.explanation);
      strings("hints", graph_break.hints);
      list("stack", graph_break.stack, [&](const Place& frame) { place(frame); });
      out_.end_object();
    });
    list("kernels", it.kernels, [&](const Kernel& kernel) {
      out_.begin_object();
      out_.member("name", kernel.name);
      out_.member("kind", kernel.kind);
      text("direction", kernel.direction);
      out_.member("calls", kernel.calls);
      strings("source_nodes", kernel.source_nodes);
      out_.end_object();
    });
    list("caches", it.caches, [&](const CacheEvent& event) {
      out_.begin_object();
      out_.member("cache", event.cache);
      out_.member("result", event.result);
      text("key", event.key);
      out_.end_object();
    });
    list("symbols", it.symbols, [&](const Symbol& symbol) {
      out_.begin_object();
      out_.member("name", symbol.name);
      text("source", symbol.source);
      text("value", symbol.value);
      text("range", symbol.range);
      place("place", symbol.place);
      out_.end_object();
    });
    list("graphs", it.graphs, [&](const Graph& item) { graph(item); });
    list("output_codes", it.output_codes, [&](const OutputCode& item) { output_code(item); });
    list("chains", it.chains, [&](const Chain& item) { chain(item); });
    list("phases", it.phases, [&](const Phase& item) { phase(item); });
    list("called_from", it.called_from, [&](const Place& frame) { place(frame); });
    list("artifacts", it.artifacts, [&](const Artifact& item) { artifact(item); });
    out_.end_object();
  }

  void graph(const Graph& graph) {
    out_.begin_object();
    out_.member("stage", graph.stage);
    text("direction", graph.direction);
    out_.member("number", graph.number);
    list("nodes", graph.nodes, [&](const Node& node) {
      out_.begin_object();
      out_.member("name", node.name);
      out_.member("operator", node.op);
      text("shape", node.shape);
      text("module", node.module);
      strings("inputs", node.inputs);
      place("place", node.place);
      out_.key("is_backward"), out_.boolean(node.is_backward);
      out_.end_object();
    });
    list("outputs", graph.outputs, [&](const std::string& name) { name.empty() ? out_.null() : out_.string(name); });
    out_.end_object();
  }

  void output_code(const OutputCode& code) {
    out_.begin_object();
    text("direction", code.direction);
    out_.member("number", code.number);
    text("why_no_calls", code.why_no_calls);
    list("calls", code.calls, [&](const KernelCall& call) {
      out_.begin_object();
      out_.member("kernel", call.kernel);
      out_.member("kind", call.kind);
      out_.member("line", call.line);
      strings("reads", call.reads);
      strings("writes", call.writes);
      strings("nodes", call.nodes);
      strings("captured", call.captured);
      list("places", call.places, [&](const Place& item) { place(item); });
      text("evidence", call.evidence);
      text("why_no_place", call.why_no_place);
      out_.end_object();
    });
    out_.end_object();
  }

  void chain(const Chain& chain) {
    out_.begin_object();
    out_.member("node", chain.node);
    out_.member("operator", chain.op);
    text("module", chain.module);
    place("place", chain.place);
    strings("joint", chain.joint);
    out_.key("directions");
    out_.begin_object();
    for (const auto& [direction, link] : chain.directions) {
      out_.key(direction);
      out_.begin_object();
      strings("graph", link.graph);
      strings("post_grad", link.post_grad);
      strings("kernels", link.kernels);
      strings("not_recorded", link.not_recorded);
      out_.end_object();
    }
    out_.end_object();
    strings("not_recorded", chain.not_recorded);
    out_.end_object();
  }

  void phase(const Phase& phase) {
    out_.begin_object();
    out_.member("name", phase.name);
    number("total_us", phase.total_us);
    number("self_us", phase.self_us);
    out_.member("count", phase.count);
    out_.key("is_parallel"), out_.boolean(phase.is_parallel);
    out_.end_object();
  }

  void artifact(const Artifact& artifact) {
    out_.begin_object();
    out_.member("kind", artifact.kind);
    text("name", artifact.name);
    out_.member("offset", static_cast<std::int64_t>(artifact.offset));
    out_.member("size", static_cast<std::int64_t>(artifact.size));
    text("fingerprint", artifact.fingerprint);
    text("direction", artifact.direction);
    out_.key("is_known"), out_.boolean(artifact.is_known);
    out_.end_object();
  }

  json::Writer out_;
};

}  // namespace

const char* name_of(Status status) {
  switch (status) {
    case Status::compiled: return "compiled";
    case Status::failed: return "failed";
    case Status::no_code: return "no code";
    case Status::unfinished: return "unfinished";
  }
  return "";
}

std::string to_json(const Run& run) { return ToJson().run(run); }

}  // namespace depyf::record
