#include "decompile.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "code_from_python.h"
#include "depyf/decompile.h"
#include "depyf/recode.h"
#include "gil.h"

namespace nb = nanobind;

namespace depyf {
namespace {

const char* level_name(Level level) {
  switch (level) {
    case Level::structured: return "structured";
    case Level::state_machine: return "state machine";
    case Level::stub: return "stub";
  }
  return "stub";
}

// Decodes UTF-8 for Python. The bytes of lone surrogates, which names and therefore quotations in notes may contain,
// are replaced by escapes.
nb::object text(std::string_view utf8) {
  PyObject* string = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "backslashreplace");
  if (!string) throw nb::python_error();
  return nb::steal(string);
}

nb::list lines(const Decompiled& result) {
  nb::list pairs;
  for (const LineMapping& it : result.lines) pairs.append(nb::make_tuple(it.line, it.offset));
  return pairs;
}

nb::list nested_lines(const Decompiled& result) {
  nb::list rows;
  for (const NestedLines& it : result.nested) {
    nb::list path, pairs;
    for (std::uint32_t index : it.path) path.append(index);
    for (const LineMapping& line : it.lines) pairs.append(nb::make_tuple(line.line, line.offset));
    rows.append(nb::make_tuple(text(it.name), nb::tuple(path), pairs));
  }
  return rows;
}

nb::list notes(const Decompiled& result) {
  nb::list list;
  for (const std::string& note : result.notes) list.append(text(note));
  return list;
}

nb::dict constants(const Decompiled& result) {
  nb::dict paths;
  for (const NamedConstant& it : result.constants) {
    nb::list path;
    for (std::uint32_t index : it.path) path.append(index);
    paths[text(it.name)] = nb::tuple(path);
  }
  return paths;
}

using Parameters = std::map<std::string, std::vector<std::string>, std::less<>>;

using Names = std::set<std::string, std::less<>>;

Style style_named(const std::string& name) {
  if (name == "plain") return Style::plain;
  if (name == "readable") return Style::readable;
  if (name == "exact") return Style::exact;
  throw nb::value_error(("unknown style " + name).c_str());
}

// Returns `by_name` with its keys renamed according to `names`.
Parameters renamed(Parameters by_name, const NewNames& names) {
  for (const auto& [old_name, name] : names) {
    if (auto entry = by_name.extract(old_name)) {
      entry.key() = name;
      by_name.insert(std::move(entry));
    }
  }
  return by_name;
}

Names renamed(Names set, const NewNames& names) {
  for (const auto& [old_name, name] : names) {
    if (set.erase(old_name)) set.insert(name);
  }
  return set;
}

Decompiled decompile_live(nb::handle code_object, std::optional<std::string> name, const std::string& style,
                          Parameters parameters, Names installed, Parameters outputs, bool short_names_wanted,
                          bool standalone) {
  CodeObject code = code_from_python(code_object);
  if (short_names_wanted) {
    const NewNames short_ones = short_names(code);
    rename_names(code, short_ones);
    parameters = renamed(std::move(parameters), short_ones);
    installed = renamed(std::move(installed), short_ones);
    outputs = renamed(std::move(outputs), short_ones);
  }
  Options options;
  if (name) options.name = std::move(*name);
  options.style = style_named(style);
  options.standalone = standalone;
  options.parameters = std::move(parameters);
  options.installed = std::move(installed);
  options.outputs = std::move(outputs);
  const ReleasedGil released;
  return decompile(code, options);
}

nb::list pass_rows() {
  nb::list rows;
  for (const auto& [name, reason] : passes()) rows.append(nb::make_tuple(name, reason));
  return rows;
}

}  // namespace

void bind_decompile(nb::module_& module) {
  nb::class_<Decompiled>(module, "Decompiled")
      .def_prop_ro("source", [](const Decompiled& it) { return text(it.source); })
      .def_prop_ro("lines", &lines)
      .def_prop_ro("nested_lines", &nested_lines)
      .def_prop_ro("level", [](const Decompiled& it) { return level_name(it.level); })
      .def_prop_ro("notes", &notes)
      .def_prop_ro("constants", &constants);
  module.def("decompile", &decompile_live, nb::arg("code"), nb::kw_only(), nb::arg("name") = nb::none(),
             nb::arg("style") = "plain", nb::arg("parameters") = Parameters(), nb::arg("installed") = Names(),
             nb::arg("outputs") = Parameters(), nb::arg("short_names") = false, nb::arg("standalone") = false);
  module.def("passes", &pass_rows);
}

}  // namespace depyf
