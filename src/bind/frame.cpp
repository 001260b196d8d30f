// Reads the value stack of a live frame, and writes its fast locals, which Python code cannot do up to 3.12.
#include "frame.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "code_from_python.h"
#include "depyf/code_object.h"
#include "depyf/stack_map.h"
#include "frame_layout.h"
#include "gil.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// From 3.14 on, the low bits of a reference state whether the reference is counted, and whether it is a small integer
// without an object.
constexpr std::uintptr_t tag_bits = 3, tag_uncounted = 1, tag_integer = 3;

template <class T>
T read(const char* base, std::size_t offset) {
  T value;
  std::memcpy(&value, base + offset, sizeof(T));
  return value;
}

std::vector<std::string> names_of(nb::handle code, const char* attribute) {
  nb::object tuple = code.attr(attribute);
  std::vector<std::string> names;
  for (nb::handle name : tuple) names.push_back(nb::cast<std::string>(name));
  return names;
}

bool is_a(nb::handle object, const char* type) { return object.type().is(nb::module_::import_("types").attr(type)); }

std::size_t object_header() {
  return nb::cast<std::size_t>(nb::handle(reinterpret_cast<PyObject*>(&PyBaseObject_Type)).attr("__basicsize__"));
}

class LiveFrame {
 public:
  explicit LiveFrame(nb::handle frame)
      : layout_(frame_layout(running_version(), object_header())), object_(reinterpret_cast<char*>(frame.ptr())) {
    if (!is_a(frame, "FrameType")) throw nb::type_error("a frame is needed");
    if (!layout_) throw nb::value_error("frames of this interpreter are not known");
    code_ = frame.attr("f_code");
    base_ = layout_->frame ? read<char*>(object_, layout_->frame) : object_;
    if (!base_) throw nb::value_error("the frame has ended");
    const auto code = read<std::uintptr_t>(base_, layout_->code) & ~(layout_->tagged ? tag_bits : 0);
    if (code != reinterpret_cast<std::uintptr_t>(code_.ptr()))
      throw nb::value_error("this interpreter lays frames out in another way than the one that was built for");
    const bool ended = layout_->owner ? read<char>(base_, layout_->owner) >= owned_by_object
                                      : read<signed char>(base_, layout_->state) > 0;
    if (ended) throw nb::value_error("the frame has ended");
    varnames_ = names_of(code_, "co_varnames"), cells_ = names_of(code_, "co_cellvars"),
    frees_ = names_of(code_, "co_freevars");
    if (layout_->kind != FrameLayout::Top::depth) {  // from 3.11 on, an argument that is a cell has one slot
      std::erase_if(cells_, [&](const std::string& cell) {
        return std::find(varnames_.begin(), varnames_.end(), cell) != varnames_.end();
      });
    }
    stack_size_ = nb::cast<int>(code_.attr("co_stacksize"));
  }

  int locals_count() const { return int(varnames_.size() + cells_.size() + frees_.size()); }
  char* place(int index) const { return base_ + layout_->localsplus + sizeof(void*) * std::size_t(index); }
  char* slot(int index) const { return place(locals_count() + index); }

  // Returns the stack depth that the interpreter has stored; std::nullopt while the interpreter keeps the depth in a
  // register.
  std::optional<int> depth() const {
    switch (layout_->kind) {
      case FrameLayout::Top::depth: {
        const int depth = read<int>(base_, layout_->top);
        return depth < 0 ? std::nullopt : std::optional(depth);
      }
      case FrameLayout::Top::from_locals: {
        const int depth = read<int>(base_, layout_->top) - locals_count();
        return depth < 0 ? std::nullopt : std::optional(depth);
      }
      case FrameLayout::Top::pointer: {
        const char* top = read<char*>(base_, layout_->top);
        if (top < slot(0) || top > slot(stack_size_)) return std::nullopt;
        return int((top - slot(0)) / std::ptrdiff_t(sizeof(void*)));
      }
    }
    return std::nullopt;
  }

  void check_depth(int depth) const {
    if (depth < 0 || depth > stack_size_)
      throw nb::value_error(("no depth of this stack: " + std::to_string(depth)).c_str());
  }

  // Returns the value in stack slot `index`; an invalid object if the slot contains NULL.
  nb::object value(int index) const {
    const auto bits = read<std::uintptr_t>(slot(index), 0);
    if (layout_->tagged && (bits & tag_bits) == tag_integer) {
      return nb::steal(PyLong_FromSsize_t(static_cast<Py_ssize_t>(bits) >> 2));
    }
    auto* object = reinterpret_cast<PyObject*>(layout_->tagged ? bits & ~tag_bits : bits);
    return nb::borrow(object);
  }

  void set(char* where, nb::handle value) const {
    const auto old = read<std::uintptr_t>(where, 0);
    auto bits = reinterpret_cast<std::uintptr_t>(value.ptr());
    // References to immortal objects are not counted. The lower half of an immortal object's reference count is
    // negative.
    const bool immortal = layout_->tagged && read<std::int32_t>(reinterpret_cast<char*>(value.ptr()), 0) < 0;
    if (immortal) bits |= tag_uncounted;
    else Py_INCREF(value.ptr());
    std::memcpy(where, &bits, sizeof bits);
    const bool counted = !layout_->tagged || (old & tag_bits) == 0;
    if (counted) Py_XDECREF(reinterpret_cast<PyObject*>(old));
  }

  void set_local(const std::string& name, nb::handle value) const {
    const bool is_cell = has(names_of(code_, "co_cellvars"), name) || has(frees_, name);
    int index = find(name);
    if (index < 0) throw nb::key_error(("no local of the frame: " + name).c_str());
    auto* held = read<PyObject*>(place(index), 0);
    // Until MAKE_CELL has run, the slot of a cell variable contains the argument itself.
    if (is_cell && held && is_a(held, "CellType")) {
      nb::setattr(nb::handle(held), "cell_contents", value);
      return;
    }
    set(place(index), value);
  }

 private:
  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  int find(const std::string& name) const {
    int index = 0, found = -1;
    // Up to 3.10, an argument that is a cell variable has two slots: first an empty slot, and later the slot of the
    // cell. If several slots have the name of the variable, the index of the last slot is returned.
    for (const std::vector<std::string>* names : {&varnames_, &cells_, &frees_}) {
      for (const std::string& each : *names) {
        if (each == name) found = index;
        ++index;
      }
    }
    return found;
  }

  const FrameLayout* layout_;
  char *object_, *base_ = nullptr;
  nb::object code_;
  std::vector<std::string> varnames_, cells_, frees_;
  int stack_size_ = 0;
};

nb::list frame_stack(nb::handle frame, int depth, nb::handle null) {
  LiveFrame live(frame);
  live.check_depth(depth);
  nb::list values;
  for (int index = 0; index < depth; ++index) {
    nb::object value = live.value(index);
    values.append(value.is_valid() ? value : nb::borrow(null));
  }
  return values;
}

void set_frame_stack(nb::handle frame, int depth, int index, nb::handle value) {
  LiveFrame live(frame);
  live.check_depth(depth);
  if (index < 0 || index >= depth) throw nb::index_error("no such slot of the stack");
  if (!live.value(index).is_valid()) throw nb::value_error("the slot holds NULL, which marks a kind of call");
  live.set(live.slot(index), value);
}

StackMap stack_map(nb::handle code_object) {
  CodeObject code = code_from_python(code_object);
  const ReleasedGil released;
  return StackMap(code);
}

const char* kind_name(StackSlot::Kind kind) {
  switch (kind) {
    case StackSlot::Kind::value: return "value";
    case StackSlot::Kind::internal: return "internal";
    case StackSlot::Kind::null: return "null";
    case StackSlot::Kind::method: return "method";
    case StackSlot::Kind::receiver: return "receiver";
  }
  return "value";
}

nb::list slots(const StackMap& map, std::uint32_t offset) {
  nb::list rows;
  for (const StackSlot& it : map.slots(offset)) {
    PyObject* text = PyUnicode_DecodeUTF8(it.expression.data(), Py_ssize_t(it.expression.size()), "backslashreplace");
    if (!text) throw nb::python_error();
    rows.append(nb::make_tuple(nb::steal(text), it.current, kind_name(it.kind), it.made_at));
  }
  return rows;
}

nb::object handler(const StackMap& map, std::uint32_t offset) {
  std::optional<ExceptionEntry> entry = map.handler(offset);
  if (!entry) return nb::none();
  return nb::make_tuple(entry->start, entry->end, entry->target, entry->depth, entry->lasti);
}

}  // namespace

void bind_frame(nb::module_& module) {
  nb::class_<StackMap>(module, "StackMap")
      .def_prop_ro("error", &StackMap::error)
      .def("depth", &StackMap::depth, nb::arg("offset"))
      .def("pops", &StackMap::pops, nb::arg("offset"))
      .def("slots", &slots, nb::arg("offset"))
      .def("handler", &handler, nb::arg("offset"));
  module.def("stack_map", &stack_map, nb::arg("code"));
  module.def("frame_depth", [](nb::handle frame) { return LiveFrame(frame).depth(); }, nb::arg("frame"));
  module.def("frame_stack", &frame_stack, nb::arg("frame"), nb::arg("depth"), nb::arg("null"));
  module.def("set_frame_stack", &set_frame_stack, nb::arg("frame"), nb::arg("depth"), nb::arg("index"),
             nb::arg("value"));
  module.def(
      "set_frame_local",
      [](nb::handle frame, const std::string& name, nb::handle value) { LiveFrame(frame).set_local(name, value); },
      nb::arg("frame"), nb::arg("name"), nb::arg("value"));
}

}  // namespace depyf
