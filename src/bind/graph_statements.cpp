// Prints the statements of live FX graphs in the form in which PyTorch prints them.
//
// Most of the text that `prepare_debug` writes consists of graphs, and PyTorch prints each graph several times during a
// compilation. Reading the nodes, which are Python objects, in C++ is faster than PyTorch's printer, which is written
// in Python. If a graph contains an object that only PyTorch can print, the printer raises a ValueError.
#include "graph_statements.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "live_text.h"
#include "node_reader.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// One printed statement of a graph.
struct Statement {
  nb::object name;
  std::string text;  // the text without the assignments of None at its end, which release values
  std::vector<PyObject*> inputs;  // the nodes that the statement uses
  bool is_assignment = false;  // false for an input of the graph, and for the `return`
  bool is_used = true;
};

// The functions of depyf.printing that print those parts of a graph's text that only functions of PyTorch or SymPy can
// print.
struct OtherParts {
  nb::callable comment;  // takes a stack trace, and returns the text of the comment
  nb::callable function;  // takes a target, and returns (its name or format, true for a format)
  nb::callable place;  // takes (dtype, layout, device), and returns (name of the dtype, name of the device)
  nb::callable expression;  // takes a symbolic number, and returns its text
  nb::callable is_usual_type;  // takes a declared type, and returns true if PyTorch's text does not depend on the type
  nb::callable output;  // takes (value, description), and returns the text of the output
};

// Prints one graph.
class GraphBody {
 public:
  GraphBody(nb::set parts, bool is_simple, bool is_expanded, const OtherParts& others)
      : parts_(parts), arguments_(reader_, parts), is_simple_(is_simple), is_expanded_(is_expanded), others_(others) {}

  // Returns a tuple: the inputs with their annotations, and the statements.
  nb::tuple print(nb::list nodes) {
    statements_.reserve(nb::len(nodes));
    for (const nb::handle node : nodes) add(node);
    return nb::make_tuple(inputs_, python_string(with_released_values(nodes)));
  }

 private:
  void add(nb::handle node) {
    const nb::object operation = attribute(node, reader_.op), meta = attribute(node, reader_.meta);
    if (!PyDict_Check(meta.ptr())) only_pytorch_prints("notes");
    const std::string_view op = view_of(operation);
    Statement& statement = statements_.emplace_back();
    statement.name = attribute(node, reader_.name);
    nb::handle about = is_expanded_ ? item(meta, description_) : nb::handle();
    if (!about.is_valid()) about = Py_None;
    if (op == "output") {
      add_output(node, operation, about, statement);
      return;
    }
    const std::string annotation = annotation_of(node, meta);
    if (op == "placeholder") {
      add_input(node, operation, annotation, about, statement);
      return;
    }
    require_no_other_notes(meta);
    const nb::handle stack = item(meta, stack_trace_);
    statement.text = comment_of(stack.is_valid() ? stack : nb::handle(Py_None));
    statement.text += view_of(statement.name);
    statement.text.append(annotation).append(" = ");
    if (operations_.emplace(op).second) parts_.add(operation);
    append_value(node, op, statement);
    statement.is_assignment = true;
    statement.is_used = nb::len(attribute(node, reader_.users)) != 0;
  }

  void add_output(nb::handle node, const nb::object& operation, nb::handle about, Statement& statement) {
    if (!attribute(node, reader_.type).is_none()) only_pytorch_prints("a type of the output");
    parts_.add(nb::make_tuple(operation, about.is_none()));
    const auto values = nb::cast<nb::tuple>(attribute(node, reader_.args));
    std::string unused;
    arguments_.append(unused, values[0], statement.inputs);
    statement.text = view_of(others_.output(values[0], about));
    statement.text += '\n';
  }

  void add_input(nb::handle node, const nb::object& operation, const std::string& annotation, nb::handle about,
                 Statement& statement) {
    if (nb::len(attribute(node, reader_.args))) only_pytorch_prints("a default");
    const nb::object target = attribute(node, reader_.target);
    std::string name(view_of(target)), input = name + annotation;
    if (!about.is_none()) input.append("  # ").append(view_of(nb::str(about)));
    inputs_.append(python_string(input));
    std::erase(name, '*');
    const bool is_renamed = name != view_of(statement.name);
    parts_.add(nb::make_tuple(operation, is_renamed, about.is_none()));
    if (is_renamed) statement.text.append(view_of(statement.name)).append(" = ").append(name).append("\n");
  }

  // Appends the expression that a node computes.
  void append_value(nb::handle node, std::string_view op, Statement& statement) {
    const nb::object target = attribute(node, reader_.target), values = attribute(node, reader_.args),
                     options = attribute(node, reader_.kwargs);
    std::string& text = statement.text;
    std::string_view separator = "";
    if (op == "call_function") {
      const auto [name, is_format] = function(target);
      if (is_format) {
        if (nb::len(options)) only_pytorch_prints("an operator with keywords");
        append_operator(name, values, statement);
        return;
      }
      text.append(name).append("(");
      if (arguments_.append_all(text, values, statement.inputs)) separator = ", ";
    } else if (op == "call_method" && is_identifier(view_of(target))) {
      append_method_call(view_of(target), values, statement);
      if (nb::len(values) > 1) separator = ", ";
    } else if ((op == "call_module" || op == "get_attr") && is_dotted_name(view_of(target))) {
      text.append("self.").append(view_of(target));
      if (op == "get_attr" && nb::len(values) + nb::len(options)) only_pytorch_prints("an attribute with arguments");
      if (op == "get_attr") return;
      text += '(';
      if (arguments_.append_all(text, values, statement.inputs)) separator = ", ";
    } else {
      only_pytorch_prints("an operation");
    }
    for (const auto& [key, value] : nb::cast<nb::dict>(options)) {
      text.append(separator).append(view_of(key)).append(" = ");
      arguments_.append(text, value, statement.inputs);
      separator = ", ";
    }
    text += ')';
  }

  // Appends the start of a call, `owner.method(`, and the arguments of the call.
  void append_method_call(std::string_view method, const nb::object& values, Statement& statement) {
    bool is_first = true;
    std::string_view separator = "";
    for (const nb::handle value : values) {
      statement.text += separator;
      arguments_.append(statement.text, value, statement.inputs);
      if (is_first) statement.text.append(".").append(method).append("(");
      else separator = ", ";
      is_first = false;
    }
    if (is_first) only_pytorch_prints("a method without an owner");
  }

  // Appends the text of an operator. The text is `format`, such as `{} + {}`, with an argument in place of each pair of
  // braces.
  void append_operator(std::string_view format, const nb::object& values, Statement& statement) {
    for (const nb::handle value : values) {
      const std::size_t place = format.find("{}");
      if (place == format.npos) only_pytorch_prints("an operator with more operands");
      statement.text += format.substr(0, place);
      arguments_.append(statement.text, value, statement.inputs);
      format.remove_prefix(place + 2);
    }
    if (format.find("{}") != format.npos) only_pytorch_prints("an operator with fewer operands");
    statement.text += format;
  }

  std::pair<std::string_view, bool> function(const nb::object& target) {
    const auto [known, is_new] = functions_.try_emplace(target.ptr());
    if (is_new) {
      known->second = nb::cast<nb::tuple>(others_.function(target));
      parts_.add(known->second[0]);
    }
    return {view_of(known->second[0]), nb::cast<bool>(known->second[1])};
  }

  // Returns the annotation of a node's value.
  std::string annotation_of(nb::handle node, const nb::object& meta) {
    nb::handle value = item(meta, value_);
    if (!value.is_valid()) value = item(meta, tensor_notes_);
    if (!value.is_valid()) value = item(meta, example_);
    if (!value.is_valid()) value = Py_None;
    Type& type = reader_.type_of(value);
    const nb::object declared = attribute(node, reader_.type);
    bool& is_known = declared.is_none() ? type.is_known_value : type.is_known_declared;
    if (!is_known) parts_.add(nb::make_tuple("value", type.name, declared.is_none()));
    is_known = true;
    const bool is_shown = type.kind == Kind::tensor || type.kind == Kind::symbol;
    // PyTorch prints the type of the value instead of the declared type only if the value is a tensor or a symbolic
    // number and the declared type is a usual type.
    if (!declared.is_none() && (!is_shown || !nb::cast<bool>(others_.is_usual_type(declared))))
      only_pytorch_prints("a declared type");
    if (type.kind == Kind::tensor) return tensor_annotation(value);
    std::string text;
    if (type.kind == Kind::symbol) {
      text = ": \"Sym(";
      append_symbol(text, value, is_simple_);
      return text += ")\"";
    }
    const bool has_no_text = type.kind == Kind::tuple || type.kind == Kind::list || type.kind == Kind::text ||
                             type.kind == Kind::number ||
                             (PyTuple_Check(value.ptr()) && view_of(type.name) != "TensorMetadata");
    if (!has_no_text) only_pytorch_prints("a value");
    return text;
  }

  std::string tensor_annotation(nb::handle tensor) {
    std::string text = ": \"";
    const nb::object shape = attribute(tensor, shape_);
    const nb::tuple place = nb::cast<nb::tuple>(
        others_.place(attribute(tensor, dtype_), attribute(tensor, layout_), attribute(tensor, device_)));
    const nb::object dtype = place[0];
    if (dtypes_.insert(dtype.ptr()).second) parts_.add(dtype);
    text += view_of(dtype);
    append_sizes(text, shape);
    append_sizes(text, attribute(tensor, stride_)());
    return text.append(view_of(place[1])).append("\"");
  }

  void append_sizes(std::string& text, const nb::object& sizes) {
    text += '[';
    std::string_view separator = "";
    for (const nb::handle size : nb::cast<nb::tuple>(sizes)) {
      text += separator;
      separator = ", ";
      if (PyLong_CheckExact(size.ptr())) text += std::to_string(nb::cast<std::int64_t>(size));
      else append_symbol(text, size, false);
    }
    text += ']';
  }

  // Appends the expression of a symbolic number.
  void append_symbol(std::string& text, nb::handle number, bool only_symbols) {
    const nb::object expression = attribute(attribute(number, node_), expression_);
    const bool is_symbol = view_of(reader_.type_of(expression).name) == "Symbol";
    if (only_symbols && !is_symbol) only_pytorch_prints("an expression in the simpler form");
    bool& is_known = is_symbol ? has_symbol_ : has_expression_;
    if (!is_known) parts_.add(nb::str(is_symbol ? "symbol" : "expression"));
    is_known = true;
    text += view_of(is_symbol ? attribute(expression, reader_.name) : nb::object(others_.expression(number)));
  }

  // Raises a ValueError if `meta`, the metadata of a node, has an entry that PyTorch prints but the class GraphBody
  // does not print.
  void require_no_other_notes(const nb::object& meta) {
    for (const nb::object& key : {custom_, recompute_, graph_id_, wrapped_}) {
      const nb::handle value = item(meta, key);
      const bool is_empty = !value.is_valid() || value.is_none() || (PyDict_Check(value.ptr()) && !nb::len(value));
      if (!is_empty) only_pytorch_prints("notes that are printed");
    }
  }

  // Returns the comment that names the source line of a node; "" if the comment equals the comment that was printed
  // last.
  std::string comment_of(nb::handle stack) {
    if (stack.ptr() == last_stack_.ptr()) return "";
    last_stack_ = nb::borrow(stack);
    const nb::object comment = others_.comment(stack);
    const std::string_view text = view_of(comment);
    if (last_comment_ == text) return "";
    last_comment_ = text;
    parts_.add(nb::make_tuple("comment", text.starts_with("\n# No stacktrace found")));
    return last_comment_;
  }

  // Joins the statements. Each statement ends with assignments of None to the names whose values no later statement
  // uses.
  std::string with_released_values(nb::list nodes) {
    std::unordered_map<PyObject*, const Statement*> by_node;
    std::vector<std::string> ends(statements_.size());
    for (std::size_t i = 0; i < statements_.size(); ++i) by_node[nodes[i].ptr()] = &statements_[i];
    std::unordered_set<PyObject*> seen;
    for (std::size_t i = statements_.size(); i-- > 0;) {
      const auto release = [&](const nb::object& name) { ends[i].append(view_of(name)).append(" = "); };
      for (PyObject* input : statements_[i].inputs) {
        if (!seen.insert(input).second) continue;
        const auto found = by_node.find(input);
        if (found == by_node.end()) only_pytorch_prints("a node of another graph");
        release(found->second->name);
      }
      if (!statements_[i].is_used) release(statements_[i].name);
    }
    std::string body;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      body += statements_[i].text;
      if (!statements_[i].is_assignment) continue;
      if (ends[i].empty()) body += '\n';
      else body.append(";  ").append(ends[i]).append("None\n");
    }
    return body;
  }

  const nb::object value_ = interned("val"), tensor_notes_ = interned("tensor_meta"),
                   example_ = interned("example_value"), description_ = interned("desc"),
                   stack_trace_ = interned("stack_trace"), custom_ = interned("custom"),
                   recompute_ = interned("recompute"), graph_id_ = interned("ac_graph_id"),
                   wrapped_ = interned("is_wrapped"), shape_ = interned("shape"), dtype_ = interned("dtype"),
                   layout_ = interned("layout"), device_ = interned("device"), stride_ = interned("stride"),
                   node_ = interned("node"), expression_ = interned("expr");
  nb::set parts_;
  NodeReader reader_;
  Arguments arguments_;
  const bool is_simple_, is_expanded_;
  const OtherParts& others_;
  nb::list inputs_;
  std::vector<Statement> statements_;
  std::unordered_map<PyObject*, nb::tuple> functions_;  // by target; the nodes keep their targets alive
  std::unordered_set<std::string> operations_;
  std::unordered_set<PyObject*> dtypes_;  // the seen dtypes, which are strings that the annotations keep alive
  bool has_symbol_ = false, has_expression_ = false;  // true if `parts_` has "symbol" and "expression"
  nb::object last_stack_;
  std::string last_comment_;
};

nb::tuple graph_statements(nb::list nodes, nb::set parts, bool simple, bool expanded, nb::callable comment,
                           nb::callable function, nb::callable place, nb::callable expression,
                           nb::callable is_usual_type, nb::callable output) {
  const OtherParts others{comment, function, place, expression, is_usual_type, output};
  return GraphBody(parts, simple, expanded, others).print(nodes);
}

nb::object argument_text(nb::handle value, nb::set parts) {
  NodeReader reader;
  std::string text;
  std::vector<PyObject*> inputs;
  Arguments(reader, parts).append(text, value, inputs);
  return python_string(text);
}

}  // namespace

void bind_graph_statements(nb::module_& module) {
  module.def("graph_statements", &graph_statements, nb::arg("nodes"), nb::arg("parts"), nb::arg("simple"),
             nb::arg("expanded"), nb::arg("comment"), nb::arg("function"), nb::arg("place"), nb::arg("expression"),
             nb::arg("is_usual_type"), nb::arg("output"));
  module.def("argument_text", &argument_text, nb::arg("value").none(), nb::arg("parts"));
}

}  // namespace depyf
