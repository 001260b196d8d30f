// Describes how one version of CPython differs from another: how it packs instructions, what its interpreter and its
// compiler do, and what its grammar accepts. Code that depends on a version asks for a fact by its name, which is a
// member of `Dialect`. Version numbers occur only in this file, in `load/` and in the tables of `decode/`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "depyf/constant.h"

namespace depyf {

struct Dialect {
  // The following facts describe how the arguments of instructions are packed.
  std::uint32_t jump_unit;  // the number of bytes that one unit of a jump's argument stands for
  bool cells_apart;  // free and cell variables are numbered from 0, apart from the locals
  bool qualified_name_on_stack;  // MAKE_FUNCTION pops the qualified name of the function
  int compare_shift;  // the bit where the operator starts in COMPARE_OP's argument; the bits below are hints
  // The bit of COMPARE_OP's argument that converts the result to a bool; 0 if no bit does.
  std::uint32_t compare_bool_bit;
  bool global_null_bit;  // bit 0 of LOAD_GLOBAL's argument: the instruction also pushes a NULL
  bool null_after;  // the NULL (or self) of a call is above the callable on the stack
  bool attribute_method_bit;  // bit 0 of LOAD_ATTR's argument: the instruction loads a method as LOAD_METHOD does
  bool null_beside_callable;  // CALL_FUNCTION_EX pops a NULL beside the callable
  bool null_for_no_dict;  // CALL_FUNCTION_EX always pops a keyword dict, or a NULL in place of the dict
  bool exit_with_self;  // a with statement keeps `__exit__` and its self as two values on the stack
  bool import_flags;  // the two low bits of IMPORT_NAME's argument are flags
  int end_for_skips;  // the number of instructions (END_FOR, POP_TOP) that FOR_ITER skips on exhaustion

  // The following facts describe the interpreter.
  bool exception_table;  // handlers are listed in a table; in older versions, instructions push and pop blocks
  bool named_ellipsis;  // an annotation that is kept as text has `Ellipsis` for a `...` in a constant tuple
  bool finally_subroutines;  // the body of a finally is a subroutine: CALL_FINALLY, END_FINALLY
  bool qualified_names;  // code objects have co_qualname
  bool columns;  // positions of instructions have columns
  bool generator_start;  // GEN_START pops the value that the first resumption of a generator sent
  bool returned_generators;  // RETURN_GENERATOR at the start of a generator's code creates the generator
  bool send_keeps_receiver;  // SEND leaves the receiver on the stack if it jumps
  bool single_yield_from;  // YIELD_FROM is one instruction; later versions have a loop of SEND and YIELD_VALUE
  bool cleanup_throw;  // CLEANUP_THROW handles an exception that throw() raises in the awaited object
  bool yield_tells_await;  // YIELD_VALUE's argument shows whether throw() is forwarded to an awaited object
  bool await_tells_reason;  // GET_AWAITABLE's argument marks the awaits of an asynchronous with statement
  bool wrapped_async_items;  // asynchronous generators wrap the values that they yield: ASYNC_GEN_WRAP
  bool conversion_apart;  // a field of an f-string such as `{a!r}` is CONVERT_VALUE; FORMAT_SIMPLE
  bool paired_loads;  // LOAD_FAST_LOAD_FAST loads two locals
  bool super_attributes;  // LOAD_SUPER_ATTR loads an attribute of `super()`
  bool dict_or_cell_loads;  // a class body loads a free variable by LOAD_FROM_DICT_OR_DEREF
  bool binary_slices;  // BINARY_SLICE takes the start and the stop of a slice from the stack
  bool constant_slices;  // a slice of constants is a constant
  bool pair_iterators;  // an iterator is two values on the stack
  bool pushed_pattern_tests;  // MATCH_CLASS and MATCH_KEYS also push a bool that shows whether they matched

  // The following facts describe the code that the compiler emits.
  bool unpacking_builds;  // `{**a}` is BUILD_MAP_UNPACK, and `[*a]` is BUILD_LIST_UNPACK
  bool constant_key_maps;  // BUILD_CONST_KEY_MAP builds a dict with a constant tuple of keys
  bool bounded_displays;  // a display of many items is built piece by piece
  bool bounded_set_constants;  // a set display of many constants is built piece by piece
  bool assigned_single_items;  // `for x in [value]` in a comprehension is compiled as an assignment to x
  bool global_assertion_error;  // `assert` loads AssertionError as a global
  bool asserts_either_way;  // the code of `assert a not in b` may test `a in b` with the opposite jump
  bool known_assertions;  // `assert False` is compiled without a test
  bool copied_exits;  // jumps to any short end of a function, not only to a single return, become copies of the end
  // At the end of a function, `return` and `pass` in a handler compile to code with the same lines.
  bool bare_return_is_else;
  bool folded_else_of_try;  // the bytecode alone shows whether a try statement has an else clause
  bool percent_formats;  // '%s' % (x,) is compiled as an f-string
  bool none_jumps;  // a test `x is None` is one conditional jump
  bool inlined_comprehensions;  // comprehensions, but not generator expressions, are inlined into the code around them
  bool unmangled_bases;  // in the bases of a generic class, only names of its type parameters are mangled with its name
  bool copied_conditions;  // `a and b` is COPY 1; POP_JUMP_IF_FALSE; POP_TOP and has no JUMP_IF_FALSE_OR_POP
  bool bare_wildcards;  // `case _ if a:` does not copy the subject
  bool turned_jumps;  // a conditional jump back becomes the opposite test in front of an unconditional jump back
  bool uncovered_turned_jumps;  // the test that replaces a backward jump is outside of the exception range around it
  bool ends_format_specs;  // a format specification may end in an empty string
  bool wrapped_stop_iteration;  // instructions convert a StopIteration that leaves a generator to a RuntimeError
  bool class_details;  // class bodies store __firstlineno__ and __static_attributes__
  bool trimmed_docstrings;  // the compiler removes the indentation of docstrings
  bool fstring_positions;  // the parts of an f-string have positions of their own
  bool deferred_annotations;  // annotations are evaluated by a function, __annotate__
  bool qualified_annotates;  // the qualified name of __annotate__ contains that of the annotated function
  bool late_folding;  // negative numbers and constant tuples are folded after the instructions have been emitted
  bool negation_turns_jumps;  // `not a in b` in a test is compiled to the opposite jump, not to `a not in b`
  bool annotations_in_order;  // the annotations of positional-only parameters are evaluated before those of the others
  bool iterating_generators;  // the code of a comprehension itself calls iter() on the first iterable
  bool inlined_generator_calls;  // `all(... for ...)`, any and tuple are inlined as loops if the name is the builtin
  bool inlined_list_calls;  // `list(... for ...)` and set are inlined as loops if the name is the builtin

  // The following facts describe the grammar.
  bool peg_parser;  // the PEG parser accepts deeper nesting than the older LL(1) parser
  bool bracketed_with_items;  // `with (a, b):` is valid
  // `global __x` applies to `__x := 1` in a comprehension within a class, where the compiler mangles the name.
  bool private_globals_in_comprehensions;
  bool starred_right_sides;  // `x += *a,` and `for x in *a, b:` are valid
  bool any_decorator;  // a decorator may be any expression, not only a dotted name or a call of one
  bool match_statement;
  bool except_star;
  bool starred_annotations;  // `def f(*args: *Ts)` is valid
  bool starred_subscripts;  // `a[*b]` is valid
  bool nested_async_comprehensions;  // an asynchronous comprehension may be nested in another comprehension
  bool type_parameters;
  bool functions_in_type_scopes;  // lambdas and comprehensions may be in type parameters and aliases of a class
  bool free_fstrings;  // fields of f-strings may contain any quotes, backslashes and line breaks, and nest deeper
  bool type_parameter_defaults;
  bool template_strings;
  bool signed_complex_sums;  // a difference of a real and an imaginary number keeps the signs of both, even of zeros
  bool unpacking_comprehensions;  // `[*row for row in rows]` is valid
  bool lazy_imports;
};

// Code with a block stack, or with iterators of two values, is converted to the form of one of the following versions
// before it is examined.
inline constexpr Version unwound_version{3, 11};  // code with a block stack gets the exception table of this version
inline constexpr Version one_iterator_version{3, 14};  // code with two-value iterators gets the form of this version

constexpr Dialect make_dialect(int minor) {
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

      .exception_table = minor >= 11,
      .named_ellipsis = minor < 9,
      .finally_subroutines = minor < 9,
      .qualified_names = minor >= 11,
      .columns = minor >= 11,
      .generator_start = minor == 10,
      .returned_generators = minor >= 11,
      .send_keeps_receiver = minor >= 12,
      .single_yield_from = minor < 11,
      .cleanup_throw = minor >= 12,
      .yield_tells_await = minor >= 13,
      .await_tells_reason = minor >= 11,
      .wrapped_async_items = minor >= 11,
      .conversion_apart = minor >= 13,
      .paired_loads = minor >= 13,
      .super_attributes = minor >= 12,
      .dict_or_cell_loads = minor >= 12,
      .binary_slices = minor >= 12,
      .constant_slices = minor >= 14,
      .pair_iterators = minor >= 15,
      .pushed_pattern_tests = minor < 11,

      .unpacking_builds = minor < 9,
      .constant_key_maps = minor < 14,
      .bounded_displays = minor >= 10,
      .bounded_set_constants = minor >= 14,
      .assigned_single_items = minor >= 9,
      .global_assertion_error = minor < 9,
      .asserts_either_way = minor >= 9,
      .known_assertions = minor >= 10,
      .copied_exits = minor >= 10,
      .bare_return_is_else = minor == 10,
      .folded_else_of_try = minor < 9,
      .percent_formats = minor >= 11,
      .none_jumps = minor >= 11,
      .inlined_comprehensions = minor >= 12,
      .unmangled_bases = minor >= 13,
      .copied_conditions = minor == 12 || minor == 13,
      .bare_wildcards = minor >= 12,
      .turned_jumps = minor >= 12,
      .uncovered_turned_jumps = minor == 13 || minor == 14,
      .ends_format_specs = minor >= 12,
      .wrapped_stop_iteration = minor >= 12,
      .class_details = minor >= 13,
      .trimmed_docstrings = minor >= 13,
      .fstring_positions = minor >= 12,
      .deferred_annotations = minor >= 14,
      .qualified_annotates = minor >= 15,
      .late_folding = minor >= 14,
      .negation_turns_jumps = minor >= 14,
      .annotations_in_order = minor >= 15,
      .iterating_generators = minor >= 15,
      .inlined_generator_calls = minor >= 14,
      .inlined_list_calls = minor >= 15,

      .peg_parser = minor >= 9,
      .bracketed_with_items = minor >= 9,
      .private_globals_in_comprehensions = minor >= 13,
      .starred_right_sides = minor >= 9,
      .any_decorator = minor >= 9,
      .match_statement = minor >= 10,
      .except_star = minor >= 11,
      .starred_annotations = minor >= 11,
      .starred_subscripts = minor >= 11,
      .nested_async_comprehensions = minor >= 11,
      .type_parameters = minor >= 12,
      .functions_in_type_scopes = minor != 12,
      .free_fstrings = minor >= 12,
      .type_parameter_defaults = minor >= 13,
      .template_strings = minor >= 14,
      .signed_complex_sums = minor >= 14,
      .unpacking_comprehensions = minor >= 15,
      .lazy_imports = minor >= 15,
  };
}

inline constexpr int oldest_minor = 8, newest_minor = 15;

inline constexpr std::array<Dialect, newest_minor - oldest_minor + 1> dialects = [] {
  std::array<Dialect, newest_minor - oldest_minor + 1> all{};
  for (int minor = oldest_minor; minor <= newest_minor; ++minor)
    all[static_cast<std::size_t>(minor - oldest_minor)] = make_dialect(minor);
  return all;
}();

// Returns the index of a version's dialect in `dialects`. A version that is older or newer than all known versions gets
// the dialect of the nearest known version.
constexpr std::size_t dialect_index(Version version) {
  return static_cast<std::size_t>(std::clamp(version.minor, oldest_minor, newest_minor) - oldest_minor);
}
constexpr const Dialect& dialect_of(Version version) { return dialects[dialect_index(version)]; }

}  // namespace depyf
