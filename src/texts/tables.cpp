#include "texts/tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "record/memory.h"
#include "texts/markdown.h"
#include "texts/page.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::texts {
namespace {

using namespace record;

constexpr std::size_t rows_max = 30;   // the most rows of one table
constexpr std::size_t compilations_max = 8;  // the most compilations that a cell lists
constexpr std::size_t cell_max = 60;   // the most characters of a name or a line of source in a table
constexpr std::string_view resumed = "torch_dynamo_resume_in_";

// The operators that copy the values of a tensor to other memory, in another layout, with another type, or on another
// device.
constexpr std::string_view copies[] = {"_to_copy", "clone", "constant_pad_nd", "contiguous", "copy", "copy_", "to"};

// Returns the name of an operator without its namespace and overload: "clone" for torch.ops.aten.clone.default and for
// Tensor.clone.
std::string base_name(std::string_view op) {
  if (const std::size_t start = op.find("aten."); start != std::string_view::npos) {
    op.remove_prefix(start + 5);
    return std::string(op.substr(0, op.find('.')));
  }
  return std::string(op.substr(op.rfind('.') + 1));
}

bool is_copy(const Node& node) { return std::binary_search(std::begin(copies), std::end(copies), base_name(node.op)); }

std::string in_units(std::uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 1024 && unit + 1 < std::size(units)) number /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, unit && number < 10 ? "%.1f %s" : "%.0f %s", number, units[unit]);
  return text;
}

// Returns a shape without strides and device, such as "f32[8, 256]".
std::string without_strides(const std::string& shape) {
  return shape.substr(0, std::min(shape.find(']'), shape.size() - 1) + 1);
}

std::string line_cell(const Place& place) {
  if (!place.line) return "no line: PyTorch generated it";
  return cell(literal(file_name(place.file) + ":" + std::to_string(place.line)) +
              (place.text.empty() ? "" : " " + code(shown(place.text, cell_max))));
}

std::string name_cell(const std::string& name) { return cell(code(shown(name, cell_max))); }

// Maps each node of the graphs behind the captured graph to the chain (record::Chain) of the captured node from which
// the node comes.
class Modules {
 public:
  explicit Modules(const Compilation& compilation) {
    for (const Chain& chain : compilation.chains)
      for (const auto& [direction, link] : chain.directions)
        for (const auto* names : {&link.graph, &link.post_grad})
          for (const std::string& name : *names) chain_of_.try_emplace(direction + " " + name, &chain);
  }
  const Chain* chain_of(const std::string& direction, const std::string& node) const {
    const auto known = chain_of_.find((direction == "backward" ? "backward " : "forward ") + node);
    return known == chain_of_.end() ? nullptr : known->second;
  }

 private:
  std::unordered_map<std::string, const Chain*> chain_of_;
};

const Place& place_of(const Node& node, const Chain* chain) {
  return node.place.line || !chain ? node.place : chain->place;
}

// Returns a key that orders places by file and line; places without a line come last.
std::tuple<bool, std::string, int> order_of(const Place& place) { return {place.line == 0, place.file, place.line}; }

struct Count {
  Place place;
  std::string name, shape, module;
  std::size_t forward = 0, backward = 0;
  std::uint64_t bytes = 0;
  bool is_open = false;  // true if the size of one of the counted tensors varies
};

// Counts calls, copies or tensors separately for each combination of line, name and shape. The function `sorted`
// returns the largest counts first.
class Counts {
 public:
  Count& at(const Place& place, const std::string& name, const std::string& shape = {}) {
    const auto [row, is_new] = counts_.try_emplace({order_of(place), name, shape});
    if (is_new) row->second.place = place, row->second.name = name, row->second.shape = shape;
    return row->second;
  }
  std::vector<const Count*> sorted(bool by_bytes) const {
    std::vector<const Count*> rows;
    for (const auto& [key, count] : counts_) rows.push_back(&count);
    std::stable_sort(rows.begin(), rows.end(), [&](const Count* a, const Count* b) {
      return by_bytes ? a->bytes > b->bytes : a->forward + a->backward > b->forward + b->backward;
    });
    return rows;
  }

 private:
  std::map<std::tuple<std::tuple<bool, std::string, int>, std::string, std::string>, Count> counts_;
};

class Tables {
 public:
  std::string run(const Process& process) {
    if (std::all_of(process.compilations.begin(), process.compilations.end(),
                    [](const Compilation& compilation) { return compilation.graphs.empty() && !compilation.tables; }))
      return {};
    page_.heading("# Costs by line of source");
    splits(process);
    bool has_tables = has_any_;
    for (const Compilation& compilation : process.compilations) {
      const std::string section = compilation.tables ? *compilation.tables : Tables().section(compilation);
      if (section.empty()) continue;
      page_.heading("## " + literal(compilation.id) + ": " + code(title_of(compilation)));
      page_.append(section + "\n");
      has_tables = true;
    }
    return has_tables ? page_.text() : std::string();
  }

  // Returns the tables of one compilation; an empty text if all tables would be empty.
  std::string section(const Compilation& compilation) {
    if (compilation.graphs.empty()) return {};
    const Modules modules(compilation);
    library_calls(compilation, modules);
    copies_of(compilation, modules);
    saved(compilation, modules);
    return has_any_ ? page_.text() : std::string();
  }

 private:
  void begin(const std::string& title, const std::string& about, const std::string& head, const std::string& align) {
    has_any_ = true;
    page_.heading("### " + title);
    page_.heading(about);
    page_.line(head);
    page_.line(align);
  }

  void end(std::size_t rows) {
    if (rows > rows_max) page_.line("\nAnd " + std::to_string(rows - rows_max) + " more rows.");
    page_.line();
  }

  void splits(const Process& process) {
    struct Split {
      const GraphBreak* graph_break;
      std::vector<const Compilation*> before, after;
    };
    std::vector<Split> splits;
    for (const Compilation& compilation : process.compilations)
      for (const GraphBreak& graph_break : compilation.breaks) {
        auto known = std::find_if(splits.begin(), splits.end(),
                                  [&](const Split& split) { return is_same(*split.graph_break, graph_break); });
        if (known == splits.end()) known = splits.insert(splits.end(), {&graph_break, {}, {}});
        known->before.push_back(&compilation);
        for (const Compilation& rest : process.compilations)
          if (goes_on(rest, compilation, graph_break) &&
              std::find(known->after.begin(), known->after.end(), &rest) == known->after.end())
            known->after.push_back(&rest);
      }
    if (splits.empty()) return;
    begin("Graphs on both sides of each break", "Each compilation is followed by the number of operators in its graph.",
          "| line | reason | before | after |", "|---|---|---|---|");
    for (std::size_t i = 0; i < std::min(splits.size(), rows_max); ++i)
      page_.line("| " + line_cell(splits[i].graph_break->place) + " | " +
                 cell(prose(shown(splits[i].graph_break->reason, cell_max))) + " | " + listed(splits[i].before) +
                 " | " + (splits[i].after.empty() ? "nothing compiled" : listed(splits[i].after)) + " |");
    end(splits.size());
  }

  static std::string listed(const std::vector<const Compilation*>& compilations) {
    std::string text;
    for (std::size_t i = 0; i < std::min(compilations.size(), compilations_max); ++i)
      text += (i ? ", " : "") + compilations[i]->id + operators(*compilations[i]);
    if (compilations.size() > compilations_max)
      text += " and " + std::to_string(compilations.size() - compilations_max) + " more";
    return text;
  }

  // True if `rest` is a compilation of the resume function that continues after the graph break. Dynamo's name for a
  // resume function contains the line of the break.
  static bool goes_on(const Compilation& rest, const Compilation& compilation, const GraphBreak& graph_break) {
    if (!rest.place.function.starts_with(resumed) || rest.place.file != compilation.place.file) return false;
    if (!compilation.resume_calls.empty())  // only dumps record the functions that the code calls
      return std::any_of(rest.resume_names.begin(), rest.resume_names.end(), [&](const std::string& name) {
        return std::find(compilation.resume_calls.begin(), compilation.resume_calls.end(), name) !=
               compilation.resume_calls.end();
      });
    return rest.place.function.ends_with("_at_" + std::to_string(graph_break.place.line));
  }

  static std::string operators(const Compilation& compilation) {
    std::int64_t count = compilation.graph_operators.value_or(-1);
    if (count < 0)
      for (const Graph& graph : compilation.graphs)
        if (graph.stage == "captured")
          count = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                [](const Node& node) { return node.op != "placeholder" && node.op != "get_attr"; });
    if (count < 0) return compilation.status == Status::compiled ? "" : " (not compiled)";
    return " (" + std::to_string(count) + ")";
  }

  void library_calls(const Compilation& compilation, const Modules& modules) {
    Counts counts;
    for (const OutputCode& output_code : compilation.output_codes)
      for (const KernelCall& call : output_code.calls) {
        if (call.kind != "library") continue;
        // The nodes of a call are in the order of the graph, and the library function computes the last of these nodes.
        const Chain* chain = call.nodes.empty() ? nullptr : modules.chain_of(output_code.direction, call.nodes.back());
        const Place place = !call.places.empty() ? call.places.back() : chain ? chain->place : Place();
        Count& count = counts.at(place, call.kernel);
        ++(output_code.direction == "backward" ? count.backward : count.forward);
      }
    table(
        counts, "Library calls and fallbacks by line",
        "Operations for which Inductor generated no kernel. `extern_kernels` are matrix products and convolutions of a library; "
        "the others are fallbacks to operators as PyTorch or the program has them.",
        "call");
  }

  void copies_of(const Compilation& compilation, const Modules& modules) {
    const bool has_post_grad = std::any_of(compilation.graphs.begin(), compilation.graphs.end(),
                                           [](const Graph& graph) { return graph.stage == "post_grad"; });
    Counts counts;
    for (const Graph& graph : compilation.graphs) {
      const bool is_shown = has_post_grad
                                ? graph.stage == "post_grad"
                                : graph.stage == "forward" || graph.stage == "backward" || graph.stage == "inference";
      if (!is_shown) continue;
      for (const Node& node : graph.nodes) {
        if (!is_copy(node)) continue;
        Count& count = counts.at(place_of(node, modules.chain_of(graph.direction, node.name)), base_name(node.op),
                                 without_strides(node.shape));
        ++(graph.direction == "backward" ? count.backward : count.forward);
      }
    }
    table(counts, "Copies and changes of layout by line",
          has_post_grad ? "Nodes after Inductor's passes; a copy may be part of a kernel that computes more."
                        : "Nodes of AOTAutograd's graphs.",
          "operator");
  }

  void table(const Counts& counts, const std::string& title, const std::string& about, const std::string& what) {
    const std::vector<const Count*> rows = counts.sorted(false);
    if (rows.empty()) return;
    begin(title, about, "| line | " + what + " | forward | backward |", "|---|---|--:|--:|");
    for (std::size_t i = 0; i < std::min(rows.size(), rows_max); ++i)
      page_.line("| " + line_cell(rows[i]->place) + " | " +
                 name_cell(rows[i]->name + (rows[i]->shape.empty() ? "" : " " + rows[i]->shape)) + " | " +
                 std::to_string(rows[i]->forward) + " | " + std::to_string(rows[i]->backward) + " |");
    end(rows.size());
  }

  // Writes the table of the tensors that the forward graph returns for the backward graph.
  void saved(const Compilation& compilation, const Modules& modules) {
    Counts counts;
    std::size_t inputs = 0;
    for (const SavedValue& value : saved_values(compilation)) {
      const Node& node = *value.node;
      if (node.op == "placeholder") {
        ++inputs;
        continue;
      }
      const Chain* chain = modules.chain_of("forward", node.name);
      Count& count = counts.at(place_of(node, chain), base_name(node.op), without_strides(node.shape));
      if (!count.forward++) count.module = chain ? chain->module : "", count.name = node.name;
      const std::optional<std::int64_t> bytes = bytes_of(node.shape);
      count.bytes += static_cast<std::uint64_t>(bytes.value_or(0));
      count.is_open |= !bytes;
    }
    const std::vector<const Count*> rows = counts.sorted(true);
    if (rows.empty()) return;
    std::uint64_t bytes = 0;
    std::size_t tensors = 0;
    bool is_open = false;
    for (const Count* row : rows) bytes += row->bytes, tensors += row->forward, is_open |= row->is_open;
    begin("Saved for the backward",
          counted(tensors, "tensor") + " of " + (is_open ? "at least " : "") + in_units(bytes) +
              " that the forward computes and keeps until the backward" +
              (inputs ? ", in addition to " + counted(inputs, "input") + ", which take no memory of their own" : "") +
              ".",
          "| line | tensors | bytes | shape | the first | in |", "|---|--:|--:|---|---|---|");
    for (std::size_t i = 0; i < std::min(rows.size(), rows_max); ++i) {
      const Count& row = *rows[i];
      page_.line("| " + line_cell(row.place) + " | " + std::to_string(row.forward) + " | " +
                 (row.is_open ? "varies" : in_units(row.bytes)) + " | " + name_cell(row.shape) + " | " +
                 name_cell(row.name) + " | " + (row.module.empty() ? "" : name_cell(row.module)) + " |");
    }
    end(rows.size());
  }

  Page page_;
  bool has_any_ = false;
};

}  // namespace

std::string tables(const Process& process) { return Tables().run(process); }

std::string tables_of(const Compilation& compilation) { return Tables().section(compilation); }

}  // namespace depyf::texts
