#include <algorithm>

#include "depyf/record.h"

namespace depyf::record {
namespace {

struct RecordOfStage {
  std::string_view kind, name, stage;
};

// The records of a log that contain the text of a stage, each with its kind, its name and the stage. A record with an
// empty name is recognised by its kind alone; a record of the kind "artifact" is recognised by its name.
constexpr RecordOfStage records[] = {
    {"dynamo_output_graph", "", "captured"},
    {"aot_joint_graph", "", "joint"},
    {"aot_forward_graph", "", "forward"},
    {"aot_inference_graph", "", "inference"},
    {"aot_backward_graph", "", "backward"},
    {"inductor_pre_grad_graph", "", "pre_grad"},
    {"inductor_post_grad_graph", "", "post_grad"},
    {"inductor_output_code", "", "kernel"},
    {"artifact", "before_pre_grad_graph", "pre_grad_before"},
    {"artifact", "after_pre_grad_graph", "pre_grad"},
    {"artifact", "before_post_grad_graph", "post_grad_before"},
    {"artifact", "after_post_grad_graph", "post_grad"},
    {"artifact", "inductor_post_grad_graph", "post_grad"},
    {"artifact", "inductor_ir_pre_fusion", "ir_before"},
    {"artifact", "inductor_ir_post_fusion", "ir"},
};

}  // namespace

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

std::string_view stage_of(const Artifact& artifact) {
  for (const Stage& stage : stages())
    if (stage.kind == artifact.kind) return stage.key;
  for (const RecordOfStage& record : records)
    if (record.kind == artifact.kind && (record.name.empty() || record.name == artifact.name)) return record.stage;
  return {};
}

std::string_view direction_of(std::string_view stage) {
  return stage == "forward" || stage == "backward" || stage == "inference" ? stage : std::string_view();
}

bool is_linked(std::string_view stage) {
  return stage == "captured" || stage == "joint" || stage == "post_grad" || !direction_of(stage).empty();
}

}  // namespace depyf::record
