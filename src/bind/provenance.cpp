#include "provenance.h"

#include <nanobind/stl/string.h>

#include "depyf/seen.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

std::string optional_text(nb::handle text) { return text.is_none() ? std::string() : text_of(text); }

void construct(Provenance* self, nb::str seen, nb::callable replaced) {
  new (self) Provenance(utf8_of(seen), [&](const std::string& direction) {
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
