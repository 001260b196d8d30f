// Changes any code object that can be loaded: sound code must stay sound, and tables that are written must be read as
// the same data.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "depyf/load.h"
#include "depyf/recode.h"
#include "depyf/tables.h"

namespace {

using depyf::CodeObject;

// Tables that depyf writes must be read back as the same data. The input's tables are read into `written` first,
// because the input may contain positions that cannot be written to a table.
void check_tables(const CodeObject& code, bool sound) {
  CodeObject written = code;
  if (!depyf::read_tables(written, depyf::line_table_of(code), depyf::exception_table_of(code))) return;
  if (!sound || !depyf::problem(written).empty()) return;
  CodeObject again = written;
  if (!depyf::read_tables(again, depyf::line_table_of(written), depyf::exception_table_of(written))) std::abort();
  if (again.positions != written.positions || again.exceptions != written.exceptions) std::abort();
  // the result is ignored, because redundant EXTENDED_ARG prefixes in the bytecode cause a difference
  depyf::round_trip_difference(written);
}

void change(const CodeObject& code) {
  const bool sound = depyf::problem(code).empty();
  check_tables(code, sound);

  CodeObject changed = code;
  depyf::ConstantsByName values;
  for (const std::string& name : code.names) values.emplace(name, depyf::Constant{});
  depyf::bind_names(changed, values);
  if (sound && !depyf::problem(changed).empty()) std::abort();
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
