#include "depyf/record.h"
#include "json/writer.h"

namespace depyf::record {
namespace {

class ToJson {
 public:
  std::string run(const Run& run) {
    out_.begin_object();
    out_.member("schema_version", schema_version);
    out_.list("processes", run.processes, [&](const Process& process) { this->process(process); });
    out_.end_object();
    return out_.take();
  }

 private:
  void number(std::string_view name, double value) { out_.key(name), out_.number(value); }

  void process(const Process& process) {
    out_.begin_object();
    out_.member("log", process.log);
    out_.optional("pid", process.pid);
    out_.optional("rank", process.rank);
    out_.optional("torch_version", process.torch_version);
    out_.optional("python_version", process.python_version);
    out_.optional("working_directory", process.working_directory);
    out_.key("is_cut"), out_.boolean(process.is_cut);
    out_.member("unknown_strings", static_cast<std::int64_t>(process.unknown_strings));
    out_.objects("problems", process.problems, [&](const Problem& problem) {
      out_.member("offset", static_cast<std::int64_t>(problem.offset));
      out_.member("message", problem.message);
    });
    out_.object("records", [&] {
      for (const auto& [kind, count] : process.records) out_.member(kind, static_cast<std::int64_t>(count));
    });
    out_.list("compilations", process.compilations, [&](const Compilation& it) { compilation(it); });
    out_.list("artifacts", process.artifacts, [&](const Artifact& it) { artifact(it); });
    out_.list("phases", process.phases, [&](const Phase& it) { phase(it); });
    out_.end_object();
  }

  void place(std::string_view name, const Place& place) {
    out_.key(name);
    this->place(place);
  }
  void place(const Place& place) {
    out_.begin_object();
    out_.optional("file", place.file);
    out_.member("line", place.line);
    out_.optional("function", place.function);
    out_.optional("text", place.text);
    out_.end_object();
  }

  void compilation(const Compilation& it) {
    out_.begin_object();
    out_.member("id", it.id);
    out_.key("is_own_id"), out_.boolean(it.is_own_id);
    out_.member("attempts", it.attempts);
    out_.member("status", name_of(it.status));
    place("place", it.place);
    out_.optional("name", it.name);
    out_.optional("failure", it.failure);
    if (!it.failure.empty()) place("failed_at", it.failed_at);
    number("seconds", it.seconds);
    number("backward_seconds", it.backward_seconds);
    number("start_us", it.start_us);
    out_.optional("guards", it.guards);
    out_.optional("graph_nodes", it.graph_nodes);
    out_.optional("graph_operators", it.graph_operators);
    out_.strings("restart_reasons", it.restart_reasons);
    out_.objects("reasons", it.reasons, [&](const FailedGuard& guard) {
      out_.optional("compilation", guard.compilation);
      out_.member("guard", guard.guard);
      place("place", guard.place);
    });
    out_.objects("breaks", it.breaks, [&](const GraphBreak& graph_break) {
      place("place", graph_break.place);
      out_.member("reason", graph_break.reason);
      out_.optional("explanation", graph_break.explanation);
      out_.strings("hints", graph_break.hints);
      out_.list("stack", graph_break.stack, [&](const Place& frame) { place(frame); });
    });
    out_.objects("kernels", it.kernels, [&](const Kernel& kernel) {
      out_.member("name", kernel.name);
      out_.member("kind", kernel.kind);
      out_.optional("direction", kernel.direction);
      out_.member("calls", kernel.calls);
      out_.strings("source_nodes", kernel.source_nodes);
    });
    out_.objects("caches", it.caches, [&](const CacheEvent& event) {
      out_.member("cache", event.cache);
      out_.member("result", event.result);
      out_.optional("key", event.key);
    });
    out_.objects("symbols", it.symbols, [&](const Symbol& symbol) {
      out_.member("name", symbol.name);
      out_.optional("source", symbol.source);
      out_.optional("value", symbol.value);
      out_.optional("range", symbol.range);
      place("place", symbol.place);
    });
    out_.list("graphs", it.graphs, [&](const Graph& item) { graph(item); });
    out_.list("output_codes", it.output_codes, [&](const OutputCode& item) { output_code(item); });
    out_.list("chains", it.chains, [&](const Chain& item) { chain(item); });
    out_.list("phases", it.phases, [&](const Phase& item) { phase(item); });
    out_.list("called_from", it.called_from, [&](const Place& frame) { place(frame); });
    out_.list("artifacts", it.artifacts, [&](const Artifact& item) { artifact(item); });
    out_.end_object();
  }

  void graph(const Graph& graph) {
    out_.begin_object();
    out_.member("stage", graph.stage);
    out_.optional("direction", graph.direction);
    out_.member("number", graph.number);
    out_.objects("nodes", graph.nodes, [&](const Node& node) {
      out_.member("name", node.name);
      out_.member("operator", node.op);
      out_.optional("shape", node.shape);
      out_.optional("module", node.module);
      out_.strings("inputs", node.inputs);
      place("place", node.place);
      out_.key("is_backward"), out_.boolean(node.is_backward);
    });
    out_.list("outputs", graph.outputs,
              [&](const std::string& name) { name.empty() ? out_.null() : out_.string(name); });
    out_.end_object();
  }

  void output_code(const OutputCode& code) {
    out_.begin_object();
    out_.optional("direction", code.direction);
    out_.member("number", code.number);
    out_.optional("why_no_calls", code.why_no_calls);
    out_.objects("calls", code.calls, [&](const KernelCall& call) {
      out_.member("kernel", call.kernel);
      out_.member("kind", call.kind);
      out_.member("line", call.line);
      out_.strings("reads", call.reads);
      out_.strings("writes", call.writes);
      out_.strings("nodes", call.nodes);
      out_.strings("captured", call.captured);
      out_.list("places", call.places, [&](const Place& item) { place(item); });
      out_.optional("evidence", call.evidence);
      out_.optional("why_no_place", call.why_no_place);
    });
    out_.end_object();
  }

  void chain(const Chain& chain) {
    out_.begin_object();
    out_.member("node", chain.node);
    out_.member("operator", chain.op);
    out_.optional("module", chain.module);
    place("place", chain.place);
    out_.strings("joint", chain.joint);
    out_.object("directions", [&] {
      for (const auto& [direction, link] : chain.directions)
        out_.object(direction, [&, &stages = link] {
          out_.strings("graph", stages.graph);
          out_.strings("post_grad", stages.post_grad);
          out_.strings("kernels", stages.kernels);
          out_.strings("not_recorded", stages.not_recorded);
        });
    });
    out_.strings("not_recorded", chain.not_recorded);
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
    out_.optional("name", artifact.name);
    out_.member("offset", static_cast<std::int64_t>(artifact.offset));
    out_.member("size", static_cast<std::int64_t>(artifact.size));
    out_.optional("fingerprint", artifact.fingerprint);
    out_.optional("direction", artifact.direction);
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
