#include "costs/memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "dumps/members.h"

namespace depyf::costs {
namespace {

using dumps::place_of, dumps::text_of, dumps::texts_of;

constexpr std::size_t cone_max = 2000;  // the largest number of recomputed operators that are counted for a value
constexpr std::size_t named_max = 2;    // the largest number of values that a sentence names

std::int64_t integer_of(json::Value value) { return value.integer().value_or(0); }

JointValue value_of(json::Value item) {
  JointValue value;
  value.name = text_of(item["name"]);
  value.op = text_of(item["operator"]);
  item["inputs"].for_each_item(
      [&](json::Value input) { value.inputs.push_back(static_cast<std::size_t>(integer_of(input))); });
  value.dtype = text_of(item["dtype"]);
  value.shape = texts_of(item["shape"]);
  value.bytes = integer_of(item["bytes"]);
  value.storage = item["storage"].integer().value_or(-1);
  value.storage_bytes = integer_of(item["storage_bytes"]);
  value.place = place_of(item["line"]);
  value.module = text_of(item["module"]);
  value.rule = text_of(item["rule"]);
  value.source = text_of(item["source"]);
  value.is_forward = item["is_forward"].is_true();
  return value;
}

// Returns a clause that explains a reason of the partitioner; the reason itself if no explanation is known.
std::string in_words(const std::string& rule) {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"not in recomputable allowlist", "its operator is not among those that PyTorch recomputes"},
      {"materialized in backward", "the backward reads it in an operator that needs it in memory"},
      {"compute intensive op", "its operator computes much"},
      {"random op", "its operator draws random numbers"},
      {"reduction op", "its operator reduces its input to less than a quarter"},
      {"too far from backward", "too many operators lie between it and the backward"},
      {"non-builtin op", "its operator is not one of PyTorch's own"},
      {"marked MUST_SAVE", "a checkpoint policy says MUST_SAVE"},
      {"forward RNG seed", "it is the state of random numbers"},
  };
  const auto known = words.find(rule);
  return known == words.end() ? rule : known->second;
}

class Reader {
 public:
  explicit Reader(json::Value graph) : graph_(graph) {}

  GraphMemory run() {
    memory_.compile_id = text_of(graph_["compile_id"]);
    memory_.partitioner = text_of(graph_["partitioner"]);
    graph_["values"].for_each_item([&](json::Value item) { memory_.values.push_back(value_of(item)); });
    for (JointValue& value : memory_.values)
      std::erase_if(value.inputs, [&](std::size_t input) { return input >= memory_.values.size(); });
    for (std::size_t i = 0; i < memory_.values.size(); ++i) index_of_.emplace(memory_.values[i].name, i);
    plans();
    saved();
    return std::move(memory_);
  }

 private:
  const JointValue& value(std::size_t index) const { return memory_.values[index]; }

  void plans() {
    Symbols symbols;
    graph_["symbols"].for_each_member(
        [&](json::Value name, json::Value size) { symbols[name.text()] = integer_of(size); });
    Nodes nodes;
    for (const JointValue& value : memory_.values) {
      const NodeFacts facts{value.place, value.dtype};
      nodes.try_emplace(value.name, facts);
      if (!value.source.empty()) nodes.try_emplace(value.source, facts);
    }
    const std::int64_t threads = integer_of(graph_["threads"]);
    OwnMemory own_memory;
    graph_["own_memory"].for_each_member(
        [&](json::Value call, json::Value bytes) { own_memory[call.text()] = integer_of(bytes); });
    memory_.forward = plan_of(text_of(graph_["forward_code"]), symbols, nodes, threads, own_memory);
    memory_.backward = plan_of(text_of(graph_["backward_code"]), symbols, nodes, threads, own_memory);
  }

  // The memory of a tensor: a number that identifies the memory, its bytes, and a flag that is true if the memory
  // belongs to an input.
  struct Memory {
    std::int64_t number = 0, bytes = 0;
    bool is_input = false;
  };

  // Returns the memory of a value that the forward returns at `position`. If the output code returns a buffer at
  // `position`, the result describes this buffer. If the output code returns no buffer at `position`, the result
  // describes memory that the joint graph states: the memory of the input that the output code returns, or else the
  // memory of the value.
  Memory memory_of(std::size_t index, std::size_t position) const {
    const Plan& plan = memory_.forward;
    if (position < plan.returned.size() && plan.returned[position] >= 0) {
      const Buffer& buffer = plan.buffers[static_cast<std::size_t>(plan.returned[position])];
      const std::int64_t number = static_cast<std::int64_t>(memory_.values.size()) + plan.returned[position];
      std::int64_t bytes = buffer.bytes;
      if (const std::int64_t width = element_bytes_of(value(index).dtype); buffer.elements >= 0 && width)
        bytes = buffer.elements * width;
      return {number, bytes < 0 ? value(index).storage_bytes : bytes, false};
    }
    std::size_t of_memory = index;
    if (position < plan.returned.size() && plan.returned[position] == -1)
      if (const auto input = index_of_.find(plan.returned_names[position]); input != index_of_.end())
        of_memory = input->second;
    const JointValue& owner = value(of_memory);
    const bool is_input = std::any_of(memory_.values.begin(), memory_.values.end(), [&](const JointValue& other) {
      return other.op.empty() && other.is_forward && other.storage == owner.storage;
    });
    return {owner.storage, owner.storage_bytes, is_input};
  }

  void saved() {
    std::vector<std::string> names = texts_of(graph_["saved"]);
    std::size_t position = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_of(graph_["outputs"])));
    std::set<std::size_t> kept;
    for (const std::string& name : names)
      if (const auto index = index_of_.find(name); index != index_of_.end()) kept.insert(index->second);
    std::map<std::int64_t, std::string> first_in;
    for (const std::string& name : names) {
      const std::size_t at = position++;
      const auto index = index_of_.find(name);
      if (index == index_of_.end() || value(index->second).storage < 0) continue;
      Saved saved;
      saved.value = index->second;
      const Memory memory = memory_of(index->second, at);
      const auto [first, is_new] = first_in.try_emplace(memory.number, name);
      if (is_new) saved.counted_bytes = memory.bytes;
      else saved.shares_with = first->second;
      saved.is_input = memory.is_input;
      (memory.is_input ? memory_.input_bytes : memory_.saved_bytes) += saved.counted_bytes;
      explain(saved, kept);
      memory_.saved.push_back(std::move(saved));
    }
  }

  void explain(Saved& saved, const std::set<std::size_t>& kept) const {
    const JointValue& own = value(saved.value);
    if (own.op.empty()) {
      saved.kind = "input";
      saved.why = "an input of the graph, which the backward reads; it is held in any case";
      return;
    }
    std::vector<std::size_t> banned;
    cone(saved, kept, banned);
    if (memory_.partitioner == "default") {
      saved.kind = "needed";
      saved.why = "the backward reads it, and the default partitioner recomputes nothing";
      return;
    }
    const std::size_t made_by = operator_of(saved.value);
    if (const std::string& rule = value(made_by).rule; !rule.empty()) {
      saved.kind = "banned";
      saved.why = "may not be recomputed: " + in_words(rule);
      return;
    }
    saved.kind = "cheaper";
    saved.why = "could be recomputed, and keeping it takes the fewest bytes";
    if (banned.empty()) return;
    saved.why += ": it stands for ";
    for (std::size_t i = 0; i < std::min(banned.size(), named_max); ++i)
      saved.why += (i ? ", " : "") + value(banned[i]).name;
    if (banned.size() > named_max) saved.why += " and " + std::to_string(banned.size() - named_max) + " more";
    saved.why += ", which may not be recomputed (" + in_words(value(banned[0]).rule) + ")";
  }

  // Returns the operator that decides whether PyTorch allows recomputing a value. For a `getitem` node without a rule
  // of its own, returns the operator that computed the result from which the item is taken.
  std::size_t operator_of(std::size_t index) const {
    while (value(index).rule.empty() && value(index).op.find("getitem") != std::string::npos &&
           !value(index).inputs.empty() && value(index).inputs[0] < index)
      index = value(index).inputs[0];
    return index;
  }

  // Counts the operators that recomputing a value would run: the operators on the paths that lead from inputs and other
  // kept values to the value. Adds to `banned` the intermediate values that PyTorch does not allow to be recomputed.
  void cone(Saved& saved, const std::set<std::size_t>& kept, std::vector<std::size_t>& banned) const {
    std::vector<std::size_t> waiting{saved.value};
    std::set<std::size_t> seen{saved.value};
    while (!waiting.empty() && saved.recomputed_operators < cone_max) {
      const std::size_t index = waiting.back();
      waiting.pop_back();
      const JointValue& own = value(index);
      if (own.op.empty()) continue;
      if (index != saved.value && !own.rule.empty()) banned.push_back(index);
      const bool is_view = std::any_of(own.inputs.begin(), own.inputs.end(), [&](std::size_t input) {
        return own.storage >= 0 && value(input).storage == own.storage;
      });
      if (!is_view && own.op.find("getitem") == std::string::npos) {
        ++saved.recomputed_operators;
        saved.recomputed_bytes += own.bytes;
        for (const std::size_t input : own.inputs) saved.recomputed_bytes += value(input).bytes;
      }
      for (const std::size_t input : own.inputs)
        if ((!kept.contains(input) || input == saved.value) && seen.insert(input).second) waiting.push_back(input);
    }
  }

  json::Value graph_;
  GraphMemory memory_;
  std::unordered_map<std::string, std::size_t> index_of_;
};

}  // namespace

GraphMemory graph_memory(json::Value graph) { return Reader(graph).run(); }

}  // namespace depyf::costs
