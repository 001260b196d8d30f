#include <algorithm>
#include <map>
#include <string_view>

#include "depyf/record.h"

namespace depyf::record {
namespace {

// Returns the fingerprint of the captured graph, which logs and dumps store in different kinds of artifacts.
std::string fingerprint_of(const Compilation& compilation) {
  for (const Artifact& artifact : compilation.artifacts)
    if (artifact.kind == "dynamo_output_graph" || artifact.kind == "Captured_Graph") return artifact.fingerprint;
  return {};
}

std::string reasons_of(const Compilation& compilation) {
  return compilation.reasons.empty() ? "the first compilation" : compilation.reasons[0].guard;
}

std::string kernels_of(const Compilation& compilation) {
  std::string names;
  for (const Kernel& kernel : compilation.kernels) names += kernel.name + " ";
  return names;
}

std::string caches_of(const Compilation& compilation) {
  std::string text;
  for (const CacheEvent& event : compilation.caches)
    text += (text.empty() ? "" : ", ") + event.cache + " " + event.result;
  return text.empty() ? "no cache asked" : text;
}

std::string function_of(const Compilation& compilation) {
  return compilation.place.function + " at line " + std::to_string(compilation.place.line);
}

std::string breaks_of(const Compilation& compilation) {
  std::string text;
  for (const GraphBreak& graph_break : compilation.breaks)
    text += (text.empty() ? "line " : ", line ") + std::to_string(graph_break.place.line);
  return text.empty() ? "none" : text;
}

const Graph* graph_of_stage(const Compilation& compilation, std::string_view stage) {
  for (const Graph& graph : compilation.graphs)
    if (graph.stage == stage) return &graph;
  return nullptr;
}

std::string text_of(const Node* node) {
  if (!node) return "nothing";
  std::string text = node->op == "placeholder" ? "the input " + node->name : node->name + " = " + node->op;
  if (!node->shape.empty()) text += " " + node->shape.substr(0, node->shape.find(']') + 1);
  if (node->place.line) text += " of line " + std::to_string(node->place.line);
  return text;
}

bool is_same(const Node& one, const Node& two) {
  return one.op == two.op && one.shape == two.shape && one.place.line == two.place.line &&
         one.inputs.size() == two.inputs.size();
}

// Returns a sentence about the first node in which two lists differ; empty if the lists do not differ.
std::string first_difference_of(const char* what, const std::vector<const Node*>& here,
                                const std::vector<const Node*>& there) {
  for (std::size_t i = 0; i < std::max(here.size(), there.size()); ++i) {
    const Node *one = i < here.size() ? here[i] : nullptr, *two = i < there.size() ? there[i] : nullptr;
    if (!one || !two || !is_same(*one, *two))
      return std::string(what) + " " + std::to_string(i + 1) + ": " + text_of(one) + ", elsewhere " + text_of(two);
  }
  return {};
}

std::vector<const Node*> nodes_of(const Graph* graph, bool only_collectives) {
  std::vector<const Node*> nodes;
  if (!graph) return nodes;
  for (const Node& node : graph->nodes)
    if (!only_collectives ||
        (node.op.find("c10d") != std::string::npos && node.op.find("wait_tensor") == std::string::npos))
      nodes.push_back(&node);
  return nodes;
}

// Returns a sentence about the first node in which two captured graphs differ; empty if the graphs were not read, or
// if only names differ.
std::string captured_difference(const Compilation& here, const Compilation& there) {
  const Graph *one = graph_of_stage(here, "captured"), *two = graph_of_stage(there, "captured");
  if (!one || !two) return {};
  return first_difference_of("node of the captured graph", nodes_of(one, false), nodes_of(two, false));
}

// Returns a sentence about the first collective whose operator or size differs, in the order in which the graphs
// execute collectives; empty if no collective differs.
std::string collective_difference(const Compilation& here, const Compilation& there) {
  if (here.graphs.empty() || there.graphs.empty()) return {};  // The graphs of one compilation were not read.
  for (const char* stage : {"forward", "inference", "backward"}) {
    const std::string difference = first_difference_of("collective", nodes_of(graph_of_stage(here, stage), true),
                                                       nodes_of(graph_of_stage(there, stage), true));
    if (!difference.empty()) return difference + " (" + stage + ")";
  }
  return {};
}

std::string differing(const char* what, const std::string& here, const std::string& there) {
  return std::string(what) + ": " + here + ", elsewhere " + there;
}

// Returns a sentence about the difference between two compilations with the same id; empty if nothing differs. If
// several properties differ, the sentence states the property whose difference can be the cause of the other
// differences. The names, paths and times of a machine are not compared.
std::string difference_of(const Compilation& here, const Compilation& there) {
  if (function_of(here) != function_of(there)) return differing("function", function_of(here), function_of(there));
  if (reasons_of(here) != reasons_of(there)) return differing("guard that failed", reasons_of(here), reasons_of(there));
  if (here.status != there.status) return differing("outcome", name_of(here.status), name_of(there.status));
  if (here.failure != there.failure) return differing("failure", here.failure, there.failure);
  if (breaks_of(here) != breaks_of(there)) return differing("graph breaks", breaks_of(here), breaks_of(there));
  // Ranks with different collectives wait for each other forever, so a difference in collectives takes precedence over
  // all other differences in the graphs.
  if (std::string difference = collective_difference(here, there); !difference.empty()) return difference;
  if (std::string difference = captured_difference(here, there); !difference.empty()) return difference;
  if (here.graph_operators != there.graph_operators)
    return differing("operators in the captured graph", std::to_string(here.graph_operators.value_or(0)),
                     std::to_string(there.graph_operators.value_or(0)));
  if (fingerprint_of(here) != fingerprint_of(there))
    return "the captured graph (its sizes, its operators, its constants or its lines)";
  if (here.guards != there.guards)
    return differing("number of guards", std::to_string(here.guards.value_or(0)),
                     std::to_string(there.guards.value_or(0)));
  if (kernels_of(here) != kernels_of(there)) return differing("kernels", kernels_of(here), kernels_of(there));
  if (caches_of(here) != caches_of(there)) return differing("caches", caches_of(here), caches_of(there));
  return {};
}

struct Difference {
  std::string compilation, what;
  std::size_t in_common = 0;  // the number of compilations before the first difference
};

const Compilation* find(const Process& process, const std::string& id) {
  auto known = std::find_if(process.compilations.begin(), process.compilations.end(),
                            [&](const Compilation& it) { return it.id == id; });
  return known == process.compilations.end() ? nullptr : &*known;
}

// Returns the difference of the first compilation that differs between two processes; empty if no compilation differs.
Difference first_difference(const Process& here, const Process& there) {
  std::size_t in_common = 0;
  for (const Compilation& compilation : here.compilations) {
    const Compilation* counterpart = find(there, compilation.id);
    if (!counterpart)
      return {compilation.id,
              "compiled here alone: " + function_of(compilation) + ", because of " + reasons_of(compilation),
              in_common};
    if (std::string what = difference_of(compilation, *counterpart); !what.empty())
      return {compilation.id, what, in_common};
    ++in_common;
  }
  for (const Compilation& compilation : there.compilations)
    if (!find(here, compilation.id))
      return {compilation.id, "compiled elsewhere, not here: " + function_of(compilation), in_common};
  return {};
}

}  // namespace

bool is_peer(const Run& run, const Process& process) {
  if (process.is_child) return false;
  const bool is_of_dump = process.records.empty();
  return process.rank || !is_of_dump ||
         std::none_of(run.processes.begin(), run.processes.end(),
                      [](const Process& other) { return other.rank.has_value(); });
}

std::vector<RankGroup> compare_ranks(const Run& run) {
  std::vector<RankGroup> groups;
  for (std::size_t index = 0; index < run.processes.size(); ++index) {
    if (!is_peer(run, run.processes[index])) continue;
    auto is_same = [&](const RankGroup& group) {
      return first_difference(run.processes[group.processes[0]], run.processes[index]).what.empty();
    };
    auto group = std::find_if(groups.begin(), groups.end(), is_same);
    if (group != groups.end()) group->processes.push_back(index);
    else groups.push_back({{index}, 0, "", ""});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const RankGroup& one, const RankGroup& two) {
    return one.processes.size() > two.processes.size();
  });
  for (std::size_t i = 1; i < groups.size(); ++i) {
    std::size_t most = 0;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      Difference difference =
          first_difference(run.processes[groups[i].processes[0]], run.processes[groups[earlier].processes[0]]);
      if (earlier && difference.in_common <= most) continue;
      most = difference.in_common;
      groups[i].nearest = earlier;
      groups[i].parts_at = std::move(difference.compilation), groups[i].difference = std::move(difference.what);
    }
  }
  return groups;
}

std::vector<RankWait> rank_waits(const Run& run) {
  std::map<std::string, std::vector<std::pair<std::size_t, const Compilation*>>> by_id;
  for (std::size_t index = 0; index < run.processes.size(); ++index)
    for (const Compilation& compilation : run.processes[index].compilations)
      if (is_peer(run, run.processes[index])) by_id[compilation.id].emplace_back(index, &compilation);
  const auto seconds_of = [](const Compilation& compilation) {
    return compilation.seconds + compilation.backward_seconds;
  };
  std::vector<RankWait> waits(run.processes.size());
  std::vector<std::map<std::string, double>> phases(run.processes.size());
  for (const auto& [id, ranks] : by_id) {
    const Compilation* slowest = ranks.front().second;
    for (const auto& [index, compilation] : ranks)
      if (seconds_of(*compilation) > seconds_of(*slowest)) slowest = compilation;
    for (const auto& [index, compilation] : ranks) {
      waits[index].seconds += seconds_of(*slowest) - seconds_of(*compilation);
      std::map<std::string, double> own;
      for (const Phase& phase : compilation->phases)
        if (!phase.is_parallel) own[phase.name] += phase.self_us;
      if (compilation == slowest) continue;
      for (const Phase& phase : slowest->phases)
        if (!phase.is_parallel && phase.self_us > own[phase.name])
          phases[index][phase.name] += (phase.self_us - own[phase.name]) / 1e6;
    }
  }
  for (std::size_t index = 0; index < waits.size(); ++index) {
    waits[index].phases.assign(phases[index].begin(), phases[index].end());
    std::stable_sort(waits[index].phases.begin(), waits[index].phases.end(),
                     [](const auto& one, const auto& two) { return one.second > two.second; });
  }
  return waits;
}

}  // namespace depyf::record
