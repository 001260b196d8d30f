// What a training graph keeps for its backward: which tensors share memory, why each is kept, and what recomputing it would cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "costs/plan.h"
#include "json/json.h"

namespace depyf::costs {

// A value of the joint graph, as `compat/joint_values.py` reads it.
struct JointValue {
  std::string name, op;  // an input has no operator
  std::vector<std::size_t> inputs;
  std::string dtype;
  std::vector<std::string> shape;
  std::int64_t bytes = 0;
  std::int64_t storage = -1, storage_bytes = 0;  // -1: it is no tensor
  record::Place place;
  std::string module;
  std::string rule;  // why it may not be recomputed; empty if it may
  std::string source;  // the captured node that it comes from
  bool is_forward = true;
};

// A tensor that is kept.
struct Saved {
  std::size_t value = 0;  // index of the JointValue
  std::int64_t counted_bytes = 0;  // of its memory; 0 if an earlier tensor of the list lies in the same memory
  std::string shares_with;  // that tensor
  bool is_input = false;  // it lies in the memory of an input or a parameter, which is held in any case
  std::string kind;  // "input", "banned", "cheaper" or "needed"
  std::string why;  // a sentence
  std::size_t recomputed_operators = 0;  // what recomputing it from the other saved tensors and inputs would run
  std::int64_t recomputed_bytes = 0;  // that these operators read and write
};

struct GraphMemory {
  std::string compile_id, partitioner;
  std::vector<JointValue> values;
  std::vector<Saved> saved;
  std::int64_t saved_bytes = 0, input_bytes = 0;
  Plan forward, backward;  // without buffers if there is no output code
};

// Reads one graph of the data of `depyf.memory_costs`.
GraphMemory graph_memory(json::Value graph);

}  // namespace depyf::costs
