// Prints the nodes of Inductor's IR as `BaseSchedulerNode.debug_str` prints them.
//
// The text of a loop node also contains the body of the loop, which `append_loop_statements` prints. Behind `outputs`,
// the text of a node contains an indented text for each buffer that the node writes. The text of a node has lines such
// as:
//
//   op0: SchedulerNode(ComputedBuffer)
//   op0.writes = [MemoryDep('buf0', c0, {c0: 64})]
//   op0.unmet_dependencies = []
//   op0.met_dependencies = [MemoryDep('arg0_1', c0, {c0: 64})]
//   op0.min_input_distance = 0
//   op0.max_input_distance = 0
//   op0.outputs = [
//       buf0: ComputedBuffer
//       buf0.layout = FixedLayout('cpu', torch.float32, size=[64], stride=[1])
//       buf0.users = [NodeUser(node=OUTPUT, can_inplace=False, is_weak=False)]
//   ]
#include "ir_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "live_text.h"
#include "loop_statements.h"

namespace nb = nanobind;

namespace depyf {
namespace {

constexpr std::size_t width = 80;  // the largest width of a line that `pprint` does not break

// The kinds of parts that a text of the IR contains, such as "LoopBody" or the class of a buffer, as a set of bits.
// `IrTexts::labels` maps each bit to the name of the kind.
using Parts = std::uint64_t;

struct Kept {
  nb::object object;  // the object is kept alive, so that no other object gets its address
  std::string text;
  Parts parts = 0;
};
using KeptTexts = std::unordered_map<PyObject*, Kept>;

// The texts of the expressions and dependencies in the IR. The text of an object never changes, and can occur both in
// the IR before fusion and in the IR after fusion. Several threads may print at the same time, and CPython may switch
// between the threads while functions of Python run, so no text is ever removed.
struct IrTexts {
  explicit IrTexts(nb::callable text_of_expression) : text_of_expression(text_of_expression) {}

  const nb::callable text_of_expression;  // returns the text of a SymPy expression
  KeptTexts expressions, dependencies;
  std::vector<std::string> labels;  // maps a bit of `Parts` to the kind of part
};

// Prints the nodes of one IR. The texts of buffers and layouts are kept as long as the IrText object lives.
class IrText {
 public:
  // The parameter `graph` is Inductor's graph, which contains the buffers.
  IrText(IrTexts& texts, nb::object graph) : texts_(texts), graph_(graph) {}

  // Returns a tuple: the text of a node, and the kinds of the parts of the text.
  nb::tuple node(nb::handle node) {
    Parts parts = 0;
    std::string text;
    append_node(text, node, parts);
    text.pop_back();
    nb::set names;
    for (std::size_t bit = 0; bit < texts_.labels.size(); ++bit)
      if (parts >> bit & 1) names.add(python_string(texts_.labels[bit]));
    return nb::make_tuple(python_string(text), names);
  }

 private:
  void add(Parts& parts, std::string label) {
    std::size_t bit = std::size_t(std::ranges::find(texts_.labels, label) - texts_.labels.begin());
    if (bit == 64) only_pytorch_prints("more than 64 kinds of parts");
    if (bit == texts_.labels.size()) texts_.labels.push_back(std::move(label));
    parts |= Parts(1) << bit;
  }

  std::string_view type_name(nb::handle object) {
    const auto [known, is_new] = types_.try_emplace(object.type().ptr());
    if (is_new) known->second = object.type().attr("__name__");
    return view_of(known->second);
  }

  // Returns the name of the class that defines the method `debug_str_extra` of a node.
  std::string kind_of_node(nb::handle node) {
    const auto [known, is_new] = kinds_.try_emplace(node.type().ptr());
    if (is_new) {
      const nb::object method = node.type().attr("debug_str_extra").attr("__qualname__");
      const std::string_view name = view_of(method);
      known->second = name.substr(0, name.find('.'));
    }
    return known->second;
  }

  void append_node(std::string& text, nb::handle node, Parts& parts) {
    const nb::object its_name = attribute(node, get_name_)();
    const std::string_view name = view_of(its_name);
    const std::string extra = kind_of_node(node);
    add(parts, std::string(type_name(node)) + " " + extra);
    const bool is_fused = extra == "FusedSchedulerNode";
    const auto line = [&](std::string_view field) -> std::string& { return text.append(name).append(field); };
    line(": ").append(type_name(node)).append("(");
    if (!is_fused) text.append(type_name(attribute(node, node_)));
    std::string_view separator = "";
    if (is_fused)
      for (const nb::handle member : attribute(node, snodes_)) {
        text.append(separator).append(type_name(member));
        separator = ",";
      }
    text += ")\n";
    const nb::object accesses = attribute(node, read_writes_), unmet = attribute(node, unmet_dependencies_);
    append_dependencies(line(".writes = "), attribute(accesses, writes_), parts);
    append_dependencies(line(".unmet_dependencies = "), unmet, parts);
    append_dependencies(line(".met_dependencies = "), without(attribute(accesses, reads_), unmet), parts);
    line(".min_input_distance = ").append(view_of(nb::str(attribute(node, min_input_distance_)))) += '\n';
    line(".max_input_distance = ").append(view_of(nb::str(attribute(node, max_input_distance_)))) += '\n';
    line(".outputs = [\n");
    for (const nb::handle buffer : attribute(node, get_outputs_)())
      text.append("    ").append(kept(kept_, buffer, parts, &IrText::append_buffer)) += '\n';
    text += "]\n";
    if (is_fused) {
      append_members(text, node, name, parts);
    } else if (extra == "SchedulerNode") {
      append_loops(text, node, name, parts);
    } else if (extra == "ExternKernelSchedulerNode") {
      const nb::object kernel = nb::getattr(attribute(node, node_), "python_kernel_name", nb::none());
      line(".node.kernel = ").append(view_of(nb::str(kernel))) += '\n';
    } else if (extra != "BaseSchedulerNode") {
      only_pytorch_prints("a kind of node");
    }
  }

  void append_members(std::string& text, nb::handle node, std::string_view name, Parts& parts) {
    const nb::object members = attribute(node, snodes_);
    std::size_t index = 0;
    for (const nb::handle member : members) {
      text.append(name).append(".snodes[").append(std::to_string(index++)).append("] =\n");
      append_node(text, member, parts);
    }
    if (!attribute(members[0], node_).is_none()) append_lines(text, attribute(node, debug_str_for_device_)());
  }

  static void append_lines(std::string& text, const nb::object& lines) {
    for (const nb::handle line : lines) text.append(view_of(line)) += '\n';
  }

  // Appends the lines that are printed only for a loop node, such as its sizes and body.
  void append_loops(std::string& text, nb::handle node, std::string_view name, Parts& parts) {
    const auto line = [&](std::string_view field) -> std::string& { return text.append(name).append(field); };
    const nb::object group = attribute(node, group_);
    line(".group.device = ").append(view_of(nb::str(nb::object(group[0])))) += '\n';
    append_listed(line(".group.iteration = "), nb::object(group[1]));
    text += '\n';
    append_listed(line(".sizes = "), attribute(node, sizes_));
    text += '\n';
    for (const nb::handle dependency : attribute(attribute(node, read_writes_), reads_and_writes_)()) {
      if (type_name(dependency) == "WeakDep") continue;
      const nb::object its_name = attribute(dependency, name_), buffer = attribute(graph_, get_buffer_)(its_name);
      if (type_name(buffer) == "TorchBindObject") only_pytorch_prints("an object of TorchBind");
      text.append(view_of(its_name)).append("_layout = ");
      text.append(kept(kept_, attribute(buffer, layout_), parts, &IrText::append_layout)) += '\n';
    }
    const nb::object body = attribute(node, body_);
    if (type_name(body) != "LoopBody") only_pytorch_prints("a body of a loop");
    add(parts, "LoopBody");
    text.append("class ").append(name).append("_loop_body:\n    var_ranges = ");
    append_ranges(text, nb::cast<nb::dict>(attribute(body, var_ranges_)).items());
    text += '\n';
    for (const auto& [key, value] : nb::cast<nb::dict>(attribute(body, indexing_exprs_)))
      text.append("    ").append(view_of(key)).append(" = ").append(expression(value)) += '\n';
    append_block(text, "body", attribute(body, root_block_), parts);
    for (const auto& [key, block] : nb::cast<nb::dict>(attribute(body, subblocks_)))
      append_block(text, view_of(key), block, parts);
    append_lines(text, attribute(node, debug_str_for_device_)());
  }

  void append_block(std::string& text, std::string_view name, nb::handle block, Parts& parts) {
    text.append("    def ").append(name).append("(self, ops):\n");
    append_loop_statements(text, nb::list(attribute(attribute(block, of_block_), nodes_)),
                           [&](std::string_view operation) { add(parts, std::string(operation)); });
  }

  // Returns the text of `object` from `texts`. If `texts` has no text of the object yet, `append` computes the text,
  // and the text is added to `texts`.
  const std::string& kept(KeptTexts& texts, nb::handle object, Parts& parts,
                          void (IrText::*append)(std::string&, nb::handle, Parts&)) {
    const auto found = texts.find(object.ptr());
    if (found != texts.end()) {
      parts |= found->second.parts;
      return found->second.text;
    }
    Kept entry{nb::borrow(object), {}, 0};
    (this->*append)(entry.text, object, entry.parts);
    parts |= entry.parts;
    return texts.emplace(object.ptr(), std::move(entry)).first->second.text;
  }

  // Appends the part of a node's text that describes `buffer`, which the node writes.
  void append_buffer(std::string& text, nb::handle buffer, Parts& parts) {
    const nb::object its_name = attribute(buffer, get_name_)(), node = attribute(buffer, node_);
    const std::string_view name = view_of(its_name);
    text.append(name).append(": ").append(type_name(node)).append("\n    ").append(name).append(".layout = ");
    text += kept(kept_, attribute(node, layout_), parts, &IrText::append_layout);
    for (const auto& [field, others] : {std::pair{"aliases", attribute(buffer, get_aliases_)()},
                                        std::pair{"mutations", attribute(buffer, get_mutations_)()}}) {
      if (!is_true(others)) continue;
      const nb::object listed = nb::steal(PyObject_Repr(others.ptr()));
      if (!PyList_CheckExact(others.ptr()) || view_of(listed).size() > width) only_pytorch_prints("a long list");
      add(parts, field);
      text.append("\n    ").append(name).append(".").append(field).append(" = ").append(view_of(listed));
    }
    append_users(text, name, attribute(buffer, users_), parts);
    add(parts, std::string(type_name(buffer)));
  }

  void append_users(std::string& text, std::string_view name, const nb::object& users, Parts& parts) {
    std::vector<std::string> listed;
    for (const nb::handle user : users) {
      std::string& of = listed.emplace_back("NodeUser(node=");
      of.append(view_of(nb::repr(attribute(user, node_))));
      of.append(", can_inplace=").append(view_of(nb::str(attribute(user, can_inplace_))));
      of.append(", is_weak=").append(view_of(nb::str(attribute(user, is_weak_)))).append(")");
    }
    text.append("\n    ").append(name).append(".users = [");
    if (listed.size() == 1) text += listed[0];
    if (listed.size() > 1) {
      for (const std::string& user : listed) text.append("\n        ").append(user).append(",");
      text += "\n    ";
    }
    text += ']';
    add(parts, "users " + std::to_string(std::min<std::size_t>(listed.size(), 2)));
  }

  void append_layout(std::string& text, nb::handle layout, Parts& parts) {
    const std::string_view kind = type_name(layout);
    add(parts, std::string(kind));
    const bool is_usual = (kind == "FixedLayout" || kind == "FlexibleLayout") &&
                          !is_true(nb::getattr(layout, "is_pinned", nb::bool_(false))) &&
                          attribute(layout, offset_).equal(nb::int_(0));
    if (!is_usual) {
      text += view_of(nb::str(layout));
      return;
    }
    const nb::object device = attribute(layout, device_), index = attribute(device, index_);
    text.append(kind).append("('").append(view_of(attribute(device, type_)));
    if (!index.is_none()) text.append(":").append(view_of(nb::str(index)));
    text.append("', ").append(view_of(nb::str(attribute(layout, dtype_)))).append(", size=");
    append_listed(text, attribute(layout, size_));
    append_listed(text.append(", stride="), attribute(layout, stride_));
    text += ')';
  }

  // Returns the dependencies that are not in the set `others`.
  static nb::list without(const nb::object& dependencies, const nb::object& others) {
    std::vector<PyObject*> known;
    for (const nb::handle other : others) known.push_back(other.ptr());
    nb::list result;
    for (const nb::handle dependency : dependencies) {
      // Comparing the addresses first avoids computing hashes of expressions in Python.
      if (std::ranges::find(known, dependency.ptr()) != known.end()) continue;
      const int is_known = known.empty() ? 0 : PySequence_Contains(others.ptr(), dependency.ptr());
      if (is_known < 0) throw nb::python_error();
      if (!is_known) result.append(dependency);
    }
    return result;
  }

  // Appends a set of dependencies in the format of `pprint`, with the indentation that Inductor uses.
  void append_dependencies(std::string& text, const nb::object& dependencies, Parts& parts) {
    std::vector<std::string_view> texts;
    for (const nb::handle dependency : dependencies)
      texts.push_back(kept(texts_.dependencies, dependency, parts, &IrText::append_dependency));
    std::ranges::sort(texts);
    const std::string count = std::to_string(std::min<std::size_t>(texts.size(), 2));
    add(parts, "dependencies " + count);
    std::size_t size = 2;
    for (const std::string_view each : texts) size += each.size() + 2;
    const bool is_long = !texts.empty() && size - 2 > width;
    if (is_long) add(parts, "long " + count);
    const bool is_broken = is_long && texts.size() > 1;
    text += is_broken ? "\n    [   " : is_long ? "[   " : "[";
    std::string_view separator = "";
    for (const std::string_view each : texts) {
      text.append(separator).append(each);
      separator = is_broken ? ",\n        " : ", ";
    }
    text += "]\n";
  }

  void append_dependency(std::string& text, nb::handle dependency, Parts& parts) {
    const std::string_view kind = type_name(dependency);
    add(parts, std::string(kind));
    if (kind == "MemoryDep") {
      text.append("MemoryDep(").append(view_of(nb::repr(attribute(dependency, name_)))).append(", ");
      text.append(expression(attribute(dependency, index_))).append(", ");
      const nb::object variables = attribute(dependency, var_names_), sizes = attribute(dependency, size_);
      if (nb::len(variables) != nb::len(sizes)) only_pytorch_prints("variables without sizes");
      nb::list ranges;
      for (std::size_t i = 0; i < nb::len(variables); ++i)
        ranges.append(nb::make_tuple(nb::object(variables[i]), nb::object(sizes[i])));
      append_ranges(text, ranges);
      const nb::object mode = attribute(dependency, mode_);
      if (!mode.is_none()) text.append(", ").append(view_of(nb::str(mode)));
      text += ')';
      return;
    }
    text = view_of(nb::str(dependency));
    // `pprint` may break a text that is longer than half a line.
    if ((kind != "StarDep" && kind != "WeakDep") || text.size() > width / 2) only_pytorch_prints("a dependency");
  }

  // Appends a mapping from variables to their sizes, such as `{p0: 8, p1: 4}`.
  void append_ranges(std::string& text, const nb::list& pairs) {
    text += '{';
    std::string_view separator = "";
    for (const nb::handle pair : pairs) {
      text.append(separator)
          .append(expression(nb::object(pair[0])))
          .append(": ")
          .append(expression(nb::object(pair[1])));
      separator = ", ";
    }
    text += '}';
  }

  // Appends sizes, which may be nested in tuples and lists.
  void append_listed(std::string& text, const nb::object& value) {
    const bool is_tuple = PyTuple_CheckExact(value.ptr());
    if (!is_tuple && !PyList_CheckExact(value.ptr())) {
      text += expression(value);
      return;
    }
    text += is_tuple ? '(' : '[';
    std::string_view separator = "";
    for (const nb::handle item : value) {
      text += separator;
      if (is_tuple) append_listed(text, nb::borrow(item));
      else text += expression(item);
      separator = ", ";
    }
    text += is_tuple ? (nb::len(value) == 1 ? ",)" : ")") : "]";
  }

  // Returns the text of a SymPy expression. Equal expressions can have different texts (2 and 2.0), so texts are kept
  // by the addresses of their objects.
  const std::string& expression(nb::handle value) {
    const auto found = texts_.expressions.find(value.ptr());
    if (found != texts_.expressions.end()) return found->second.text;
    const nb::object text = texts_.text_of_expression(value);
    return texts_.expressions.emplace(value.ptr(), Kept{nb::borrow(value), std::string(view_of(text)), 0})
        .first->second.text;
  }

  const nb::object get_name_ = interned("get_name"), node_ = interned("node"), snodes_ = interned("snodes"),
                   read_writes_ = interned("read_writes"), unmet_dependencies_ = interned("unmet_dependencies"),
                   writes_ = interned("writes"), reads_ = interned("reads"),
                   min_input_distance_ = interned("min_input_distance"),
                   max_input_distance_ = interned("max_input_distance"), get_outputs_ = interned("get_outputs"),
                   debug_str_for_device_ = interned("_debug_str_for_device"), group_ = interned("group"),
                   sizes_ = interned("_sizes"), reads_and_writes_ = interned("reads_and_writes"),
                   get_buffer_ = interned("get_buffer"), body_ = interned("_body"),
                   var_ranges_ = interned("var_ranges"), indexing_exprs_ = interned("indexing_exprs"),
                   root_block_ = interned("root_block"), subblocks_ = interned("subblocks"),
                   of_block_ = interned("graph"), nodes_ = interned("nodes"), layout_ = interned("layout"),
                   get_aliases_ = interned("get_aliases"), get_mutations_ = interned("get_mutations"),
                   users_ = interned("users"), can_inplace_ = interned("can_inplace"), is_weak_ = interned("is_weak"),
                   offset_ = interned("offset"), device_ = interned("device"), index_ = interned("index"),
                   type_ = interned("type"), dtype_ = interned("dtype"), size_ = interned("size"),
                   stride_ = interned("stride"), name_ = interned("name"), var_names_ = interned("var_names"),
                   mode_ = interned("mode");
  IrTexts& texts_;
  const nb::object graph_;
  KeptTexts kept_;
  std::unordered_map<PyObject*, nb::object> types_;  // maps a type to its name
  std::unordered_map<PyObject*, std::string> kinds_;  // maps the type of a node to the result of `kind_of_node`
};

}  // namespace

void bind_ir_text(nb::module_& module) {
  nb::class_<IrTexts>(module, "IrTexts")
      .def(nb::init<nb::callable>(), nb::arg("expression"))
      .def_prop_ro("expressions", [](const IrTexts& texts) { return texts.expressions.size(); });
  nb::class_<IrText>(module, "IrText")
      .def(nb::init<IrTexts&, nb::object>(), nb::arg("texts"), nb::arg("graph").none(), nb::keep_alive<1, 2>())
      .def("node", &IrText::node, nb::arg("node"));
}

}  // namespace depyf
