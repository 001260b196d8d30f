#include "depyf/run_costs.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "costs/run_time.h"
#include "depyf/links.h"
#include "depyf/trace.h"
#include "dumps/members.h"
#include "json/json.h"
#include "json/writer.h"
#include "support/words.h"
#include "texts/cost_places.h"
#include "texts/lines.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace record;
using costs::FrameTime, costs::Measured, costs::RangeKind, costs::RunTime, costs::Share, costs::Site;
using dumps::number_of, dumps::text_of;
using texts::percent, texts::source_max, texts::write_place_members;

constexpr std::size_t lines_shown = 15, modules_shown = 8, callees_shown = 8, frames_shown = 8, names_shown = 3;
constexpr double us_per_second = 1e6, us_per_ms = 1e3;
constexpr std::string_view site_prefix = "depyf:", region_prefix = "Torch-Compiled Region: ";

double row_seconds(json::Value row) { return number_of(row["seconds"]); }

int line_of(json::Value value) {
  return static_cast<int>(std::clamp<std::int64_t>(value.integer().value_or(0), 0, 1 << 30));
}

// Identifies the graph from which a file of output code was generated.
struct CodeId {
  int number = 0;
  bool is_backward = false;
  auto operator<=>(const CodeId&) const = default;
};

// Reads a comment such as "# AOT ID: ['3_backward']" from `head`, the head of output code, and returns the number and
// direction of the graph that the comment names. Returns std::nullopt if the head has no comment of this form.
std::optional<CodeId> code_id_of(std::string_view head) {
  static constexpr std::string_view mark = "# AOT ID: ['";
  const std::size_t at = head.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  head.remove_prefix(at + mark.size());
  CodeId id;
  const auto [end, error] = std::from_chars(head.data(), head.data() + head.size(), id.number);
  if (error != std::errc()) return std::nullopt;
  head.remove_prefix(static_cast<std::size_t>(end - head.data()));
  id.is_backward = head.starts_with("_backward");
  return id;
}

// Returns the innermost line outside of libraries in the stack of the call that led to a compilation. Operators without
// a line of their own, such as the operators of a model that consists only of PyTorch's modules, are counted at the
// returned line.
Place calling_line(const Compilation& compilation) {
  static constexpr std::string_view library = "/site-packages/";
  for (auto place = compilation.called_from.rbegin(); place != compilation.called_from.rend(); ++place)
    if (place->line && place->file.find(library) == std::string::npos) return *place;
  return {};
}

// Maps each call of a kernel or of a library to the operators that the call computes, according to the graphs of the
// log.
class Operators {
 public:
  explicit Operators(const Process& process) {
    for (const Compilation& compilation : process.compilations) {
      const Place call_of_all = calling_line(compilation);
      std::unordered_map<std::string_view, const Node*> captured;
      for (const Graph& graph : compilation.graphs)
        if (graph.stage == "captured")
          for (const Node& node : graph.nodes) captured.insert_or_assign(node.name, &node);
      for (const OutputCode& code : compilation.output_codes)
        for (const KernelCall& call : code.calls) {
          std::vector<costs::Operator>& operators =
              of_calls_[{CodeId{code.number, code.direction == "backward"}, call.line}];
          operators.clear();
          for (const std::string& name : call.captured)
            if (const auto known = captured.find(name); known != captured.end())
              operators.push_back(
                  {known->second->place.line ? known->second->place : call_of_all, known->second->module});
          if (operators.empty())
            for (const Place& place : call.places) operators.push_back({place, ""});
          if (operators.empty()) operators.push_back({call_of_all, ""});
        }
    }
  }

  const std::vector<costs::Operator>* find(const CodeId& code, int line) const {
    const auto known = of_calls_.find({code, line});
    return known == of_calls_.end() || known->second.empty() ? nullptr : &known->second;
  }

 private:
  std::map<std::pair<CodeId, int>, std::vector<costs::Operator>> of_calls_;
};

// Returns an operator whose place is the innermost line of the stack that PyTorch keeps for a line of output code;
// std::nullopt if PyTorch keeps no stack.
std::optional<costs::Operator> kept_operator(json::Value stacks, int line) {
  std::string text;
  stacks.for_each_item([&](json::Value stack) {
    if (line_of(stack.at(0)) <= line) text = text_of(stack.at(1));
  });
  const std::vector<Place> frames = read_traceback(text);
  return frames.empty() ? std::nullopt : std::optional(costs::Operator{frames.back(), ""});
}

RangeKind kind_of(std::string_view kind) {
  if (kind == "lookup") return RangeKind::lookup;
  if (kind == "region") return RangeKind::region;
  if (kind == "pregraph") return RangeKind::pregraph;
  if (kind == "graph") return RangeKind::graph;
  if (kind == "backward") return RangeKind::backward;
  return kind == "compiling" ? RangeKind::compiling : RangeKind::site;
}

costs::Range range_of(json::Value value) {
  costs::Range range;
  const std::string name = text_of(value.at(1));
  range.kind = kind_of(text_of(value.at(0)));
  range.site = static_cast<std::size_t>(-1);
  if (name.starts_with(site_prefix))
    std::from_chars(name.data() + site_prefix.size(), name.data() + name.size(), range.site);
  if (name.starts_with(region_prefix)) range.compile_id = name.substr(region_prefix.size());
  range.thread = value.at(2).integer().value_or(0);
  range.start_us = number_of(value.at(3));
  range.end_us = number_of(value.at(4));
  range.device_us = number_of(value.at(5));
  return range;
}

Measured read_measured(json::Value data, const Operators& operators) {
  Measured measured;
  measured.wall_us = number_of(data["wall_us"]);
  data["ranges"].for_each_item([&](json::Value range) { measured.ranges.push_back(range_of(range)); });
  data["sites"].for_each_item([&](json::Value value) {
    const json::Value file = data["files"][text_of(value.at(0))];
    const int line = line_of(value.at(1));
    const std::optional<CodeId> code = code_id_of(text_of(file["head"]));
    Site site;
    site.callee = text_of(value.at(2));
    site.is_backward = code && code->is_backward;
    if (const auto* known = code ? operators.find(*code, line) : nullptr) site.operators = *known;
    else if (const auto kept = kept_operator(file["stacks"], line); kept && line) site.operators.push_back(*kept);
    measured.sites.push_back(std::move(site));
  });
  data["frames"].for_each_item([&](json::Value value) {
    costs::Frame frame;
    frame.compile_id = text_of(value["compile_id"]);
    frame.function = text_of(value["function"]);
    frame.place = dumps::place_of(value);
    frame.breaks_at.line = line_of(value["break_line"]);
    frame.breaks_at.text = text_of(value["break_text"]);
    if (frame.breaks_at.line) frame.breaks_at.file = frame.place.file, frame.breaks_at.function = frame.function;
    frame.calls_graph = value["calls_graph"].is_true();
    measured.frames.push_back(std::move(frame));
  });
  return measured;
}

void number(json::Writer& out, std::string_view name, double value) { out.key(name), out.number(value); }

void write_share(json::Writer& out, const Share& share) {
  number(out, "seconds", share.us() / us_per_second);
  number(out, "forward_seconds", share.forward_us / us_per_second);
  number(out, "backward_seconds", share.backward_us / us_per_second);
  number(out, "eager_seconds", share.eager_us / us_per_second);
  number(out, "device_seconds", share.device_us / us_per_second);
  out.member("count", static_cast<std::int64_t>(share.count));
}

void write_frame(json::Writer& out, const FrameTime& time, const costs::Frame& frame) {
  out.member("compile_id", frame.compile_id);
  out.member("function", frame.function);
  out.object("line", [&] { write_place_members(out, frame.place); });
  out.member("calls", static_cast<std::int64_t>(time.calls));
  number(out, "seconds", time.us / us_per_second);
  number(out, "guards_seconds", time.guards_us / us_per_second);
  number(out, "transformed_code_seconds", time.transformed_us / us_per_second);
  number(out, "eager_seconds", time.eager_us / us_per_second);
}

void write_time(json::Writer& out, const RunTime& time, const Measured& measured) {
  number(out, "wall_seconds", measured.wall_us / us_per_second);
  number(out, "inside_seconds", time.inside_us / us_per_second);
  number(out, "compiling_seconds", time.compiling_us / us_per_second);
  number(out, "with_line_seconds", time.with_line_us / us_per_second);
  out.objects("parts", time.parts, [&](const costs::PartOfRun& part) {
    out.member("part", part.part);
    number(out, "seconds", part.us / us_per_second);
  });
  out.objects("lines", time.lines, [&](const Share& line) {
    out.object("line", [&] { write_place_members(out, line.place); });
    write_share(out, line);
    out.strings("callees", line.callees);
    out.strings("modules", line.modules);
  });
  out.objects("modules", time.modules, [&](const Share& module) {
    out.member("module", module.name);
    write_share(out, module);
  });
  out.objects("callees", time.callees, [&](const Share& callee) {
    out.member("callee", callee.name);
    write_share(out, callee);
    out.objects("lines", callee.places, [&](const Place& place) { write_place_members(out, place); });
  });
  out.objects("functions", time.frames,
              [&](const FrameTime& row) { write_frame(out, row, measured.frames[row.frame]); });
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-3) std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1) std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string file_and_line(json::Value line) {
  return texts::file_name(text_of(line["file"])) + ":" + std::to_string(line_of(line["line"]));
}

std::string first_names(json::Value names) {
  std::string text;
  std::size_t count = 0;
  names.for_each_item([&](json::Value name) {
    if (++count <= names_shown) text += (count > 1 ? ", " : "") + texts::shown(text_of(name));
  });
  return count > names_shown ? text + ", ..." : text;
}

class Text {
 public:
  explicit Text(json::Value costs) : costs_(costs), inside_(number_of(costs["inside_seconds"])) {}

  std::string run() {
    if (inside_ <= 0) {
      row("No compiled function ran in the block.");
    } else {
      head();
      lines();
      shares("modules", "module", "Modules:", modules_shown);
      shares("callees", "callee", "Kernels and library functions:", callees_shown);
      functions();
    }
    costs_["notes"].for_each_item([&](json::Value note) { row("Note: " + texts::shown(text_of(note))); });
    return joined(rows_, "\n");
  }

 private:
  void row(std::string text) { rows_.push_back(std::move(text)); }

  void head() {
    row("Compiled functions ran for " + time_text(inside_) + " of " + time_text(number_of(costs_["wall_seconds"])) +
        "; " + percent(number_of(costs_["with_line_seconds"]), inside_, 1) + " of this time has a line of source");
    if (const double compiling = number_of(costs_["compiling_seconds"]); compiling > 0)
      row("  in addition, compiling took " + time_text(compiling));
    std::string parts;
    costs_["parts"].for_each_item([&](json::Value part) {
      if (row_seconds(part) >= 0.0005 * inside_)
        parts += (parts.empty() ? "" : ", ") + text_of(part["part"]) + " " + percent(row_seconds(part), inside_, 1);
    });
    row("  " + parts);
  }

  std::string share_text(json::Value share) const {
    std::string text = time_text(row_seconds(share)) + "  " + percent(row_seconds(share), inside_, 1);
    if (const double device = number_of(share["device_seconds"]); device > 0)
      text += "  (device " + time_text(device) + ")";
    if (const double backward = number_of(share["backward_seconds"]); backward > 0)
      text += "  (backward " + time_text(backward) + ")";
    return text;
  }

  void lines() {
    std::size_t count = 0;
    costs_["lines"].for_each_item([&](json::Value line) {
      if (++count > lines_shown) return;
      if (count == 1) row("Lines:");
      const json::Value place = line["line"];
      row(std::string(texts::row_indent) + share_text(line) + "  " + file_and_line(place) + "  " +
          texts::shown(text_of(place["text"]), source_max));
      const std::string callees =
          number_of(line["eager_seconds"]) > 0 ? "runs between graphs" : first_names(line["callees"]);
      if (!callees.empty()) row(std::string(texts::row_indent) + std::string(texts::row_indent) + callees);
    });
    if (count > lines_shown)
      row(std::string(texts::row_indent) + "and " + std::to_string(count - lines_shown) + " more lines");
  }

  void shares(std::string_view list, std::string_view name, std::string_view title, std::size_t shown) {
    std::size_t count = 0;
    costs_[list].for_each_item([&](json::Value share) {
      if (++count > shown) return;
      if (count == 1) row(std::string(title));
      row(std::string(texts::row_indent) + share_text(share) + "  " + texts::shown(text_of(share[name]), source_max) +
          ", " + texts::counted(static_cast<std::size_t>(number_of(share["count"])), "time"));
    });
    if (count > shown) row(std::string(texts::row_indent) + "and " + std::to_string(count - shown) + " more");
  }

  void functions() {
    std::size_t count = 0;
    costs_["functions"].for_each_item([&](json::Value function) {
      if (++count > frames_shown) return;
      if (count == 1) row("Functions, without the compiled functions that they call:");
      const double calls = std::max(1.0, number_of(function["calls"]));
      row(std::string(texts::row_indent) + text_of(function["compile_id"]) + " " +
          texts::shown(text_of(function["function"])) + " (" + file_and_line(function["line"]) +
          "): " + texts::counted(static_cast<std::size_t>(calls), "call") + ", each takes " +
          time_text(row_seconds(function) / calls) + ", of which the guards take " +
          time_text(number_of(function["guards_seconds"]) / calls) + " and the transformed code takes " +
          time_text(number_of(function["transformed_code_seconds"]) / calls));
    });
  }

  json::Value costs_;
  double inside_ = 0;
  std::vector<std::string> rows_;
};

void write_notes(json::Writer& out, json::Value measured) {
  std::vector<std::string> notes;
  if (measured["is_cut"].is_true())
    notes.emplace_back(
        "the measurement ended before the block did, because it reached the largest number of ranges that are kept "
        "(ranges_max)");
  measured["without"].for_each_member([&](json::Value file, json::Value why) {
    notes.push_back("the calls in " + text_of(file) + " were not measured: " + text_of(why));
  });
  out.strings("notes", notes);
}

}  // namespace

std::string run_costs(std::string_view log, std::string_view measured_text) {
  Process process = read_trace(log, "");
  read_graphs(log, process);
  for (Compilation& compilation : process.compilations) link(compilation);
  json::Document document;
  if (document.parse(measured_text)) return "{}";
  const Measured measured = read_measured(document.root(), Operators(process));
  const RunTime time = costs::run_time(measured);
  json::Writer out(true);
  out.object([&] {
    write_time(out, time, measured);
    write_notes(out, document.root());
  });
  return out.take();
}

std::string run_costs_text(std::string_view costs) {
  json::Document document;
  return document.parse(costs) ? std::string() : Text(document.root()).run();
}

std::string run_costs_record(std::string_view costs) {
  json::Document document;
  Run run;
  if (document.parse(costs)) return to_json(run);
  const auto add = [&](std::string kind, json::Value place, double value, std::string unit, std::string text) {
    run.measurements.push_back(
        {std::move(kind), dumps::place_of(place), value, std::move(unit), std::move(text), /*is_alarm=*/false});
  };
  document.root()["lines"].for_each_item([&](json::Value line) {
    std::string text = "forward " + time_text(number_of(line["forward_seconds"])) + ", backward " +
                       time_text(number_of(line["backward_seconds"]));
    if (const std::string callees = first_names(line["callees"]); !callees.empty()) text += ": " + callees;
    add("run time", line["line"], row_seconds(line) * us_per_second / us_per_ms, "ms", std::move(text));
  });
  document.root()["functions"].for_each_item([&](json::Value function) {
    const double calls = std::max(1.0, number_of(function["calls"]));
    add("guards of a call", function["line"], number_of(function["guards_seconds"]) * us_per_second / calls, "us",
        text_of(function["compile_id"]) + ", " + texts::counted(static_cast<std::size_t>(calls), "call"));
  });
  return to_json(run);
}

}  // namespace depyf
