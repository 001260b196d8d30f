// Defines the functions of _core for the texts of a dump: bound_origin, folded, folded_conditions, frame_words,
// guard_function and index_files.
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_texts(nanobind::module_& module);

}  // namespace depyf
