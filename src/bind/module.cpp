// The extension module depyf._core: live code objects in, plain Python objects out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "code_from_python.h"
#include "depyf/disassemble.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// (op, arg, aux, offset, target, line, pops, pushes, pops and pushes when jumping)
nb::list decode_rows(nb::handle code_object) {
  CodeObject code = code_from_python(code_object);
  Disassembly result;
  {
    nb::gil_scoped_release release;
    result = disassemble(code);
  }
  if (!result.error.empty()) {
    throw nb::value_error((result.error + " at offset " + std::to_string(result.error_offset)).c_str());
  }
  nb::list rows;
  for (const DisassembledInstruction& it : result.instructions) {
    rows.append(nb::make_tuple(it.op, it.arg, it.aux, it.offset, it.target, it.line, it.pops, it.pushes,
                               it.jump_pops, it.jump_pushes));
  }
  return rows;
}

}  // namespace

NB_MODULE(_core, module) {
  module.attr("__version__") = DEPYF_VERSION;
  module.def("decode", &decode_rows, nb::arg("code"),
             "Version-neutral instructions: (op, arg, aux, offset, target, line, pops, pushes, jump_pops, jump_pushes)");
}

}  // namespace depyf
