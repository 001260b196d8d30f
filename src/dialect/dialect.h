// Describes how one version of CPython differs from another: how it packs instructions, what its interpreter and its
// compiler do, and what its grammar accepts. Code that depends on a version asks for a fact by its name. Numbers of
// versions stand only here, in `load/` and in the tables of `decode/`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "depyf/constant.h"

namespace depyf {

struct Dialect {
  // These facts say how the arguments of instructions are packed.
  std::uint32_t jump_unit;  // bytes that one unit of a jump's argument means
  bool cells_apart;  // free and cell variables are numbered from 0, apart from the locals
  bool qualified_name_on_stack;  // of MAKE_FUNCTION
  int compare_shift;  // of COMPARE_OP, below it hints
  std::uint32_t compare_bool_bit;  // of COMPARE_OP: the result is made a bool
  bool global_null_bit;  // LOAD_GLOBAL: bit 0: with NULL
  bool null_after;  // the NULL (or self) of a call lies on the callable
  bool attribute_method_bit;  // LOAD_ATTR: bit 0: as LOAD_METHOD
  bool null_beside_callable;  // CALL_FUNCTION_EX
  bool null_for_no_dict;  // CALL_FUNCTION_EX
  bool exit_with_self;  // __exit__ of a with statement lies beside its self
  bool import_flags;  // IMPORT_NAME: two low bits
  int end_for_skips;  // instructions that FOR_ITER skips on exhaustion: END_FOR [POP_TOP]; 0: pops itself

  // Facts about the interpreter.
  bool exception_table;  // handlers stand in a table; before, instructions push and pop blocks
  bool named_ellipsis;  // an annotation that is kept as text spells the ellipsis of a constant tuple `Ellipsis`
  bool finally_subroutines;  // the body of a finally is a subroutine: CALL_FINALLY, END_FINALLY
  bool qualified_names;  // code objects have co_qualname
  bool columns;  // positions of instructions have columns
  bool generator_start;  // GEN_START drops what the first resumption of a generator sent
  bool returned_generators;  // RETURN_GENERATOR makes the generator, at the start of its own code
  bool send_keeps_receiver;  // SEND leaves the receiver on the stack where it jumps
  bool single_yield_from;  // YIELD_FROM does what later is a loop of SEND and YIELD_VALUE
  bool cleanup_throw;  // CLEANUP_THROW handles what throw() raises in what is awaited
  bool yield_tells_await;  // YIELD_VALUE's argument tells whether throw() goes to what is awaited
  bool await_tells_reason;  // GET_AWAITABLE's argument tells of an asynchronous with statement
  bool wrapped_async_items;  // asynchronous generators wrap what they yield: ASYNC_GEN_WRAP
  bool conversion_apart;  // of a field of an f-string: CONVERT_VALUE, then FORMAT_SIMPLE
  bool paired_loads;  // LOAD_FAST_LOAD_FAST
  bool super_attributes;  // LOAD_SUPER_ATTR
  bool dict_or_cell_loads;  // a class body loads a free variable by LOAD_FROM_DICT_OR_DEREF
  bool binary_slices;  // BINARY_SLICE
  bool constant_slices;  // a slice of constants is a constant
  bool pair_iterators;  // an iterator is two values on the stack
  bool pushed_pattern_tests;  // MATCH_CLASS and MATCH_KEYS push a bool beside what they match

  // These facts say what the compiler makes of a program.
  bool unpacking_builds;  // BUILD_MAP_UNPACK_WITH_CALL and its like; later, displays are updated
  bool constant_key_maps;  // BUILD_CONST_KEY_MAP
  bool bounded_displays;  // what has many items is built piece by piece
  bool bounded_set_constants;  // and sets of many constants are too
  bool assigned_single_items;  // `for x in [value]` of a comprehension assigns
  bool global_assertion_error;  // `assert` loads AssertionError as a global
  bool asserts_either_way;  // the test of an assert may jump where it is true, however it is written
  bool known_assertions;  // `assert False` tests nothing
  bool copied_exits;  // short ends of a function are copied to where jumps lead, not only single returns
  bool bare_return_is_else;  // lines tell only of the body, so that a bare return may have been the end of a handler
  bool folded_else_of_try;  // the bytecode alone tells the else clause of a try statement
  bool percent_formats;  // '%s' % (x,) is compiled as an f-string
  bool none_jumps;  // a test for None is one jump
  bool inlined_comprehensions;  // comprehensions, but generator expressions, are part of the code around them
  bool copied_conditions;  // `a and b` copies a, jumps by one and drops the other
  bool bare_wildcards;  // `case _ if` does not copy its subject
  bool turned_jumps;  // a conditional jump over a jump is turned around
  bool uncovered_turned_jumps;  // and is then outside of the range that protects the code around it
  bool ends_format_specs;  // a format specification ends in no empty string
  bool wrapped_stop_iteration;  // a StopIteration that leaves a generator is turned by code of its own
  bool class_details;  // class bodies store __firstlineno__ and __static_attributes__
  bool trimmed_docstrings;  // docstrings lose their indentation
  bool fstring_positions;  // the parts of an f-string have positions of their own
  bool deferred_annotations;  // annotations are evaluated by a function, __annotate__
  bool qualified_annotates;  // the qualified name of __annotate__ has that of the function in it
  bool late_folding;  // negative numbers and tuples are folded after the code was laid out
  bool negation_turns_jumps;  // `not a in b` in a test is a jump the other way, not another comparison
  bool iterating_generators;  // a comprehension calls iter() by itself
  bool inlined_generator_calls;  // all(... for ...), any and tuple are loops where they name the builtins
  bool inlined_list_calls;  // list and set too

  // Facts about the grammar.
  bool peg_parser;  // which nests deeper
  bool bracketed_with_items;  // with (a, b):
  bool starred_right_sides;  // x += *a, and for x in *a, b:
  bool any_decorator;  // not only a name and a call of one
  bool match_statement;
  bool except_star;
  bool starred_annotations;  // def f(*args: *Ts)
  bool starred_subscripts;  // a[*b]
  bool nested_async_comprehensions;  // within comprehensions that are not asynchronous
  bool type_parameters;
  bool functions_in_type_scopes;  // lambdas and comprehensions in scopes of type parameters and aliases within a class
  bool free_fstrings;  // fields hold any quotes, backslashes and line breaks, and nest deeper
  bool type_parameter_defaults;
  bool template_strings;
  bool signed_complex_sums;  // a difference of a real and an imaginary number keeps the signs of both
  bool unpacking_comprehensions;  // [*row for row in rows]
  bool lazy_imports;
};

// Code of other versions is brought to the forms of these versions before it is examined.
inline constexpr Version unwound_version{3, 11};  // code with a block stack, where handlers stand in a table
inline constexpr Version one_iterator_version{3, 14};  // code in which an iterator is two values, where it is one

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
      .iterating_generators = minor >= 15,
      .inlined_generator_calls = minor >= 14,
      .inlined_list_calls = minor >= 15,

      .peg_parser = minor >= 9,
      .bracketed_with_items = minor >= 9,
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

// Returns the place of a version's dialect in `dialects`. A version that is older or newer than all known ones gets the
// dialect of the nearest.
constexpr std::size_t dialect_index(Version version) {
  return static_cast<std::size_t>(std::clamp(version.minor, oldest_minor, newest_minor) - oldest_minor);
}
constexpr const Dialect& dialect_of(Version version) { return dialects[dialect_index(version)]; }

}  // namespace depyf
