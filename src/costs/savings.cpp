#include "costs/savings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "support/words.h"

namespace depyf::costs {
namespace {

using namespace record;

constexpr double saving_min_share = 0.02;  // the least share of the wall time of a reported saving
constexpr std::size_t layers_min = 3;      // the least number of equal layers for which compiled regions save time
constexpr std::size_t nodes_of_line_min = 100;   // a line with fewer operators is not reported as an unrolled loop
// A line with a smaller share of a graph's operators is not reported as an unrolled loop.
constexpr double share_of_line_min = 0.2;
// The factors by which symbols for sizes lengthen a compilation, measured with PyTorch 2.13 on graphs of 36 operators.
constexpr double traced_with_symbols = 2.0, lowered_with_symbols = 1.2;
constexpr std::int64_t usual_operators = 10;  // the assumed number of operators of a graph that the record lacks
constexpr std::string_view resumed = "torch_dynamo_resume_in_";

double part_us(const CompilationTime& row, std::string_view part) {
  for (const PartTime& time : row.parts)
    if (time.part == part) return time.us;
  return 0;
}

double self_us_of(const Compilation& compilation, std::string_view phase) {
  double us = 0;
  for (const Phase& own : compilation.phases)
    if (!own.is_parallel && own.name == phase) us += own.self_us;
  return us;
}

// True if a node of a captured graph is an operator.
bool is_operator(const Node& node) { return node.op != "placeholder" && node.op != "get_attr" && node.op != "output"; }

const Graph* captured_graph(const Compilation& compilation) {
  const Graph* last = nullptr;
  for (const Graph& graph : compilation.graphs)
    if (graph.stage == "captured") last = &graph;
  return last;
}

// True if the failed guard is about the size or the layout of a tensor.
bool is_about_sizes(const FailedGuard& reason) {
  for (const std::string* text : {&reason.guard, &reason.subject})
    for (const std::string_view word : {"size mismatch", "stride mismatch", ".size()", ".stride()", ".shape["})
      if (text->find(word) != std::string::npos) return true;
  return false;
}

class Savings {
 public:
  Savings(const Process& process, const CompileTime& time) : process_(process), time_(time) {
    for (const CompilationTime& row : time.compilations) row_of_[row.compilation] = &row;
  }

  std::vector<Saving> run() {
    again();
    breaks();
    restarts();
    for (std::size_t i = 0; i < process_.compilations.size(); ++i) {
      layers(i);
      lines(i);
    }
    std::erase_if(savings_, [&](const Saving& saving) { return saving.us < saving_min_share * time_.wall_us; });
    std::stable_sort(savings_.begin(), savings_.end(), [](const Saving& a, const Saving& b) { return a.us > b.us; });
    return std::move(savings_);
  }

 private:
  const Compilation& compilation(std::size_t index) const { return process_.compilations[index]; }
  double us_of(std::size_t index) const { return row_of_.at(index)->us; }

  // Adds a saving for each function that was compiled several times. After the change that the saving proposes, only
  // one compilation of the function would remain. If the function already has a compilation for varying sizes, that
  // compilation would remain.
  void again() {
    std::map<std::tuple<std::string, int, std::string>, std::vector<std::size_t>> functions;
    for (std::size_t i = 0; i < process_.compilations.size(); ++i) {
      const Place& place = compilation(i).place;
      functions[{place.file, place.line, place.function}].push_back(i);
    }
    for (const auto& [key, indices] : functions) {
      if (indices.size() < 2) continue;
      std::size_t about_sizes = 0, with_reasons = 0;
      Saving saving;
      std::optional<double> remaining;
      for (const std::size_t index : indices) {
        const Compilation& own = compilation(index);
        saving.of_us += us_of(index);
        saving.compilations.push_back(own.id);
        if (!own.symbols.empty()) remaining = std::max(remaining.value_or(0), us_of(index));
        if (own.reasons.empty()) continue;
        ++with_reasons;
        about_sizes += is_about_sizes(own.reasons.front());
        if (own.reasons.front().place.line) saving.place = own.reasons.front().place;
      }
      if (with_reasons == 0) continue;
      const bool is_sizes = about_sizes * 2 > with_reasons;
      saving.kind = is_sizes ? "sizes" : "values";
      if (!saving.place.line) saving.place = compilation(indices.front()).place;
      saving.repeats = indices.size();
      // The first compilation of a process includes an initialization that the process does only once. One compilation
      // in place of several compilations would include the initialization, too, so the time of the initialization is
      // not counted as saved.
      const double others = (saving.of_us - us_of(indices.front())) / static_cast<double>(indices.size() - 1);
      const double without_once = saving.of_us - std::max(0.0, us_of(indices.front()) - others);
      if (!remaining) {
        remaining = 0;
        for (std::size_t i = 1; i < indices.size(); ++i)
          *remaining +=
              (is_sizes ? dynamic_us(indices[i]) : us_of(indices[i])) / static_cast<double>(indices.size() - 1);
      }
      saving.us = without_once - std::min(*remaining, without_once);
      const std::string count = std::to_string(indices.size());
      saving.change = is_sizes
                          ? "one compilation for all sizes in place of " + count +
                                ": torch._dynamo.mark_dynamic on the inputs whose size varies, before the first call"
                          : "one compilation in place of " + count +
                                ": keep the values that guards check the same, or pass them as tensors";
      savings_.push_back(std::move(saving));
    }
  }

  // Returns the time that a compilation would take if its sizes were symbols. Symbolic sizes lengthen Dynamo,
  // AOTAutograd and the guards most, because these parts of the compiler work with the sizes of every operator.
  double dynamic_us(std::size_t index) const {
    double us = 0;
    for (const PartTime& time : row_of_.at(index)->parts) {
      const bool is_traced = time.part == "Dynamo" || time.part == "AOTAutograd" || time.part == "guards";
      us += time.us * (is_traced ? traced_with_symbols : lowered_with_symbols);
    }
    return us;
  }

  bool goes_on(const Compilation& rest, const Compilation& own) const {
    if (!rest.place.function.starts_with(resumed) || rest.place.file != own.place.file) return false;
    return std::any_of(own.breaks.begin(), own.breaks.end(), [&](const GraphBreak& graph_break) {
      return rest.place.function.ends_with("_at_" + std::to_string(graph_break.place.line)) ||
             std::any_of(own.resume_calls.begin(), own.resume_calls.end(), [&](const std::string& name) {
               return std::find(rest.resume_names.begin(), rest.resume_names.end(), name) != rest.resume_names.end();
             });
    });
  }

  // Adds a saving for each function that graph breaks split into pieces. With one graph in place of the pieces of a
  // function, the time that does not depend on operators would be spent only once. With one graph in place of the
  // pieces, Dynamo would also trace the code in front of a graph break only once instead of twice. The figures in
  // spared_share() were measured with PyTorch 2.13 on 8 pieces of 5 to 17 operators each.
  void breaks() {
    std::set<std::size_t> taken;
    for (std::size_t first = 0; first < process_.compilations.size(); ++first) {
      if (taken.contains(first) || compilation(first).breaks.empty()) continue;
      if (compilation(first).place.function.starts_with(resumed)) continue;
      std::vector<std::size_t> pieces{first};
      for (std::size_t at = 0; at < pieces.size(); ++at)
        for (std::size_t next = first + 1; next < process_.compilations.size(); ++next)
          if (!taken.contains(next) && std::find(pieces.begin(), pieces.end(), next) == pieces.end() &&
              goes_on(compilation(next), compilation(pieces[at])))
            pieces.push_back(next);
      taken.insert(pieces.begin(), pieces.end());
      if (pieces.size() < 2) continue;
      Saving saving;
      saving.kind = "break";
      saving.place = compilation(first).breaks.front().place;
      saving.repeats = pieces.size();
      double operators = 0;
      // If one graph replaced all pieces, it would be compiled as often as the piece that is now compiled most often.
      std::map<std::pair<std::string, int>, std::size_t> times_compiled;
      std::size_t remaining = 0;
      for (const std::size_t piece : pieces) {
        const Place& place = compilation(piece).place;
        remaining = std::max(remaining, ++times_compiled[{place.function, place.line}]);
        saving.compilations.push_back(compilation(piece).id);
        saving.of_us += us_of(piece);
        operators += operators_of(piece);
      }
      if (remaining == pieces.size()) continue;
      const auto graphs = static_cast<double>(pieces.size()), spared = static_cast<double>(pieces.size() - remaining);
      for (const std::size_t piece : pieces)
        for (const PartTime& time : row_of_.at(piece)->parts)
          saving.us += time.us * spared_share(time.part, graphs, spared, operators);
      saving.change = (remaining == 1 ? std::string("one graph") : std::to_string(remaining) + " graphs") +
                      " in place of " + std::to_string(pieces.size()) + ": graph breaks removed";
      savings_.push_back(std::move(saving));
    }
  }

  double operators_of(std::size_t index) const {
    const Compilation& own = compilation(index);
    if (const Graph* graph = captured_graph(own))
      return static_cast<double>(std::count_if(graph->nodes.begin(), graph->nodes.end(), is_operator));
    return static_cast<double>(own.graph_operators.value_or(own.graph_nodes.value_or(usual_operators)));
  }

  // Returns the share of the time of `part`, a part of the compiler, that is saved if `spared` of `graphs` graphs
  // become parts of the other graphs. The function assumes that a graph without operators takes as much time as `fixed`
  // operators.
  static double spared_share(std::string_view part, double graphs, double spared, double operators) {
    if (part == "guards") return spared / graphs;
    const double fixed = part == "Dynamo" ? 100 : part == "AOTAutograd" ? 12 : part == "compilers" ? 8 : 6;
    return spared * fixed / (operators + graphs * fixed);
  }

  // Returns the time of a compilation that does not depend on its operators: the time of guards, of the frames around
  // the phases, and of set-up.
  double fixed_us(std::size_t index) const {
    static constexpr std::string_view phases[] = {"dynamo", "entire_frame_compile", "gc", "build_guards",
                                                  "entire_backward_compile"};
    double us = 0;
    for (const std::string_view phase : phases) us += self_us_of(compilation(index), phase);
    return us;
  }

  // Adds a saving for tracing that was restarted for another reason than a graph break.
  void restarts() {
    for (const CompilationTime& row : time_.compilations) {
      const Compilation& own = compilation(row.compilation);
      if (row.restarts_us <= 0 || !own.breaks.empty()) continue;
      Saving saving;
      saving.kind = "restart";
      saving.place = own.place;
      saving.compilations = {own.id};
      saving.repeats = static_cast<std::size_t>(std::max(own.attempts, 1));
      saving.us = row.restarts_us;
      saving.of_us = row.us;
      saving.change = "tracing that begins once in place of " + std::to_string(own.attempts) + " times" +
                      (own.restart_reasons.empty() ? "" : ": " + own.restart_reasons.front());
      savings_.push_back(std::move(saving));
    }
  }

  // The layer that a module path names by its first number. The path "layers.3.attention" names the number 3 of the
  // family "layers.".
  struct Layer {
    std::string family;
    int number = 0;
  };
  static std::optional<Layer> layer_of(const std::string& module) {
    for (std::size_t at = 0; at < module.size();) {
      const std::size_t end = std::min(module.find('.', at), module.size());
      const std::string part = module.substr(at, end - at);
      if (!part.empty() && part.size() < 6 &&
          std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return Layer{module.substr(0, at), std::stoi(part)};
      at = end + 1;
    }
    return std::nullopt;
  }

  // Adds a saving for equal layers of a captured graph. If each layer were a call of the same compiled region
  // (torch.compiler.nested_compile_region), the compiler would trace, lower, schedule and print the region only once.
  void layers(std::size_t index) {
    const Compilation& own = compilation(index);
    const Graph* graph = captured_graph(own);
    // AOTAutograd traces each call of a compiled region. If Inductor does not compile the graph after AOTAutograd, a
    // compiled region saves less time than it costs.
    const CompilationTime& row = *row_of_.at(index);
    if (!graph || (part_us(row, "Inductor") <= 0 && part_us(row, "AOTAutograd") > 0)) return;
    struct Layers {
      std::string operators;  // the operators that read parameters of the layer, with their shapes
      std::size_t nodes = 0;
    };
    struct Family {
      std::map<int, Layers> layers;  // maps the number of a layer to the layer
      bool has_regions = false;      // true if the layers are already calls of regions
      Place place;
    };
    std::map<std::string, Family> families;
    std::size_t operators = 0;
    // A log contains the module of an operator only if the operator reads a parameter. An operator without a module
    // belongs to the layer of the operator in front of it.
    std::optional<Layer> layer;
    for (const Node& node : graph->nodes) {
      if (!is_operator(node)) continue;
      ++operators;
      const std::string module = module_of(own, node);
      if (!module.empty()) layer = layer_of(module);
      if (!layer) continue;
      Family& family = families[layer->family];
      Layers& own_layer = family.layers[layer->number];
      family.has_regions |= node.op.find("invoke_subgraph") != std::string::npos;
      ++own_layer.nodes;
      if (!module.empty()) own_layer.operators += node.op + " " + node.shape + "\n";
      if (!family.place.line) family.place = node.place;
    }
    for (const auto& [name, family] : families) {
      if (family.has_regions) continue;
      std::map<std::string, std::vector<std::size_t>> equal;  // the node counts of equal layers
      for (const auto& [number, own_layer] : family.layers) equal[own_layer.operators].push_back(own_layer.nodes);
      std::vector<std::size_t> nodes;
      for (const auto& [content, counts] : equal)
        if (counts.size() > nodes.size()) nodes = counts;
      const std::size_t repeats = nodes.size();
      if (repeats < layers_min) continue;
      std::sort(nodes.begin(), nodes.end());
      const double share = std::min(1.0, static_cast<double>(nodes[repeats / 2] * repeats) /
                                             static_cast<double>(std::max<std::size_t>(operators, 1)));
      const double saved_share = share * static_cast<double>(repeats - 1) / static_cast<double>(repeats);
      Saving saving;
      saving.kind = "layers";
      saving.place = family.place;
      saving.compilations = {own.id};
      saving.repeats = repeats;
      saving.of_us = us_of(index);
      saving.us = saved_share * region_us(index);
      saving.change = std::to_string(repeats) + " equal layers " + name +
                      "* compiled once: torch.compiler.nested_compile_region " + "around the call of a layer";
      savings_.push_back(std::move(saving));
    }
  }

  // Returns the part of a compilation's time that compiled regions reduce: the time of Dynamo's tracing and of
  // Inductor. Compiled regions do not reduce the time of AOTAutograd, because AOTAutograd traces each call of a region.
  double region_us(std::size_t index) const {
    const Compilation& own = compilation(index);
    return self_us_of(own, "bytecode_tracing") + part_us(*row_of_.at(index), "Inductor");
  }

  static std::string module_of(const Compilation& compilation, const Node& node) {
    if (!node.module.empty()) return node.module;
    for (const Chain& chain : compilation.chains)
      if (chain.node == node.name) return chain.module;
    return {};
  }

  // Adds a saving for each line with so many operators of the graph that the line must belong to an unrolled loop.
  void lines(std::size_t index) {
    const Compilation& own = compilation(index);
    const Graph* graph = captured_graph(own);
    if (!graph) return;
    std::map<std::pair<std::string, int>, std::pair<std::size_t, Place>> lines;
    std::size_t operators = 0;
    for (const Node& node : graph->nodes) {
      if (!is_operator(node)) continue;
      ++operators;
      if (!node.place.line) continue;
      auto& [count, place] = lines[{node.place.file, node.place.line}];
      ++count;
      place = node.place;
    }
    for (const auto& [key, row] : lines) {
      const auto& [count, place] = row;
      const double share = static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(operators, 1));
      if (count < nodes_of_line_min || share < share_of_line_min) continue;
      Saving saving;
      saving.kind = "line";
      saving.place = place;
      saving.compilations = {own.id};
      saving.repeats = count;
      saving.of_us = us_of(index);
      saving.us = share * (us_of(index) - fixed_us(index));
      saving.change = std::to_string(count) +
                      " operators of one line in place of few: an operator on whole tensors, or "
                      "torch._higher_order_ops.while_loop or scan, in place of the loop that is unrolled";
      savings_.push_back(std::move(saving));
    }
  }

  const Process& process_;
  const CompileTime& time_;
  std::map<std::size_t, const CompilationTime*> row_of_;
  std::vector<Saving> savings_;
};

}  // namespace

std::vector<Saving> savings_of(const Process& process, const CompileTime& time) { return Savings(process, time).run(); }

}  // namespace depyf::costs
