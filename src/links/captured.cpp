#include "links/captured.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

namespace depyf::links {
namespace {

// The costs of assigning a row of adjacent nodes to a captured node; the row is empty if the captured node gets no
// nodes. For each line of source, the nodes are divided among the captured nodes so that the sum of the costs is least.
constexpr int cost_of_recorded = 1000;  // added for each node that PyTorch recorded for other captured nodes only
constexpr int cost_of_read = 40;  // added for each value that the row reads, but the captured node does not read
constexpr int cost_of_nothing = 30;  // added if a captured node that computes something gets no nodes of the forward
constexpr int cost_of_no_backward = 15;  // added if no nodes of the backward compute a captured node's gradient
constexpr int cost_of_passing_on = 1;  // added if a captured node that only forwards a value or gradient gets no nodes
constexpr int cost_of_shape = 10;  // added if the row's result differs from the captured node in size or type
constexpr int gain_of_name = 5;  // subtracted if the row has a node with the captured node's operator
constexpr std::size_t row_max = 48;  // the most nodes of a captured node that is not the last of its line
constexpr std::size_t work_max = 20'000'000;  // the most steps; a line with thousands of calls gets no links

struct Row {
  std::vector<int> nodes;  // adjacent nodes of one line of source
  std::string key;  // identifies the line of source
};

std::string key_of(const record::Place& place) {
  return place.file + ":" + std::to_string(place.line) + ":" + place.function;
}

// Returns the nodes that pass the test, in order, as rows of adjacent nodes with the same line. Nodes without a line of
// source are in no row.
template <class Test>
std::vector<Row> rows_of(const Index& graph, Test test) {
  std::vector<Row> rows;
  for (int node = 0; node < graph.size(); ++node) {
    if (graph.is_input(node) || graph[node].place.line == 0 || !test(node)) continue;
    std::string key = key_of(graph[node].place);
    if (rows.empty() || rows.back().key != key) rows.push_back({{}, std::move(key)});
    rows.back().nodes.push_back(node);
  }
  return rows;
}

// Returns the type and the sizes in a description such as f32[8, 256][256, 1]cpu, without strides and device.
std::string_view sizes_of(std::string_view shape) {
  const std::size_t close = shape.find(']');
  return close == std::string_view::npos ? std::string_view() : shape.substr(0, close);
}

// True if the node only passes on its input, or an item of its input, so that the users of the node actually read the
// input.
bool passes_on(const record::Node& node) {
  const std::string_view name = base_name(node.op);
  return is_view(node.op) || name == "getitem" || name == "getattr" || name == "chunk" || name == "split" ||
         name == "unbind" || name == "size" || name == "contiguous" || name == "to" || name == "flatten" ||
         name == "mT" || node.op == "get_attr";
}

// True if the gradient of the node's result equals the gradient of its input, so that the backward may contain no nodes
// for the captured node.
bool passes_gradient_on(const record::Node& node) {
  const std::string_view name = base_name(node.op);
  return passes_on(node) || name == "add" || name == "iadd" || name == "sub" || name == "isub" || name == "dropout";
}

class Alignment {
 public:
  Alignment(const Index& captured, const Index& graph, const CapturedOf& recorded)
      : captured_(captured), graph_(graph), owners_(static_cast<std::size_t>(graph.size())) {
    for (int node = 0; node < graph.size(); ++node)
      if (const auto names = recorded.find(graph[node].name); names != recorded.end())
        for (const std::string& name : names->second)
          if (const int owner = captured.find(name); owner != no_node) own(node).push_back(owner);
    for (int node = 0; node < graph.size(); ++node) is_recorded_.push_back(!own(node).empty());
    map_inputs();
    for (const std::string& name : captured.graph().outputs)
      if (const int node = captured.find(name); node != no_node) is_output_.insert(node);
    reads_.resize(static_cast<std::size_t>(captured.size()));
    users_.resize(static_cast<std::size_t>(captured.size()));
    for (int node = 0; node < captured.size(); ++node) {
      std::vector<int>& reads = reads_[static_cast<std::size_t>(node)];
      for (int input : captured.inputs(node)) {
        reads.push_back(input);
        if (!passes_on(captured[input])) continue;
        const std::vector<int>& before = reads_[static_cast<std::size_t>(input)];
        if (reads.size() + before.size() < partners_max) reads.insert(reads.end(), before.begin(), before.end());
      }
    }
    // Collects, for each node, the nodes that read its value, from the last node to the first. If a reading node passes
    // the gradient on unchanged, the nodes that read the value of the reading node are added as well.
    for (int node = captured.size() - 1; node >= 0; --node) {
      std::vector<int> with_further = {node};
      if (passes_gradient_on(captured[node])) {
        const std::vector<int>& further = users_[static_cast<std::size_t>(node)];
        with_further.insert(with_further.end(), further.begin(), further.end());
        if (is_output_.contains(node)) with_further.push_back(output);
      }
      for (int input : captured.inputs(node)) {
        std::vector<int>& users = users_[static_cast<std::size_t>(input)];
        if (users.size() < partners_max) users.insert(users.end(), with_further.begin(), with_further.end());
      }
    }
  }

  CapturedOf run() {
    const auto all = [&](int node) { return captured_[node].op != "get_attr"; };
    std::vector<Row> captured_rows = rows_of(captured_, all);
    align(captured_rows, rows_of(graph_, [&](int node) { return !graph_[node].is_backward; }), false);
    // The backward runs through the captured nodes from the last to the first.
    std::reverse(captured_rows.begin(), captured_rows.end());
    for (Row& row : captured_rows) std::reverse(row.nodes.begin(), row.nodes.end());
    align(captured_rows, rows_of(graph_, [&](int node) { return graph_[node].is_backward; }), true);
    CapturedOf result;
    for (int node = 0; node < graph_.size(); ++node) {
      std::vector<std::string> names;
      for (int owner : own(node)) names.push_back(captured_[owner].name);
      if (!names.empty() && !graph_.is_input(node)) result[graph_[node].name] = std::move(names);
    }
    return result;
  }

 private:
  static constexpr std::size_t partners_max = 256;  // the most inputs or users of one node that are stored
  static constexpr int output = -2;  // represents the outputs of the graph in a list of users

  std::vector<int>& own(int node) { return owners_[static_cast<std::size_t>(node)]; }

  // Assigns the inputs of `graph_` to the inputs of the captured graph in order, if both graphs have the same number of
  // inputs. Tangents, which are inputs of the backward, do not count as inputs of `graph_`.
  void map_inputs() {
    std::vector<int> here, there;
    for (int node = 0; node < captured_.size(); ++node)
      if (captured_.is_input(node)) there.push_back(node);
    for (int node = 0; node < graph_.size(); ++node)
      if (graph_.is_input(node) && !graph_[node].is_backward) here.push_back(node);
    if (here.size() != there.size()) return;
    for (std::size_t i = 0; i < here.size(); ++i) own(here[i]) = {there[i]};
  }

  void align(const std::vector<Row>& captured_rows, const std::vector<Row>& rows, bool is_backward) {
    std::unordered_map<std::string_view, std::vector<std::size_t>> by_key;
    for (std::size_t i = 0; i < captured_rows.size(); ++i) by_key[captured_rows[i].key].push_back(i);
    std::size_t position = 0;
    for (const Row& row : rows) {
      const auto matching = by_key.find(row.key);
      if (matching == by_key.end()) continue;
      // Finds the next captured row that has the same line of source as `row`. If no captured row with the line of
      // `row` follows, the nodes of `row` are assigned to the last captured row with the line of `row`.
      auto next = std::lower_bound(matching->second.begin(), matching->second.end(), position);
      if (next == matching->second.end()) --next;
      else position = *next;
      cut(captured_rows[*next].nodes, row.nodes, is_backward);
    }
  }

  // True if a captured node takes an item of a tuple, as in `q = chunk[0]`. Python takes the item without PyTorch, so
  // AOTAutograd has no operator for the captured node.
  bool takes_item(int node) const {
    const std::vector<int>& inputs = captured_.inputs(node);
    return captured_[node].op == "operator.getitem" && !inputs.empty() && captured_[inputs[0]].shape.empty();
  }

  // Cuts the row of adjacent nodes `nodes` into one part for each of the captured nodes in `sources`, and assigns the
  // parts to the captured nodes in order.
  void cut(const std::vector<int>& sources, const std::vector<int>& nodes, bool is_backward) {
    std::vector<int> owners;  // the captured nodes that compute something
    for (int source : sources)
      if (!takes_item(source)) owners.push_back(source);
    const std::size_t k = owners.size(), m = nodes.size();
    if (!k) return;
    const std::size_t widest = std::min(m, row_max);
    work_ += k * m * widest;
    if (k == 1) {
      for (int node : nodes)
        if (!is_recorded_[static_cast<std::size_t>(node)]) own(node) = owners;
      is_result_.insert(nodes.back());
      return;
    }
    if (work_ > work_max) return;
    std::unordered_map<int, std::size_t> position;  // maps a node of the row to its index in `nodes`
    for (std::size_t i = 0; i < m; ++i) position[nodes[i]] = i;
    constexpr int infinite = std::numeric_limits<int>::max() / 2;
    // cost[i][j] is the cost of assigning the first j nodes to the first i captured nodes. In the assignment with the
    // cost cost[i][j], from[i][j] is the index of the first node that captured node number i gets.
    std::vector<std::vector<int>> cost(k + 1, std::vector<int>(m + 1, infinite));
    std::vector<std::vector<std::size_t>> from(k + 1, std::vector<std::size_t>(m + 1, 0));
    cost[0][0] = 0;
    const std::unordered_set<int> in_group(owners.begin(), owners.end());
    for (std::size_t i = 1; i <= k; ++i)
      for (std::size_t start = 0; start <= m; ++start) {
        if (cost[i - 1][start] >= infinite) continue;
        const std::size_t end_max = i == k ? m : std::min(m, start + row_max);
        RowCost row(*this, owners[i - 1], nodes, position, in_group, start, is_backward);
        for (std::size_t end = start; end <= end_max; ++end) {
          if (end > start) row.add(end - 1);
          const int total = cost[i - 1][start] + row.total(end);
          if (total < cost[i][end]) cost[i][end] = total, from[i][end] = start;
        }
      }
    std::size_t end = m;
    for (std::size_t i = k; i > 0; --i) {
      for (std::size_t j = from[i][end]; j < end; ++j)
        if (!is_recorded_[static_cast<std::size_t>(nodes[j])]) own(nodes[j]) = {owners[i - 1]};
      if (from[i][end] < end && !is_backward) is_result_.insert(nodes[end - 1]);
      end = from[i][end];
    }
  }

  // Computes the cost of assigning a row of adjacent nodes to one captured node, and updates the cost for each node
  // that is appended to the row.
  class RowCost {
   public:
    RowCost(Alignment& alignment, int owner, const std::vector<int>& nodes,
            const std::unordered_map<int, std::size_t>& position, const std::unordered_set<int>& in_group,
            std::size_t start, bool is_backward)
        : alignment_(alignment),
          owner_(owner),
          nodes_(nodes),
          position_(position),
          start_(start),
          is_backward_(is_backward) {
      const std::vector<int>& partners = is_backward ? alignment.users_[static_cast<std::size_t>(owner)]
                                                     : alignment.reads_[static_cast<std::size_t>(owner)];
      std::unordered_set<int> distinct;
      for (int partner : partners)
        if (in_group.contains(partner)) distinct.insert(partner);
      allowed_ = distinct.size();
    }

    void add(std::size_t index) {
      const int node = nodes_[index];
      const std::vector<int>& owners = alignment_.own(node);
      if (alignment_.is_recorded_[static_cast<std::size_t>(node)] &&
          std::find(owners.begin(), owners.end(), owner_) == owners.end())
        cost_ += cost_of_recorded;
      if (base_name(alignment_.graph_[node].op) == base_name(alignment_.captured_[owner_].op)) has_name_ = true;
      for (int input : alignment_.graph_.inputs(node)) {
        const auto inside = position_.find(input);
        if (inside != position_.end()) {
          if (inside->second < start_) crossing_.insert(input);
        } else if (!alignment_.may_read(owner_, input, is_backward_) && foreign_.insert(input).second) {
          cost_ += cost_of_read;
        }
      }
    }

    int total(std::size_t end) const {
      int total = cost_;
      if (crossing_.size() > allowed_) total += static_cast<int>(crossing_.size() - allowed_) * cost_of_read;
      const record::Node& owner = alignment_.captured_[owner_];
      if (end == start_)
        return total + (passes_on(owner) || owner.shape.empty() ? cost_of_passing_on
                        : !is_backward_                         ? cost_of_nothing
                        : passes_gradient_on(owner)             ? cost_of_passing_on
                                                                : cost_of_no_backward);
      if (has_name_) total -= gain_of_name;
      if (!is_backward_ && !owner.shape.empty() &&
          sizes_of(owner.shape) != sizes_of(alignment_.graph_[nodes_[end - 1]].shape))
        total += cost_of_shape;
      // The gradient of a value has the sizes of the value.
      if (is_backward_ && !owner.shape.empty() && !crossing_.empty() &&
          std::none_of(crossing_.begin(), crossing_.end(),
                       [&](int value) { return sizes_of(alignment_.graph_[value].shape) == sizes_of(owner.shape); }))
        total += cost_of_shape;
      return total;
    }

   private:
    Alignment& alignment_;
    int owner_;
    const std::vector<int>& nodes_;
    const std::unordered_map<int, std::size_t>& position_;
    std::size_t start_;
    bool is_backward_;
    std::size_t allowed_ = 0;  // captured nodes of the line that `owner_` reads; in the backward, that read it
    std::unordered_set<int> crossing_, foreign_;
    bool has_name_ = false;
    int cost_ = 0;
  };

  // True if it is plausible that a node that comes from the captured node `owner` reads `value`, a node of another line
  // of source.
  bool may_read(int owner, int value, bool is_backward) {
    const std::vector<int>& sources = own(value);
    const std::vector<int>& reads = reads_[static_cast<std::size_t>(owner)];
    const std::vector<int>& users = users_[static_cast<std::size_t>(owner)];
    auto is_in = [](const std::vector<int>& list, int node) {
      return std::find(list.begin(), list.end(), node) != list.end();
    };
    if (is_backward && graph_[value].is_backward) {
      if (graph_.is_input(value)) return is_output_.contains(owner) || is_in(users, output) || users.empty();
      return sources.empty() ||
             std::any_of(sources.begin(), sources.end(), [&](int source) { return is_in(users, source); });
    }
    if (sources.empty()) return true;
    const bool is_result =
        graph_.is_input(value) || is_result_.contains(value) || base_name(graph_[value].op) == "getitem";
    return std::any_of(sources.begin(), sources.end(), [&](int source) {
      return (is_in(reads, source) && (is_result || passes_on(captured_[source]))) || (is_backward && source == owner);
    });
  }

  const Index& captured_;
  const Index& graph_;
  std::vector<std::vector<int>> owners_;  // maps a node of the graph to the captured nodes that it comes from
  std::vector<bool> is_recorded_;
  std::vector<std::vector<int>> reads_, users_;  // by captured node; nodes that only pass values on are skipped
  std::unordered_set<int> is_output_;  // the captured nodes that are outputs
  std::unordered_set<int> is_result_;  // the nodes of the graph that compute the result of a captured node
  std::size_t work_ = 0;
};

}  // namespace

CapturedOf captured_of(const Index& captured, const Index& graph, const CapturedOf& recorded) {
  return Alignment(captured, graph, recorded).run();
}

}  // namespace depyf::links
