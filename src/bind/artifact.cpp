#include "artifact.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "depyf/artifact.h"
#include "gil.h"
#include "python_text.h"
#include "report/artifacts.h"

namespace nb = nanobind;

namespace depyf {
namespace {

using Strings = std::vector<std::string>;

bool is_readable(const report::ReadArtifacts& read) {
  for (const artifact::Artifact& each : read.artifacts)
    if (!each.error.empty()) return false;
  return read.errors.empty();
}

// Returns the bytes of a path in the encoding of the file system, even if the bytes are not valid UTF-8.
std::string path_of(nb::handle path) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  const auto text = nb::cast<nb::bytes>(bytes);
  return {text.c_str(), text.size()};
}

nb::tuple open_artifact(nb::str path, const Strings& roots, bool is_json) {
  const std::string file = path_of(path);
  std::string text;
  report::ReadArtifacts read;
  {
    const ReleasedGil released;
    read = report::read_artifacts(file, roots);
    if (is_json) text = artifact::to_json(read.artifacts);
    else if (read.artifacts.size() > 1)
      for (const artifact::Artifact& each : read.artifacts) text += artifact::to_line(each);
    for (const artifact::Artifact& each : read.artifacts)
      if (!is_json) text += (text.empty() ? "" : "\n") + artifact::to_text(each);
  }
  return nb::make_tuple(python_text(text), python_list(read.errors), is_readable(read));
}

nb::tuple compare_artifacts(nb::str first, nb::str second) {
  const std::string first_file = path_of(first), second_file = path_of(second);
  Strings lines, errors;
  bool is_whole = false;
  {
    const ReleasedGil released;
    const report::ReadArtifacts one = report::read_artifacts(first_file, {});
    const report::ReadArtifacts two = report::read_artifacts(second_file, {});
    lines = report::differences(one, two);
    errors = one.errors;
    errors.insert(errors.end(), two.errors.begin(), two.errors.end());
    is_whole = is_readable(one) && is_readable(two);
  }
  return nb::make_tuple(python_list(lines), python_list(errors), is_whole);
}

nb::list explain_misses(nb::list recorded, nb::str folder) {
  Strings files;
  for (nb::handle file : recorded) files.push_back(path_of(nb::cast<nb::str>(file)));
  const std::string cache = path_of(folder);
  std::vector<Strings> explained;
  {
    const ReleasedGil released;
    explained = report::explain_misses(files, cache);
  }
  nb::list result;
  for (const Strings& lines : explained) result.append(python_list(lines));
  return result;
}

nb::list missed_keys(nb::bytes log, nb::str folder) {
  const std::string_view bytes(log.c_str(), log.size());
  const std::string cache = path_of(folder);
  std::vector<report::MissedKey> missed;
  {
    const ReleasedGil released;
    missed = report::missed_keys(bytes, cache);
  }
  nb::list result;
  for (const report::MissedKey& key : missed)
    result.append(nb::make_tuple(python_text(key.compilation), python_text(key.key), python_list(key.differences)));
  return result;
}

}  // namespace

void bind_artifact(nb::module_& module) {
  module.def("open_artifact", &open_artifact, nb::arg("path"), nb::arg("roots"), nb::arg("is_json"));
  module.def("explain_misses", &explain_misses, nb::arg("recorded"), nb::arg("folder"));
  module.def("missed_keys", &missed_keys, nb::arg("log"), nb::arg("folder"));
  module.def("compare_artifacts", &compare_artifacts, nb::arg("first"), nb::arg("second"));
}

}  // namespace depyf
