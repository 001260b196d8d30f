// Reads graphs and output code of a log. The graphs and the output code are parsed only when a caller needs them.
#include <algorithm>
#include <optional>

#include "depyf/trace.h"
#include "json/json.h"
#include "record/graph.h"
#include "trace/output_code.h"

namespace depyf {
namespace {

using namespace record;

class GraphReader {
 public:
  GraphReader(std::string_view log, Compilation& compilation) : log_(log), compilation_(compilation) {}

  void run() {
    for (const Artifact& artifact : compilation_.artifacts) {
      if (const std::string_view stage = stage_of(artifact); is_linked(stage)) graph(stage, artifact);
      else if (artifact.kind == "inductor_output_code") output_code(artifact);
      else if (artifact.name == "inductor_provenance_tracking_node_mappings") mappings(artifact);
    }
    compilation_.output_codes = std::move(codes_);
  }

 private:
  void graph(std::string_view stage, const Artifact& artifact) {
    Graph graph = graph_of(payload_of(log_, artifact));
    graph.stage = stage;
    graph.direction = direction_of(stage);
    if (stage == "joint") mark_backward(graph);
    if (stage == "captured") {  // A new attempt logs all later stages again.
      compilation_.graphs.clear();
      codes_.clear();
    }
    if (stage == "post_grad") waiting_ = compilation_.graphs.size();
    compilation_.graphs.push_back(std::move(graph));
  }

  // The output code states its direction and its number, which also apply to the post-grad graph that Inductor logged
  // before the code.
  void output_code(const Artifact& artifact) {
    OutputCode code = trace::read_output_code(payload_of(log_, artifact));
    if (waiting_ && *waiting_ < compilation_.graphs.size()) {
      compilation_.graphs[*waiting_].direction = code.direction;
      compilation_.graphs[*waiting_].number = code.number;
    }
    waiting_.reset();
    codes_.push_back(std::move(code));
  }

  void mappings(const Artifact& artifact) {
    const std::string payload = payload_of(log_, artifact);
    json::Document document;
    if (codes_.empty() || document.parse(payload)) return;
    auto fill = [&](const char* name, std::map<std::string, std::vector<std::string>>& map) {
      document.root()[name].for_each_member([&](json::Value key, json::Value names) {
        std::vector<std::string> texts;
        names.for_each_item([&](json::Value item) { texts.push_back(item.text()); });
        map[key.text()] = std::move(texts);
      });
    };
    fill("postToPre", codes_.back().captured_of);
    fill("cppCodeToPost", codes_.back().nodes_of);
  }

  std::string_view log_;
  Compilation& compilation_;
  std::vector<OutputCode> codes_;
  std::optional<std::size_t> waiting_;  // the index of the last post-grad graph, until its output code is read
};

}  // namespace

void read_graphs(std::string_view bytes, Process& process) {
  for (Compilation& compilation : process.compilations) GraphReader(bytes, compilation).run();
}

}  // namespace depyf
