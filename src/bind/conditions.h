// Defines the functions of _core for the conditions of guards: in_terms, owner_in_terms, bounds, frontier,
// accepted_together, unchecked_after_dropping, unchecked_values and redundant_guards.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_conditions(nanobind::module_& module);

}  // namespace depyf
