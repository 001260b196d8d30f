// Records which operations occur in a code object, limited to the operations that passes ask for.
#pragma once

#include "decode/instruction.h"
#include "decode/op.h"

namespace depyf {

// The operations that passes ask for. All other operations are left out of the set of a code object, because most
// instructions have one of them, and adding each to a set takes longer than passing over it.
inline constexpr OpSet surveyed_ops = {Op::behind_handlers_,
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
                                       Op::store_deref_,
                                       Op::store_global_,
                                       Op::swap_,
                                       Op::yield_value_};

class SurveyedOps {
 public:
  void add(Op op) { set_.add(op); }
  // True if any of `ops` occurs in the code.
  template <Op... ops>
  bool has() const {
    static_assert((surveyed_ops.has(ops) && ...), "add the operation to surveyed_ops");
    return set_.has(ops...);
  }

 private:
  OpSet set_;
};

}  // namespace depyf
