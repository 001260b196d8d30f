#include "texts/provenance_json.h"

#include <algorithm>
#include <unordered_map>

#include "json/writer.h"

namespace depyf::texts {

using namespace links;

namespace {

using LinesOfKernel = std::vector<std::pair<const std::string*, const SeenLine*>>;

// Returns a map from each kernel of a direction to the captured nodes that the kernel computes, with the user's lines.
std::unordered_map<std::string, LinesOfKernel> lines_of_kernels(const SeenLinks& links, const std::string& direction) {
  std::unordered_map<std::string, LinesOfKernel> result;
  for (const SeenChain& chain : links.chains)
    for (const auto& [name, link] : chain.directions)
      if (name == direction && chain.node->line)
        for (const std::string& kernel : link.kernels)
          result[kernel].emplace_back(&chain.node->name, &*chain.node->line);
  return result;
}

Names missing_in(const Seen& seen, const LinkedCompilation& compilation) {
  Names result;
  for (const SeenDirection& direction : seen.directions) {
    if (!direction.operations.empty()) continue;
    std::string text =
        direction.name + ": " +
        (direction.graph.empty()
             ? "no graph with its nodes was recorded, so the captured nodes are not linked to later nodes"
             : "Inductor's IR was not recorded, so kernels are not linked");
    const auto stage =
        std::find_if(compilation.missing.begin(), compilation.missing.end(), [&](const MissingStage& absent) {
          return (absent.kind == "ir_post_fusion" || absent.kind == "BEFORE_POST_GRAD") &&
                 absent.direction == direction.name;
        });
    if (stage != compilation.missing.end()) text += ": " + stage->why;
    result.push_back(std::move(text));
  }
  return result;
}

class ProvenanceJson {
 public:
  explicit ProvenanceJson(const SeenLinks& links) : links_(links) {}

  std::string text(const LinkedCompilation& compilation, const Seen& seen, const std::vector<AnnotatedFile>& files,
                   const std::vector<Neighbours>& neighbours) {
    out_.object([&] {
      out_.member("compile_id", compilation.id);
      out_.member("function", compilation.function);
      out_.optional("compiled_fn", compilation.compiled_fn);
      out_.object("files", [&] {
        for (const AnnotatedFile& item : files) file(item);
      });
      out_.objects("chains", links_.chains, [&](const SeenChain& item) { chain(item); });
      out_.object("kernels", [&] {
        for (const DirectionLinks& direction : links_.directions)
          if (!direction.seen->operations.empty()) kernels(direction);
      });
      out_.object("not_fused", [&] {
        for (const DirectionLinks& direction : links_.directions)
          if (!direction.seen->operations.empty()) not_fused(direction.seen->name, neighbours);
      });
      out_.strings("missing", missing_in(seen, compilation));
    });
    return out_.take();
  }

 private:
  void file(const AnnotatedFile& item) {
    out_.object(item.name, [&] {
      out_.member("kind", item.kind);
      out_.optional("direction", item.direction);
      out_.object("lines", [&] {
        for (const auto& [name, line] : item.lines) out_.member(name, static_cast<std::int64_t>(line));
      });
    });
  }

  void line(std::string_view name, const SeenLine& item) {
    out_.object(name, [&] {
      out_.member("file", item.file);
      out_.member("line", item.line);
      out_.member("text", item.text);
      out_.member("function", item.function);
    });
  }

  void chain(const SeenChain& item) {
    out_.member("node", item.node->name);
    out_.member("operator", item.node->target);
    if (item.node->line) line("line", *item.node->line);
    else out_.key("line"), out_.null();
    out_.strings("joint", item.joint);
    out_.object("decomposed_into", [&] {
      for (const auto& [direction, operators] : item.decomposed) out_.strings(direction, operators);
    });
    out_.object("directions", [&] {
      for (const auto& [direction, stages] : item.directions) link(direction, stages);
    });
    out_.strings("not_recorded", item.not_recorded);
  }

  void link(const std::string& direction, const SeenLink& stages) {
    out_.object(direction, [&] {
      out_.strings("graph", stages.graph);
      out_.strings("post_grad", stages.post_grad);
      out_.strings("operations", stages.operations);
      out_.strings("kernels", stages.kernels);
      out_.strings("not_recorded", stages.not_recorded);
    });
  }

  void kernels(const DirectionLinks& direction) {
    const std::unordered_map<std::string, LinesOfKernel> lines = lines_of_kernels(links_, direction.seen->name);
    std::unordered_map<std::string, Names> operations;
    for (const OperationGroup& group : direction.seen->operations)
      for (const SeenOperation& operation : group)
        if (const auto kernel = direction.kernel_of.find(operation.name); kernel != direction.kernel_of.end())
          operations[kernel->second].push_back(operation.name);
    out_.objects(direction.seen->name, direction.kernels, [&](const std::string& kernel) {
      out_.member("name", kernel);
      out_.strings("operations", operations[kernel]);
      out_.object("computes", [&] {
        if (const auto computed = lines.find(kernel); computed != lines.end())
          for (const auto& [node, place] : computed->second) line(*node, *place);
      });
    });
  }

  void not_fused(const std::string& direction, const std::vector<Neighbours>& neighbours) {
    std::vector<const Neighbours*> of_direction;
    for (const Neighbours& pair : neighbours)
      if (pair.direction == direction) of_direction.push_back(&pair);
    out_.objects(direction, of_direction, [&](const Neighbours* pair) {
      out_.member("first", group_name(pair->first));
      out_.member("second", group_name(pair->second));
      out_.strings("buffers", pair->buffers);
      out_.member("why", pair->why);
      out_.member("reason", pair->reason);
      out_.member("first_is", pair->first_subject);
      out_.member("second_is", pair->second_subject);
    });
  }

  const SeenLinks& links_;
  json::Writer out_{true};
};

}  // namespace

std::string provenance_json(const LinkedCompilation& compilation, const Seen& seen, const SeenLinks& links,
                            const std::vector<AnnotatedFile>& files, const std::vector<Neighbours>& neighbours) {
  return ProvenanceJson(links).text(compilation, seen, files, neighbours);
}

}  // namespace depyf::texts
