// The texts of a dump: _core.bound_origin, _core.folded, _core.folded_conditions, _core.frame_words, _core.guard_function,
// _core.index_files
#pragma once

#include <nanobind/nanobind.h>

namespace depyf {

void bind_texts(nanobind::module_& module);

}  // namespace depyf
