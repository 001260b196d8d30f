// How a version packs the arguments of its instructions.
#pragma once

#include <cstdint>

#include "depyf/code_object.h"

namespace depyf {

struct Traits {
  std::uint32_t jump_unit;        // bytes that one unit of a jump's argument means
  bool cells_apart;               // free and cell variables are numbered from 0, apart from the locals (to 3.10)
  bool qualified_name_on_stack;   // of MAKE_FUNCTION (to 3.10)
  int compare_shift;              // of COMPARE_OP, below it hints
  std::uint32_t compare_bool_bit; // of COMPARE_OP: the result is made a bool
  bool global_null_bit;           // LOAD_GLOBAL: bit 0: with NULL
  bool null_after;                // the NULL (or self) of a call lies on the callable (from 3.13)
  bool attribute_method_bit;      // LOAD_ATTR: bit 0: as LOAD_METHOD
  bool null_beside_callable;      // CALL_FUNCTION_EX (from 3.11)
  bool null_for_no_dict;          // CALL_FUNCTION_EX (from 3.14)
  bool exit_with_self;            // __exit__ of a with statement lies beside its self (from 3.14)
  bool import_flags;              // IMPORT_NAME: two low bits (from 3.15)
  int end_for_skips;  // instructions that FOR_ITER skips on exhaustion: END_FOR [POP_TOP]; 0: pops itself
};

constexpr Traits traits_of(Version version) {
  const int minor = version.minor;
  return {
      .jump_unit = minor < 10 ? 1u : 2u,
      .cells_apart = minor < 11,
      .qualified_name_on_stack = minor < 11,
      .compare_shift = minor < 12    ? 0
                       : minor == 12 ? 4
                                     : 5,
      .compare_bool_bit = minor < 13 ? 0u : 16u,
      .global_null_bit = minor >= 11,
      .null_after = minor >= 13,
      .attribute_method_bit = minor >= 12,
      .null_beside_callable = minor >= 11,
      .null_for_no_dict = minor >= 14,
      .exit_with_self = minor >= 14,
      .import_flags = minor >= 15,
      .end_for_skips = minor < 12    ? 0
                       : minor == 13 ? 2
                                     : 1,
  };
}

}  // namespace depyf
