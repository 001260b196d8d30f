#include "decode/decode.h"

namespace depyf {
namespace {

struct OpInfo {
  std::string_view name;
  std::int32_t pops, pushes;
};

constexpr OpInfo ops[] = {
#define OP(name, pops, pushes) {#name, pops, pushes},
#include "decode/op.def"
#undef OP
};

int popcount4(std::int32_t flags) { return (flags & 1) + (flags >> 1 & 1) + (flags >> 2 & 1) + (flags >> 3 & 1); }

// To 3.10 an exception is six values on the stack: that which was being handled, then the new one, each as traceback,
// value, type.
constexpr std::int32_t exception_values = 6;

// Operations of the block stack, and those that find such exceptions.
bool block_stack_effect(const Instruction& it, Version version, bool jump, StackEffect& effect) {
  if (version >= Version{3, 11}) return false;
  switch (it.op) {
    case Op::setup_finally_: effect = {0, jump ? exception_values : 0}; return true;
    case Op::setup_with_: effect = {1, jump ? 1 + exception_values : 2}; return true;
    case Op::setup_async_with_: effect = jump ? StackEffect{1, exception_values} : StackEffect{0, 0}; return true;
    case Op::pop_except_:
    case Op::reraise_: effect = {3, 0}; return true;
    case Op::check_exc_match_: effect = {2, 1}; return true;
    case Op::end_async_for_: effect = {1 + exception_values, 0}; return true;
    case Op::match_keys_: effect = {0, 2}; return true;
    case Op::match_class_: effect = {3, 2}; return true;
    // 3.8. What really lies there is one value (NULL, or an address to return to), or an exception; the compiler counts
    // as if it were always the latter.
    case Op::begin_finally_: effect = {0, exception_values}; return true;
    case Op::call_finally_: effect = {0, jump ? 1 : 0}; return true;
    case Op::end_finally_:
    case Op::pop_finally_: effect = {exception_values, 0}; return true;
    case Op::with_cleanup_start_: effect = {0, 2}; return true;
    case Op::with_cleanup_finish_: effect = {3, 0}; return true;
    default: return false;
  }
}

// 3.15: an iterator is two values, itself and an index or NULL.
bool pair_iterator_effect(const Instruction& it, Version version, bool, StackEffect& effect) {
  if (version < Version{3, 15}) return false;
  switch (it.op) {
    case Op::get_iter_:
    case Op::get_yield_from_iter_: effect = {1, 2}; return true;
    case Op::for_iter_: effect = {2, 3}; return true;
    case Op::pop_iter_: effect = {2, 0}; return true;
    case Op::send_: effect = {3, 3}; return true;
    case Op::end_send_: effect = {3, 1}; return true;
    case Op::cleanup_throw_: effect = {4, 3}; return true;
    default: return false;
  }
}

}  // namespace

std::string_view op_name(Op op) { return ops[static_cast<std::size_t>(op)].name; }

StackEffect stack_effect(const Instruction& it, Version version, bool jump) {
  StackEffect effect;
  if (block_stack_effect(it, version, jump, effect) || pair_iterator_effect(it, version, jump, effect)) return effect;
  const OpInfo& info = ops[static_cast<std::size_t>(it.op)];
  effect = {info.pops, info.pushes};
  switch (it.op) {
    case Op::copy_: return {it.arg, it.arg + 1};
    case Op::swap_:
    case Op::rotate_: return {it.arg, it.arg};
    case Op::load_super_attr_: return {3, 1 + (it.aux & 1)};
    case Op::build_tuple_:
    case Op::build_list_:
    case Op::build_set_:
    case Op::build_string_:
    case Op::build_slice_:
    case Op::build_unpack_: return {it.arg, 1};
    case Op::build_map_: return {2 * it.arg, 1};
    case Op::build_const_key_map_: return {it.arg + 1, 1};
    case Op::build_interpolation_: return {2 + it.aux, 1};
    case Op::unpack_sequence_: return {1, it.arg};
    case Op::unpack_ex_: return {1, it.arg + it.aux + 1};
    case Op::format_value_: return {1 + it.aux, 1};
    case Op::call_: return {it.arg + 2, 1};
    case Op::call_kw_: return {it.arg + 3, 1};
    case Op::call_function_: return {it.arg + 1, 1};
    case Op::call_function_kw_: return {it.arg + 2, 1};
    case Op::call_function_ex_: return {2 + it.arg + (it.aux & 1), 1};
    case Op::make_function_: return {1 + it.aux + popcount4(it.arg), 1};
    case Op::for_iter_: return jump ? (it.aux ? StackEffect{1, 2} : StackEffect{1, 0}) : StackEffect{1, 2};
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: return {1, jump ? 1 : 0};
    case Op::match_case_: return {1, it.aux};
    case Op::before_with_:
    case Op::before_async_with_: return {1, 2 + it.aux};
    case Op::raise_: return {it.arg, 0};
    case Op::end_async_for_: return {2, 0};
    case Op::send_: return jump && version < Version{3, 12} ? StackEffect{2, 1} : StackEffect{2, 2};
    default: return effect;
  }
}

}  // namespace depyf
