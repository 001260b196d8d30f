#include "trace/metrics.h"

#include <algorithm>

namespace depyf::trace {

using namespace record;

void read_metrics(Compilation& compilation, json::Value metrics, bool has_id) {
  if (metrics["co_name"].is(json::Kind::string)) {
    compilation.place = {};
    compilation.place.function = metrics["co_name"].text();
    compilation.place.file = metrics["co_filename"].text();
    compilation.place.line = static_cast<int>(metrics["co_firstlineno"].integer().value_or(0));
  }
  compilation.guards = metrics["guard_count"].integer();
  compilation.guard_us = metrics["guard_latency_us"].number();
  compilation.graph_nodes = metrics["graph_node_count"].integer();
  compilation.graph_operators = metrics["graph_op_count"].integer();
  if (has_id) compilation.seconds += seconds_of(metrics);
  compilation.start_us = metrics["start_time_us"].number().value_or(compilation.start_us);
  metrics["restart_reasons"].for_each_item(
      [&](json::Value reason) { compilation.restart_reasons.push_back(reason.text()); });
  if (metrics["fail_type"].is(json::Kind::string)) {
    compilation.failure = metrics["fail_type"].text() + ": " + metrics["fail_reason"].text();
    compilation.failed_at.file = metrics["fail_user_frame_filename"].text();
    if (!metrics["fail_user_frame_filename"].is(json::Kind::string)) compilation.failed_at.file.clear();
    compilation.failed_at.line = static_cast<int>(metrics["fail_user_frame_lineno"].integer().value_or(0));
    compilation.status = Status::failed;
  } else {
    const json::Value has_code = metrics["has_guarded_code"];
    // A frame in which Dynamo found nothing to compile has neither guards nor a graph, although the log states that
    // the frame has code. Compilations of AOTInductor have a graph but no guards.
    const bool has_graph = std::any_of(compilation.artifacts.begin(), compilation.artifacts.end(),
                                       [](const Artifact& artifact) { return artifact.kind.ends_with("_graph"); });
    const bool has_nothing = metrics["guard_count"] && !compilation.guards && !has_graph;
    compilation.status =
        has_nothing || (has_code.is(json::Kind::boolean) && !has_code.is_true()) ? Status::no_code : Status::compiled;
  }
}

double seconds_of(json::Value metrics) {
  // PyTorch 2.6 and later use the key `duration_us`, and 2.4 and 2.5 use the longer key.
  for (const char* microseconds : {"duration_us", "dynamo_cumulative_compile_time_us"})
    if (auto us = metrics[microseconds].number()) return *us / 1e6;
  return metrics["entire_frame_compile_time_s"].number().value_or(0);
}

double seconds_of(const std::vector<Phase>& phases) {
  double us = 0;
  for (const Phase& phase : phases)
    if (!phase.is_parallel) us += phase.self_us;
  return us / 1e6;
}

}  // namespace depyf::trace
