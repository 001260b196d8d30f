// Records which operations occur in a code object, limited to the operations that passes ask for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "decode/op.h"

namespace depyf {

// The operations for which some pass asks whether a code object contains them.
inline constexpr std::array surveyed_ops = {Op::behind_handlers_,
                                            Op::call_function_,
                                            Op::check_eg_match_,
                                            Op::copy_,
                                            Op::delete_deref_,
                                            Op::delete_global_,
                                            Op::for_iter_,
                                            Op::get_anext_,
                                            Op::jump_if_false_or_pop_,
                                            Op::jump_if_true_or_pop_,
                                            Op::load_assertion_error_,
                                            Op::load_common_constant_,
                                            Op::load_fast_and_clear_,
                                            Op::load_global_,
                                            Op::load_special_,
                                            Op::make_function_,
                                            Op::match_class_,
                                            Op::match_mapping_,
                                            Op::match_sequence_,
                                            Op::pop_except_,
                                            Op::resume_,
                                            Op::return_generator_,
                                            Op::rotate_,
                                            Op::send_,
                                            Op::set_add_,
                                            Op::setup_annotations_,
                                            Op::store_deref_,
                                            Op::store_global_,
                                            Op::swap_,
                                            Op::yield_value_};

// Maps each operation in `surveyed_ops` to a number with a single bit, which no other operation has, and all other
// operations to 0.
inline constexpr std::array<std::uint64_t, op_count> surveyed_bits = [] {
  static_assert(surveyed_ops.size() <= 64);
  std::array<std::uint64_t, op_count> bits{};
  std::uint64_t bit = 1;
  for (const Op op : surveyed_ops) bits[static_cast<std::size_t>(op)] = bit, bit <<= 1;
  return bits;
}();

class SurveyedOps {
 public:
  // Adds `op` to the set if it is in `surveyed_ops`. `surveyed_bits` contains 0 for all other operations, so that `add`
  // needs no branch.
  void add(Op op) { bits_ |= surveyed_bits[static_cast<std::size_t>(op)]; }
  // True if any of `ops` occurs in the code.
  template <Op... ops>
  bool has() const {
    static_assert(((surveyed_bits[static_cast<std::size_t>(ops)] != 0) && ...), "add the operation to surveyed_ops");
    return (bits_ & (surveyed_bits[static_cast<std::size_t>(ops)] | ...)) != 0;
  }

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace depyf
