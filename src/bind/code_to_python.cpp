#include "code_to_python.h"

#include <algorithm>
#include <string>

#include "depyf/recode.h"
#include "depyf/tables.h"
#include "dialect/dialect.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

nb::object live_object(const Constant& constant) { return nb::borrow(reinterpret_cast<PyObject*>(constant.identity)); }

nb::object tuple_of(const std::vector<Constant>& items) {
  nb::list list;
  for (const Constant& item : items) list.append(constant_to_python(item));
  return nb::tuple(list);
}

nb::object tuple_of(const std::vector<std::string>& names) { return nb::tuple(python_list(names)); }

nb::bytes bytes_of(std::string_view bytes) { return nb::bytes(bytes.data(), bytes.size()); }

// True if both lists contain the same constants. Two constants are the same if they were read from the same live object
// and have the same `code` data.
bool same_constants(const std::vector<Constant>& one, const std::vector<Constant>& two) {
  return std::equal(one.begin(), one.end(), two.begin(), two.end(), [](const Constant& a, const Constant& b) {
    return a.identity != 0 && a.identity == b.identity && a.code == b.code;
  });
}

nb::object nested_to_python(const Constant& constant, const std::vector<Constant>& before) {
  auto is_same = [&](const Constant& each) { return each.identity == constant.identity && each.code; };
  const auto read = std::find_if(before.begin(), before.end(), is_same);
  if (read == before.end()) return live_object(constant);  // the nested code object was not read from `before`
  return code_to_python(*constant.code, *read->code, live_object(constant));
}

nb::object constants_to_python(const std::vector<Constant>& constants, const std::vector<Constant>& before) {
  nb::list list;
  for (const Constant& constant : constants)
    list.append(constant.code ? nested_to_python(constant, before) : constant_to_python(constant));
  return nb::tuple(list);
}

// True if both code objects have the same line table, which contains the distances of all positions from the first
// line.
bool same_positions(const CodeObject& code, const CodeObject& before) {
  const std::int32_t moved = code.firstlineno - before.firstlineno;
  auto same = [&](const Position& one, const Position& two) {
    return one.column == two.column && one.end_column == two.end_column &&
           (two.line == -1 ? one.line == -1 : one.line == two.line + moved) &&
           (two.end_line == -1 ? one.end_line == -1 : one.end_line == two.end_line + moved);
  };
  return std::equal(code.positions.begin(), code.positions.end(), before.positions.begin(), before.positions.end(),
                    same);
}

void check_sound(const CodeObject& code) {
  if (const std::string words = problem(code); !words.empty())
    throw nb::value_error((code.name + ": the changed bytecode is not sound: " + words).c_str());
}

void replace_instructions_in(nb::dict& fields, const CodeObject& code, const CodeObject& before) {
  if (code.bytecode != before.bytecode) {
    check_sound(code);
    fields["co_code"] = bytes_of({reinterpret_cast<const char*>(code.bytecode.data()), code.bytecode.size()});
  }
  if (code.bytecode.size() != before.bytecode.size() || !same_positions(code, before))
    fields["co_linetable"] = bytes_of(line_table_of(code));
  if (code.exceptions != before.exceptions) fields["co_exceptiontable"] = bytes_of(exception_table_of(code));
}

void replace_variables_in(nb::dict& fields, const CodeObject& code, const CodeObject& before) {
  if (code.names != before.names) fields["co_names"] = tuple_of(code.names);
  if (code.varnames != before.varnames) {
    fields["co_varnames"] = tuple_of(code.varnames);
    fields["co_nlocals"] = code.varnames.size();
  }
  if (code.cellvars != before.cellvars) fields["co_cellvars"] = tuple_of(code.cellvars);
  if (code.freevars != before.freevars) fields["co_freevars"] = tuple_of(code.freevars);
}

}  // namespace

nb::object constant_to_python(const Constant& constant) {
  if (constant.identity) return live_object(constant);
  if (constant.kind == Constant::Kind::string) return python_text(constant.text);
  if (constant.kind == Constant::Kind::tuple) return tuple_of(constant.items);
  if (constant.kind == Constant::Kind::frozenset) return nb::steal(PyFrozenSet_New(tuple_of(constant.items).ptr()));
  throw std::logic_error("a constant of another kind that changed");
}

nb::object code_to_python(const CodeObject& code, const CodeObject& before, nb::handle live) {
  nb::dict fields;
  if (code.name != before.name) fields["co_name"] = python_text(code.name);
  if (code.qualname != before.qualname && dialect_of(code.version).qualified_names)
    fields["co_qualname"] = python_text(code.qualname);
  if (code.filename != before.filename) fields["co_filename"] = python_text(code.filename);
  if (code.flags != before.flags) fields["co_flags"] = code.flags;
  if (code.firstlineno != before.firstlineno) fields["co_firstlineno"] = code.firstlineno;
  replace_instructions_in(fields, code, before);
  replace_variables_in(fields, code, before);
  if (!same_constants(code.constants, before.constants))
    fields["co_consts"] = constants_to_python(code.constants, before.constants);
  if (fields.size() == 0) return nb::borrow(live);
  return live.attr("replace")(**fields);
}

}  // namespace depyf
