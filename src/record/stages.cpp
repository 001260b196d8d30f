#include "depyf/record.h"

namespace depyf::record {

const std::vector<Stage>& stages() {
  static const std::vector<Stage> table = {
      {"Captured_Graph", "captured", "the graph that Dynamo captured, in the user's own torch functions"},
      {"BEFORE_PRE_GRAD", "pre_grad_before", "the captured graph as Inductor gets it, before its pre-grad passes"},
      {"AFTER_PRE_GRAD", "pre_grad", "the same after Inductor's pre-grad passes"},
      {"Joint_graph", "joint", "forward and backward in one graph, in ATen operators"},
      {"Forward_graph", "forward", "the forward half, in ATen operators"},
      {"Backward_graph", "backward", "the backward half, in ATen operators"},
      {"BEFORE_POST_GRAD", "post_grad_before",
       "one direction as Inductor gets it from AOTAutograd, before its post-grad passes", true},
      {"AFTER_POST_GRAD", "post_grad", "the same after Inductor's post-grad passes", true},
      {"ir_pre_fusion", "ir_before", "Inductor's IR before fusion", true},
      {"ir_post_fusion", "ir", "Inductor's IR after fusion", true},
      {"kernel", "kernel", "Inductor's output code: kernels, and the code that calls them", true},
  };
  return table;
}

}  // namespace depyf::record
