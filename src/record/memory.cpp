#include "record/memory.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "support/words.h"

namespace depyf::record {
namespace {

// Maps the name of an element type in a printed graph to the number of bits of an element.
constexpr std::pair<std::string_view, int> bits_of_types[] = {
    {"f64", 64},       {"f32", 32},       {"f16", 16},      {"bf16", 16},      {"i64", 64},     {"i32", 32},
    {"i16", 16},       {"i8", 8},         {"u8", 8},        {"u16", 16},       {"u32", 32},     {"u64", 64},
    {"b8", 8},         {"c32", 32},       {"c64", 64},      {"c128", 128},     {"f8e4m3fn", 8}, {"f8e5m2", 8},
    {"f8e4m3fnuz", 8}, {"f8e5m2fnuz", 8}, {"f8e8m0fnu", 8}, {"f4e2m1fn_x2", 8}};

constexpr std::int64_t bytes_max = std::int64_t{1} << 56;  // A larger size is a mistake in the text.

const Graph* last_graph_of_stage(const Compilation& compilation, std::string_view stage) {
  const Graph* last = nullptr;
  for (const Graph& graph : compilation.graphs)
    if (graph.stage == stage) last = &graph;
  return last;
}

}  // namespace

std::optional<std::int64_t> bytes_of(std::string_view shape) {
  const std::string_view type = word_at(shape);
  const auto bits = std::find_if(std::begin(bits_of_types), std::end(bits_of_types),
                                 [&](const auto& candidate) { return candidate.first == type; });
  std::string_view sizes = shape.substr(type.size());
  if (bits == std::end(bits_of_types) || !take(sizes, "[")) return std::nullopt;
  const std::size_t end = sizes.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  sizes = sizes.substr(0, end);
  std::int64_t elements = 1;
  while (!sizes.empty()) {
    std::int64_t size = 0;
    const auto [rest, error] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), size);
    sizes.remove_prefix(static_cast<std::size_t>(rest - sizes.data()));
    if (error != std::errc() || size < 0 || (!sizes.empty() && !take(sizes, ", "))) return std::nullopt;
    if (size > 0 && elements > bytes_max / size) return std::nullopt;
    elements *= size;
  }
  return elements * bits->second / 8;
}

std::vector<SavedValue> saved_values(const Compilation& compilation) {
  const Graph* forward = last_graph_of_stage(compilation, "forward");
  const Graph* backward = last_graph_of_stage(compilation, "backward");
  if (!forward || !backward) return {};
  std::unordered_map<std::string_view, const Node*> nodes;
  for (const Node& node : forward->nodes) nodes[node.name] = &node;
  const std::unordered_set<std::string_view> returned(forward->outputs.begin(), forward->outputs.end());
  std::vector<SavedValue> saved;
  for (const Node& input : backward->nodes) {
    if (input.op != "placeholder" || !returned.contains(input.name)) continue;
    if (const auto node = nodes.find(input.name); node != nodes.end())
      saved.push_back({node->second, input.shape.empty() ? node->second->shape : input.shape});
  }
  return saved;
}

}  // namespace depyf::record
