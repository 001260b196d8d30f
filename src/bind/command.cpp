#include "command.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "cli/command.h"
#include "depyf/decompile.h"
#include "gil.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Passes the output to Python functions, so that a program can replace Python's streams. An interrupt (Ctrl-C) ends
// `cli::run` by an exception.
class PythonSinks : public cli::Sinks {
 public:
  PythonSinks(nb::callable text, nb::callable error) : text_(std::move(text)), error_(std::move(error)) {}
  void text(const std::string& utf8) override { call(text_, utf8); }
  void error(const std::string& lines) override { call(error_, lines); }
  void idle() override {
    const HeldGil held;
    if (ask_for_gil([] { return PyErr_CheckSignals(); }) != 0) throw nb::python_error();
  }

 private:
  static void call(const nb::callable& write, const std::string& utf8) {
    const HeldGil held;
    // The called Python code may release the interpreter's lock and take the lock again, and the interpreter may begin
    // to finalize in the meantime.
    PyObject* result = ask_for_gil([&]() -> PyObject* {
      PyObject* string = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "backslashreplace");
      if (!string) return nullptr;
      PyObject* written = PyObject_CallFunctionObjArgs(write.ptr(), string, nullptr);
      Py_DECREF(string);
      return written;
    });
    if (!result) throw nb::python_error();
    Py_DECREF(result);
  }
  nb::callable text_, error_;
};

using File = std::variant<std::string, std::pair<std::string, nb::bytes>>;

int decompile_files(const std::vector<File>& files, nb::callable text, nb::callable error, std::string output,
                    unsigned jobs, std::string check, const std::string& show, std::string stop_after,
                    std::string dump_after, bool force, bool json, bool quiet) {
  cli::Settings settings{.output = std::move(output),
                         .force = force,
                         .jobs = jobs,
                         .json = json,
                         .quiet = quiet,
                         .check = std::move(check),
                         .stop_after = std::move(stop_after),
                         .dump_after = std::move(dump_after)};
  if (show == "dis") settings.disassemble = true;
  else if (show == "cfg") settings.graph = true;
  else if (show == "lines") settings.lines = true;
  else if (show == "load") settings.fields = true;
  else if (!show.empty()) throw nb::value_error(("unknown text " + show).c_str());
  std::vector<cli::Input> inputs;
  for (const File& file : files) {
    if (auto* path = std::get_if<std::string>(&file)) {
      for (cli::Input& found : cli::find_inputs({*path}, settings.max_size)) inputs.push_back(std::move(found));
    } else {
      const auto& [label, bytes] = std::get<1>(file);
      inputs.push_back({label, cli::below(label + ".pyc"), std::string(bytes.c_str(), bytes.size())});
    }
  }
  cli::choose_outputs(inputs);
  PythonSinks sinks(std::move(text), std::move(error));
  if (inputs.empty()) {
    sinks.error("depyf: the given folders contain no .pyc files\n");
    return 1;
  }
  const ReleasedGil released;
  return cli::run(inputs, settings, sinks);
}

}  // namespace

void bind_command(nb::module_& module) {
  module.def("decompile_files", &decompile_files, nb::arg("files"), nb::arg("text"), nb::arg("error"), nb::kw_only(),
             nb::arg("output") = "", nb::arg("jobs") = 1, nb::arg("check") = "", nb::arg("show") = "",
             nb::arg("stop_after") = "", nb::arg("dump_after") = "", nb::arg("force") = false, nb::arg("json") = false,
             nb::arg("quiet") = false);
}

}  // namespace depyf
