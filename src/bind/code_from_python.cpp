#include "code_from_python.h"

#include <string>

#include "depyf/code_object.h"
#include "depyf/tables.h"
#include "dialect/dialect.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

constexpr int depth_max = 200;  // the maximum nesting depth of constants and code; deeper constants become opaque
// Integers with more digits become hexadecimal, because CPython refuses decimal literals of more than 4300 digits.
constexpr std::size_t digits_max = 4000;

// Returns the type of code objects, which all interpreters of the process share, and which is never freed.
nb::handle code_type() {
  static PyObject* const type = nb::object(nb::module_::import_("types").attr("CodeType")).release().ptr();
  return type;
}

std::string bytes_of(nb::handle bytes) {
  char* data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size)) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

std::string digits_of(nb::handle integer) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (!overflow) return std::to_string(value);
  nb::object text = nb::steal(PyNumber_ToBase(integer.ptr(), 16));
  if (!text) throw nb::python_error();
  std::string hexadecimal = text_of(text);
  if (hexadecimal.size() > digits_max * 4 / 5) return hexadecimal;
  text = nb::steal(PyNumber_ToBase(integer.ptr(), 10));
  if (!text) {  // the program has set a lower limit by sys.set_int_max_str_digits
    PyErr_Clear();
    return hexadecimal;
  }
  return text_of(text);
}

std::int32_t integer_attribute(nb::handle code, const char* name) {
  return static_cast<std::int32_t>(PyLong_AsLong(nb::object(code.attr(name)).ptr()));
}

std::vector<std::string> names_attribute(nb::handle code, const char* name) {
  nb::object tuple = code.attr(name);
  std::vector<std::string> names;
  Py_ssize_t size = PyTuple_Size(tuple.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) names.push_back(text_of(PyTuple_GetItem(tuple.ptr(), i)));
  return names;
}

// Returns the name of a class without an attribute lookup on its metaclass, which may run any code.
std::string name_of(nb::handle type) {
  const nb::object name = nb::handle(reinterpret_cast<PyObject*>(&PyType_Type)).attr("__dict__")["__name__"];
  return text_of(name.attr("__get__")(type));
}

class CodeReader {
 public:
  CodeObject code(nb::handle object, int depth) {
    CodeObject code;
    code.version = version_;
    code.name = text_of(object.attr("co_name"));
    bool has_qualname = dialect_of(version_).qualified_names;
    code.qualname = has_qualname ? text_of(object.attr("co_qualname")) : code.name;
    code.filename = text_of(object.attr("co_filename"));
    code.argcount = integer_attribute(object, "co_argcount");
    code.posonlyargcount = integer_attribute(object, "co_posonlyargcount");
    code.kwonlyargcount = integer_attribute(object, "co_kwonlyargcount");
    code.stacksize = integer_attribute(object, "co_stacksize");
    code.firstlineno = integer_attribute(object, "co_firstlineno");
    code.flags = static_cast<std::uint32_t>(integer_attribute(object, "co_flags"));
    std::string bytecode = bytes_of(object.attr("co_code"));
    code.bytecode.assign(bytecode.begin(), bytecode.end());
    code.names = names_attribute(object, "co_names");
    code.varnames = names_attribute(object, "co_varnames");
    code.cellvars = names_attribute(object, "co_cellvars");
    code.freevars = names_attribute(object, "co_freevars");
    nb::object constants = object.attr("co_consts");
    code.constants = items(constants, depth + 1);
    std::string exceptions =
        dialect_of(version_).exception_table ? bytes_of(object.attr("co_exceptiontable")) : std::string();
    read_tables(code, bytes_of(object.attr("co_linetable")), exceptions);
    return code;
  }

 private:
  using Kind = Constant::Kind;

  std::vector<Constant> items(nb::handle tuple, int depth) {
    std::vector<Constant> result;
    Py_ssize_t size = PyTuple_Size(tuple.ptr());
    result.reserve(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) result.push_back(constant(PyTuple_GetItem(tuple.ptr(), i), depth));
    return result;
  }

  // Types of constants are compared by identity, because an instance of a subclass of a builtin type, such as a member
  // of an IntEnum, may behave in any way.
  Constant constant(nb::handle object, int depth) {
    PyTypeObject* type = Py_TYPE(object.ptr());
    Constant result;
    result.kind = Kind::opaque;
    result.identity = reinterpret_cast<std::uintptr_t>(object.ptr());
    if (object.is_none()) {
      result.kind = Kind::none;
    } else if (object.ptr() == Py_True) {
      result.kind = Kind::true_;
    } else if (object.ptr() == Py_False) {
      result.kind = Kind::false_;
    } else if (object.ptr() == Py_Ellipsis) {
      result.kind = Kind::ellipsis;
    } else if (type == &PyLong_Type) {
      result.kind = Kind::integer;
      result.text = digits_of(object);
    } else if (type == &PyFloat_Type) {
      result.kind = Kind::real;
      result.real = PyFloat_AsDouble(object.ptr());
    } else if (type == &PyComplex_Type) {
      result.kind = Kind::complex;
      result.real = PyComplex_RealAsDouble(object.ptr());
      result.imag = PyComplex_ImagAsDouble(object.ptr());
    } else if (type == &PyUnicode_Type) {
      result.kind = Kind::string;
      result.text = text_of(object);
    } else if (type == &PyBytes_Type) {
      result.kind = Kind::bytes;
      result.text = bytes_of(object);
    } else {
      if (depth < depth_max) compound(object, depth, result);
      if (result.kind == Kind::opaque) result.text = name_of(object.type());
    }
    return result;
  }

  void compound(nb::handle object, int depth, Constant& result) {
    PyTypeObject* type = Py_TYPE(object.ptr());
    if (type == &PyTuple_Type) {
      result.kind = Kind::tuple;
      result.items = items(object, depth + 1);
    } else if (type == &PyFrozenSet_Type) {
      result.kind = Kind::frozenset;
      for (nb::handle item : object) result.items.push_back(constant(item, depth + 1));
    } else if (type == &PySlice_Type) {
      result.kind = Kind::slice;
      for (const char* part : {"start", "stop", "step"}) {
        nb::object value = object.attr(part);
        result.items.push_back(constant(value, depth + 1));
      }
    } else if (object.type().is(code_type_)) {
      result.kind = Kind::code;
      result.code = std::make_shared<const CodeObject>(code(object, depth));
    }
  }

  const Version version_ = running_version();
  const nb::handle code_type_ = code_type();
};

}  // namespace

Version running_version() {
  static const Version version = [] {
    const nb::object info = nb::module_::import_("sys").attr("version_info");
    return Version{nb::cast<int>(info.attr("major")), nb::cast<int>(info.attr("minor"))};
  }();
  return version;
}

void check_is_code(nb::handle object) {
  if (!object.type().is(code_type())) throw nb::type_error("a code object is needed");
}

CodeObject code_from_python(nb::handle code) {
  check_is_code(code);
  return CodeReader().code(code, 0);
}

}  // namespace depyf
