// Writes the links of a compilation (see depyf/seen.h), and the remarks at the lines of graphs and of Inductor's IR.
#include <algorithm>
#include <iterator>

#include "depyf/graph_text.h"
#include "depyf/seen.h"
#include "links/seen.h"
#include "record/graph.h"
#include "support/words.h"
#include "texts/markdown.h"
#include "texts/not_fused.h"
#include "texts/operations.h"
#include "texts/output_code_comments.h"
#include "texts/provenance_json.h"
#include "texts/tables.h"

namespace depyf {

using namespace links;
using texts::AnnotatedFile, texts::names_in_group, texts::Neighbours, texts::Operations, texts::Subjects;
using texts::neighbours_not_fused, texts::subjects_of;

struct Provenance::State {
  State(Seen of_compilation, const ReplacedBy& replaced)
      : seen(std::move(of_compilation)), links(link_seen(seen, replaced)) {
    for (const SeenChain& chain : links.chains) chains[chain.node->name] = &chain;
    for (const DirectionLinks& direction : links.directions) {
      has_kernels = has_kernels || !direction.kernel_of.empty();
      for (const OperationGroup& group : direction.seen->operations)
        for (const SeenOperation& operation : group) {
          operations[direction.seen->name][operation.name] = &operation;
          const auto kernel = direction.kernel_of.find(operation.name);
          if (kernel == direction.kernel_of.end()) continue;
          for (const std::string& origin : operation.origins) {
            append_new(kernel->second, kernels_of[direction.seen->name][origin]);
            append_new(kernel->second, kernels_of[""][origin]);
          }
        }
      std::vector<Neighbours> of_direction = neighbours_not_fused(direction);
      std::move(of_direction.begin(), of_direction.end(), std::back_inserter(neighbours));
    }
  }

  Remark remark_of_captured(const std::string& name) const {
    const auto entry = chains.find(name);
    if (entry == chains.end()) return {};
    const SeenChain& chain = *entry->second;
    Remark remark;
    for (const auto& [direction, link] : chain.directions) {
      if (link.kernels.empty()) continue;
      const char* separator = remark.parts.empty() ? "" : "; ";
      remark.parts.push_back({separator + direction + ": ", link.kernels, link.kernels.size(), "kernel", ""});
    }
    if (!remark.parts.empty()) return remark;
    // If the backend generates no kernels, all nodes lack links for the same reason, which is not repeated at each
    // node.
    if (!chain.directions.empty() && !has_kernels) return {};
    Names why;
    append_new(chain.not_recorded, why);
    for (const auto& [direction, link] : chain.directions) append_new(link.not_recorded, why);
    remark.sentence = "no kernel: " + joined(why, "; ");
    return remark;
  }

  Remark remark_of_operation(const std::string& name, const std::string& direction) const {
    const DirectionLinks* of_direction = links.find(direction);
    const auto known = operations.find(direction);
    if (!of_direction || known == operations.end()) return {};
    Operations parts;
    for (const std::string& part : names_in_group(name))
      if (const auto entry = known->second.find(part); entry != known->second.end()) parts.push_back(entry->second);
    if (parts.empty()) return {};
    Names kernels;
    for (const SeenOperation* operation : parts)
      if (const auto kernel = of_direction->kernel_of.find(operation->name); kernel != of_direction->kernel_of.end())
        append_new(kernel->second, kernels);
    const Subjects subjects = subjects_of(parts, *of_direction);
    Remark remark;
    remark.parts.push_back({"", subjects.nodes, subjects.nodes.size(), "node", ""});
    if (!subjects.places.empty()) remark.parts.push_back({" (", subjects.places, subjects.places.size(), "line", ")"});
    if (!kernels.empty()) remark.parts.push_back({" -> ", kernels, kernels.size(), "kernel", ""});
    return remark;
  }

  // Returns the remark for a node of AOTAutograd's or Inductor's graphs. The direction is empty for a node of the joint
  // graph.
  Remark remark_of_node(const std::string& name, const std::string& direction) const {
    const Names* captured = nullptr;
    if (direction.empty()) {
      captured = links.captured_anywhere(name);
    } else if (const DirectionLinks* of_direction = links.find(direction)) {
      const auto entry = of_direction->captured.find(name);
      captured = entry == of_direction->captured.end() ? nullptr : &entry->second;
    }
    Remark remark;
    if (captured && !captured->empty()) remark.parts.push_back({"<- ", *captured, captured->size(), "node", ""});
    if (const auto of_direction = kernels_of.find(direction); of_direction != kernels_of.end())
      if (const auto kernels = of_direction->second.find(name); kernels != of_direction->second.end())
        remark.parts.push_back(
            {remark.parts.empty() ? "-> " : " -> ", kernels->second, kernels->second.size(), "kernel", ""});
    return remark;
  }

  // Adds a graph to `compilation`, from which the tables of costs are computed.
  void add_graph(const std::string& kind, const std::string& direction, std::string_view text) {
    record::Artifact artifact;
    artifact.kind = kind;
    const std::string_view stage = record::stage_of(artifact);
    if (stage != "forward" && stage != "backward" && stage != "post_grad") return;
    record::Graph& graph = compilation.graphs.emplace_back(record::graph_of(text));
    graph.stage = stage == "forward" && seen.joint.empty() ? "inference" : stage;
    graph.direction = direction;
  }

  Seen seen;
  SeenLinks links;
  std::unordered_map<std::string, const SeenChain*> chains;  // maps a captured node to its chain
  std::unordered_map<std::string, std::unordered_map<std::string, const SeenOperation*>>
      operations;  // maps a direction and a name to an operation
  std::unordered_map<std::string, NamesOf> kernels_of;  // by direction (empty for any direction) and node
  std::vector<Neighbours> neighbours;
  std::vector<AnnotatedFile> files;
  record::Compilation compilation;  // contains only the parts that the tables read
  bool has_kernels = false;
};

Provenance::Provenance(Seen seen, const ReplacedBy& replaced)
    : state_(std::make_unique<State>(std::move(seen), replaced)) {}
Provenance::Provenance(Provenance&&) noexcept = default;
Provenance::~Provenance() = default;

std::string Provenance::annotated(const std::string& file, const std::string& kind, const std::string& direction,
                                  std::string_view text) {
  const std::string plain_text = texts::without_comments(text);
  const std::string own = direction == "backward" ? direction : "forward";
  if (kind == "kernel") {
    record::OutputCode& code = state_->compilation.output_codes.emplace_back();
    code.direction = own;
    return texts::with_places(plain_text, state_->links.find(own), code.calls);
  }
  state_->add_graph(kind, own, plain_text);
  AnnotatedFile annotated{file, kind, direction, {}};
  const bool is_ir = kind.starts_with("ir_");
  const bool is_captured = kind == "Captured_Graph" || kind == "BEFORE_PRE_GRAD" || kind == "AFTER_PRE_GRAD";
  const std::string of_direction = kind == "Joint_graph" ? "" : own;
  std::string result = with_remarks(
      plain_text, is_ir, texts::comment_mark,
      [&](const std::string& name) {
        return is_captured ? state_->remark_of_captured(name)
               : is_ir     ? state_->remark_of_operation(name, own)
                           : state_->remark_of_node(name, of_direction);
      },
      annotated.lines);
  state_->files.push_back(std::move(annotated));
  return result;
}

std::string Provenance::to_json(const LinkedCompilation& compilation) const {
  return texts::provenance_json(compilation, state_->seen, state_->links, state_->files, state_->neighbours);
}

std::string Provenance::tables() const {
  for (const SeenChain& chain : state_->links.chains) {
    record::Chain& shown = state_->compilation.chains.emplace_back();
    shown.node = chain.node->name;
    shown.module = chain.node->module;
    if (chain.node->line) shown.place = texts::record_place(*chain.node->line);
    for (const auto& [direction, link] : chain.directions) {
      shown.directions[direction].graph = link.graph;
      shown.directions[direction].post_grad = link.post_grad;
    }
  }
  return texts::tables_of(state_->compilation);
}

std::vector<std::string> Provenance::story() const {
  using texts::prose;
  std::vector<std::string> lines;
  for (const SeenChain& chain : state_->links.chains) {
    Names kernels;
    for (const auto& [direction, link] : chain.directions)
      if (!link.kernels.empty()) kernels.push_back(direction + " " + joined(link.kernels, ", "));
    if (kernels.empty() || !chain.node->line) continue;
    lines.push_back("- " + texts::literal(texts::place_text(*chain.node->line)) + " " + texts::code(chain.node->name) +
                    " (" + prose(chain.node->target) + "): " + prose(joined(kernels, "; ")));
  }
  for (const Neighbours& pair : state_->neighbours)
    lines.push_back("- not fused (" + pair.direction +
                    "): " + prose(pair.first_subject + " with " + pair.second_subject + ": " + pair.why));
  return lines;
}

}  // namespace depyf
