// Converts Python's strings to UTF-8 and back. The encoding of a lone surrogate is the three bytes that UTF-8 would use
// if the surrogate were a character.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace depyf {

inline std::string utf8_of(nanobind::str text) {
  Py_ssize_t size = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {utf8, static_cast<std::size_t>(size)};
  PyErr_Clear();  // the string has a lone surrogate
  const nanobind::object bytes = nanobind::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nanobind::python_error();
  const auto utf8 = nanobind::cast<nanobind::bytes>(bytes);
  return {utf8.c_str(), utf8.size()};
}

// Returns the UTF-8 form of a Python string. Throws std::bad_cast, which becomes a RuntimeError in Python, if `text` is
// not a string.
inline std::string text_of(nanobind::handle text) { return utf8_of(nanobind::cast<nanobind::str>(text)); }

inline std::vector<std::string> texts_of(nanobind::handle sequence) {
  std::vector<std::string> texts;
  for (const nanobind::handle item : sequence) texts.push_back(text_of(item));
  return texts;
}

inline nanobind::object python_text(const std::string& text) {
  return nanobind::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
}

inline nanobind::list python_list(const std::vector<std::string>& lines) {
  nanobind::list result;
  for (const std::string& line : lines) result.append(python_text(line));
  return result;
}

}  // namespace depyf
