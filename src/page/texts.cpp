// Selects the texts of a dump or a log that the page shows, and the stage of each text.
#include <algorithm>
#include <map>
#include <string_view>

#include "depyf/page.h"

namespace depyf {
namespace {

using namespace record;

// Returns "forward" for the direction "inference", because the page shows the graph of a program without a backward in
// the place of a forward graph.
std::string without_inference(std::string_view direction) {
  return std::string(direction == "inference" ? "forward" : direction);
}

// Sets the direction (forward or backward) of texts whose direction the log does not state. Inductor's output code
// states its direction, and the texts that Inductor logged in front of the output code belong to the same graph as the
// output code.
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
    const bool is_guards = artifact.kind == "dynamo_cpp_guards_str";
    const std::string stage = is_guards ? "guards" : without_inference(stage_of(artifact));
    if (stage.empty()) continue;
    std::optional<std::string> text = read_artifact(artifact);
    if (!text) continue;
    // Each captured graph is the result of a separate attempt to compile the function. Because a new attempt repeats
    // all stages behind the captured graph, the texts of earlier attempts are removed.
    if (artifact.kind == "dynamo_output_graph")
      std::erase_if(texts,
                    [](const PageText& earlier) { return earlier.stage != "code" && earlier.stage != "guards"; });
    std::string direction(direction_of(stage));
    if (direction.empty()) direction = without_inference(artifact.direction);
    if (stage == "captured" || stage == "joint") direction.clear();
    const std::string& name = artifact.name.empty() ? artifact.kind : artifact.name;
    texts.push_back({stage, std::move(direction), name, std::move(*text)});
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
