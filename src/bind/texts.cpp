#include "texts.h"

#include <nanobind/stl/string.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "depyf/compile_costs.h"
#include "depyf/dump.h"
#include "depyf/explanation.h"
#include "depyf/guard_costs.h"
#include "depyf/guard_function.h"
#include "depyf/links.h"
#include "depyf/memory_costs.h"
#include "depyf/reasons.h"
#include "depyf/run_costs.h"
#include "depyf/story.h"
#include "depyf/texts.h"
#include "depyf/trace.h"
#include "gil.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

nb::object folded_text(nb::str text, nb::str file, std::size_t first_line) {
  return python_text(folded(utf8_of(text), utf8_of(file), first_line));
}

nb::list folded_list(nb::list conditions) {
  std::vector<std::string> texts;
  for (nb::handle condition : conditions) texts.push_back(text_of(condition));
  return python_list(folded_conditions(std::move(texts)));
}

// Returns the content of a file; std::nullopt if the file cannot be read.
std::optional<std::string> content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < 0) return std::nullopt;
  std::string content(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

using CompilationTables = std::pair<std::string, std::int64_t>;

// Sets the texts of tables.md, which state the costs of source lines, for the runs of a dump. `of_last` contains the
// tables of the last run; the tables of earlier runs are read from files that earlier calls wrote. If the file with the
// tables of a run is missing, and the graphs of the run were read, the costs of lines are derived from the graphs.
void add_tables(const std::string& folder, const std::vector<CompilationTables>& of_last, record::Run& run) {
  const std::size_t known = run.processes.size() - (of_last.empty() || run.processes.empty() ? 0 : 1);
  for (std::size_t number = 0; number < known; ++number) {
    record::Process& process = run.processes[number];
    const std::string name = number ? "/tables_run_" + std::to_string(number + 1) + ".md" : "/tables.md";
    process.tables = content_of(folder + name).value_or("");
    for (record::Compilation& compilation : process.compilations)
      if (process.tables.empty()) link(compilation);
      else compilation.graphs.clear();
  }
  if (known == run.processes.size()) return;
  std::vector<record::Compilation>& compilations = run.processes.back().compilations;
  for (std::size_t i = 0; i < std::min(compilations.size(), of_last.size()); ++i) {
    compilations[i].tables = of_last[i].first;
    if (of_last[i].second >= 0) compilations[i].graph_operators = of_last[i].second;
  }
}

// Returns the index files of a dump. `tables` is empty, or has an item for each compilation of the last run. An item of
// `tables` contains the table of the costs of source lines, and the number of operators in the graph (-1 if the number
// is unknown).
nb::dict index_of(nb::str directory, nb::str session, nb::str times, nb::list tables, bool reads_graphs) {
  std::vector<CompilationTables> tables_of_last;
  for (const nb::handle item : tables) {
    const auto row = nb::cast<nb::tuple>(item);
    tables_of_last.emplace_back(text_of(row[0]), nb::cast<std::int64_t>(row[1]));
  }
  const std::string folder = utf8_of(directory), session_text = utf8_of(session), times_text = utf8_of(times);
  std::map<std::string, std::string> files;
  {
    const ReleasedGil released;
    record::Run run;
    run.processes = read_dump(
        folder, {},
        [&](const std::string& name) -> std::optional<std::string> {
          if (name == "session.json") return session_text;
          if (name == "times.json") return times_text;
          return content_of(folder + "/" + name);
        },
        reads_graphs);
    add_tables(folder, tables_of_last, run);
    files = index_files(run);
  }
  nb::dict result;
  for (const auto& [name, text] : files) result[python_text(name)] = python_text(text);
  return result;
}

nb::dict words_in_python(nb::str frame, nb::str title) {
  const Words words = words_of(read_compilation(utf8_of(frame)), utf8_of(title));
  nb::dict result;
  result["headline"] = python_text(words.headline);
  result["details"] = python_list(words.details);
  result["reasons"] = python_list(words.reasons);
  result["deciding"] = python_text(words.deciding);
  result["failures"] = python_list(words.failures);
  result["symbols"] = python_list(words.symbols);
  result["at run time"] = python_list(words.at_run_time);
  result["places"] = python_list(words.places);
  result["breaks"] = python_list(words.breaks);
  result["guards"] = python_list(words.guards);
  return result;
}

nb::tuple line_in_python(const record::Place& place) {
  return nb::make_tuple(python_text(place.file), place.line, python_text(place.text), python_text(place.function));
}

nb::dict break_in_python(nb::str report) {
  const record::GraphBreak graph_break = read_graph_break(utf8_of(report));
  nb::dict result;
  result["reason"] = python_text(graph_break.reason);
  result["explanation"] = python_text(graph_break.explanation);
  result["hints"] = python_list(graph_break.hints);
  result["link"] = python_text(graph_break.link);
  result["then"] = python_text(graph_break.then);
  result["place"] = line_in_python(graph_break.place);
  nb::list stack;
  for (const record::Place& place : graph_break.stack) stack.append(line_in_python(place));
  result["stack"] = stack;
  return result;
}

nb::object origin_of(nb::str place) { return python_text(bound_origin(utf8_of(place))); }

std::string text_at(nb::tuple row, std::size_t index) { return text_of(row[index]); }

nb::object guard_function_of(nb::str name, nb::str quiet, nb::list guards, nb::list shorthands) {
  std::vector<GuardToPrint> to_print;
  for (nb::handle item : guards) {
    const auto row = nb::cast<nb::tuple>(item);
    GuardToPrint guard{text_at(row, 0),        text_at(row, 1),       text_at(row, 2), text_at(row, 3), {},
                       nb::cast<bool>(row[5]), nb::cast<bool>(row[6])};
    for (nb::handle condition : nb::cast<nb::tuple>(row[4])) guard.conditions.push_back(text_of(condition));
    to_print.push_back(std::move(guard));
  }
  std::vector<GuardShorthand> short_forms;
  for (nb::handle item : shorthands) {
    const auto row = nb::cast<nb::tuple>(item);
    short_forms.push_back({text_at(row, 0), text_at(row, 1), text_at(row, 2), text_at(row, 3), text_at(row, 4)});
  }
  return python_text(guard_function(utf8_of(name), utf8_of(quiet), std::move(to_print), short_forms));
}

std::string text_in(nb::dict data, const char* name) { return text_of(data[name]); }

std::vector<std::string> texts_in(nb::handle sequence) {
  std::vector<std::string> texts;
  for (const nb::handle item : sequence) texts.push_back(text_of(item));
  return texts;
}

GuardDifference difference_of(nb::dict data) {
  GuardDifference difference{text_in(data, "aspect"),
                             text_in(data, "condition"),
                             text_in(data, "subject"),
                             text_in(data, "expected"),
                             text_in(data, "actual"),
                             nb::cast<std::size_t>(data["guard"]),
                             text_in(data, "guard_kind"),
                             text_in(data, "guard_text"),
                             text_in(data, "guard_source"),
                             nb::cast<bool>(data["is_of_key"]),
                             nb::cast<bool>(data["is_by_position"]),
                             nb::cast<bool>(data["is_missing"]),
                             {},
                             texts_in(data["sources"]),
                             texts_in(data["begins"])};
  for (std::string& key : texts_in(data["keys"])) difference.keys.insert(std::move(key));
  return difference;
}

nb::list deciding_reasons_of(nb::list differences, nb::dict values) {
  std::vector<GuardDifference> read_differences;
  for (const nb::handle item : differences) read_differences.push_back(difference_of(nb::cast<nb::dict>(item)));
  GuardedValues read_values;
  for (const auto& [source, way] : nb::cast<nb::dict>(values["above"]))
    read_values.above[text_of(source)] = texts_in(way);
  for (const auto& [source, terms] : nb::cast<nb::dict>(values["terms"]))
    read_values.terms[text_of(source)] = text_of(terms);
  for (const auto& [source, keys] : nb::cast<nb::dict>(values["dict_keys"]))
    read_values.dict_keys[text_of(source)] = texts_in(keys);
  read_values.mode_stack = text_in(values, "mode_stack");
  read_values.default_device = text_in(values, "default_device");
  nb::list result;
  for (const DecidingReason& reason : deciding_reasons(read_differences, read_values))
    result.append(nb::make_tuple(reason.difference, python_text(reason.expected), python_list(reason.alike),
                                 python_list(reason.follows)));
  return result;
}

nb::object story_of(nb::str sections, nb::callable read, nb::callable marked) {
  const StorySources sources{
      [&](const std::string& file) { return utf8_of(nb::cast<nb::str>(read(python_text(file)))); },
      [&](const std::string& file, int line) {
        std::vector<std::string> lines;
        for (const nb::handle item : nb::cast<nb::list>(marked(python_text(file), line)))
          lines.push_back(text_of(item));
        return lines;
      }};
  return python_text(full_code(utf8_of(sections), sources));
}

nb::object body_of_graph(nb::str text, nb::str name, nb::str file) {
  return python_text(graph_body(utf8_of(text), utf8_of(name), utf8_of(file)));
}

nb::object text_of_explanation(nb::str explanation) { return python_text(explanation_text(utf8_of(explanation))); }

nb::object headline_of_explanation(nb::str explanation) {
  return python_text(explanation_headline(utf8_of(explanation)));
}

nb::object compile_costs_of(nb::bytes log, nb::str measured) {
  const std::string measured_text = utf8_of(measured);
  const std::string_view bytes(log.c_str(), log.size());
  std::string costs;
  {
    const ReleasedGil released;
    costs = compile_costs(bytes, measured_text);
  }
  return python_text(costs);
}

nb::object text_of_compile_costs(nb::str costs) { return python_text(compile_costs_text(utf8_of(costs))); }

nb::object run_costs_of(nb::bytes log, nb::str measured) {
  const std::string measured_text = utf8_of(measured);
  const std::string_view bytes(log.c_str(), log.size());
  std::string costs;
  {
    const ReleasedGil released;
    costs = run_costs(bytes, measured_text);
  }
  return python_text(costs);
}

nb::object text_of_run_costs(nb::str costs) { return python_text(run_costs_text(utf8_of(costs))); }

nb::object record_of_run_costs(nb::str costs) { return python_text(run_costs_record(utf8_of(costs))); }

nb::object memory_costs_of(nb::str seen) { return python_text(memory_costs(utf8_of(seen))); }

nb::object text_of_memory_costs(nb::str costs) { return python_text(memory_costs_text(utf8_of(costs))); }

nb::object text_of_guard_costs(nb::str costs) { return python_text(guard_costs_text(utf8_of(costs))); }

nb::object html_of_explanation(nb::str explanation, nb::str frame) {
  return python_text(explanation_html(utf8_of(explanation), utf8_of(frame)));
}

nb::object html_of_entry(nb::str entry, nb::str frame) {
  return python_text(entry_html(utf8_of(entry), utf8_of(frame)));
}

}  // namespace

void bind_texts(nb::module_& module) {
  module.def("deciding_reasons", &deciding_reasons_of, nb::arg("differences"), nb::arg("values"));
  module.def("full_code", &story_of, nb::arg("sections"), nb::arg("read"), nb::arg("marked"));
  module.def("graph_body", &body_of_graph, nb::arg("text"), nb::arg("name"), nb::arg("file"));
  module.def("explanation_text", &text_of_explanation, nb::arg("explanation"));
  module.def("explanation_headline", &headline_of_explanation, nb::arg("explanation"));
  module.def("compile_costs", &compile_costs_of, nb::arg("log"), nb::arg("measured"));
  module.def("compile_costs_text", &text_of_compile_costs, nb::arg("costs"));
  module.def("run_costs", &run_costs_of, nb::arg("log"), nb::arg("measured"));
  module.def("run_costs_text", &text_of_run_costs, nb::arg("costs"));
  module.def("run_costs_record", &record_of_run_costs, nb::arg("costs"));
  module.def("memory_costs", &memory_costs_of, nb::arg("seen"));
  module.def("memory_costs_text", &text_of_memory_costs, nb::arg("costs"));
  module.def("guard_costs_text", &text_of_guard_costs, nb::arg("costs"));
  module.def("explanation_html", &html_of_explanation, nb::arg("explanation"), nb::arg("frame"));
  module.def("entry_html", &html_of_entry, nb::arg("entry"), nb::arg("frame"));
  module.def("folded", &folded_text, nb::arg("text"), nb::arg("file"), nb::arg("first_line"));
  module.def("index_files", &index_of, nb::arg("directory"), nb::arg("session"), nb::arg("times"),
             nb::arg("tables") = nb::list(), nb::arg("reads_graphs") = false);
  module.def("frame_words", &words_in_python, nb::arg("frame"), nb::arg("title"));
  module.def("graph_break", &break_in_python, nb::arg("report"));
  module.def("stages", [] {
    nb::list result;
    for (const record::Stage& stage : record::stages())
      result.append(
          nb::make_tuple(python_text(std::string(stage.kind)), python_text(std::string(stage.about)), stage.is_late));
    return result;
  });
  module.def("bound_origin", &origin_of, nb::arg("place"));
  module.def("guard_function", &guard_function_of, nb::arg("name"), nb::arg("quiet"), nb::arg("guards"),
             nb::arg("shorthands"));
  module.def("folded_conditions", &folded_list, nb::arg("conditions"));
}

}  // namespace depyf
