#include "conditions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "depyf/conditions.h"
#include "python_text.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Reads guards from the rows that `depyf.guards.model.rows` returns.
std::vector<conditions::Guard> guards_of(nb::list rows) {
  std::vector<conditions::Guard> guards;
  for (const nb::handle item : rows) {
    const auto row = nb::cast<nb::tuple>(item);
    guards.push_back({text_of(row[0]), text_of(row[1]), text_of(row[2]), text_of(row[3]), texts_of(row[4]),
                      texts_of(row[5]), nb::cast<bool>(row[6]), nb::cast<bool>(row[7]), nb::cast<bool>(row[8])});
  }
  return guards;
}

nb::list bounds(nb::str condition) {
  nb::list result;
  for (const conditions::Bound& bound : conditions::bounds_of(utf8_of(condition)))
    result.append(nb::make_tuple(python_text(bound.subject), python_text(bound.sign), python_text(bound.constant)));
  return result;
}

nb::list frontier(nb::list guards, nb::object symbols) {
  std::optional<std::vector<conditions::SymbolBounds>> read;
  if (!symbols.is_none()) {
    read.emplace();
    for (const nb::handle item : symbols) {
      const auto row = nb::cast<nb::tuple>(item);
      read->push_back({texts_of(row[0]), text_of(row[1]), text_of(row[2])});
    }
  }
  nb::list result;
  for (const conditions::Limit& limit : conditions::frontier(guards_of(guards), read))
    result.append(nb::make_tuple(python_text(limit.condition), python_text(limit.subject), limit.guard,
                                 python_text(limit.origin)));
  return result;
}

nb::list accepted_together(nb::list entries, std::optional<int> entries_max) {
  std::vector<std::vector<conditions::Accepted>> read;
  for (const nb::handle limits : entries) {
    read.emplace_back();
    for (const nb::handle item : limits) {
      const auto row = nb::cast<nb::tuple>(item);
      read.back().push_back({text_of(row[0]), text_of(row[1]), text_of(row[2])});
    }
  }
  return python_list(conditions::together(read, entries_max));
}

nb::list unchecked_after_dropping(nb::list dropped) {
  std::vector<conditions::DroppedGuard> read;
  for (const nb::handle item : dropped) {
    const auto row = nb::cast<nb::tuple>(item);
    read.push_back({text_of(row[0]), text_of(row[1])});
  }
  return python_list(conditions::unchecked_after_dropping(read));
}

nb::list unchecked_values(nb::list guards, nb::list locals, nb::list globals) {
  return python_list(conditions::unchecked_values(guards_of(guards), texts_of(locals), texts_of(globals)));
}

nb::list redundant_guards(nb::list guards, std::int64_t identity_of_none) {
  nb::list result;
  for (const conditions::Redundant& guard : conditions::redundant(guards_of(guards), identity_of_none))
    result.append(nb::make_tuple(guard.position, python_list(guard.implied_by)));
  return result;
}

}  // namespace

void bind_conditions(nb::module_& module) {
  module.def(
      "in_terms", [](nb::str expression) { return python_text(conditions::in_terms(utf8_of(expression))); },
      nb::arg("expression"));
  module.def(
      "owner_in_terms", [](nb::str expression) { return python_text(conditions::owner_in_terms(utf8_of(expression))); },
      nb::arg("expression"));
  module.def("bounds", &bounds, nb::arg("condition"));
  module.def("frontier", &frontier, nb::arg("guards"), nb::arg("symbols").none());
  module.def("accepted_together", &accepted_together, nb::arg("entries"), nb::arg("entries_max").none());
  module.def("unchecked_after_dropping", &unchecked_after_dropping, nb::arg("dropped"));
  module.def("unchecked_values", &unchecked_values, nb::arg("guards"), nb::arg("locals"), nb::arg("globals"));
  module.def("redundant_guards", &redundant_guards, nb::arg("guards"), nb::arg("identity_of_none"));
}

}  // namespace depyf
