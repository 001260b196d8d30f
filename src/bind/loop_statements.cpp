#include "loop_statements.h"

#include <cmath>
#include <vector>

#include "node_reader.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Appends the text of an argument in the body of a loop.
void append_literal(std::string& text, NodeReader& reader, nb::handle value) {
  const Type& type = reader.type_of(value);
  if (type.kind == Kind::node) {
    text += view_of(attribute(value, reader.name));
    return;
  }
  const bool is_dtype = type.kind == Kind::constant && view_of(type.name) == "dtype";
  const bool is_finite = !PyFloat_CheckExact(value.ptr()) || std::isfinite(PyFloat_AsDouble(value.ptr()));
  const bool is_literal = (type.kind == Kind::number && is_finite) || is_dtype ||
                          (type.kind == Kind::text && view_of(value).find(';') == std::string_view::npos);
  if (!is_literal) only_pytorch_prints("an argument");
  text += view_of(nb::repr(value));
}

}  // namespace

void append_loop_statements(std::string& text, nb::list nodes,
                            const std::function<void(std::string_view)>& add_operation) {
  NodeReader reader;
  const nb::object getitem = nb::module_::import_("operator").attr("getitem");
  std::vector<std::string> values;
  for (const nb::handle node : nodes) {
    const nb::object operation = attribute(node, reader.op), target = attribute(node, reader.target);
    const std::string_view op = view_of(operation);
    values.clear();
    for (const nb::handle value : nb::cast<nb::tuple>(attribute(node, reader.args)))
      append_literal(values.emplace_back(), reader, value);
    const auto begin = [&]() -> std::string& {
      return text.append("        ").append(view_of(attribute(node, reader.name))).append(" = ");
    };
    const auto list_from = [&](std::size_t first) {
      text += '(';
      for (std::size_t i = first; i < values.size(); ++i) text.append(i > first ? ", " : "").append(values[i]);
      text += ")\n";
    };
    if (op == "call_method" && !values.empty()) {
      begin().append(values[0]).append(".").append(view_of(target));
      list_from(1);
    } else if (op == "call_module" && is_identifier(view_of(target))) {
      begin().append("self.").append(view_of(target));
      list_from(0);
    } else if (op == "call_function" && target.is(getitem) && values.size() == 2) {
      begin().append(values[0]).append("[").append(values[1]).append("]\n");
    } else if (op == "output" && values.size() == 1) {
      text.append("        return ").append(values[0]).append("\n");
    } else if (op != "placeholder" || !values.empty() || view_of(target) != "ops") {
      only_pytorch_prints("an operation");
    }
    if (nb::len(attribute(node, reader.kwargs)) || !attribute(node, reader.type).is_none())
      only_pytorch_prints("a node with keywords or a type");
    add_operation(op);
  }
}

}  // namespace depyf
