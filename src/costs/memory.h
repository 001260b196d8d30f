// Describes the tensors that a training graph keeps for its backward: the tensors that share memory, the reason why
// each tensor is kept, and the cost of recomputing the tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "costs/plan.h"
#include "json/json.h"

namespace depyf::costs {

// A value of the joint graph, which `compat/joint_values.py` has read.
struct JointValue {
  std::string name, op;  // the name and the operator; `op` is empty for an input
  std::vector<std::size_t> inputs;
  std::string dtype;
  std::vector<std::string> shape;
  std::int64_t bytes = 0;
  std::int64_t storage = -1, storage_bytes = 0;  // `storage` is -1 if the value is no tensor
  record::Place place;
  std::string module;
  std::string rule;  // the reason why the value may not be recomputed; empty if recomputing is allowed
  std::string source;  // the captured node from which the value comes
  bool is_forward = true;
};

// A tensor that is kept for the backward.
struct Saved {
  std::size_t value = 0;  // the index of the tensor's JointValue
  std::int64_t counted_bytes = 0;  // the bytes of the tensor's memory; 0 if an earlier tensor shares the memory
  std::string shares_with;  // the earlier tensor that shares the memory
  bool is_input = false;  // true if the tensor is in the memory of an input or a parameter, which is kept in any case
  std::string kind;  // "input", "banned", "cheaper" or "needed"
  std::string why;  // a sentence with the reason why the tensor is kept
  // The number of operators that would recompute the tensor from other saved tensors and inputs.
  std::size_t recomputed_operators = 0;
  std::int64_t recomputed_bytes = 0;  // the bytes that the recomputed operators read and write
};

struct GraphMemory {
  std::string compile_id, partitioner;
  std::vector<JointValue> values;
  std::vector<Saved> saved;
  std::int64_t saved_bytes = 0, input_bytes = 0;
  Plan forward, backward;  // without output code, the plans have no buffers
};

// Reads one graph of the data of `depyf.memory_costs`.
GraphMemory graph_memory(json::Value graph);

}  // namespace depyf::costs
