// Calls functions of C only if no other thread executes code of a given file, and lets no other thread run between the
// check of the threads and the calls. Another thread can take the interpreter's lock only where bytecode is evaluated
// or where C code releases the lock. Neither the check of the other threads' frames nor the called functions evaluate
// bytecode or release the interpreter's lock. If this code was written in Python, another thread could take the
// interpreter's lock between any two of its lines.
#include "alone.h"

namespace nb = nanobind;

namespace depyf {
namespace {

bool runs_code_of(nb::object frame, nb::handle file) {
  for (; !frame.is_none(); frame = frame.attr("f_back")) {
    if (frame.attr("f_code").attr("co_filename").equal(file)) return true;
  }
  return false;
}

bool other_thread_runs_code_of(nb::handle file) {
  const nb::object own = nb::module_::import_("threading").attr("get_ident")();
  const nb::object frames = nb::module_::import_("sys").attr("_current_frames")();
  for (const auto& [thread, frame] : nb::borrow<nb::dict>(frames)) {
    if (!thread.equal(own) && runs_code_of(nb::borrow(frame), file)) return true;
  }
  return false;
}

bool call_without(nb::str file, nb::list calls) {
  if (other_thread_runs_code_of(file)) return false;
  for (nb::handle call : calls) call[0](*nb::tuple(call[1]));
  return true;
}

}  // namespace

void bind_alone(nb::module_& module) { module.def("call_without", &call_without, nb::arg("file"), nb::arg("calls")); }

}  // namespace depyf
