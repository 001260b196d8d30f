// Defines Op, the enumeration of all operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "decode/instruction.h"

namespace depyf {

// cmake/op_names.cmake generates op_names.def, which lists the names of the rows of op.def.
enum class Op : std::uint8_t {
#define OP_NAME(name) name##_,
#include "decode/op_names.def"
#undef OP_NAME
};
static_assert(Op::nop_ == Op{});  // the default operation of an Instruction

inline constexpr std::size_t op_count = 0
#define OP_NAME(name) +1
#include "decode/op_names.def"
#undef OP_NAME
    ;

std::string_view op_name(Op op);

// True for a store to a name of any scope.
constexpr bool is_store_name(Op op) {
  return op == Op::store_fast_ || op == Op::store_name_ || op == Op::store_global_ || op == Op::store_deref_;
}

// True if `op` leaves the function.
constexpr bool leaves_function(Op op) { return op == Op::return_value_ || op == Op::raise_ || op == Op::reraise_; }

constexpr bool is_conditional_jump(Op op) {
  return op == Op::pop_jump_if_true_ || op == Op::pop_jump_if_false_ || op == Op::pop_jump_if_none_ ||
         op == Op::pop_jump_if_not_none_;
}

// Returns the operation that deletes the name which `store` binds.
constexpr Op delete_of(Op store) {
  return store == Op::store_fast_     ? Op::delete_fast_
         : store == Op::store_name_   ? Op::delete_name_
         : store == Op::store_global_ ? Op::delete_global_
                                      : Op::delete_deref_;
}

}  // namespace depyf
