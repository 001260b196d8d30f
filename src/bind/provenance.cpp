#include "provenance.h"

#include <nanobind/stl/string.h>

#include <unordered_map>

#include "depyf/seen.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

std::string optional_text(nb::handle text) { return text.is_none() ? std::string() : text_of(text); }

// The following functions read instances of depyf's own named tuples and dataclasses. If an object lacks the attributes
// or items of its named tuple or dataclass, Python raises an exception.

template <class Read>
auto all_of(nb::handle items, Read read) {
  std::vector<decltype(read(items))> result;
  for (const nb::handle each : items) result.push_back(read(each));
  return result;
}

SeenLine line_of(nb::handle line) {
  return {text_of(line.attr("file")), nb::cast<std::int64_t>(line.attr("line")), text_of(line.attr("text")),
          text_of(line.attr("function"))};
}

// Converts the nodes of one compilation's graphs from Python objects to C++ structs. Many nodes refer to the same
// Python object for their line of source, so each object for a line is converted only once.
class Nodes {
 public:
  std::vector<SeenNode> operator()(nb::handle rows) {
    return all_of(rows, [&](nb::handle row) { return node(row); });
  }

 private:
  // Reads an instance of depyf.compat.fx_nodes.NodeRow.
  SeenNode node(nb::handle of_graph) {
    const auto row = nb::cast<nb::tuple>(of_graph);
    SeenNode node;
    node.name = text_of(row[0]);
    node.target = text_of(row[1]);
    if (const nb::object line = row[2]; !line.is_none()) {
      const auto [known, is_new] = lines_.try_emplace(line.ptr());
      if (is_new) known->second = std::make_shared<const SeenLine>(line_of(line));
      node.line = known->second;
    }
    node.sources = all_of(row[3], [](nb::handle of_node) {
      const auto source = nb::cast<nb::tuple>(of_node);
      return NodeSource{text_of(source[0]), nb::cast<std::int64_t>(source[1])};
    });
    if (const nb::object number = row[4]; !number.is_none()) node.number = nb::cast<std::int64_t>(number);
    node.is_backward = nb::cast<bool>(row[6]);
    const auto modules = nb::cast<nb::tuple>(row[8]);
    if (modules.size()) node.module = text_of(modules[modules.size() - 1][0]);
    return node;
  }

  std::unordered_map<PyObject*, std::shared_ptr<const SeenLine>> lines_;  // the rows keep the lines alive
};

// Reads an instance of depyf.compat.inductor.Operation.
SeenOperation operation_of(nb::handle of_direction) {
  const auto operation = nb::cast<nb::tuple>(of_direction);
  return {text_of(operation[0]),  text_of(operation[1]),  texts_of(operation[2]),
          texts_of(operation[3]), texts_of(operation[4]), text_of(operation[5])};
}

// Reads an instance of depyf.provenance.collect.Collected.
Seen seen_of(nb::handle collected) {
  Nodes nodes;
  Seen seen{nodes(collected.attr("captured")),
            nodes(collected.attr("joint")),
            nb::cast<std::int64_t>(collected.attr("graph")),
            {}};
  for (const auto& [name, recorded] : nb::cast<nb::dict>(collected.attr("directions"))) {
    SeenDirection& direction = seen.directions.emplace_back();
    direction.name = text_of(name);
    direction.graph = nodes(recorded.attr("graph"));
    direction.post_grad = nodes(recorded.attr("post_grad"));
    direction.operations =
        all_of(recorded.attr("operations"), [](nb::handle group) { return all_of(group, operation_of); });
    for (const auto& [pair, reason] : nb::cast<nb::dict>(recorded.attr("not_fused")))
      direction.not_fused.push_back({text_of(pair[0]), text_of(pair[1]), text_of(reason)});
    direction.code = text_of(recorded.attr("code"));
  }
  return seen;
}

void construct(Provenance* self, nb::handle seen, nb::callable replaced) {
  new (self) Provenance(seen_of(seen), [&](const std::string& direction) {
    const nb::object argument = direction.empty() ? nb::object(nb::none()) : python_text(direction);
    std::map<std::string, std::vector<std::string>> result;
    for (const auto& [node, names] : nb::cast<nb::dict>(replaced(argument)))
      for (const nb::handle name : nb::cast<nb::list>(names)) result[text_of(node)].push_back(text_of(name));
    return result;
  });
}

nb::object annotated(Provenance& self, nb::str file, nb::str kind, nb::handle direction, nb::str text) {
  return python_text(self.annotated(utf8_of(file), utf8_of(kind), optional_text(direction), utf8_of(text)));
}

nb::object to_json(const Provenance& self, nb::str id, nb::str function, nb::handle compiled_fn, nb::list missing) {
  LinkedCompilation compilation{utf8_of(id), utf8_of(function), std::nullopt, {}};
  if (!compiled_fn.is_none()) compilation.compiled_fn = nb::cast<std::int64_t>(compiled_fn);
  for (const nb::handle item : missing) {
    const auto stage = nb::cast<nb::tuple>(item);
    compilation.missing.push_back({text_of(stage[0]), optional_text(stage[1]), text_of(stage[2])});
  }
  return python_text(self.to_json(compilation));
}

nb::object tables_text(const Provenance& self) { return python_text(self.tables()); }

nb::list story(const Provenance& self) { return python_list(self.story()); }

}  // namespace

void bind_provenance(nb::module_& module) {
  nb::class_<Provenance>(module, "Provenance")
      .def("__init__", &construct, nb::arg("seen"), nb::arg("replaced"))
      .def("annotated", &annotated, nb::arg("file"), nb::arg("kind"), nb::arg("direction").none(), nb::arg("text"))
      .def("to_json", &to_json, nb::arg("id"), nb::arg("function"), nb::arg("compiled_fn").none(), nb::arg("missing"))
      .def("tables", &tables_text)
      .def("story", &story);
}

}  // namespace depyf
