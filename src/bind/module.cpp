// Defines the extension module depyf._core, whose functions take live code objects and return plain Python objects.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>

#include "alone.h"
#include "artifact.h"
#include "code_from_python.h"
#include "command.h"
#include "conditions.h"
#include "decompile.h"
#include "depyf/code_object.h"
#include "depyf/disassemble.h"
#include "depyf/graph_text.h"
#include "depyf/links.h"
#include "depyf/load.h"
#include "frame.h"
#include "gil.h"
#include "graph_statements.h"
#include "ir_text.h"
#include "json.h"
#include "node_rows.h"
#include "prove.h"
#include "provenance.h"
#include "recode.h"
#include "report.h"
#include "texts.h"
#include "timeline.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Returns a list of tuples, one for each instruction, or a text with the reason why the code cannot be decoded. The
// tuple of an instruction contains the members of DisassembledInstruction (disassemble.h) in their order.
nb::object rows_or_error(const CodeObject& code) {
  Disassembly result;
  {
    const ReleasedGil released;
    result = disassemble(code);
  }
  if (!result.error.empty()) {
    std::string message = result.error + " at offset " + std::to_string(result.error_offset);
    return nb::str(message.data(), message.size());
  }
  nb::list rows;
  for (const DisassembledInstruction& it : result.instructions) {
    rows.append(nb::make_tuple(it.op, it.arg, it.aux, it.offset, it.target, it.line, it.pops, it.pushes, it.jump_pops,
                               it.jump_pushes));
  }
  return rows;
}

// Returns the tables of a live code object as a tuple: the positions of the code units, and the exception table.
nb::tuple tables(nb::handle code_object) {
  CodeObject code = code_from_python(code_object);
  nb::list positions, exceptions;
  for (const Position& it : code.positions) {
    positions.append(nb::make_tuple(it.line, it.end_line, it.column, it.end_column));
  }
  for (const ExceptionEntry& it : code.exceptions) {
    exceptions.append(nb::make_tuple(it.start, it.end, it.target, it.depth, it.lasti));
  }
  return nb::make_tuple(positions, exceptions);
}

nb::object decode_code(nb::handle code) {
  nb::object rows = rows_or_error(code_from_python(code));
  if (nb::isinstance<nb::str>(rows)) throw nb::value_error(nb::cast<std::string>(rows).c_str());
  return rows;
}

void append_decoded(const CodeObject& code, nb::list& result) {
  result.append(nb::make_tuple(nb::bytes(code.name.data(), code.name.size()), rows_or_error(code)));
  for (const Constant& constant : code.constants) {
    if (constant.code) append_decoded(*constant.code, result);
  }
}

nb::list decode_pyc(nb::bytes file) {
  LoadedPyc loaded = load_pyc({file.c_str(), file.size()});
  if (!loaded.code) {
    throw nb::value_error((loaded.error + " at offset " + std::to_string(loaded.error_offset)).c_str());
  }
  nb::list result;
  append_decoded(*loaded.code, result);
  return result;
}

// Returns the result of `change` for the text of a graph. A text with a lone surrogate, which has no UTF-8 form, is
// returned unchanged.
template <class Change>
nb::object changed(nb::str text, Change change) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!utf8) {
    PyErr_Clear();
    return text;
  }
  const std::string result = change(std::string_view(utf8, static_cast<std::size_t>(size)));
  return nb::str(result.data(), result.size());
}

nb::object shortened(nb::str text) { return changed(text, shortened_graph); }

nb::list lines_with_names(std::string_view text, bool of_ir) {
  nb::list rows;
  for (const NamedLine& it : named_lines(text, of_ir)) {
    rows.append(nb::make_tuple(nb::str(it.name.data(), it.name.size()), it.end, it.line));
  }
  return rows;
}

nb::dict nodes_replaced(std::string_view before, nb::list after) {
  std::vector<std::string_view> texts;
  for (const nb::handle text : after) texts.push_back(nb::cast<std::string_view>(text));
  nb::dict result;
  for (const auto& [node, replaced] : replaced_nodes(before, texts)) {
    nb::list names;
    for (const std::string& name : replaced) names.append(nb::str(name.data(), name.size()));
    result[nb::str(node.data(), node.size())] = names;
  }
  return result;
}

NameOf names_from(nb::dict names) {
  NameOf result;
  for (const auto& [key, value] : names) result.emplace(nb::cast<std::string>(key), nb::cast<std::string>(value));
  return result;
}

nb::dict to_dict(const Renames& renames) {
  nb::dict result;
  for (const auto& [old_name, name] : renames) result[old_name.c_str()] = name.c_str();
  return result;
}

nb::dict names_of_inputs(std::string_view text, nb::list captured) {
  std::vector<std::string> names;
  for (const nb::handle input : captured)
    names.push_back(input_name(nb::cast<std::string>(input[0]), nb::cast<std::string>(input[1])));
  return to_dict(input_names(text, names));
}

nb::object readable(nb::str text, nb::dict renames, nb::dict headings) {
  Renames pairs;
  for (const auto& [key, value] : renames) pairs.emplace_back(nb::cast<std::string>(key), nb::cast<std::string>(value));
  return changed(text, [&](std::string_view graph) {
    return with_headings(pairs.empty() ? std::string(graph) : with_input_names(graph, pairs), names_from(headings));
  });
}

}  // namespace

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // objects that a cache refers to at exit shall not be reported as leaks
  module.attr("__version__") = DEPYF_VERSION;
  bind_decompile(module);
  bind_command(module);
  bind_prove(module);
  bind_recode(module);
  bind_frame(module);
  bind_json(module);
  bind_graph_statements(module);
  bind_node_rows(module);
  bind_ir_text(module);
  bind_alone(module);
  bind_texts(module);
  bind_timeline(module);
  bind_conditions(module);
  bind_provenance(module);
  bind_artifact(module);
  bind_report(module);
  module.def("decode", &decode_code, nb::arg("code"));
  module.def("tables", &tables, nb::arg("code"));
  module.def("shortened_graph", &shortened, nb::arg("text"));
  module.def("input_names", &names_of_inputs, nb::arg("text"), nb::arg("captured"));
  module.def("input_names_in", [](std::string_view text) { return to_dict(input_names_in(text)); }, nb::arg("text"));
  module.def(
      "with_names",
      [](nb::str code, nb::dict names) {
        return changed(code, [&](std::string_view text) { return with_names(text, names_from(names)); });
      },
      nb::arg("code"), nb::arg("names"));
  module.def("readable_graph", &readable, nb::arg("text"), nb::arg("renames"), nb::arg("headings"));
  module.def("named_lines", &lines_with_names, nb::arg("text"), nb::arg("of_ir"));
  module.def("replaced_nodes", &nodes_replaced, nb::arg("before"), nb::arg("after"));
  module.def("decode_pyc", &decode_pyc, nb::arg("file"));
}

}  // namespace depyf
