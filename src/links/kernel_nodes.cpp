// Finds the nodes that each call of output code computes (see kernel_nodes.h). The search is one file, because all of
// its steps extend the same map from values of the code to nodes.
#include "links/kernel_nodes.h"

#include <algorithm>
#include <unordered_set>

#include "support/words.h"

namespace depyf::links {
namespace {

using record::KernelCall;

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_reduction(std::string_view op) {
  static constexpr std::string_view reductions[] = {"all",       "amax", "amin", "any",     "argmax", "argmin",
                                                    "logsumexp", "max",  "mean", "min",     "norm",   "prod",
                                                    "std_mean",  "sum",  "var",  "var_mean"};
  return std::binary_search(std::begin(reductions), std::end(reductions), base_name(op));
}

class Matching {
 public:
  Matching(record::OutputCode& code, const Index& graph,
           const std::unordered_map<std::string, std::vector<std::string>>& captured_of)
      : code_(code),
        graph_(graph),
        captured_of_(captured_of),
        is_in_memory_(static_cast<std::size_t>(graph.size()), false),
        stamp_(static_cast<std::size_t>(graph.size()), 0) {}

  void run() {
    seed();
    find_overwritten_inputs();
    use_records();
    match_library_calls();
    guess_intermediates();
    for (KernelCall& call : code_.calls)
      if (call.evidence.empty()) compute_nodes(call);
  }

 private:
  // Returns the node that owns the memory of `node`, which is `node` itself unless it is a view.
  int base_of(int node) const {
    while (node != no_node && shows_another(node)) node = graph_.inputs(node)[0];
    return node;
  }
  bool shows_another(int node) const {
    if (graph_.inputs(node).empty()) return false;
    const std::string& op = graph_[node].op;
    return is_view(op) || (op == "operator.getitem" && is_view(graph_[graph_.inputs(node)[0]].op));
  }

  void seed() {
    for (int node = 0; node < graph_.size(); ++node)
      if (graph_.is_input(node)) node_of_[graph_[node].name] = node;
    const std::vector<std::string>& outputs = graph_.graph().outputs;
    if (outputs.size() != code_.outputs.size()) return;  // outputs were removed or added, so their order is unknown
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const int node = base_of(graph_.find(outputs[i]));
      if (node != no_node && !code_.outputs[i].empty()) set(code_.outputs[i], node);
    }
  }

  void set(const std::string& value, int node) {
    if (node_of_.try_emplace(value, node).second) is_in_memory_[static_cast<std::size_t>(node)] = true;
  }
  int node_of(const std::string& value) const {
    const auto known = node_of_.find(value);
    return known == node_of_.end() ? no_node : known->second;
  }

  // Finds the nodes that overwrite an input, such as `copy_(arg0_1, add)`, and the last call that writes the input.
  // The last call that writes an overwritten input computes the value that the `copy_` node copies into the input.
  // Overwritten inputs are, for example, the state of an optimizer and running statistics.
  void find_overwritten_inputs() {
    for (int node = 0; node < graph_.size(); ++node)
      if (base_name(graph_[node].op) == "copy_" && !graph_.inputs(node).empty() &&
          graph_.is_input(graph_.inputs(node)[0]))
        overwritten_by_[graph_.inputs(node)[0]] = node;
    if (overwritten_by_.empty()) return;
    for (const KernelCall& call : code_.calls)
      for (const std::string& value : call.writes)
        if (const int node = overwritten_input(value); node != no_node) last_writer_of_[node] = &call;
  }

  // Returns the input of the graph that a call overwrites when it writes `value`, such as arg0_1 for `arg0_1'1`;
  // no_node if `value` is not an input that a node overwrites.
  int overwritten_input(const std::string& value) const {
    const int node = node_of(value.substr(0, value.find('\'')));
    return overwritten_by_.contains(node) ? node : no_node;
  }

  // Returns the node that a call computes when it writes a value; no_node if the node is unknown.
  int node_written(const KernelCall& call, const std::string& value) const {
    const int input = overwritten_input(value);
    const auto writer = last_writer_of_.find(input);
    return writer != last_writer_of_.end() && writer->second == &call ? overwritten_by_.at(input) : node_of(value);
  }

  // Sets the nodes of calls from PyTorch's records. Provenance tracking records the nodes of each call, and comments
  // above the definition of a kernel name the nodes of the kernel.
  void use_records() {
    for (KernelCall& call : code_.calls) {
      auto nodes = code_.nodes_of.end();
      if (!call.handle.empty()) nodes = code_.nodes_of.find(call.handle);
      // Many calls use the same library function, so a record under its name does not identify the nodes of a single
      // call.
      if (nodes == code_.nodes_of.end() && call.kind != "library") nodes = code_.nodes_of.find(call.kernel);
      if (nodes == code_.nodes_of.end()) continue;
      std::vector<int> own;
      for (const std::string& name : nodes->second)
        if (const int node = graph_.find(name); node != no_node) own.push_back(node);
      if (own.empty()) continue;
      std::sort(own.begin(), own.end());
      for (int node : own) call.nodes.push_back(graph_[node].name);
      call.evidence = call.handle.empty() ? "comments" : "recorded";
    }
  }

  // The following functions find the nodes of library calls.

  static constexpr std::size_t checks_max = 20'000'000;  // the most checks; real programs need at most a tenth

  static bool does_the_same(const KernelCall& call, std::string_view op) {
    std::string_view function = call.kernel;
    const bool is_operator = depyf::take(function, "torch.ops.") || function.starts_with("aten.");
    if (is_operator) {
      // Inductor may call another overload than the node, such as sort.stable for sort.default.
      const std::string_view name = op.substr(0, op.rfind('.'));
      return name == function || name == function.substr(0, function.rfind('.'));
    }
    return base_name(function) == base_name(op);
  }

  bool comment_names(const KernelCall& call, int node) const {
    const std::string& name = graph_[node].name;
    if (has(call.source_nodes, name)) return true;
    const auto captured = captured_of_.find(name);
    return captured != captured_of_.end() &&
           std::any_of(captured->second.begin(), captured->second.end(),
                       [&](const std::string& source) { return has(call.source_nodes, source); });
  }

  // True if it is possible that the call computes `node`: no value whose node is already known contradicts it.
  bool can_be(const KernelCall& call, int node) const {
    if (!call.writes.empty())
      if (const int known = node_of(call.writes[0]); known != no_node && known != node) return false;
    for (const std::string& read : call.reads) {
      const int known = node_of(read);
      if (known == no_node) continue;
      const std::vector<int>& inputs = graph_.inputs(node);
      if (std::none_of(inputs.begin(), inputs.end(), [&](int input) { return base_of(input) == known; })) return false;
    }
    return true;
  }

  void match_library_calls() {
    std::vector<KernelCall*> waiting;
    for (KernelCall& call : code_.calls)
      if (call.kind == "library") waiting.push_back(&call);
    std::unordered_map<std::string_view, std::vector<int>> by_name;  // the nodes, by the base name of their operator
    for (int node = 0; node < graph_.size(); ++node) by_name[base_name(graph_[node].op)].push_back(node);
    for (KernelCall* call : waiting)
      if (call->evidence == "recorded" && call->nodes.size() == 1) take(*call, graph_.find(call->nodes[0]));
    // Each match of a call with a node identifies more values of the code, and the identified values may leave only one
    // candidate for another call.
    for (bool takes_first : {false, true}) {
      for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (KernelCall*& call : waiting) {
          if (!call || taken_calls_.contains(call)) continue;
          const int node = candidate_for(*call, by_name, takes_first);
          if (node == no_node) continue;
          take(*call, node);
          has_changed = true;
          if (takes_first) break;
        }
        if (takes_first && has_changed) {
          // When the first of several candidates has been taken for a call, more values of the code are known. The
          // newly known values may leave only one candidate for another call, so calls with one candidate are matched
          // before the first of several candidates is taken again.
          for (bool settles = true; settles;) {
            settles = false;
            for (KernelCall* call : waiting) {
              if (taken_calls_.contains(call)) continue;
              if (const int node = candidate_for(*call, by_name, false); node != no_node)
                take(*call, node), settles = true;
            }
          }
        }
      }
    }
  }

  int candidate_for(const KernelCall& call, const std::unordered_map<std::string_view, std::vector<int>>& by_name,
                    bool takes_first) const {
    if (++checks_ >= checks_max) return no_node;
    std::string_view function = call.kernel;
    const bool has_overload = function.starts_with("torch.ops.");
    if (has_overload) function.remove_prefix(10);
    std::vector<int> candidates;
    auto look = [&](std::string_view name) {
      const auto nodes = by_name.find(name);
      if (nodes == by_name.end()) return;
      for (int node : nodes->second)
        if (++checks_ < checks_max && !taken_nodes_.contains(node) && does_the_same(call, graph_[node].op) &&
            can_be(call, node))
          candidates.push_back(node);
    };
    look(base_name(function));
    if (candidates.empty() && has_overload) look(function.substr(function.rfind('.') + 1));
    if (candidates.size() > 1) {
      std::vector<int> named;
      for (int node : candidates)
        if (comment_names(call, node)) named.push_back(node);
      if (!named.empty()) candidates = std::move(named);
    }
    if (candidates.size() > 1 && !call.writes.empty()) {
      const auto shape = code_.shapes.find(call.writes[0]);
      std::vector<int> fitting;
      for (int node : candidates)
        if (shape != code_.shapes.end() && elements_of(shape->second) == elements_of(graph_[node].shape))
          fitting.push_back(node);
      if (!fitting.empty()) candidates = std::move(fitting);
    }
    return candidates.size() == 1 || (takes_first && !candidates.empty()) ? candidates[0] : no_node;
  }

  void take(KernelCall& call, int node) {
    taken_calls_.insert(&call);
    if (node == no_node) return;
    taken_nodes_.insert(node);
    if (call.evidence.empty()) {
      call.evidence = comment_names(call, node) ? "comments" : "data flow";
      call.nodes = {graph_[node].name};
    }
    if (!call.writes.empty()) set(call.writes[0], node);
    // The result of a call may be a tuple whose items have names. For example, if a call writes buf0 and `buf1 =
    // buf0[0]` follows, buf1 is the value of a `getitem` node that reads the node of the call.
    std::size_t item = 1;
    for (int user = node + 1; user < graph_.size() && item < call.writes.size(); ++user)
      if (graph_[user].op == "operator.getitem" && !graph_.inputs(user).empty() && graph_.inputs(user)[0] == node)
        set(call.writes[item++], user);
    const std::vector<int>& inputs = graph_.inputs(node);
    if (call.reads.size() != inputs.size()) return;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (node_of(call.reads[i]) == no_node)
        if (const int base = base_of(inputs[i]); base != no_node) set(call.reads[i], base);
  }

  // The following functions find the nodes of values that one generated kernel writes and another kernel reads.

  // Collects `node` and the nodes from which `node` is computed, back to the nodes whose values the kernel reads (their
  // `stamp_` is `read_`). Returns false if `node` depends on a value in memory that the kernel does not read.
  bool walk(int node, std::vector<int>& nodes) {
    bool is_complete = true;
    std::vector<int> open{node};
    while (!open.empty()) {
      const int current = open.back();
      open.pop_back();
      std::size_t& stamp = stamp_[static_cast<std::size_t>(current)];
      if (stamp == visited_) continue;
      stamp = visited_;
      nodes.push_back(current);
      for (int input : graph_.inputs(current)) {
        const std::size_t state = stamp_[static_cast<std::size_t>(input)];
        if (state == visited_ || state == read_) continue;
        if (graph_.is_input(input)) {
          is_complete = is_complete && elements_of(graph_[input].shape).empty();  // a number is not a value in memory
        } else if (is_in_memory_[static_cast<std::size_t>(input)] && state != written_) {
          is_complete = false;
        } else {
          open.push_back(input);
        }
      }
    }
    return is_complete;
  }

  // Prepares calls of `walk` for one call of a kernel: sets `stamp_` of the nodes whose values the call writes or
  // reads.
  void begin_walk(const KernelCall& call) {
    read_ = ++stamps_;
    written_ = ++stamps_;
    visited_ = ++stamps_;
    for (const std::string& written : call.writes)
      if (const int node = node_of(written); node != no_node) stamp_[static_cast<std::size_t>(node)] = written_;
    for (const std::vector<std::string>* values : {&call.reads, &call.overwrites})
      for (const std::string& value : *values)
        if (const int node = node_of(value); node != no_node) stamp_[static_cast<std::size_t>(node)] = read_;
  }

  // True if a value that the call writes depends on a value in memory that the call is not known to read.
  bool lacks_a_value(const KernelCall& call) {
    begin_walk(call);
    std::vector<int> nodes;
    bool is_complete = true;
    for (const std::string& written : call.writes)
      if (const int node = node_of(written); node != no_node) is_complete = walk(node, nodes) && is_complete;
    work_ += nodes.size() + 1;
    return !is_complete;
  }

  // Guesses the nodes of values that one call writes and another call reads. The first pass goes from the first call to
  // the last, because the known inputs of a call limit the nodes that the call can compute. The second pass, from the
  // last call to the first, guesses the nodes of the values that the first pass left unknown.
  void guess_intermediates() {
    for (const KernelCall& call : code_.calls) {
      for (const std::string& read : call.reads) readers_[read].push_back(&call);
      for (const std::string& value : call.overwrites) readers_[value].push_back(&call);
    }
    find_users();
    for (KernelCall& call : code_.calls) guess(call, true);
    for (auto call = code_.calls.rbegin(); call != code_.calls.rend(); ++call) guess(*call, false);
  }

  void find_users() {
    users_.resize(static_cast<std::size_t>(graph_.size()));
    needed_.resize(static_cast<std::size_t>(graph_.size()));
    for (int node = 0; node < graph_.size(); ++node)
      for (int input : graph_.inputs(node)) {
        users_[static_cast<std::size_t>(input)].push_back(node);
        // Numbers and constants are available to every kernel.
        const bool is_at_hand =
            graph_.is_input(input) ? elements_of(graph_[input].shape).empty() : graph_.inputs(input).empty();
        if (!is_at_hand) ++needed_[static_cast<std::size_t>(node)];
      }
  }

  // Returns the nodes that can be computed from the values that the call reads.
  std::unordered_set<int> computable_by(const KernelCall& call) {
    std::unordered_set<int> computable;
    std::unordered_map<int, std::size_t> known_inputs;
    std::vector<int> open;
    for (const std::vector<std::string>* values : {&call.reads, &call.overwrites})
      for (const std::string& value : *values)
        if (const int node = node_of(value); node != no_node && computable.insert(node).second) open.push_back(node);
    while (!open.empty() && work_ < work_max) {
      const int node = open.back();
      open.pop_back();
      for (int user : users_[static_cast<std::size_t>(node)]) {
        ++work_;
        if (++known_inputs[user] == needed_[static_cast<std::size_t>(user)] && computable.insert(user).second)
          open.push_back(user);
      }
    }
    return computable;
  }

  // True if nodes outside of `computable` use the node, so that the value of the node has to be stored in memory.
  bool is_needed_beyond(int node, const std::unordered_set<int>& computable) {
    for (int user : users_[static_cast<std::size_t>(node)]) {
      ++work_;
      if (!computable.contains(user) || (shows_another(user) && is_needed_beyond_view(user, computable))) return true;
    }
    return false;
  }
  bool is_needed_beyond_view(int view, const std::unordered_set<int>& computable) {
    const std::vector<int>& users = users_[static_cast<std::size_t>(view)];
    return std::any_of(users.begin(), users.end(), [&](int user) { return !computable.contains(user); });
  }

  void guess(const KernelCall& call, bool must_be_computable) {
    const auto is_unknown = [&](const std::string& value) {
      return node_of(value) == no_node && readers_.contains(value);
    };
    if (work_ > work_max || std::none_of(call.writes.begin(), call.writes.end(), is_unknown)) return;
    const std::unordered_set<int> computable = computable_by(call);
    std::vector<int> cone;
    for (const std::string& value : call.writes) {
      if (!is_unknown(value)) continue;
      const auto shape = code_.shapes.find(value);
      if (shape == code_.shapes.end()) continue;
      const std::string elements = elements_of(shape->second);
      int best = no_node, best_score = -1;
      for (const KernelCall* reader : readers_[value]) {
        if (work_ > work_max) return;
        const std::vector<std::string>& overwritten = reader->overwrites;
        const bool may_not_read = std::find(overwritten.begin(), overwritten.end(), value) != overwritten.end();
        if (may_not_read && !lacks_a_value(*reader)) continue;
        begin_walk(*reader);
        cone.clear();
        for (const std::string& written : reader->writes)
          if (const int node = node_written(*reader, written); node != no_node) walk(node, cone);
        work_ += cone.size() + 1;
        for (int candidate : cone) {
          if (shows_another(candidate) || elements_of(graph_[candidate].shape) != elements) continue;
          if (must_be_computable && !computable.contains(candidate)) continue;
          const int score = score_of(candidate, call, *reader, computable);
          if (score > best_score || (score == best_score && candidate > best)) best = candidate, best_score = score;
        }
      }
      if (best == no_node && must_be_computable && !readers_[value].empty()) {
        // The nodes of the calls that read the value are not known yet, so the value may be any node that another
        // kernel needs.
        for (int candidate : computable)
          if (!shows_another(candidate) && !is_in_memory_[static_cast<std::size_t>(candidate)] &&
              elements_of(graph_[candidate].shape) == elements && is_needed_beyond(candidate, computable))
            best = std::max(best, candidate);
      }
      if (best != no_node) set(value, best);
    }
  }

  // Returns a score for the assumption that a node is the value that `writer` passes to `reader`. The score is high if
  // the writer can compute the node, other kernels need the node, and the reader can compute its own nodes from it. A
  // node that is a reduction gets a slightly higher score, because kernels tend to end with a reduction.
  int score_of(int candidate, const KernelCall& writer, const KernelCall& reader,
               const std::unordered_set<int>& computable) {
    begin_walk(reader);
    stamp_[static_cast<std::size_t>(candidate)] = read_;
    std::vector<int> nodes;
    bool can_be_read = true;
    for (const std::string& written : reader.writes)
      if (const int node = node_written(reader, written); node != no_node && node != candidate)
        can_be_read = walk(node, nodes) && can_be_read;
    work_ += nodes.size();
    const bool is_taken = std::any_of(writer.writes.begin(), writer.writes.end(),
                                      [&](const std::string& value) { return node_of(value) == candidate; });
    return 16 * computable.contains(candidate) + 8 * is_needed_beyond(candidate, computable) + 4 * can_be_read +
           2 * is_reduction(graph_[candidate].op) + !is_taken;
  }

  void compute_nodes(KernelCall& call) {
    // Because two calls seldom compute the same node, all calls together should have hardly more nodes than the graph.
    // If all calls together have far more nodes than the graph, the search ends, so that its time is bounded.
    const std::size_t nodes_max = 32 * static_cast<std::size_t>(graph_.size()) + 1024;
    if (nodes_in_all_ > nodes_max) return;
    begin_walk(call);
    std::vector<int> nodes;
    bool knows_any = false;
    for (const std::string& written : call.writes) {
      const int node = node_written(call, written);
      if (node == no_node) continue;
      knows_any = true;
      if (stamp_[static_cast<std::size_t>(node)] == read_) {
        nodes.push_back(node);  // the call copies a value that it reads into another layout
        continue;
      }
      walk(node, nodes);
    }
    if (!knows_any) return;
    std::sort(nodes.begin(), nodes.end());
    for (int node : nodes)
      if (!graph_.is_input(node)) call.nodes.push_back(graph_[node].name);
    nodes_in_all_ += nodes.size();
    if (!call.nodes.empty()) call.evidence = "data flow";
  }

  record::OutputCode& code_;
  const Index& graph_;
  const std::unordered_map<std::string, std::vector<std::string>>& captured_of_;
  std::unordered_map<std::string, int> node_of_;  // maps a value of the code to its node
  std::unordered_map<int, int> overwritten_by_;  // maps an input to the node that overwrites it
  std::unordered_map<int, const KernelCall*> last_writer_of_;  // maps an input to the last call that overwrites it
  std::unordered_set<const KernelCall*> taken_calls_;
  std::unordered_set<int> taken_nodes_;
  std::vector<bool> is_in_memory_;  // by node: true if a value of the code is known to be the node
  std::vector<std::size_t> stamp_;  // by node: read_, written_ or visited_ of the last walk that reached the node
  std::size_t stamps_ = 0, read_ = 0, written_ = 0, visited_ = 0;
  std::unordered_map<std::string, std::vector<const KernelCall*>> readers_;  // maps a value to the calls that read it
  std::vector<std::vector<int>> users_;  // maps a node to its users
  std::vector<std::size_t> needed_;  // maps a node to the number of inputs that have to be computed before it
  static constexpr std::size_t work_max = 50'000'000;  // the most visits of nodes; real programs need a hundredth
  std::size_t work_ = 0;
  std::size_t nodes_in_all_ = 0;  // the sum over all calls
  mutable std::size_t checks_ = 0;  // the number of candidates for library calls that were checked
};

}  // namespace

void find_nodes(record::OutputCode& code, const Index& graph,
                const std::unordered_map<std::string, std::vector<std::string>>& captured_of) {
  Matching(code, graph, captured_of).run();
}

}  // namespace depyf::links
