#include "depyf/links.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "links/captured.h"
#include "links/index.h"
#include "links/kernel_nodes.h"
#include "links/missing.h"
#include "links/replaced.h"

namespace depyf {
namespace {

using namespace record;
using links::CapturedOf;
using links::Index;

constexpr std::size_t sources_max = 64;  // the most captured nodes of a node that a pass made
constexpr const char* no_operations = "operations: a log does not contain Inductor's IR";

const Graph* last_of(const Compilation& compilation, std::string_view stage) {
  const Graph* last = nullptr;
  for (const Graph& graph : compilation.graphs)
    if (graph.stage == stage) last = &graph;
  return last;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

class Linking {
 public:
  explicit Linking(Compilation& compilation) : compilation_(compilation) {}

  void run() {
    const Graph* captured = last_of(compilation_, "captured");
    if (!captured) return without_captured_graph();
    const Index captured_index(*captured);
    find_captured(captured_index);
    for (OutputCode& code : compilation_.output_codes) link_code(code, captured_index);
    chains(*captured);
  }

 private:
  static std::string direction_of(std::string_view direction) {
    return direction == "backward" ? "backward" : "forward";
  }

  void without_captured_graph() {
    for (OutputCode& code : compilation_.output_codes)
      for (KernelCall& call : code.calls) call.why_no_place = "the log has no captured graph of the compilation";
  }

  // Finds the captured nodes of AOTAutograd's nodes, which have the same names in the joint graph and in its forward
  // and backward parts.
  void find_captured(const Index& captured) {
    CapturedOf recorded;
    for (const OutputCode& code : compilation_.output_codes)
      if (code.direction != "backward")
        for (const auto& [node, sources] : code.captured_of) recorded[node] = sources;
    for (const char* stage : {"joint", "inference", "forward"}) {
      const Graph* graph = last_of(compilation_, stage);
      if (!graph) continue;
      captured_of_ = links::captured_of(captured, Index(*graph), recorded);
      has_aot_graph_ = true;
      if (graph->stage == "joint")
        add_replaced(*graph, {last_of(compilation_, "forward"), last_of(compilation_, "backward")});
      break;
    }
    for (auto& [node, sources] : recorded) captured_of_.try_emplace(node, sources);
  }

  // Finds the nodes of `after` that replaced nodes of `before` in passes of Inductor, and adds their captured nodes to
  // `captured_of_`.
  void add_replaced(const Graph& before, const std::vector<const Graph*>& after) {
    std::vector<Index> indices;
    indices.reserve(after.size());
    std::vector<const Index*> halves;
    for (const Graph* graph : after)
      if (graph) halves.push_back(&indices.emplace_back(*graph));
    add_sources(links::replaced_by(Index(before), halves), captured_of_, captured_of_);
  }

  // `replaced` maps each node that a pass created to the nodes that the created node replaced. `captured_of` maps a
  // node to the captured nodes from which the node was made. The captured nodes of all nodes that a created node
  // replaced become the entry of the created node in `added`, unless the created node already has a non-empty entry.
  static void add_sources(const std::unordered_map<std::string, std::vector<std::string>>& replaced,
                          const CapturedOf& captured_of, CapturedOf& added) {
    for (const auto& [node, gone] : replaced) {
      if (const auto known = added.find(node); known != added.end() && !known->second.empty()) continue;
      std::vector<std::string> sources;
      for (const std::string& name : gone)
        if (const auto known = captured_of.find(name); known != captured_of.end())
          for (const std::string& source : known->second)
            if (sources.size() < sources_max) add_once(sources, source);
      if (!sources.empty()) added[node] = std::move(sources);
    }
  }

  // Returns the graph that AOTAutograd passed to Inductor for `code`; null if the log does not contain the graph.
  const Graph* graph_before(const OutputCode& code) const {
    if (code.direction == "backward") return last_of(compilation_, "backward");
    const Graph* forward = last_of(compilation_, "forward");
    return forward ? forward : last_of(compilation_, "inference");
  }

  const Graph* post_grad_of(const OutputCode& code) const {
    const Graph* graph = nullptr;
    for (const Graph& candidate : compilation_.graphs)
      if (candidate.stage == "post_grad" && candidate.direction == code.direction && candidate.number == code.number)
        graph = &candidate;
    return graph;
  }

  void link_code(OutputCode& code, const Index& captured) {
    const Graph* graph = post_grad_of(code);
    if (!graph) {
      for (KernelCall& call : code.calls)
        call.why_no_place = "the log has no graph after Inductor's passes for this code";
      return;
    }
    const Index nodes(*graph);
    CapturedOf& own = captured_of_post_grad_[graph];
    if (const Graph* before = graph_before(code))
      add_sources(links::replaced_by(Index(*before), {&nodes}), captured_of_, own);
    for (int node = 0; node < nodes.size(); ++node) {
      const auto known = captured_of_.find(nodes[node].name);
      if (known != captured_of_.end()) own[nodes[node].name] = known->second;
      else if (!nodes.is_input(node) && !own.contains(nodes[node].name))
        own[nodes[node].name] = of_a_pass(nodes, node, own);
    }
    of_users(nodes, own);
    links::find_nodes(code, nodes, own);
    for (KernelCall& call : code.calls) describe(call, nodes, own, captured);
  }

  // Returns captured nodes for a node that a pass of Inductor made: the captured nodes of those inputs that have the
  // same line of source as the node.
  static std::vector<std::string> of_a_pass(const Index& nodes, int node, const CapturedOf& own) {
    std::vector<std::string> sources;
    for (int input : nodes.inputs(node)) {
      const Place &here = nodes[node].place, &there = nodes[input].place;
      if (here.line != there.line || here.file != there.file) continue;
      if (const auto known = own.find(nodes[input].name); known != own.end())
        for (const std::string& source : known->second)
          if (sources.size() < sources_max) add_once(sources, source);
    }
    return sources;
  }

  // Assigns to each node without captured nodes the captured nodes of a user of the node on the same line.
  static void of_users(const Index& nodes, CapturedOf& own) {
    for (int user = nodes.size() - 1; user >= 0; --user) {
      const auto sources = own.find(nodes[user].name);
      if (sources == own.end() || sources->second.empty()) continue;
      for (int node : nodes.inputs(user)) {
        const Place &here = nodes[node].place, &there = nodes[user].place;
        if (nodes.is_input(node) || here.line == 0 || here.line != there.line || here.file != there.file) continue;
        if (std::vector<std::string>& known = own[nodes[node].name];
            known.empty() && sources->second.size() <= sources_max)
          known = std::vector<std::string>(sources->second);
      }
    }
  }

  static void describe(KernelCall& call, const Index& nodes, const CapturedOf& own, const Index& captured) {
    std::set<std::pair<std::string, int>> seen;
    std::unordered_set<std::string> seen_sources;
    auto add = [&](const Place& place) {
      if (place.line && seen.emplace(place.file, place.line).second) call.places.push_back(place);
    };
    for (const std::string& name : call.nodes) {
      const int node = nodes.find(name);
      if (node == links::no_node) continue;
      add(nodes[node].place);
      const auto sources = own.find(name);
      if (sources == own.end()) continue;
      for (const std::string& source : sources->second) {
        if (seen_sources.insert(source).second) call.captured.push_back(source);
        // A node that a pass made has no line of its own, so the line of its captured node is added.
        if (const int origin = captured.find(source); !nodes[node].place.line && origin != links::no_node)
          add(captured[origin].place);
      }
    }
    // If no place of a call is known, the call gets the captured nodes that the comment above the call names, up to the
    // first captured node with a line.
    for (const std::string& source : call.source_nodes)
      if (const int node = captured.find(source); node != links::no_node && call.places.empty()) {
        add_once(call.captured, source);
        add(captured[node].place);
        if (call.evidence.empty()) call.evidence = "comments";
      }
    if (!call.places.empty()) return;
    if (call.nodes.empty())
      call.why_no_place =
          "the nodes of this call are unknown, because the call writes no output, and no library call reads its result";
    else call.why_no_place = "the nodes of this call belong to no line of source, because PyTorch created them";
  }

  void chains(const Graph& captured) {
    std::unordered_map<std::string, Chain*> by_node;
    std::unordered_map<const std::vector<std::string>*, std::unordered_set<std::string>> members;
    auto add = [&](std::vector<std::string>& names, const std::string& name) {
      if (members[&names].insert(name).second) names.push_back(name);
    };
    for (const Node& node : captured.nodes) {
      if (node.op == "placeholder" || node.op == "get_attr") continue;
      Chain chain;
      chain.node = node.name;
      chain.op = node.op;
      chain.module = node.module;
      chain.place = node.place;
      compilation_.chains.push_back(std::move(chain));
    }
    for (Chain& chain : compilation_.chains) by_node[chain.node] = &chain;
    auto for_each_source = [&](const CapturedOf& captured_of, const std::string& name, auto visit) {
      const auto sources = captured_of.find(name);
      if (sources == captured_of.end()) return;
      for (const std::string& source : sources->second)
        if (const auto chain = by_node.find(source); chain != by_node.end()) visit(*chain->second);
    };
    for (const Graph& graph : compilation_.graphs) {
      const auto own = captured_of_post_grad_.find(&graph);
      const std::string direction = direction_of(graph.direction);
      for (const Node& node : graph.nodes) {
        if (node.op == "placeholder") continue;
        if (graph.stage == "joint")
          for_each_source(captured_of_, node.name, [&](Chain& chain) { chain.joint.push_back(node.name); });
        else if (graph.stage == "post_grad" && own != captured_of_post_grad_.end())
          for_each_source(own->second, node.name,
                          [&](Chain& chain) { add(chain.directions[direction].post_grad, node.name); });
        else if (graph.stage == "forward" || graph.stage == "backward" || graph.stage == "inference")
          for_each_source(captured_of_, node.name,
                          [&](Chain& chain) { add(chain.directions[direction].graph, node.name); });
      }
    }
    for (const OutputCode& code : compilation_.output_codes)
      for (const KernelCall& call : code.calls)
        for (const std::string& source : call.captured)
          if (const auto chain = by_node.find(source); chain != by_node.end())
            add(chain->second->directions[direction_of(code.direction)].kernels, call.kernel);
    for (Chain& chain : compilation_.chains) say_what_is_missing(chain);
  }

  // Adds to `chain` the reason for each link that is missing.
  void say_what_is_missing(Chain& chain) const {
    if (chain.directions.empty()) {
      chain.not_recorded.push_back(!has_aot_graph_       ? links::no_graph_with_nodes
                                   : chain.joint.empty() ? links::named_by_no_node
                                                         : links::only_in_joint_graph);
      return;
    }
    for (auto& [direction, link] : chain.directions) {
      const bool has_post_grad = std::any_of(
          compilation_.graphs.begin(), compilation_.graphs.end(),
          [&](const Graph& graph) { return graph.stage == "post_grad" && direction_of(graph.direction) == direction; });
      if (link.post_grad.empty())
        link.not_recorded.push_back(
            has_post_grad ? links::no_node_after_passes
                          : "post_grad: the log has no graph after Inductor's passes, because another backend or a "
                            "cache gave the result, or because the log ends earlier");
      if (has_post_grad) link.not_recorded.push_back(no_operations);
      if (!link.post_grad.empty() && link.kernels.empty())
        link.not_recorded.push_back(
            "kernels: no call computes this node, because the node is a view, or its value is computed "
            "where it is used");
    }
  }

  Compilation& compilation_;
  CapturedOf captured_of_;  // the captured nodes of the nodes of AOTAutograd's graphs
  std::map<const Graph*, CapturedOf> captured_of_post_grad_;
  bool has_aot_graph_ = false;
};

}  // namespace

void link(record::Compilation& compilation) { Linking(compilation).run(); }

}  // namespace depyf
