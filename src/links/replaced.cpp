#include "links/replaced.h"

#include <algorithm>
#include <iterator>

#include "depyf/links.h"
#include "record/graph.h"

namespace depyf::links {
namespace {

constexpr std::size_t replaced_max = 64;  // the most nodes that one node may replace; more are not informative
constexpr std::size_t visited_max = 4096;  // the most nodes that one walk visits, so that the whole time is linear

using Edges = std::vector<std::vector<int>>;

Edges inputs_of(const Index& graph) {
  Edges edges;
  for (int node = 0; node < graph.size(); ++node) edges.push_back(graph.inputs(node));
  return edges;
}

Edges users_of(const Index& graph) {
  Edges edges(static_cast<std::size_t>(graph.size()));
  for (int node = 0; node < graph.size(); ++node)
    for (const int input : graph.inputs(node)) edges[static_cast<std::size_t>(input)].push_back(node);
  return edges;
}

// Walks along the edges of one graph over the nodes for which `is_passed` is true. A walk does not continue behind a
// node for which `is_passed` is false.
class Walk {
 public:
  Walk(const Edges& edges, const std::vector<bool>& is_passed) : edges_(edges), is_passed_(is_passed) {}

  struct Reached {
    std::vector<int> passed, ends;  // the reached nodes, with and without `is_passed`, in ascending order
    bool is_cut = false;            // true if the walk ended early because of `visited_max`
  };

  Reached from(const std::vector<int>& starts) const {
    Reached reached;
    std::vector<int> waiting;
    std::vector<int> seen;
    auto add = [&](int node) {
      const auto place = std::lower_bound(seen.begin(), seen.end(), node);
      if (place != seen.end() && *place == node) return;
      seen.insert(place, node);
      if (is_passed_[static_cast<std::size_t>(node)]) waiting.push_back(node);
    };
    for (const int start : starts) add(start);
    while (!waiting.empty()) {
      const int node = waiting.back();
      waiting.pop_back();
      if (seen.size() > visited_max) {
        reached.is_cut = true;
        return reached;
      }
      for (const int next : edges_[static_cast<std::size_t>(node)]) add(next);
    }
    for (const int node : seen)
      (is_passed_[static_cast<std::size_t>(node)] ? reached.passed : reached.ends).push_back(node);
    return reached;
  }

 private:
  const Edges& edges_;
  const std::vector<bool>& is_passed_;
};

class Replaced {
 public:
  Replaced(const Index& before, const std::vector<const Index*>& after)
      : before_(before), after_(after), inputs_(inputs_of(before)), users_(users_of(before)) {
    is_gone_.resize(static_cast<std::size_t>(before.size()));
    for (int node = 0; node < before.size(); ++node)
      is_gone_[static_cast<std::size_t>(node)] =
          !before.is_input(node) && std::none_of(after.begin(), after.end(), [&](const Index* graph) {
            return graph->find(before[node].name) != no_node;
          });
  }

  std::unordered_map<std::string, std::vector<std::string>> run() {
    if (std::find(is_gone_.begin(), is_gone_.end(), true) != is_gone_.end())
      for (const Index* graph : after_) of_graph(*graph);
    return std::move(replaced_);
  }

 private:
  void of_graph(const Index& graph) {
    std::vector<bool> is_new;
    for (int node = 0; node < graph.size(); ++node)
      is_new.push_back(!graph.is_input(node) && before_.find(graph[node].name) == no_node);
    const Edges inputs = inputs_of(graph), users = users_of(graph);
    const Walk up(inputs, is_new), down(users, is_new), up_before(inputs_, is_gone_), down_before(users_, is_gone_);
    for (int node = 0; node < graph.size(); ++node) {
      if (!is_new[static_cast<std::size_t>(node)]) continue;
      const Walk::Reached above = up.from({node}), below = down.from({node});
      if (above.is_cut || below.is_cut) continue;
      const Walk::Reached read = up_before.from(gone_inputs(graph, below));
      if (read.is_cut) continue;
      std::vector<int> between = read.passed;
      if (knows_one(graph, above.ends)) {
        const Walk::Reached reading = down_before.from(gone_users(graph, above));
        if (reading.is_cut) continue;
        between.clear();
        std::set_intersection(read.passed.begin(), read.passed.end(), reading.passed.begin(), reading.passed.end(),
                              std::back_inserter(between));
      }
      if (between.empty() || between.size() > replaced_max) continue;
      std::vector<std::string>& names = replaced_[graph[node].name];
      for (const int gone : between) names.push_back(before_[gone].name);
    }
  }

  // Returns the nodes that the pass removed and whose values an unchanged node in `below.ends` read before the pass.
  // Also returns each removed node that was an output of the graph before the pass, if the output at the same position
  // after the pass is a node in `below.passed`.
  std::vector<int> gone_inputs(const Index& graph, const Walk::Reached& below) const {
    std::vector<int> gone;
    auto add = [&](int node) {
      if (node != no_node && is_gone_[static_cast<std::size_t>(node)]) gone.push_back(node);
    };
    for (const int reader : below.ends)
      if (const int known = before_.find(graph[reader].name); known != no_node)
        for (const int input : inputs_[static_cast<std::size_t>(known)]) add(input);
    const std::vector<std::string>&outputs = graph.graph().outputs, &outputs_before = before_.graph().outputs;
    const std::size_t first = first_output(graph);
    for (std::size_t i = 0; i < outputs.size() && first + i < outputs_before.size(); ++i) {
      const int output = graph.find(outputs[i]);
      if (output != no_node && std::binary_search(below.passed.begin(), below.passed.end(), output))
        add(before_.find(outputs_before[first + i]));
    }
    return gone;
  }

  // Returns the index of the graph's first output among the outputs of the graph before the pass. The gradients, which
  // the backward half returns, come after the outputs of the forward half.
  std::size_t first_output(const Index& graph) const {
    const std::size_t count = graph.graph().outputs.size(), all = before_.graph().outputs.size();
    return after_.size() > 1 && &graph == after_.back() && count <= all ? all - count : 0;
  }

  // True if any of the nodes is also in the graph before the pass, under the same name. An input of `graph` may have
  // had a different name in the graph before the pass.
  bool knows_one(const Index& graph, const std::vector<int>& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](int node) { return before_.find(graph[node].name) != no_node; });
  }

  // Returns the nodes that the pass removed and that read, before the pass, the value of an unchanged node in
  // `above.ends`.
  std::vector<int> gone_users(const Index& graph, const Walk::Reached& above) const {
    std::vector<int> gone;
    for (const int source : above.ends)
      if (const int known = before_.find(graph[source].name); known != no_node)
        for (const int user : users_[static_cast<std::size_t>(known)])
          if (is_gone_[static_cast<std::size_t>(user)]) gone.push_back(user);
    return gone;
  }

  const Index& before_;
  const std::vector<const Index*>& after_;
  const Edges inputs_, users_;  // the edges of the nodes of `before_`
  std::vector<bool> is_gone_;   // by node of `before_`: true if no graph of `after_` has it
  std::unordered_map<std::string, std::vector<std::string>> replaced_;
};

}  // namespace

std::unordered_map<std::string, std::vector<std::string>> replaced_by(const Index& before,
                                                                      const std::vector<const Index*>& after) {
  return Replaced(before, after).run();
}

}  // namespace depyf::links

namespace depyf {

std::unordered_map<std::string, std::vector<std::string>> replaced_nodes(std::string_view before,
                                                                         const std::vector<std::string_view>& after) {
  std::vector<record::Graph> graphs;
  graphs.reserve(after.size());  // an Index refers to its graph, so the graphs must not move
  std::vector<links::Index> indices;
  indices.reserve(after.size());
  std::vector<const links::Index*> pointers;
  for (const std::string_view text : after) {
    graphs.push_back(record::graph_of(text));
    pointers.push_back(&indices.emplace_back(graphs.back()));
  }
  const record::Graph graph_before = record::graph_of(before);
  return links::replaced_by(links::Index(graph_before), pointers);
}

}  // namespace depyf
