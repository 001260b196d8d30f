// Which texts of a dump or a log the page shows, and under which stage.
#include <algorithm>
#include <map>
#include <string_view>

#include "depyf/page.h"

namespace depyf {
namespace {

using namespace record;

struct StageOfKind {
  std::string_view kind, name, stage, direction;
};

// The kinds of files of a dump, and the records of a log; some of these are kinds of their own, others artifacts with a name.
constexpr StageOfKind stages[] = {
    {"Captured_Graph", "", "captured", ""},
    {"BEFORE_PRE_GRAD", "", "pre_grad_before", ""},
    {"AFTER_PRE_GRAD", "", "pre_grad", ""},
    {"Joint_graph", "", "joint", ""},
    {"Forward_graph", "", "forward", "forward"},
    {"Backward_graph", "", "backward", "backward"},
    {"BEFORE_POST_GRAD", "", "post_grad_before", ""},
    {"AFTER_POST_GRAD", "", "post_grad", ""},
    {"ir_pre_fusion", "", "ir_before", ""},
    {"ir_post_fusion", "", "ir", ""},
    {"kernel", "", "kernel", ""},
    {"dynamo_output_graph", "", "captured", ""},
    {"aot_joint_graph", "", "joint", ""},
    {"aot_forward_graph", "", "forward", "forward"},
    {"aot_inference_graph", "", "forward", "forward"},
    {"aot_backward_graph", "", "backward", "backward"},
    {"inductor_pre_grad_graph", "", "pre_grad", ""},
    {"inductor_post_grad_graph", "", "post_grad", ""},
    {"inductor_output_code", "", "kernel", ""},
    {"dynamo_cpp_guards_str", "", "guards", ""},
    {"artifact", "before_pre_grad_graph", "pre_grad_before", ""},
    {"artifact", "after_pre_grad_graph", "pre_grad", ""},
    {"artifact", "before_post_grad_graph", "post_grad_before", ""},
    {"artifact", "after_post_grad_graph", "post_grad", ""},
    {"artifact", "inductor_post_grad_graph", "post_grad", ""},
    {"artifact", "inductor_ir_pre_fusion", "ir_before", ""},
    {"artifact", "inductor_ir_post_fusion", "ir", ""},
};

const StageOfKind* stage_of(const Artifact& artifact) {
  const auto stage = std::find_if(std::begin(stages), std::end(stages), [&](const StageOfKind& candidate) {
    return candidate.kind == artifact.kind && (candidate.name.empty() || candidate.name == artifact.name);
  });
  return stage == std::end(stages) ? nullptr : stage;
}

std::string without_inference(const std::string& direction) { return direction == "inference" ? "forward" : direction; }

// A log does not name the direction of what Inductor makes; the output code does. What Inductor logs before an output code is of
// the same graph.
void complete_directions(std::vector<PageText>& texts, const Compilation& compilation) {
  std::size_t code = 0, first = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].stage != "kernel") continue;
    const std::string direction =
        code < compilation.output_codes.size() ? without_inference(compilation.output_codes[code].direction) : "";
    ++code;
    for (; first <= i; ++first)
      if (const std::string& stage = texts[first].stage;
          texts[first].direction.empty() &&
          (stage.starts_with("post_grad") || stage.starts_with("ir") || stage == "kernel"))
        texts[first].direction = direction;
  }
}

std::vector<PageText> texts_of(const Compilation& compilation, const ReadArtifact& read_artifact) {
  std::vector<PageText> texts;
  for (const auto& [file, stage] :
       {std::pair(&compilation.code_file, "code"), std::pair(&compilation.guards_file, "guards")}) {
    if (file->empty()) continue;
    Artifact artifact;
    artifact.name = *file;
    if (std::optional<std::string> text = read_artifact(artifact))
      texts.push_back({stage, "", *file, std::move(*text)});
  }
  for (const Artifact& artifact : compilation.artifacts) {
    const StageOfKind* stage = stage_of(artifact);
    if (!stage) continue;
    std::optional<std::string> text = read_artifact(artifact);
    if (!text) continue;
    if (artifact.kind == "dynamo_output_graph")  // a new attempt, which makes all that follows anew
      std::erase_if(texts,
                    [](const PageText& earlier) { return earlier.stage != "code" && earlier.stage != "guards"; });
    std::string direction =
        stage->direction.empty() ? without_inference(artifact.direction) : std::string(stage->direction);
    if (stage->stage == "captured" || stage->stage == "joint") direction.clear();
    const std::string& name = artifact.name.empty() ? artifact.kind : artifact.name;
    texts.push_back({std::string(stage->stage), std::move(direction), name, std::move(*text)});
  }
  complete_directions(texts, compilation);
  return texts;
}

}  // namespace

PageTexts page_texts(const Process& process, const ReadArtifact& read_artifact) {
  PageTexts texts;
  for (const Compilation& compilation : process.compilations) texts.push_back(texts_of(compilation, read_artifact));
  return texts;
}

}  // namespace depyf
