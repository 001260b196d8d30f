// Defines functions that read live Python objects. The printers of PyTorch's objects share these functions.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace depyf {

// Raises a ValueError in Python, after which PyTorch's own function prints the object.
[[noreturn]] inline void only_pytorch_prints(const char* what) { throw nanobind::value_error(what); }

inline nanobind::object interned(const char* name) { return nanobind::steal(PyUnicode_InternFromString(name)); }

inline nanobind::object attribute(nanobind::handle object, const nanobind::object& name) {
  nanobind::object value = nanobind::steal(PyObject_GetAttr(object.ptr(), name.ptr()));
  if (!value.is_valid()) throw nanobind::python_error();
  return value;
}

// Returns the value of a key; an invalid handle if the dict lacks the key.
inline nanobind::handle item(nanobind::handle dict, const nanobind::object& key) {
  PyObject* value = PyDict_GetItemWithError(dict.ptr(), key.ptr());
  if (!value && PyErr_Occurred()) throw nanobind::python_error();
  return value;
}

inline bool is_true(nanobind::handle value) {
  const int result = PyObject_IsTrue(value.ptr());
  if (result < 0) throw nanobind::python_error();
  return result != 0;
}

// Creates named tuples of a class without a call of the class, because the `__new__` of a class of named tuples is a
// Python function.
class NamedTupleClass {
 public:
  explicit NamedTupleClass(nanobind::handle type) : type_(type) {}
  nanobind::object operator()(const nanobind::tuple& fields) const { return new_tuple_(type_, fields); }

 private:
  const nanobind::object new_tuple_ = nanobind::handle(reinterpret_cast<PyObject*>(&PyTuple_Type)).attr("__new__");
  const nanobind::handle type_;
};

// Returns the UTF-8 form of a Python string. The result is valid as long as the string exists.
inline std::string_view view_of(nanobind::handle text) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!utf8) throw nanobind::python_error();
  return {utf8, std::size_t(size)};
}

inline nanobind::str python_string(std::string_view text) { return nanobind::str(text.data(), text.size()); }

}  // namespace depyf
