// Derives the chains from captured nodes to kernels from the facts that depyf observed in the process of a compilation.
#include "links/seen.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "links/missing.h"

namespace depyf::links {
namespace {

using Rows = std::vector<const SeenNode*>;

const Names* known(const NamesOf& names, const std::string& name) {
  const auto entry = names.find(name);
  return entry == names.end() ? nullptr : &entry->second;
}

// Finds the captured nodes from which AOTAutograd made a node. PyTorch records captured nodes only for nodes of the
// forward. A node of the backward has the sequence number that autograd gave to the operation of the forward to which
// the node belongs.
class Sources {
 public:
  explicit Sources(const Seen& seen) {
    for (const SeenNode& row : seen.joint) rows_.push_back(&row);
    for (const SeenDirection& direction : seen.directions)
      for (const SeenNode& row : direction.graph) rows_.push_back(&row);
    for (const SeenNode& row : seen.captured) line_of_[row.name] = row.line.get();
    // If there is a joint graph, only the sources of nodes of the joint graph are used, because Inductor's passes have
    // changed the forward and backward graphs.
    const std::size_t count = seen.joint.empty() ? rows_.size() : seen.joint.size();
    for (std::size_t i = 0; i < count; ++i)
      for (const NodeSource& source : rows_[i]->sources) graphs_.insert(source.graph);
    if (graphs_.contains(seen.graph)) graphs_ = {seen.graph};
  }

  // Returns the captured nodes that PyTorch recorded for the node `row` itself.
  Names of(const SeenNode& row) const {
    Names names;
    for (const NodeSource& source : row.sources)
      if (is_captured(source, row)) names.push_back(source.name);
    return names;
  }

  // Returns the captured nodes of all nodes that have the same sequence number of autograd as `row`.
  Names of_number(const SeenNode& row) const {
    const auto entry = row.number ? of_number_.find(*row.number) : of_number_.end();
    return entry == of_number_.end() ? Names() : entry->second;
  }

  // Returns the captured nodes of each node of the joint, forward and backward graphs, by name.
  NamesOf of_graphs() {
    std::unordered_map<std::int64_t, Names> of_forward;
    NamesOf captured;
    for (const SeenNode* row : rows_) {
      Names sources = row->is_backward ? Names() : of(*row);
      if (sources.empty()) continue;
      if (row->number) append_new(sources, of_forward[*row->number]);
      captured[row->name] = std::move(sources);
    }
    for (const SeenNode* row : rows_) {
      if (!row->number) continue;
      if (const auto entry = of_forward.find(*row->number); entry != of_forward.end() && !captured.contains(row->name))
        captured[row->name] = entry->second;
      Names& of_number = of_number_[*row->number];
      if (const Names* names = known(captured, row->name)) append_new(*names, of_number);
    }
    return captured;
  }

 private:
  // True if a source is a captured node, and not a node of the same name in another graph.
  bool is_captured(const NodeSource& source, const SeenNode& row) const {
    const auto entry = line_of_.find(source.name);
    if (entry == line_of_.end()) return false;
    if (source.graph) return graphs_.contains(source.graph);
    return row.line && entry->second ? *row.line == *entry->second : !row.line && !entry->second;
  }

  Rows rows_;
  std::unordered_map<std::string, const SeenLine*> line_of_;
  std::set<std::int64_t> graphs_;
  std::unordered_map<std::int64_t, Names> of_number_;
};

// Adds captured nodes for each node of `rows` that lacks captured nodes because a pass created the node. A created node
// gets the captured nodes of the nodes that it replaced.
void add_replaced(const Rows& rows, const ReplacedBy& replaced, const std::string& direction, NamesOf& captured) {
  Names unknown;
  for (const SeenNode* row : rows)
    if (!captured.contains(row->name)) unknown.push_back(row->name);
  if (unknown.empty() || !replaced) return;
  const std::map<std::string, Names> by_name = replaced(direction);
  for (const std::string& name : unknown) {
    const auto entry = by_name.find(name);
    if (entry == by_name.end()) continue;
    Names sources;
    for (const std::string& old : entry->second)
      if (const Names* names = known(captured, old)) append_new(*names, sources);
    if (!sources.empty()) captured[name] = std::move(sources);
  }
}

// Finds the kernel of each operation. The kernel of an operation writes a buffer of the operation, or of an operation
// that was fused with it.
void add_kernels(DirectionLinks& links) {
  const std::unordered_map<std::string, std::string> writers = buffer_writers(links.seen->code);
  const auto written_by = [&](const SeenOperation& operation) {
    Names kernels;
    for (const std::string& buffer : operation.writes)
      if (const auto entry = writers.find(buffer); entry != writers.end()) kernels.push_back(entry->second);
    return kernels;
  };
  for (const OperationGroup& group : links.seen->operations) {
    Names of_group;
    for (const SeenOperation& operation : group)
      for (std::string& kernel : written_by(operation)) of_group.push_back(std::move(kernel));
    for (const SeenOperation& operation : group) {
      const Names own = written_by(operation);
      // If no kernel writes the buffers of an operation, the operation gets the most frequent kernel of the operations
      // that were fused with it.
      if (operation.kind == "nothing" || of_group.empty()) continue;
      const auto count = [&](const std::string& kernel) {
        return std::count(of_group.begin(), of_group.end(), kernel);
      };
      const std::string& kernel =
          !own.empty() ? own[0]
                       : *std::max_element(of_group.begin(), of_group.end(), [&](const auto& one, const auto& other) {
                           return count(one) < count(other);
                         });
      links.kernel_of[operation.name] = kernel;
      append_new(kernel, links.kernels);
    }
  }
}

// Adds, for each pair of a kernel and a buffer that the kernel writes, the lines of source and the modules of the nodes
// from which the buffer is computed.
void add_places(const Seen& seen, DirectionLinks& links) {
  std::unordered_map<std::string, const SeenNode*> captured;
  for (const SeenNode& row : seen.captured)
    if (row.line) captured[row.name] = &row;
  struct Row {
    const SeenNode* node = nullptr;
    std::size_t position = 0;
  };
  // Maps a name to the last node that has this name and a line of source, and to the position of the last node that has
  // this name.
  std::unordered_map<std::string, Row> rows;
  std::size_t position = 0;
  for (const std::vector<SeenNode>* graph : {&links.seen->graph, &links.seen->post_grad})
    for (const SeenNode& node : *graph) {
      Row& row = rows[node.name];
      if (node.line) row.node = &node;
      row.position = position++;
    }
  for (const OperationGroup& group : links.seen->operations) {
    std::map<std::size_t, const std::string*> origins;
    for (const SeenOperation& operation : group)
      for (const std::string& origin : operation.origins)
        if (const auto row = rows.find(origin); row != rows.end() && links.kernel_of.contains(operation.name))
          origins.emplace(row->second.position, &origin);
    std::vector<SeenPlace> places;
    const auto add = [&](const SeenNode& node) {
      const auto is_of_node = [&](const SeenPlace& place) {
        return place.module == node.module && place.line == *node.line;
      };
      if (std::none_of(places.begin(), places.end(), is_of_node)) places.push_back({node.module, *node.line});
    };
    for (const auto& [unused, origin] : origins) {
      if (const SeenNode* node = rows.find(*origin)->second.node) {
        add(*node);
      } else if (const Names* sources = known(links.captured, *origin)) {
        for (const std::string& source : *sources)  // a node that a pass of Inductor made has no line of its own
          if (const auto entry = captured.find(source); entry != captured.end()) add(*entry->second);
      }
    }
    for (const SeenOperation& operation : group)
      if (const auto kernel = links.kernel_of.find(operation.name); kernel != links.kernel_of.end())
        for (const std::string& buffer : operation.writes) links.places[{kernel->second, buffer}] = places;
  }
}

using RowsOf = std::unordered_map<std::string, Rows>;

// Returns a map from each captured node to the nodes of `rows` that come from the captured node.
template <class CapturedOf>
RowsOf inverted(const std::vector<SeenNode>& rows, CapturedOf captured_of) {
  RowsOf result;
  for (const SeenNode& row : rows) {
    const Names* names = captured_of(row.name);
    if (!names) continue;
    Names distinct;
    append_new(*names, distinct);
    for (const std::string& name : distinct) result[name].push_back(&row);
  }
  return result;
}

Names names_of(const RowsOf& rows, const std::string& captured) {
  Names names;
  if (const auto entry = rows.find(captured); entry != rows.end())
    for (const SeenNode* row : entry->second) names.push_back(row->name);
  return names;
}

// For one direction (forward or backward), maps each captured node to the nodes that were made from it, and maps each
// of these nodes to the operations of Inductor's IR that were made from the node.
struct Stages {
  explicit Stages(const DirectionLinks& direction) : links(&direction) {
    const auto captured_of = [&](const std::string& name) { return known(direction.captured, name); };
    graph = inverted(direction.seen->graph, captured_of);
    post_grad = inverted(direction.seen->post_grad, captured_of);
    for (const OperationGroup& group : direction.seen->operations)
      for (const SeenOperation& operation : group) {
        for (const std::string& origin : operation.origins) made_of[origin].push_back(operations.size());
        operations.push_back(&operation);
      }
  }

  // Returns the operations that Inductor made from any of the nodes, in order.
  std::vector<const SeenOperation*> operations_of(const Names& nodes) const {
    std::set<std::size_t> numbers;
    for (const std::string& node : nodes)
      if (const auto entry = made_of.find(node); entry != made_of.end())
        numbers.insert(entry->second.begin(), entry->second.end());
    std::vector<const SeenOperation*> result;
    for (const std::size_t number : numbers) result.push_back(operations[number]);
    return result;
  }

  const DirectionLinks* links;
  RowsOf graph, post_grad;
  std::vector<const SeenOperation*> operations;
  std::unordered_map<std::string, std::vector<std::size_t>> made_of;
};

Names gaps(const SeenLink& link, const SeenDirection& direction) {
  Names result;
  if (!link.graph.empty() && direction.post_grad.empty())
    result.push_back(
        "post_grad: depyf did not see the graph after Inductor's passes, because another backend, another process or "
        "a cache gave the result");
  else if (!link.graph.empty() && link.post_grad.empty()) result.push_back(no_node_after_passes);
  if (!link.post_grad.empty() && direction.operations.empty())
    result.push_back(
        "operations: depyf did not see Inductor's IR, because the result came from a cache or from another process");
  else if (!link.post_grad.empty() && link.operations.empty())
    result.push_back(
        "operations: Inductor created no operation for this node, because the node is a view, or its value is "
        "computed where it is used");
  if (!link.operations.empty() && link.kernels.empty())
    result.push_back("kernels: no kernel of the output code writes the value of this node");
  return result;
}

// Returns the reason why no direction contains a node that comes from the captured node of `chain`.
std::string why_nowhere(const SeenChain& chain, const Seen& seen) {
  const bool has_graph = std::any_of(
      seen.directions.begin(), seen.directions.end(),
      [](const SeenDirection& direction) { return !direction.graph.empty() || !direction.post_grad.empty(); });
  if (!has_graph) return no_graph_with_nodes;
  if (!chain.joint.empty()) return only_in_joint_graph;
  return named_by_no_node;
}

SeenChain chain_of(const SeenNode& node, const RowsOf& joint, const std::vector<Stages>& all_stages, const Seen& seen) {
  SeenChain chain;
  chain.node = &node;
  chain.joint = names_of(joint, node.name);
  for (const Stages& stages : all_stages) {
    const std::string& direction = stages.links->seen->name;
    SeenLink link;
    link.graph = names_of(stages.graph, node.name);
    link.post_grad = names_of(stages.post_grad, node.name);
    for (const SeenOperation* operation : stages.operations_of(link.post_grad)) {
      link.operations.push_back(operation->name);
      if (const auto kernel = stages.links->kernel_of.find(operation->name); kernel != stages.links->kernel_of.end())
        append_new(kernel->second, link.kernels);
    }
    link.not_recorded = gaps(link, *stages.links->seen);
    Names decomposed;
    if (const auto rows = stages.graph.find(node.name); rows != stages.graph.end())
      for (const SeenNode* row : rows->second)
        if (row->is_backward == (direction == "backward")) append_new(row->target, decomposed);
    if (!decomposed.empty()) chain.decomposed.emplace_back(direction, std::move(decomposed));
    if (!link.graph.empty() || !link.post_grad.empty()) chain.directions.emplace_back(direction, std::move(link));
  }
  if (chain.directions.empty()) chain.not_recorded.push_back(why_nowhere(chain, seen));
  return chain;
}

Rows pointers_to(const std::vector<SeenNode>& nodes) {
  Rows rows;
  for (const SeenNode& node : nodes) rows.push_back(&node);
  return rows;
}

}  // namespace

std::string name_of(const SeenLine& line) {
  return line.file.substr(line.file.find_last_of("/\\") + 1);  // npos + 1 is 0
}

void append_new(const std::string& name, Names& list) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

void append_new(const Names& names, Names& list) {
  for (const std::string& name : names) append_new(name, list);
}

const DirectionLinks* SeenLinks::find(std::string_view direction) const {
  const auto entry = std::find_if(directions.begin(), directions.end(),
                                  [&](const DirectionLinks& links) { return links.seen->name == direction; });
  return entry == directions.end() ? nullptr : &*entry;
}

const Names* SeenLinks::captured_anywhere(const std::string& node) const {
  for (const DirectionLinks& direction : directions)
    if (const Names* names = known(direction.captured, node)) return names;
  return nullptr;
}

SeenLinks link_seen(const Seen& seen, const ReplacedBy& replaced) {
  Sources sources(seen);
  NamesOf captured = sources.of_graphs();
  Rows graphs;
  for (const SeenDirection& direction : seen.directions)
    for (const SeenNode& row : direction.graph) graphs.push_back(&row);
  add_replaced(graphs, replaced, "", captured);
  SeenLinks links;
  for (const SeenDirection& direction : seen.directions) {
    DirectionLinks& own = links.directions.emplace_back();
    own.seen = &direction;
    own.captured = captured;
    for (const SeenNode& row : direction.post_grad) {
      Names names = sources.of(row);
      if (const Names* of_name = names.empty() ? known(captured, row.name) : nullptr) names = *of_name;
      if (names.empty()) names = sources.of_number(row);
      if (!names.empty()) own.captured[row.name] = std::move(names);
    }
    add_replaced(pointers_to(direction.post_grad), replaced, direction.name, own.captured);
    for (const std::vector<SeenNode>* rows : {&direction.graph, &direction.post_grad})
      for (const SeenNode& row : *rows)
        if (row.line) own.lines[row.name] = row.line.get();
    add_kernels(own);
    if (!direction.operations.empty()) add_places(seen, own);
  }
  std::vector<Stages> all_stages;
  for (const DirectionLinks& direction : links.directions) all_stages.emplace_back(direction);
  const RowsOf joint = inverted(seen.joint, [&](const std::string& name) { return links.captured_anywhere(name); });
  for (const SeenNode& node : seen.captured) links.chains.push_back(chain_of(node, joint, all_stages, seen));
  return links;
}

}  // namespace depyf::links
