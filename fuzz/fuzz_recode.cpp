// Changes of any code object that loads: what was sound stays sound, and what is taken apart goes together again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "depyf/load.h"
#include "depyf/recode.h"

namespace {

using depyf::CodeObject;

void change(const CodeObject& code) {
  const bool sound = depyf::problem(code).empty();
  // Tables may say what no table can be written for: of those only that nothing breaks.
  CodeObject plain = code;
  plain.positions.clear();
  if (sound && !plain.exceptions.empty()) plain.exceptions.clear();
  if (sound && !depyf::round_trip_difference(plain).empty()) std::abort();

  CodeObject changed = code;
  depyf::ConstantsByName values;
  for (const std::string& name : code.names) values.emplace(name, depyf::Constant{});
  depyf::bind_names(changed, values);
  if (sound && !depyf::problem(changed).empty()) std::abort();
  const std::string file = "other.py";
  depyf::move_to(changed, &file, 12);
  depyf::raise_by_one_line(changed);
  depyf::keep_data_alone(changed);
  depyf::rename_names(changed, depyf::short_names(changed));
  depyf::names_that_sort(changed);
  if (sound && !depyf::problem(changed).empty()) std::abort();
  depyf::stand_in({.compiled = &code,
                   .original = &changed,
                   .sorted = {},
                   .hidden_arguments = {},
                   .prefix = "",
                   .written_name = "f",
                   .kept = false});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const depyf::LoadedPyc loaded = depyf::load_pyc({reinterpret_cast<const char*>(data), size});
  if (loaded.code) change(*loaded.code);
  return 0;
}
