// Changes of any code object that loads: sound code stays sound, and code that is taken apart can be put together
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "depyf/load.h"
#include "depyf/recode.h"
#include "depyf/tables.h"

namespace {

using depyf::CodeObject;

// Tables that depyf writes must be read back as the same data. The tables of the input are read and written first,
// because they may contain data that no table can hold.
void check_tables(const CodeObject& code, bool sound) {
  CodeObject written = code;
  if (!depyf::read_tables(written, depyf::line_table_of(code), depyf::exception_table_of(code))) return;
  if (!sound || !depyf::problem(written).empty()) return;
  CodeObject again = written;
  if (!depyf::read_tables(again, depyf::line_table_of(written), depyf::exception_table_of(written))) std::abort();
  if (again.positions != written.positions || again.exceptions != written.exceptions) std::abort();
  depyf::round_trip_difference(written);  // the bytecode may have prefixes that say nothing, so it may differ
}

void change(const CodeObject& code) {
  const bool sound = depyf::problem(code).empty();
  check_tables(code, sound);

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
