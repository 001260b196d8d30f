// Reads the events of PyTorch's timeline in C++, because a compilation has hundreds of events.
//
// The content of an event is a dict, such as: {"ph": "B", "name": "dynamo", "ts": microseconds, "args": {"compile_id":
// "0/0"}}. An event with "ph": "X" describes a whole phase, and has the duration of the phase in microseconds under
// "dur".
#include "timeline.h"

#include <string_view>

#include "live_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

nb::handle item_or_none(nb::handle dict, const nb::object& key) {
  const nb::handle value = item(dict, key);
  return value.is_valid() ? value : nb::handle(Py_None);
}

bool is_number(nb::handle value) { return PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()); }

nb::object to_float(nb::handle number) {
  nb::object result = nb::steal(PyNumber_Float(number.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

class Reader {
 public:
  explicit Reader(nb::handle event_class) : new_event_(event_class) {}

  // Appends the event with the given content. Ignores an event that has no duration, such as a cache hit, or that has
  // an unknown form.
  void append(nb::handle content, nb::list events) const {
    if (!PyDict_CheckExact(content.ptr())) return;
    const nb::handle kind = item_or_none(content, kind_), start = item_or_none(content, start_),
                     arguments = item_or_none(content, arguments_);
    if (!PyUnicode_CheckExact(kind.ptr()) || !is_number(start)) return;
    const std::string_view letter = view_of(kind);
    if (letter != "B" && letter != "E" && letter != "X") return;
    nb::object compile_id =
        nb::borrow(PyDict_CheckExact(arguments.ptr()) ? item_or_none(arguments, compile_id_) : Py_None);
    compile_id = compile_id.is_none() ? nb::object(nb::str("")) : nb::object(nb::str(compile_id));
    if (view_of(compile_id) == "None") compile_id = nb::str("");
    nb::object duration = nb::borrow(letter == "X" ? item_or_none(content, duration_) : Py_None);
    duration = is_number(duration) ? to_float(duration) : nb::object(nb::float_(0.0));
    const nb::tuple fields =
        nb::make_tuple(kind, nb::str(item_or_none(content, name_)), to_float(start), compile_id, duration);
    events.append(new_event_(fields));
  }

 private:
  const nb::object kind_ = interned("ph"), start_ = interned("ts"), arguments_ = interned("args"),
                   compile_id_ = interned("compile_id"), duration_ = interned("dur"), name_ = interned("name");
  const NamedTupleClass new_event_;
};

nb::list timeline_events(nb::object pending, int process, nb::handle event_class, nb::callable parse,
                         nb::callable failed) {
  const Reader reader(event_class);
  nb::list events;
  while (nb::len(pending)) {
    try {
      const auto sent = nb::cast<nb::tuple>(pending.attr("popleft")());
      if (nb::cast<int>(sent[0]) != process) continue;
      nb::object content = nb::object(sent[1])();
      if (PyUnicode_CheckExact(content.ptr())) content = parse(content);
      reader.append(content, events);
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_IndexError) && !nb::len(pending)) break;  // another thread has taken the last event
      if (!error.matches(PyExc_Exception)) throw;
      failed(error.value());
    }
  }
  return events;
}

// Adds an item to `pending` if the Python function that calls `collect_event` was called by PyTorch's function that
// sends an event of the timeline. The item is a tuple: the process, and the function that returns the event. Returns
// the new number of items in `pending`; 0 if no item was added.
std::size_t collect_event(nb::object pending, nb::handle process) {
  const nb::handle calling(reinterpret_cast<PyObject*>(PyEval_GetFrame()));  // invalid if no Python function runs
  const nb::object sender = calling.is_valid() ? nb::object(calling.attr("f_back")) : nb::none();
  if (sender.is_none()) return 0;
  const nb::object code = sender.attr("f_code");
  if (view_of(code.attr("co_name")) != "trace_structured") return 0;
  const nb::object locals = sender.attr("f_locals");
  const auto local = [&](const char* name) { return nb::steal(PyMapping_GetItemString(locals.ptr(), name)); };
  const nb::object name = local("name"), payload = local("payload_fn");
  if (!name.is_valid() || !payload.is_valid()) {
    PyErr_Clear();
    return 0;
  }
  const bool is_event = PyUnicode_CheckExact(name.ptr()) && view_of(name) == "chromium_event";
  if (!is_event || !PyCallable_Check(payload.ptr())) return 0;
  pending.attr("append")(nb::make_tuple(process, payload));
  return nb::len(pending);
}

}  // namespace

void bind_timeline(nb::module_& module) {
  module.def("timeline_events", &timeline_events, nb::arg("pending"), nb::arg("process"), nb::arg("event_class"),
             nb::arg("parse"), nb::arg("failed"));
  module.def("collect_event", &collect_event, nb::arg("pending"), nb::arg("process"));
}

}  // namespace depyf
