// What the argument of an operation counts.
#pragma once

#include "decode/instruction.h"

namespace depyf {

// An entry of co_names.
constexpr bool uses_name(Op op) {
  switch (op) {
    case Op::load_name_:
    case Op::store_name_:
    case Op::delete_name_:
    case Op::load_global_:
    case Op::store_global_:
    case Op::delete_global_:
    case Op::load_from_dict_or_globals_:
    case Op::load_attr_:
    case Op::load_method_:
    case Op::store_attr_:
    case Op::delete_attr_:
    case Op::load_super_attr_:
    case Op::import_name_:
    case Op::import_from_: return true;
    default: return false;
  }
}

// A cell or free variable: an entry of localsplus that is one.
constexpr bool uses_cell(Op op) {
  switch (op) {
    case Op::load_deref_:
    case Op::store_deref_:
    case Op::delete_deref_:
    case Op::load_closure_:
    case Op::load_class_deref_:
    case Op::load_from_dict_or_deref_:
    case Op::make_cell_: return true;
    default: return false;
  }
}

// An entry of localsplus: a fast local, a cell or a free variable.
constexpr bool uses_local(Op op) {
  switch (op) {
    case Op::load_fast_:
    case Op::load_fast_and_clear_:
    case Op::store_fast_:
    case Op::delete_fast_: return true;
    default: return uses_cell(op);
  }
}

}  // namespace depyf
