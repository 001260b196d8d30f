#include "recode.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "code_from_python.h"
#include "code_to_python.h"
#include "depyf/decompile.h"
#include "depyf/load.h"
#include "depyf/recode.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Returns a code object like `live` with `change` applied to it; `live` itself if nothing changes.
template <class Change>
nb::object changed(nb::handle live, const Change& change) {
  const CodeObject before = code_from_python(live);
  CodeObject code = before;
  change(code);
  return code_to_python(code, before, live);
}

nb::dict to_dict(const NewNames& names) {
  nb::dict result;
  for (const auto& [old_name, name] : names) result[python_text(old_name)] = python_text(name);
  return result;
}

NewNames from_dict(const nb::dict& names) {
  NewNames result;
  for (const auto& [old_name, name] : names) result.emplace(text_of(old_name), text_of(name));
  return result;
}

Constant live_constant(nb::handle object) {
  Constant constant;
  constant.kind = Constant::Kind::opaque;
  constant.identity = reinterpret_cast<std::uintptr_t>(object.ptr());
  return constant;
}

ConstantsByName values_of(const nb::dict& values) {
  ConstantsByName result;
  for (const auto& [name, value] : values) result.emplace(text_of(name), live_constant(value));
  return result;
}

nb::object bound(nb::handle live, const nb::dict& values) {
  return changed(live, [&](CodeObject& code) { bind_names(code, values_of(values)); });
}

nb::object with_nested(nb::handle live, const nb::dict& nested) {
  std::map<std::uint32_t, Constant> constants;
  for (const auto& [index, object] : nested) {
    Constant constant = live_constant(object);
    constant.kind = Constant::Kind::code;
    constant.code = std::make_shared<const CodeObject>(code_from_python(object));
    constants.emplace(nb::cast<std::uint32_t>(index), std::move(constant));
  }
  return changed(live, [&](CodeObject& code) { replace_nested(code, constants); });
}

// Moves code to another file and to other lines. The code is not read as a `CodeObject`, because its bytecode and its
// line table stay the same. The line table contains distances from the first line of the code.
class Move {
 public:
  // `code_before` is the code to move. `file` is the path of the file to which the code moves, or None if the code
  // keeps its file.
  Move(nb::handle code_before, nb::handle file, std::int32_t lines_down)
      : file_before_(code_before.attr("co_filename")), file_(file), lines_down_(lines_down) {
    changes_ = lines_down != 0 || (!file.is_none() && !file.equal(file_before_));
  }

  // Returns `code` with its new file and lines, and with the name `name` unless `name` is None. If nothing changes,
  // `code` itself is returned.
  nb::object operator()(nb::handle code, nb::handle name, int depth = 0) const {
    nb::dict fields;
    if (!name.is_none() && !name.equal(code.attr("co_name"))) fields["co_name"] = name;
    if (changes_) move(code, depth, fields);
    return fields.size() ? nb::object(code.attr("replace")(**fields)) : nb::borrow(code);
  }

 private:
  void move(nb::handle code, int depth, nb::dict& fields) const {
    const nb::tuple constants(code.attr("co_consts"));
    nb::list moved_constants;
    bool has_moved = false;
    for (const nb::handle constant : constants) {
      const bool is_code = depth < nesting_max && constant.type().is(code.type());
      const nb::object moved = is_code ? (*this)(constant, nb::none(), depth + 1) : nb::borrow(constant);
      has_moved = has_moved || !moved.is(constant);
      moved_constants.append(moved);
    }
    if (has_moved) fields["co_consts"] = nb::tuple(moved_constants);
    if (!code.attr("co_filename").equal(file_before_)) return;
    if (!file_.is_none()) fields["co_filename"] = file_;
    if (lines_down_) fields["co_firstlineno"] = code.attr("co_firstlineno") + nb::int_(lines_down_);
  }

  static constexpr int nesting_max = 200;  // code objects that are nested more deeply are not moved

  const nb::object file_before_;
  const nb::handle file_;
  const std::int32_t lines_down_;
  bool changes_;
};

nb::object moved(nb::handle live, std::optional<nb::str> file, std::int32_t lines_down, std::optional<nb::str> name) {
  check_is_code(live);
  const nb::object none = nb::none();
  return Move(live, file ? *file : none, lines_down)(live, name ? *name : none);
}

// Returns the constant that a path of indices leads to, through the constants of nested code objects and the items of
// tuples; null if the path leads to no constant.
const Constant* constant_at(const CodeObject& code, const std::vector<std::uint32_t>& path) {
  const std::vector<Constant>* constants = &code.constants;
  const Constant* constant = nullptr;
  for (const std::uint32_t index : path) {
    if (!constants || index >= constants->size()) return nullptr;
    constant = &(*constants)[index];
    constants = constant->code ? &constant->code->constants : &constant->items;
  }
  return constant;
}

// Returns the constants that have no literal, as a map whose keys are the names that decompiled source uses for the
// constants.
ConstantsByName named_constants(const CodeObject& code) {
  CodeObject shown = code;
  rename_names(shown, short_names(code));
  ConstantsByName constants;
  for (const NamedConstant& named : decompile(shown, {}).constants) {
    if (const Constant* constant = constant_at(code, named.path)) constants.emplace(named.name, *constant);
  }
  return constants;
}

bool names_constants(const CodeObject& code) {
  for (const std::string& name : global_names(code)) {
    if (name.starts_with("__const_")) return true;
  }
  return false;
}

// Changes `code`, which was compiled from the decompiled source of `original`. Short names become the unique names of
// `original`, and each name of a constant without a literal becomes the constant. No change may follow `restore`,
// because the restored constants are live objects of the original code, which must stay unchanged.
void restore(CodeObject& code, const CodeObject& original) {
  NewNames full_names;
  for (const auto& [full, short_name] : short_names(original)) full_names.emplace(short_name, full);
  rename_names(code, full_names);
  if (names_constants(code)) bind_names(code, named_constants(original));
}

nb::object function_for(nb::handle compiled, nb::handle original, nb::handle constants_of, const nb::dict& sorted,
                        const nb::dict& hidden, const nb::str& prefix, const nb::str& written_name, bool kept) {
  const CodeObject before = code_from_python(compiled), wanted = code_from_python(original);
  StandIn result = stand_in({.compiled = &before,
                             .original = &wanted,
                             .sorted = from_dict(sorted),
                             .hidden_arguments = from_dict(hidden),
                             .prefix = utf8_of(prefix),
                             .written_name = utf8_of(written_name),
                             .kept = kept});
  if (!result.reason.empty()) {
    const nb::object words = python_text(wanted.name + ": " + result.reason);
    PyErr_SetObject(PyExc_ValueError, words.ptr());
    throw nb::python_error();
  }
  if (!result.keep.empty()) return python_list(result.keep);
  if (constants_of.is(original)) restore(result.code, wanted);
  else restore(result.code, code_from_python(constants_of));
  return code_to_python(result.code, before, compiled);
}

nb::object class_for(nb::handle compiled, nb::handle original, const nb::str& prefix) {
  return changed(compiled, [&](CodeObject& code) {
    const CodeObject wanted = code_from_python(original);
    requalify_class(code, wanted, utf8_of(prefix));
    restore(code, wanted);
  });
}

nb::object module_for(nb::handle compiled, nb::handle original, nb::handle constants_of) {
  return changed(compiled, [&](CodeObject& code) {
    code.name = code.qualname = code_from_python(original).name;
    restore(code, code_from_python(constants_of));
  });
}

nb::dict constants_named(nb::handle live) {
  nb::dict result;
  for (const auto& [name, constant] : named_constants(code_from_python(live)))
    result[python_text(name)] = constant_to_python(constant);
  return result;
}

nb::object first_problem_of(nb::handle live) {
  const NestedProblem first = first_problem(code_from_python(live));
  if (first.words.empty()) return nb::none();
  return nb::make_tuple(python_text(first.function), python_text(first.words));
}

void complain(const CodeObject& code, nb::list& complaints) {
  for (const std::string& words : {problem(code), round_trip_difference(code)}) {
    if (!words.empty()) complaints.append(python_text(code.name + ": " + words));
  }
  for (const Constant& constant : code.constants) {
    if (constant.code) complain(*constant.code, complaints);
  }
}

nb::list recode_pyc(nb::bytes file) {
  const LoadedPyc loaded = load_pyc({file.c_str(), file.size()});
  if (!loaded.code) throw nb::value_error(loaded.error.c_str());
  nb::list complaints;
  complain(*loaded.code, complaints);
  return complaints;
}

}  // namespace

void bind_recode(nb::module_& module) {
  const auto code = nb::arg("code");
  module.def("problem", &first_problem_of, code);
  module.def(
      "same_code",
      [](nb::handle one, nb::handle two) { return same_code(code_from_python(one), code_from_python(two)); },
      nb::arg("one"), nb::arg("two"));
  module.def("global_names", [](nb::handle live) { return python_list(global_names(code_from_python(live))); }, code);
  module.def(
      "assigned_names", [](nb::handle live) { return python_list(assigned_names(code_from_python(live))); }, code);
  module.def("short_names", [](nb::handle live) { return to_dict(short_names(code_from_python(live))); }, code);
  module.def("bind_names", &bound, code, nb::arg("values"));
  module.def("with_nested", &with_nested, code, nb::arg("nested"));
  module.def("moved", &moved, code, nb::arg("file") = nb::none(), nb::arg("lines_down") = 0,
             nb::arg("name") = nb::none());
  module.def(
      "with_locals",
      [](nb::handle live, const nb::dict& names) {
        return changed(live, [&](CodeObject& it) { rename_locals(it, from_dict(names)); });
      },
      code, nb::arg("names"));
  module.def(
      "raised_by_one_line",
      [](nb::handle live) { return changed(live, [](CodeObject& it) { raise_by_one_line(it); }); }, code);
  module.def(
      "as_data", [](nb::handle live) { return changed(live, [](CodeObject& it) { keep_data_alone(it); }); }, code);
  module.def("names_that_sort", [](nb::handle live) { return to_dict(names_that_sort(code_from_python(live))); }, code);
  module.def(
      "named_like",
      [](nb::handle live, nb::handle original) {
        return changed(live, [&](CodeObject& it) { name_like(it, code_from_python(original)); });
      },
      code, nb::arg("original"));
  module.def("constants", &constants_named, code);
  module.def("function_for", &function_for, nb::arg("compiled"), nb::arg("original"), nb::kw_only(),
             nb::arg("constants_of"), nb::arg("sorted"), nb::arg("hidden"), nb::arg("prefix"), nb::arg("written_name"),
             nb::arg("kept"));
  module.def("class_for", &class_for, nb::arg("compiled"), nb::arg("original"), nb::arg("prefix"));
  module.def("module_for", &module_for, nb::arg("compiled"), nb::arg("original"), nb::arg("constants_of"));
  module.def("recode_pyc", &recode_pyc, nb::arg("file"));
}

}  // namespace depyf
