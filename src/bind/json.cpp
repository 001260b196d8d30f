// Writes Python data as JSON for human readers: each item of the outer levels of nesting is on a separate line.
#include "json.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/json.h"
#include "json/plain.h"
#include "live_text.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Throws the current Python exception if `right` is false.
void check(bool right) {
  if (!right) throw nb::python_error();
}

std::string type_name(PyObject* value) { return nb::cast<std::string>(nb::inst_name(value)); }

// Removes the first character of UTF-8 text that Python has encoded, and returns its code point.
std::uint32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t character = size == 1 ? first : first & (0x7fu >> size);
  for (std::size_t at = 1; at < size && at < text.size(); ++at)
    character = character << 6 | (static_cast<unsigned char>(text[at]) & 0x3f);
  text.remove_prefix(std::min(size, text.size()));
  return character;
}

// Enters one level of nesting, and throws RecursionError beyond Python's limit.
struct Deeper {
  Deeper() { check(Py_EnterRecursiveCall(" while data is written as JSON") == 0); }
  Deeper(const Deeper&) = delete;
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr char digits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[unit >> shift & 0xf];
}

void append_escaped(std::string& out, std::uint32_t c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
  }
  if (c > 0xffff) {
    append_unit(out, 0xd7c0 + (c >> 10));
    append_unit(out, 0xdc00 + (c & 0x3ff));
  } else {
    append_unit(out, c);
  }
}

// Appends a string in ASCII, with escapes for all other characters.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t plain = json::plain_size(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) append_escaped(out, take_character(text));
  }
  out += '"';
}

// A JSON text that is written in place of a Python value.
class JsonText {
 public:
  explicit JsonText(std::string text) : text_(std::move(text)) {
    if (const std::optional<Error> error = document_.parse(text_)) throw nb::value_error(error->message.c_str());
  }
  JsonText(const JsonText&) = delete;
  json::Value root() const { return document_.root(); }

 private:
  const std::string text_;
  json::Document document_;  // refers to text_
};

// A field of a dataclass.
struct Field {
  nb::object name;
  std::string key;  // the name as the key of a JSON object, with the colon
};

// The fields of a class, in the order of their names. The class is kept alive, so that no other class gets its address.
struct Fields {
  nb::object type;
  std::vector<Field> members;
  bool is_dataclass = false;
};

class Writer {
 public:
  // If `has_lines` is false, all text is on one line. Journals are written with `has_lines` false, because each JSON
  // object in a journal is on a line of its own.
  explicit Writer(bool has_lines) : has_lines_(has_lines) {}
  std::string take() { return std::move(out_); }

  // Writes a value, with each item of dicts and lists on a separate line down to `levels` levels of nesting.
  void write(PyObject* value, int levels) {
    if (value == Py_None) {
      out_ += "null";
    } else if (PyBool_Check(value)) {
      out_ += value == Py_True ? "true" : "false";
    } else if (PyUnicode_Check(value)) {
      write_string(value);
    } else if (PyLong_Check(value)) {
      write_integer(value);
    } else if (PyFloat_Check(value)) {
      write_float(value);
    } else if (PyDict_Check(value) || PyList_Check(value) || PyTuple_Check(value)) {
      const Deeper deeper;
      if (PyDict_Check(value)) {
        write_dict(value, levels);
      } else {
        write_list(value, PyList_Check(value) || in_dataclass_ ? levels : 0);
      }
    } else if (const Fields& fields = fields_of(Py_TYPE(value)); fields.is_dataclass) {
      const Deeper deeper;
      write_dataclass(value, fields.members, levels);
    } else if (nb::isinstance<JsonText>(value)) {
      write_json(nb::cast<const JsonText&>(nb::handle(value)).root(), levels);
    } else {
      throw nb::type_error(("Object of type " + type_name(value) + " is not JSON serializable").c_str());
    }
  }

 private:
  void begin(char bracket, int levels) {
    out_ += bracket;
    if (levels > 0) end_line();
  }

  // Separates two items by a comma, and by a line break if `levels` is positive or the line is full.
  void separate(bool first, int levels) {
    if (first) return;
    out_ += ',';
    if (levels > 0) return end_line();
    break_line_if_long();
    space_ = out_.size();
    out_ += ' ';
  }

  void end(char bracket, int levels) {
    if (levels > 0) end_line();
    out_ += bracket;
  }

  void end_line() {
    break_line_if_long();
    out_ += '\n';
    line_begin_ = out_.size();
  }

  void break_line_if_long() {
    if (!has_lines_ || out_.size() - line_begin_ <= line_max || space_ <= line_begin_) return;
    out_[space_] = '\n';
    line_begin_ = space_ + 1;
  }

  void write_list(PyObject* list, int levels) {
    const Py_ssize_t size = PyList_Check(list) ? PyList_Size(list) : PyTuple_Size(list);
    if (size == 0) {
      out_ += "[]";
      return;
    }
    begin('[', levels);
    for (Py_ssize_t at = 0; at < size; ++at) {
      separate(at == 0, levels);
      PyObject* item = PyList_Check(list) ? PyList_GetItem(list, at) : PyTuple_GetItem(list, at);
      check(item != nullptr);
      write(item, levels - 1);
    }
    end(']', levels);
  }

  // Writes an object. `write_member` writes the member with the given index.
  template <class WriteMember>
  void write_object(std::size_t size, int levels, WriteMember write_member) {
    if (size == 0) {
      out_ += "{}";
      return;
    }
    begin('{', levels);
    for (std::size_t at = 0; at < size; ++at) {
      separate(at == 0, levels);
      write_member(at);
    }
    end('}', levels);
  }

  void write_member_value(const nb::object& value, int levels) {
    check(value.is_valid());
    write(value.ptr(), levels);
  }

  // Writes a value of a JSON document in the form that the equal Python value would have, except that numbers keep
  // their spelling.
  void write_json(json::Value value, int levels) {
    switch (value.kind()) {
      case json::Kind::null: out_ += "null"; return;
      case json::Kind::boolean:
      case json::Kind::number: out_ += value.raw(); return;
      case json::Kind::string: write_json_string(value); return;
      case json::Kind::array: write_json_array(value, levels); return;
      case json::Kind::object: write_json_object(value, levels); return;
    }
  }

  void write_json_string(json::Value text) {
    const std::string_view raw = text.raw();
    if (raw.find('\\') == std::string_view::npos) out_.append("\"").append(raw).append("\"");
    else append_string(out_, text.text());  // rewrites the escapes, which can have several forms
  }

  void write_json_array(json::Value array, int levels) {
    if (array.size() == 0) {
      out_ += "[]";
      return;
    }
    const Deeper deeper;
    begin('[', levels);
    bool is_first = true;
    array.for_each_item([&](json::Value item) {
      separate(std::exchange(is_first, false), levels);
      write_json(item, levels - 1);
    });
    end(']', levels);
  }

  void write_json_object(json::Value object, int levels) {
    const Deeper deeper;
    struct Member {
      std::string name;
      json::Value key, value;
    };
    std::vector<Member> members;
    object.for_each_member([&](json::Value key, json::Value value) { members.push_back({key.text(), key, value}); });
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
    write_object(members.size(), levels, [&](std::size_t at) {
      write_json_string(members[at].key);
      out_ += ": ";
      write_json(members[at].value, levels - 1);
    });
  }

  // Writes the keys in the order in which Python sorts them.
  void write_dict(PyObject* dict, int levels) {
    const nb::object keys = nb::steal(PyDict_Keys(dict));
    check(keys.is_valid() && PyList_Sort(keys.ptr()) == 0);
    write_object(static_cast<std::size_t>(PyList_Size(keys.ptr())), levels, [&](std::size_t at) {
      PyObject* key = PyList_GetItem(keys.ptr(), static_cast<Py_ssize_t>(at));
      if (!PyUnicode_Check(key)) throw nb::type_error(("keys must be str, not " + type_name(key)).c_str());
      write_string(key);
      out_ += ": ";
      write_member_value(nb::borrow(PyDict_GetItemWithError(dict, key)), levels - 1);
    });
  }

  // Returns the fields of a class.
  const Fields& fields_of(PyTypeObject* type) {
    const auto [known, is_new] = fields_.try_emplace(type);
    Fields& fields = known->second;
    if (!is_new) return fields;
    auto* const object = reinterpret_cast<PyObject*>(type);
    fields.type = nb::borrow(object);
    const nb::object by_name = nb::steal(PyObject_GetAttrString(object, "__dataclass_fields__"));
    if (!by_name.is_valid()) {
      PyErr_Clear();
      return fields;
    }
    fields.is_dataclass = true;
    const nb::object names = nb::steal(PyDict_Keys(by_name.ptr()));
    check(names.is_valid() && PyList_Sort(names.ptr()) == 0);
    for (const nb::handle name : names) {
      Writer key(false);
      key.write_string(name.ptr());
      fields.members.push_back({nb::borrow(name), key.take() + ": "});
    }
    return fields;
  }

  // Writes a dataclass as an object of its fields. A tuple in a dataclass is spread over lines like a list.
  void write_dataclass(PyObject* value, const std::vector<Field>& members, int levels) {
    const bool outer = std::exchange(in_dataclass_, true);
    write_object(members.size(), levels, [&](std::size_t at) {
      out_ += members[at].key;
      write_member_value(nb::steal(PyObject_GetAttr(value, members[at].name.ptr())), levels - 1);
    });
    in_dataclass_ = outer;
  }

  void write_integer(PyObject* value) {
    int overflow = 0;
    if (const long long number = PyLong_AsLongLongAndOverflow(value, &overflow); overflow == 0) {
      char digits[24];
      out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
      return;
    }
    const nb::object text = nb::steal(PyNumber_ToBase(value, 10));
    check(text.is_valid());
    out_ += view_of(text);
  }

  void write_float(PyObject* value) {
    const double number = PyFloat_AsDouble(value);
    if (!std::isfinite(number)) {
      out_ += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
      return;
    }
    char* text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
    check(text != nullptr);
    out_ += text;
    PyMem_Free(text);
  }

  void write_string(PyObject* value) {
    Py_ssize_t size = 0;
    if (const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size)) {
      append_string(out_, {utf8, static_cast<std::size_t>(size)});
      return;
    }
    PyErr_Clear();  // the string has a lone surrogate
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass"));
    check(bytes.is_valid());
    append_string(out_, {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))});
  }

  // The largest length of a line with several items, without the closing brackets at its end.
  static constexpr std::size_t line_max = 190;

  const bool has_lines_;
  std::string out_;
  std::size_t line_begin_ = 0;  // the index in out_ where the last line begins
  std::size_t space_ = 0;  // the index in out_ of the last space at which a line may be broken
  bool in_dataclass_ = false;
  std::unordered_map<PyTypeObject*, Fields> fields_;  // maps each class that occurred to its fields
};

nb::str json_text(nb::handle data, int levels) {
  Writer writer(levels > 0);
  writer.write(data.ptr(), levels);
  const std::string text = writer.take();
  return nb::str(text.data(), text.size());
}

}  // namespace

void bind_json(nb::module_& module) {
  nb::class_<JsonText>(module, "JsonText")
      .def("__init__", [](JsonText* self, nb::str text) { new (self) JsonText(utf8_of(text)); }, nb::arg("text"));
  module.def("json_text", &json_text, nb::arg("data").none(), nb::arg("levels"));
}

}  // namespace depyf
