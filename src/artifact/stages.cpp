#include "artifact/stages.h"

#include <algorithm>
#include <utility>

#include "pickle/outline.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

using pickle::Kind;
using pickle::Value;

// The maximum number of graph modules of one pickle. Each sub-graph of a graph is a graph module of its own.
constexpr std::size_t graph_modules_max = 1000;
// The maximum number of parts of the key of a cache entry. Keys of PyTorch 2.13 have some 600 parts.
constexpr std::size_t key_parts_max = 10'000;
constexpr std::size_t value_max = 4000;  // the maximum number of bytes that are shown of a part of a key

std::string named(const std::string& title, const std::string& direction) {
  return direction.empty() ? title : title + ", " + direction;
}

void add_text(const Value& text, std::string title, bool is_code, std::string key, Part& part, Budget& budget) {
  if (!text.is(Kind::string) || text.text().empty()) return;
  part.stages.push_back({std::move(title), std::move(key), is_code, budget.copied(text.text())});
}

// Adds settings such as "torch._inductor.config.max_autotune = True" from the program that Inductor writes to reproduce
// a failure.
void read_settings(std::string_view program, Part& part) {
  for (const std::string_view line : lines_of(program)) {
    const std::size_t config = line.find("config."), equals = line.find(" = ");
    if (!line.starts_with("torch.") || config == std::string_view::npos || equals == std::string_view::npos) continue;
    if (config > equals || equals > value_max || line.size() > value_max) continue;
    Fact setting{std::string(line.substr(0, equals)), std::string(line.substr(equals + 3))};
    bool is_known = false;
    for (const Fact& known : part.settings) is_known = is_known || known.name == setting.name;
    if (!is_known) part.settings.push_back(std::move(setting));
  }
}

void read_key_parts(const Value& lines, Part& part, Budget& budget) {
  for (std::size_t position = 0; position < std::min(lines.size(), key_parts_max); ++position)
    add_key_part(lines.at(position).text(), part, budget);
}

void add_fact(const Value& value, std::string name, Part& part) {
  if (!value || value.is(Kind::none)) return;
  for (const Fact& fact : part.facts)
    if (fact.name == name) return;
  part.facts.push_back({std::move(name), value.is(Kind::string) ? std::string(value.text().substr(0, value_max))
                                                                : pickle::outline(value, 300)});
}

std::string joined_set(const Value& set) {
  const Value items = set.is_object() ? set.argument(0) : set;
  std::vector<std::string> texts;
  for (std::size_t position = 0; position < items.size() && position < 20; ++position)
    texts.emplace_back(items.at(position).text().substr(0, 100));
  return joined(texts, ", ");
}

// Reads the compiled graph of one direction, forward or backward. The file contains a result of Inductor, a graph
// that the backend runs without compiling it, or a reference to an entry of Inductor's cache.
void read_direction(const Value& compiled, const std::string& direction, Part& part, Budget& budget) {
  if (!compiled.is_object()) return;
  const Value info = compiled.attribute("fx_graph_cache_info");
  if (info.is(Kind::tuple)) {
    add_fact(info.at(0), "Inductor's entry, " + direction, part);
    if (part.key_parts.empty()) read_key_parts(info.at(1), part, budget);
  }
  const Value result = compiled.attribute("result");
  if (result.is_a("CompiledFxGraph")) return read_inductor_result(result, direction, part, budget);
  const Value graph = result.attribute("_serialized_gm");
  if (!graph.is(Kind::bytes) || !budget.take_nested(graph.text().size())) return;
  const auto document = pickle::read(graph.text());
  if (document) read_graph_modules(*document, named("graph that runs", direction), part, budget);
  else part.notes.push_back("the graph that runs could not be read: " + document.error().message);
}

}  // namespace

void add_key_part(std::string_view line, Part& part, Budget& budget) {
  const std::size_t end = line.find("] "), colon = line.find(": ", end == std::string_view::npos ? 0 : end);
  if (!line.starts_with('[') || end == std::string_view::npos || colon == std::string_view::npos) return;
  KeyPart read;
  read.hash = budget.copied(line.substr(1, end - 1));
  read.name = budget.copied(line.substr(end + 2, colon - end - 2));
  read.value = budget.copied(line.substr(colon + 2, value_max));
  part.key_parts.push_back(std::move(read));
}

void read_inductor_result(const Value& result, const std::string& direction, Part& part, Budget& budget) {
  const std::string key(result.attribute("cache_key").text().substr(0, value_max));
  add_text(result.attribute("inductor_post_grad_graph_str"), named("graph after Inductor's passes", direction), false,
           {}, part, budget);
  add_text(result.attribute("source_code"), named("output code", direction), true, key, part, budget);
  read_settings(result.attribute("runnable_graph_str").text(), part);
  if (const std::string devices = joined_set(result.attribute("device_types")); !devices.empty())
    part.facts.push_back({named("devices", direction), devices});
  const Value reason = result.attribute("disabled_cudagraphs_reason");
  if (reason.is(Kind::string)) add_fact(reason, "why there are no CUDA graphs", part);
  add_fact(result.attribute("guards_expr"), named("guards on sizes", direction), part);
  add_fact(result.attribute("_fx_graph_cache_key"), "key in Inductor's cache", part);
  const Value options = result.attribute("fx_kwargs");
  add_fact(options["is_inference"], "inference", part);
  add_fact(options["cudagraphs"].attribute("value"), "CUDA graphs", part);
  if (part.key_parts.empty()) read_key_parts(result.attribute("_fx_graph_cache_debug_lines"), part, budget);
}

void read_aot_result(const Value& result, Part& part, Budget& budget) {
  add_text(result.attribute("aot_joint_graph_str"), "joint graph", false, {}, part, budget);
  add_text(result.attribute("aot_forward_graph_str"), "graph of AOTAutograd, forward", false, {}, part, budget);
  add_text(result.attribute("aot_backward_graph_str"), "graph of AOTAutograd, backward", false, {}, part, budget);
  read_direction(result.attribute("compiled_fw"), "forward", part, budget);
  read_direction(result.attribute("compiled_bw"), "backward", part, budget);
  const Value config = result.attribute("sanitized_aot_config");
  add_fact(config.attribute("dynamic_shapes"), "dynamic shapes", part);
  add_fact(result.attribute("guards_expr"), "guards on sizes", part);
}

void read_graph_modules(const pickle::Document& document, const std::string& title, Part& part, Budget& budget) {
  std::size_t count = 0;
  for (std::size_t index = 0; index < document.size() && count < graph_modules_max; ++index) {
    const Value value(&document, pickle::NodeId(static_cast<std::uint32_t>(index)));
    Value members;
    if (value.is_a("_GraphModulePickleData")) members = value.attribute("gm_dict");
    else if (value.is(Kind::call) && value.class_name() == "torch.fx.graph_module.reduce_graph_module")
      members = value.argument(0);
    const Value code = members["_code"];
    if (!code.is(Kind::string)) continue;
    ++count;
    part.stages.push_back({title, {}, false, budget.copied(stripped(code.text())) + "\n"});
  }
}

}  // namespace depyf::artifact
