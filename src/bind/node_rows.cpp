// Reads the nodes of an FX graph with PyTorch's notes on their origin (entries of `node.meta`), for
// depyf.compat.fx_nodes.
//
// Many nodes of a graph share their notes, operators and modules, so a function of depyf.compat.fx_nodes interprets
// each distinct object only once.
#include "node_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "live_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

constexpr std::size_t note_count = 7;
constexpr int chain_max = 32;  // the most nodes that are followed in a chain of sources
enum Note { stack_trace, from_node, seq_nr, original_aten, partitioner_tag, module_stack, forward_module_stack };

using Notes = std::array<nb::object, note_count>;
using Types = std::array<PyObject*, note_count>;

// The functions of depyf.compat.fx_nodes that interpret notes. A note is an entry of the dict `meta` of a node.
struct Readers {
  nb::callable checked;  // takes `meta`; returns (notes, None for a note of a wrong type; names of existing notes)
  nb::callable line;  // takes a stack trace, and returns the user's line or None
  nb::callable sources;  // takes the note `from_node`, and returns the nodes that the node was derived from
  nb::callable modules;  // takes the note `nn_module_stack`, and returns the modules
  nb::callable target;  // takes a node, and returns the name of its operator
  nb::callable copied;  // takes a node, and returns the name of the node whose value it copies into an input
};

class Rows {
 public:
  Rows(nb::handle row_class, nb::handle source_class, nb::handle keys, const Readers& readers)
      : new_row_(row_class), new_source_(source_class), readers_(readers) {
    std::size_t index = 0;
    for (const nb::handle key : keys)
      if (index < note_count) keys_[index++] = nb::borrow(key);
  }

  nb::list read(nb::list nodes) {
    for (const nb::handle node : nodes) add(node);
    return rows_;
  }

 private:
  void add(nb::handle node) {
    const nb::object operation = attribute(node, op_);
    const std::string_view op = view_of(operation);
    if (op == "placeholder" || op == "output" || op == "get_attr") return;
    const auto [notes, noted] = notes_of(attribute(node, meta_));
    const nb::object name = attribute(node, name_), target = target_of(node, op);
    if (view_of(target).ends_with("aten.copy_.default")) {
      // A node that copies a new value into a buffer gets the row of the node that computed the value.
      const nb::object copied = readers_.copied(node);
      if (by_name_.contains(copied)) {
        using namespace nb::literals;
        rows_.append(by_name_[copied].attr("_replace")("name"_a = name, "target"_a = target));
        return;
      }
    }
    const nb::object row = new_row_(fields(name, target, notes, noted));
    by_name_[name] = row;
    rows_.append(row);
  }

  nb::tuple fields(const nb::object& name, const nb::object& target, const Notes& notes, const nb::object& noted) {
    const nb::object &tag = notes[partitioner_tag], &made_from = notes[from_node];
    const bool is_backward = PyUnicode_Check(tag.ptr()) && view_of(tag) == "is_backward";
    return nb::make_tuple(name, target, line_of(notes[stack_trace]), sources_of(made_from), notes[seq_nr],
                          text_of_operator(notes[original_aten]), is_backward, noted,
                          modules_of(is_true(notes[module_stack]) ? notes[module_stack] : notes[forward_module_stack]));
  }

  // Returns the notes in `meta`, the metadata of a node, and the names of the notes that exist. A Python function
  // checks the types of the notes, and is called only once for each combination of types.
  std::pair<Notes, nb::object> notes_of(const nb::object& meta) {
    Notes notes;
    Types types{};
    const bool is_dict = PyDict_CheckExact(meta.ptr());
    for (std::size_t i = 0; is_dict && i < note_count; ++i) {
      const nb::handle value = item(meta, keys_[i]);
      notes[i] = nb::borrow(value.is_valid() ? value : nb::handle(Py_None));
      types[i] = notes[i].type().ptr();
    }
    if (is_dict)
      if (const auto known = checked_.find(types); known != checked_.end()) return {notes, known->second};
    const nb::object checked = readers_.checked(meta);
    bool is_same = is_dict;
    for (std::size_t i = 0; i < note_count; ++i) {
      const nb::object value = nb::object(checked[0])[i];
      is_same = is_same && value.is(notes[i]);
      notes[i] = value;
    }
    const nb::object noted = checked[1];
    if (is_same) checked_.emplace(types, noted);
    return {notes, noted};
  }

  // Returns the nodes that a node was derived from, without duplicates.
  nb::object sources_of(const nb::object& made_from) {
    if (!is_true(made_from)) return nb::tuple();
    if (!PyList_CheckExact(made_from.ptr())) return readers_.sources(made_from);
    nb::dict found;
    for (const nb::handle each : made_from) {
      const nb::object source = innermost(nb::borrow(each));
      if (!source.is_valid()) return readers_.sources(made_from);
      found[source] = nb::none();
    }
    return nb::tuple(found.keys());
  }

  // Follows the attribute `from_node` from `source` to the earliest node, and returns the name and the graph of the
  // earliest node; an invalid object if an attribute has an unknown form.
  nb::object innermost(nb::object source) {
    for (int depth = 0; depth < chain_max; ++depth) {
      const nb::object earlier = nb::getattr(source, from_node_, nb::none());
      if (!PyList_CheckExact(earlier.ptr())) return {};
      if (nb::len(earlier) == 0) break;
      source = earlier[0];
    }
    const nb::object name = nb::getattr(source, name_, nb::none()), graph = nb::getattr(source, graph_id_, nb::none());
    if (!PyUnicode_CheckExact(name.ptr()) || !PyLong_CheckExact(graph.ptr())) return {};
    return new_source_(nb::make_tuple(name, graph));
  }

  nb::object line_of(const nb::object& stack) {
    const auto [known, is_new] = lines_.try_emplace(stack.ptr());
    if (is_new) known->second = readers_.line(stack);
    return known->second;
  }

  nb::object text_of_operator(const nb::object& original) {
    if (original.is_none()) return nb::str("");
    const auto [known, is_new] = texts_.try_emplace(original.ptr());
    if (is_new) known->second = nb::str(original);
    return known->second;
  }

  nb::object target_of(nb::handle node, std::string_view op) {
    const nb::object target = attribute(node, target_);
    const auto [known, is_new] = targets_.try_emplace({target.ptr(), std::string(op)});
    if (is_new) known->second = {target, nb::object(readers_.target(node))};
    return known->second.second;
  }

  nb::object modules_of(const nb::object& stack) {
    if (!is_true(stack)) return nb::tuple();
    const nb::tuple keys(stack);
    if (!modules_.contains(keys)) modules_[keys] = readers_.modules(stack);
    return modules_[keys];
  }

  const nb::object op_ = interned("op"), meta_ = interned("meta"), name_ = interned("name"),
                   target_ = interned("target"), from_node_ = interned("from_node"), graph_id_ = interned("graph_id");
  const NamedTupleClass new_row_, new_source_;
  std::array<nb::object, note_count> keys_;
  const Readers& readers_;
  nb::list rows_;
  nb::dict by_name_;  // maps the name of a node to the row of the node
  nb::dict modules_;  // maps the keys of a stack of modules to its modules
  std::map<Types, nb::object> checked_;
  // The keys of the following maps are addresses of objects, most of which the nodes keep alive. Each value of
  // `targets_` also contains the target and keeps it alive, because a target that is a bound method is created anew at
  // each access.
  std::unordered_map<PyObject*, nb::object> lines_, texts_;
  std::map<std::pair<PyObject*, std::string>, std::pair<nb::object, nb::object>> targets_;
};

nb::list node_rows(nb::list nodes, nb::handle row_class, nb::handle source_class, nb::handle keys, nb::callable checked,
                   nb::callable line, nb::callable sources, nb::callable modules, nb::callable target,
                   nb::callable copied) {
  const Readers readers{checked, line, sources, modules, target, copied};
  return Rows(row_class, source_class, keys, readers).read(nodes);
}

}  // namespace

void bind_node_rows(nb::module_& module) {
  module.def("node_rows", &node_rows, nb::arg("nodes"), nb::arg("row_class"), nb::arg("source_class"), nb::arg("keys"),
             nb::arg("checked"), nb::arg("line"), nb::arg("sources"), nb::arg("modules"), nb::arg("target"),
             nb::arg("copied"));
}

}  // namespace depyf
