// A graph whose nodes can be found by name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"

namespace depyf::links {

inline constexpr int no_node = -1;

class Index {
 public:
  explicit Index(const record::Graph& graph) : graph_(&graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      numbers_.insert_or_assign(graph.nodes[i].name, static_cast<int>(i));
    inputs_.resize(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string& input : graph.nodes[i].inputs)
        if (const int number = find(input); number != no_node) inputs_[i].push_back(number);
  }

  int size() const { return static_cast<int>(graph_->nodes.size()); }
  int find(std::string_view name) const {
    const auto known = numbers_.find(name);
    return known == numbers_.end() ? no_node : known->second;
  }
  const record::Node& operator[](int node) const { return graph_->nodes[static_cast<std::size_t>(node)]; }
  const std::vector<int>& inputs(int node) const { return inputs_[static_cast<std::size_t>(node)]; }
  bool is_input(int node) const { return (*this)[node].op == "placeholder"; }
  const record::Graph& graph() const { return *graph_; }

 private:
  const record::Graph* graph_;
  std::unordered_map<std::string_view, int> numbers_;  // maps a node's name to its index; the graph owns the names
  std::vector<std::vector<int>> inputs_;
};

// Returns the last part of an operator's name without its overload: "addmm" for aten.addmm.default, "gelu" for
// torch._C._nn.gelu.
std::string_view base_name(std::string_view op);

// True if the operator computes nothing, but returns views of its first argument. A view is a tensor that uses the
// memory of another tensor, with sizes or strides of its own.
bool is_view(std::string_view op);

// Returns a text that is equal for two descriptions of tensors with the same type and number of elements: "f32 2048"
// for f32[8, 256][256, 1]cpu. Symbolic sizes are appended to the number of elements unchanged: "f32 2048*s0". Returns
// an empty text if `shape` does not describe a tensor.
std::string elements_of(std::string_view shape);

}  // namespace depyf::links
