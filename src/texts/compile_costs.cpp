#include "depyf/compile_costs.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "costs/compile_time.h"
#include "depyf/trace.h"
#include "dumps/members.h"
#include "json/json.h"
#include "json/writer.h"
#include "support/words.h"
#include "texts/cost_places.h"
#include "texts/lines.h"
#include "texts/markdown.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace record;
using costs::CompilationTime, costs::CompileTime, costs::PartTime, costs::Saving;
using dumps::number_of, dumps::text_of;
using texts::percent, texts::place_and_source, texts::write_place;

constexpr std::size_t compilations_shown = 8, phases_shown = 8, lines_shown = 10, savings_shown = 6;
constexpr std::size_t misses_shown = 4, parts_of_key_shown = 6;
constexpr std::size_t savings_in_index = 3;
constexpr double worth_us = 1e6;  // the least time that a change must save to be in the index
constexpr double us_per_second = 1e6;

void number(json::Writer& out, std::string_view name, double value) { out.key(name), out.number(value); }

void write_parts(json::Writer& out, const std::vector<PartTime>& parts) {
  out.objects("parts", parts, [&](const PartTime& part) {
    out.member("part", part.part);
    number(out, "seconds", part.us / us_per_second);
  });
}

void write_compilation(json::Writer& out, const CompilationTime& row, const Compilation& compilation) {
  out.member("compile_id", compilation.id);
  out.member("function", texts::name_of(compilation));
  write_place(out, "line", compilation.place);
  number(out, "seconds", row.us / us_per_second);
  number(out, "restart_seconds", row.restarts_us / us_per_second);
  out.member("attempts", static_cast<std::int64_t>(compilation.attempts));
  out.strings("restart_reasons", compilation.restart_reasons);
  write_parts(out, row.parts);
  out.objects("phases", compilation.phases, [&](const Phase& phase) {
    out.member("phase", phase.name);
    out.member("part", costs::part_of(phase.name));
    number(out, "self_seconds", phase.self_us / us_per_second);
    number(out, "total_seconds", phase.total_us / us_per_second);
    out.member("count", static_cast<std::int64_t>(phase.count));
    out.key("is_parallel"), out.boolean(phase.is_parallel);
  });
  out.objects("caches", compilation.caches, [&](const CacheEvent& event) {
    out.member("cache", event.cache);
    out.member("result", event.result);
    out.member("key", event.key);
  });
}

void write_time(json::Writer& out, const CompileTime& time, const Process& process) {
  number(out, "wall_seconds", time.wall_us / us_per_second);
  number(out, "parts_seconds", time.serial_us / us_per_second);
  number(out, "outside_seconds", time.outside_us / us_per_second);
  number(out, "restart_seconds", time.restarts_us / us_per_second);
  number(out, "compiler_seconds", time.compilers_us / us_per_second);
  number(out, "compiler_seconds_of_all", time.compilers_sum_us / us_per_second);
  out.member("compiled_files", static_cast<std::int64_t>(time.compiled_files));
  out.member("cache_hits", static_cast<std::int64_t>(time.hits));
  out.member("cache_misses", static_cast<std::int64_t>(time.misses));
  out.member("cache_bypasses", static_cast<std::int64_t>(time.bypasses));
  write_parts(out, time.parts);
  out.objects("compilations", time.compilations,
              [&](const CompilationTime& row) { write_compilation(out, row, process.compilations[row.compilation]); });
  out.objects("savings", time.savings, [&](const Saving& saving) {
    out.member("kind", saving.kind);
    out.member("change", saving.change);
    write_place(out, "line", saving.place);
    out.strings("compile_ids", saving.compilations);
    out.member("repeats", static_cast<std::int64_t>(saving.repeats));
    number(out, "seconds", saving.us / us_per_second);
    number(out, "of_seconds", saving.of_us / us_per_second);
  });
}

void write_lines(json::Writer& out, json::Value lines) {
  out.key("lines");
  out.begin_array();
  lines.for_each_item([&](json::Value line) {
    out.object([&] {
      out.member("compile_id", text_of(line["compile_id"]));
      write_place(out, "line", dumps::place_of(line));
      number(out, "self_seconds", line["self_seconds"].number().value_or(0));
      number(out, "total_seconds", line["total_seconds"].number().value_or(0));
      out.member("instructions", line["instructions"].integer().value_or(0));
    });
  });
  out.end_array();
}

void write_missed_keys(json::Writer& out, json::Value keys) {
  out.key("missed_keys");
  out.begin_array();
  keys.for_each_item([&](json::Value key) {
    out.object([&] {
      out.member("compile_id", text_of(key["compile_id"]));
      out.member("key", text_of(key["key"]));
      out.strings("differences", dumps::texts_of(key["differences"]));
    });
  });
  out.end_array();
}

// `differences` are the lines that compare a missed key with the key of the nearest entry of the cache. True if both
// keys were made from the same graph, so that they differ only in other parts than the graph.
bool is_of_same_graph(const std::vector<std::string>& differences) {
  return !differences.empty() && std::none_of(differences.begin(), differences.end(),
                                              [](const std::string& line) { return line.starts_with("key: gm "); });
}

std::string seconds_text(double seconds) {
  char text[32];
  if (seconds < 0.01) std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  else std::snprintf(text, sizeof text, seconds < 9.95 ? "%.2f s" : "%.1f s", seconds);
  return text;
}

std::string files_text(std::int64_t count) { return std::to_string(count) + (count == 1 ? " file" : " files"); }

class Text {
 public:
  explicit Text(json::Value costs) : costs_(costs), wall_(number_of(costs["wall_seconds"])) {}

  std::string run() {
    if (wall_ <= 0) return "Nothing was compiled.";
    row("Compiling took " + seconds_text(wall_) + ": " + parts(costs_, wall_));
    if (const double restarts = number_of(costs_["restart_seconds"]); restarts > 0)
      row("  " + seconds_text(restarts) + " of this time was repeated tracing after restarts (" +
          percent(restarts, wall_) + ")");
    if (const double compilers = number_of(costs_["compiler_seconds"]); compilers > 0)
      row("  compilers of C++ or Triton ran during " + seconds_text(compilers) + " of this time, on " +
          files_text(costs_["compiled_files"].integer().value_or(0)) + ", " +
          seconds_text(number_of(costs_["compiler_seconds_of_all"])) + " in total");
    if (const std::string text = caches(); !text.empty()) row("  " + text);
    missed_keys();
    compilations();
    lines();
    savings();
    return joined(rows_, "\n");
  }

 private:
  void row(std::string text) { rows_.push_back(std::move(text)); }

  static std::string parts(json::Value owner, double whole) {
    std::string text;
    owner["parts"].for_each_item([&](json::Value part) {
      const double seconds = number_of(part["seconds"]);
      if (seconds < 0.005 * whole) return;
      text += (text.empty() ? "" : ", ") + text_of(part["part"]) + " " + percent(seconds, whole);
    });
    return text;
  }

  std::string caches() const {
    const std::int64_t hits = costs_["cache_hits"].integer().value_or(0),
                       misses = costs_["cache_misses"].integer().value_or(0),
                       bypasses = costs_["cache_bypasses"].integer().value_or(0);
    if (hits + misses + bypasses == 0) return {};
    return "caches: " + std::to_string(hits) + " hits, " + std::to_string(misses) + " misses, " +
           std::to_string(bypasses) + " bypasses";
  }

  // Writes rows for the cache misses whose graph is in the cache under another key. Misses whose graph is in no entry
  // are left out, because a graph that was never compiled cannot be in a cache.
  void missed_keys() {
    std::size_t shown = 0;
    costs_["missed_keys"].for_each_item([&](json::Value key) {
      const std::vector<std::string> differences = dumps::texts_of(key["differences"]);
      if (!is_of_same_graph(differences) || ++shown > misses_shown) return;
      row("  " + text_of(key["compile_id"]) +
          " was not in Inductor's cache, which contains its graph with a different key; " + differences[0]);
      for (std::size_t i = 1; i < std::min(differences.size(), 1 + parts_of_key_shown); ++i)
        row(std::string(texts::row_indent) + differences[i]);
      if (differences.size() > 1 + parts_of_key_shown)
        row(std::string(texts::row_indent) + "and " + std::to_string(differences.size() - 1 - parts_of_key_shown) +
            " more");
    });
    if (shown > misses_shown) row("  and " + std::to_string(shown - misses_shown) + " more keys of known graphs");
  }

  void compilations() {
    std::size_t shown = 0;
    costs_["compilations"].for_each_item([&](json::Value compilation) {
      const double seconds = number_of(compilation["seconds"]);
      if (seconds <= 0 || ++shown > compilations_shown) return;
      row(text_of(compilation["compile_id"]) + " " + text_of(compilation["function"]) + ": " + seconds_text(seconds) +
          ", " + percent(seconds, wall_) + ": " + parts(compilation, seconds));
      std::vector<json::Value> phases;
      compilation["phases"].for_each_item([&](json::Value phase) { phases.push_back(phase); });
      std::stable_sort(phases.begin(), phases.end(), [](json::Value a, json::Value b) {
        return number_of(a["self_seconds"]) > number_of(b["self_seconds"]);
      });
      std::size_t phases_left = phases_shown;
      for (const json::Value phase : phases)
        if (!phase["is_parallel"].is_true() && phases_left > 0 && number_of(phase["self_seconds"]) > 0.01 * seconds)
          --phases_left, row(std::string(texts::row_indent) + seconds_text(number_of(phase["self_seconds"])) + "  " +
                             text_of(phase["phase"]));
    });
    if (shown > compilations_shown) row("and " + std::to_string(shown - compilations_shown) + " more compilations");
  }

  void lines() {
    std::vector<json::Value> lines;
    costs_["lines"].for_each_item([&](json::Value line) { lines.push_back(line); });
    if (lines.empty()) return;
    std::stable_sort(lines.begin(), lines.end(), [](json::Value a, json::Value b) {
      return number_of(a["self_seconds"]) > number_of(b["self_seconds"]);
    });
    row("Dynamo's tracing time by line, without and with the functions that the line calls:");
    for (std::size_t i = 0; i < std::min(lines.size(), lines_shown); ++i)
      row(std::string(texts::row_indent) + seconds_text(number_of(lines[i]["self_seconds"])) + "  " +
          seconds_text(number_of(lines[i]["total_seconds"])) + "  " + place_and_source(lines[i]["line"]) + "  (" +
          text_of(lines[i]["compile_id"]) + ", " + std::to_string(lines[i]["instructions"].integer().value_or(0)) +
          " instructions)");
    if (lines.size() > lines_shown)
      row(std::string(texts::row_indent) + "and " + std::to_string(lines.size() - lines_shown) + " more lines");
  }

  void savings() {
    std::size_t shown = 0;
    costs_["savings"].for_each_item([&](json::Value saving) {
      if (++shown > savings_shown) return;
      if (shown == 1) row("Predicted savings of changes:");
      row(std::string(texts::row_indent) + seconds_text(number_of(saving["seconds"])) + " of " +
          seconds_text(number_of(saving["of_seconds"])) + "  " + text_of(saving["change"]) + "; " +
          place_and_source(saving["line"]));
    });
  }

  json::Value costs_;
  double wall_ = 0;
  std::vector<std::string> rows_;
};

}  // namespace

std::string compile_costs(std::string_view log, std::string_view measured) {
  Process process = read_trace(log, "");
  read_graphs(log, process);
  return compile_costs(process, measured);
}

std::string compile_costs(const Process& process, std::string_view measured) {
  const CompileTime time = costs::compile_time(process);
  json::Document document;
  const json::Value added = !measured.empty() && !document.parse(measured) ? document.root() : json::Value();
  json::Writer out(true);
  out.object([&] {
    write_time(out, time, process);
    write_missed_keys(out, added["missed_keys"]);
    write_lines(out, added["lines"]);
  });
  return out.take();
}

std::string compile_costs_text(std::string_view costs) {
  json::Document document;
  return document.parse(costs) ? std::string() : Text(document.root()).run();
}

std::vector<std::string> compile_time_in_markdown(const Process& process) {
  const CompileTime time = costs::compile_time(process);
  if (time.wall_us <= 0) return {};
  std::string parts;
  for (const PartTime& part : time.parts)
    if (part.us >= 0.005 * time.wall_us)
      parts += (parts.empty() ? "" : ", ") + std::string(part.part) + " " + percent(part.us, time.wall_us);
  std::string text = "Compiling took " + seconds_text(time.wall_us / us_per_second) +
                     ", including all backward graphs: " + parts + ".";
  if (time.restarts_us > 0)
    text += " Repeated tracing after restarts took " + seconds_text(time.restarts_us / us_per_second) + ".";
  if (time.compilers_us > 0)
    text += " Compilers of C++ or Triton ran during " + seconds_text(time.compilers_us / us_per_second) + ", on " +
            std::to_string(time.compiled_files) + (time.compiled_files == 1 ? " file." : " files.");
  std::vector<std::string> rows{texts::prose(text)};
  for (const Saving& saving : time.savings) {
    if (rows.size() > savings_in_index || saving.us < worth_us) break;
    rows.push_back("- " +
                   texts::prose("Predicted saving of " + seconds_text(saving.us / us_per_second) + " out of " +
                                seconds_text(saving.of_us / us_per_second) + ": " + saving.change + ".") +
                   (saving.place.line ? " " + texts::literal(texts::file_name(saving.place.file) + ":" +
                                                             std::to_string(saving.place.line))
                                      : ""));
  }
  return rows;
}

}  // namespace depyf
