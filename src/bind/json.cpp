// Data as JSON that can be read: a line for each item down to some level.
#include "json.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace nb = nanobind;

namespace depyf {
namespace {

// Raises what Python has raised.
void check(bool right) {
  if (!right) throw nb::python_error();
}

// One level of nesting, of which Python allows only so many.
struct Deeper {
  Deeper() { check(Py_EnterRecursiveCall(" while data is written as JSON") == 0); }
  Deeper(const Deeper&) = delete;
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

class Writer {
 public:
  std::string take() { return std::move(out_); }

  // Items of dicts and lists are in lines of their own down to `levels` levels.
  void write(PyObject* value, int levels) {
    if (value == Py_None) {
      out_ += "null";
    } else if (PyBool_Check(value)) {
      out_ += value == Py_True ? "true" : "false";
    } else if (PyUnicode_Check(value)) {
      write_string(value);
    } else if (PyLong_Check(value)) {
      write_text(nb::steal(PyLong_Type.tp_repr(value)));
    } else if (PyFloat_Check(value)) {
      write_float(value);
    } else if (PyDict_Check(value) || PyList_Check(value) || PyTuple_Check(value)) {
      const Deeper deeper;
      if (PyDict_Check(value)) {
        write_dict(value, levels);
      } else {
        write_list(value, PyList_Check(value) ? levels : 0);
      }
    } else {
      PyErr_Format(PyExc_TypeError, "Object of type %s is not JSON serializable", Py_TYPE(value)->tp_name);
      throw nb::python_error();
    }
  }

 private:
  void begin(char bracket, int levels) {
    out_ += bracket;
    if (levels > 0) out_ += '\n';
  }

  void separate(bool first, int levels) {
    if (!first) out_ += levels > 0 ? ",\n" : ", ";
  }

  void end(char bracket, int levels) {
    if (levels > 0) out_ += '\n';
    out_ += bracket;
  }

  void write_list(PyObject* list, int levels) {
    const nb::object items = nb::steal(PySequence_Fast(list, "a list"));
    check(items.is_valid());
    if (PySequence_Fast_GET_SIZE(items.ptr()) == 0) {
      out_ += "[]";
      return;
    }
    begin('[', levels);
    for (Py_ssize_t at = 0; at < PySequence_Fast_GET_SIZE(items.ptr()); ++at) {
      separate(at == 0, levels);
      write(PySequence_Fast_GET_ITEM(items.ptr(), at), levels - 1);
    }
    end(']', levels);
  }

  // Keys stand in their order as Python sorts them.
  void write_dict(PyObject* dict, int levels) {
    const nb::object keys = nb::steal(PyDict_Keys(dict));
    check(keys.is_valid() && PyList_Sort(keys.ptr()) == 0);
    if (PyList_GET_SIZE(keys.ptr()) == 0) {
      out_ += "{}";
      return;
    }
    begin('{', levels);
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(keys.ptr()); ++at) {
      separate(at == 0, levels);
      PyObject* key = PyList_GET_ITEM(keys.ptr(), at);
      if (!PyUnicode_Check(key)) {
        PyErr_Format(PyExc_TypeError, "keys must be str, not %s", Py_TYPE(key)->tp_name);
        throw nb::python_error();
      }
      write_string(key);
      out_ += ": ";
      PyObject* value = PyDict_GetItemWithError(dict, key);
      check(value != nullptr);
      write(value, levels - 1);
    }
    end('}', levels);
  }

  void write_text(const nb::object& text) {
    check(text.is_valid());
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    check(utf8 != nullptr);
    out_.append(utf8, static_cast<std::size_t>(size));
  }

  void write_float(PyObject* value) {
    const double number = PyFloat_AS_DOUBLE(value);
    if (std::isfinite(number)) {
      write_text(nb::steal(PyFloat_Type.tp_repr(value)));
    } else {
      out_ += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
    }
  }

  void write_unit(unsigned unit) {
    constexpr char digits[] = "0123456789abcdef";
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out_ += digits[unit >> shift & 0xf];
  }

  void write_escaped(Py_UCS4 c) {
    switch (c) {
      case '"': out_ += "\\\""; break;
      case '\\': out_ += "\\\\"; break;
      case '\n': out_ += "\\n"; break;
      case '\r': out_ += "\\r"; break;
      case '\t': out_ += "\\t"; break;
      case '\b': out_ += "\\b"; break;
      case '\f': out_ += "\\f"; break;
      default:
        if (c > 0xffff) {
          write_unit(0xd7c0 + (c >> 10));
          write_unit(0xdc00 + (c & 0x3ff));
        } else {
          write_unit(c);
        }
    }
  }

  // In ASCII, with escapes for all else.
  template <class Unit>
  void write_units(const void* data, Py_ssize_t size) {
    const Unit* at = static_cast<const Unit*>(data);
    const Unit* const end = at + size;
    out_ += '"';
    for (;;) {
      const Unit* stop =
          std::find_if_not(at, end, [](Unit c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
      out_.append(at, stop);
      if (stop == end) break;
      write_escaped(*stop);
      at = stop + 1;
    }
    out_ += '"';
  }

  void write_string(PyObject* text) {
    const Py_ssize_t size = PyUnicode_GET_LENGTH(text);
    const void* data = PyUnicode_DATA(text);
    switch (PyUnicode_KIND(text)) {
      case PyUnicode_1BYTE_KIND: return write_units<Py_UCS1>(data, size);
      case PyUnicode_2BYTE_KIND: return write_units<Py_UCS2>(data, size);
      default: return write_units<Py_UCS4>(data, size);
    }
  }

  std::string out_;
};

nb::str json_text(nb::handle data, int levels) {
  Writer writer;
  writer.write(data.ptr(), levels);
  const std::string text = writer.take();
  return nb::str(text.data(), text.size());
}

}  // namespace

void bind_json(nb::module_& module) {
  module.def("json_text", &json_text, nb::arg("data").none(), nb::arg("levels"),
             "Data as JSON that can be read: a line for each item down to that many levels, and for all below it");
}

}  // namespace depyf
