#include "depyf/memory_costs.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "costs/memory.h"
#include "dumps/members.h"
#include "json/json.h"
#include "json/writer.h"
#include "support/words.h"
#include "texts/cost_places.h"
#include "texts/shown.h"

namespace depyf {
namespace {

using costs::Buffer, costs::GraphMemory, costs::JointValue, costs::LibraryCall, costs::Plan, costs::Saved;
using dumps::text_of;
using texts::place_and_source, texts::write_place;

constexpr std::size_t tensors_shown = 12;  // the most tensors of a graph that are shown; the JSON has all of them
constexpr std::size_t buffers_shown = 5;   // the most buffers that are shown as alive at the peak of a plan

void write_plan(json::Writer& out, std::string_view name, const Plan& plan) {
  if (plan.buffers.empty()) {
    out.key(name);
    return out.null();
  }
  out.object(name, [&] {
    out.member("peak_bytes", plan.peak);
    out.member("peak_code_line", static_cast<std::int64_t>(plan.peak_line));
    write_place(out, "line", plan.peak_place);
    out.member("allocated_bytes", plan.allocated);
    out.member("reused_bytes", plan.reused);
    out.member("unknown_sizes", static_cast<std::int64_t>(plan.unknown));
    out.member("peak_library_bytes", plan.peak_of_library);
    out.member("unmeasured_calls", static_cast<std::int64_t>(plan.unmeasured));
    out.objects("library_calls", plan.library_calls, [&](const LibraryCall& call) {
      out.member("call", call.expression);
      out.optional("bytes", call.bytes < 0 ? std::optional<std::int64_t>() : std::optional(call.bytes));
    });
    out.strings("at_peak", [&] {
      std::vector<std::string> names;
      for (const std::size_t index : plan.at_peak) names.push_back(plan.buffers[index].names[0]);
      return names;
    }());
    out.objects("buffers", plan.buffers, [&](const Buffer& buffer) {
      out.strings("names", buffer.names);
      out.optional("bytes", buffer.bytes < 0 ? std::optional<std::int64_t>() : std::optional(buffer.bytes));
      out.member("first_code_line", static_cast<std::int64_t>(buffer.first_line));
      out.member("last_code_line", static_cast<std::int64_t>(buffer.last_line));
      out.key("is_output"), out.boolean(buffer.is_output);
      write_place(out, "line", buffer.place);
    });
  });
}

void write_graph(json::Writer& out, const GraphMemory& graph) {
  out.member("compile_id", graph.compile_id);
  out.member("partitioner", graph.partitioner);
  out.member("saved_bytes", graph.saved_bytes);
  out.member("input_bytes", graph.input_bytes);
  out.member("total_bytes", graph.saved_bytes + graph.input_bytes);
  out.objects("tensors", graph.saved, [&](const Saved& saved) {
    const JointValue& value = graph.values[saved.value];
    out.member("name", value.name);
    out.optional("operator", value.op);
    out.member("dtype", value.dtype);
    out.strings("shape", value.shape);
    out.member("bytes", value.bytes);
    out.member("counted_bytes", saved.counted_bytes);
    out.optional("shares_memory_with", saved.shares_with);
    out.key("is_input"), out.boolean(saved.is_input);
    write_place(out, "line", value.place);
    out.optional("module", value.module);
    out.member("kind", saved.kind);
    out.member("why", saved.why);
    out.optional("rule", value.rule);
    out.member("recompute_operators", static_cast<std::int64_t>(saved.recomputed_operators));
    out.member("recompute_bytes", saved.recomputed_bytes);
  });
  write_plan(out, "forward", graph.forward);
  write_plan(out, "backward", graph.backward);
}

std::int64_t integer_of(json::Value value) { return value.integer().value_or(0); }

std::string in_units(std::int64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 1024 && unit + 1 < std::size(units)) number /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", number, units[unit]);
  return text;
}

std::string shape_of(json::Value tensor) {
  std::string dtype = text_of(tensor["dtype"]);
  if (dtype.starts_with("torch.")) dtype = dtype.substr(6);
  return dtype + "[" + joined(dumps::texts_of(tensor["shape"]), ", ") + "]";
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

class Text {
 public:
  std::string run(json::Value costs) {
    if (costs["graphs"].size() == 0)
      row("No training graph was compiled in the block: a function that was compiled before is not compiled again, and "
          "a function whose inputs need no gradient has no backward. Call torch.compiler.reset() before the block to "
          "compile all functions again.");
    costs["graphs"].for_each_item([&](json::Value graph) { of_graph(graph); });
    return joined(rows_, "\n");
  }

 private:
  void row(std::string text) { rows_.push_back(std::move(text)); }

  void of_graph(json::Value graph) {
    row("Graph " + text_of(graph["compile_id"]) + ": its forward computes " +
        in_units(integer_of(graph["saved_bytes"])) + " that it keeps for the backward, in addition to " +
        in_units(integer_of(graph["input_bytes"])) + " of inputs and parameters");
    struct Row {
      std::int64_t bytes;
      json::Value tensor;
    };
    std::vector<Row> tensors;
    graph["tensors"].for_each_item([&](json::Value tensor) {
      if (!tensor["is_input"].is_true()) tensors.push_back({integer_of(tensor["counted_bytes"]), tensor});
    });
    std::stable_sort(tensors.begin(), tensors.end(), [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
    for (std::size_t i = 0; i < std::min(tensors.size(), tensors_shown); ++i) of_tensor(tensors[i].tensor);
    if (tensors.size() > tensors_shown) {
      std::int64_t bytes = 0;
      for (std::size_t i = tensors_shown; i < tensors.size(); ++i) bytes += tensors[i].bytes;
      row("    and " + counted(static_cast<std::int64_t>(tensors.size() - tensors_shown), "more tensor") + " of " +
          in_units(bytes));
    }
    for (const char* direction : {"forward", "backward"}) of_plan(direction, graph[direction]);
  }

  void of_tensor(json::Value tensor) {
    const std::string shared = text_of(tensor["shares_memory_with"]), module = text_of(tensor["module"]);
    row("    " + (shared.empty() ? in_units(integer_of(tensor["counted_bytes"])) : "in " + shared) + "  " +
        text_of(tensor["name"]) + " " + shape_of(tensor) + "  " + place_and_source(tensor["line"]) +
        (module.empty() ? "" : "  (" + module + ")"));
    std::string why = "        " + text_of(tensor["why"]);
    if (integer_of(tensor["recompute_operators"]) > 0)
      why += "; recomputing it runs " + counted(integer_of(tensor["recompute_operators"]), "operator") + " over " +
             in_units(integer_of(tensor["recompute_bytes"]));
    row(why);
  }

  void of_plan(const std::string& direction, json::Value plan) {
    if (!plan["peak_bytes"].integer()) return;
    std::map<std::string, json::Value> buffers;
    plan["buffers"].for_each_item([&](json::Value buffer) { buffers[text_of(buffer["names"].at(0))] = buffer; });
    const std::int64_t unknown = integer_of(plan["unknown_sizes"]), unmeasured = integer_of(plan["unmeasured_calls"]);
    const std::int64_t of_library = integer_of(plan["peak_library_bytes"]);
    row("  Output code of the " + direction + ": it needs at most " + in_units(integer_of(plan["peak_bytes"])) +
        " in addition to its inputs, at its line " + std::to_string(integer_of(plan["peak_code_line"])) + ", " +
        place_and_source(plan["line"]) + "; it allocates " + in_units(integer_of(plan["allocated_bytes"])) +
        " in total, and uses " + in_units(integer_of(plan["reused_bytes"])) + " again" +
        (unknown ? ", without " + counted(unknown, "buffer") + " of unknown size" : "") +
        (unmeasured ? ", without the memory that " + counted(unmeasured, "library call") + " may allocate for " +
                          (unmeasured == 1 ? "itself" : "themselves")
                    : ""));
    if (of_library) row("    " + in_units(of_library) + "  of the library call itself, while it runs");
    std::size_t shown = 0;
    plan["at_peak"].for_each_item([&](json::Value name) {
      const json::Value buffer = buffers[name.text()];
      if (++shown <= buffers_shown)
        row("    " + in_units(integer_of(buffer["bytes"])) + "  " + name.text() + "  " +
            place_and_source(buffer["line"]));
    });
    if (shown > buffers_shown)
      row("    and " + counted(static_cast<std::int64_t>(shown - buffers_shown), "more buffer"));
  }

  std::vector<std::string> rows_;
};

}  // namespace

std::string memory_costs(std::string_view seen) {
  json::Document document;
  json::Writer out(true);
  if (document.parse(seen)) return "{\"graphs\":[]}";
  std::vector<GraphMemory> graphs;
  document.root()["graphs"].for_each_item([&](json::Value graph) { graphs.push_back(costs::graph_memory(graph)); });
  out.object([&] { out.objects("graphs", graphs, [&](const GraphMemory& graph) { write_graph(out, graph); }); });
  return out.take();
}

std::string memory_costs_text(std::string_view costs) {
  json::Document document;
  return document.parse(costs) ? std::string() : Text().run(document.root());
}

}  // namespace depyf
