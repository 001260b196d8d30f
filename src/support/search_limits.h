// Bounds of searches. Code that compilers emit stays far below the bounds of searches, but hostile bytecode may exceed
// these bounds. A search that reaches its bound returns nothing, and the decompiled code keeps the plainer form that it
// has without the result of the search. Bounds that a caller may set are in `Limits` (include/depyf/decompile.h).
#pragma once

#include <cstddef>

namespace depyf::search_limits {

// The following are the bounds of searches in `flow/`.
inline constexpr int jump_chain = 100;  // jumps in a chain in which each jump leads to the next
inline constexpr int returned_value = 2000;  // instructions of a conditional expression that is returned
inline constexpr int silent_chain = 1000;  // jumps and NOPs between two instructions of a finally body
inline constexpr std::size_t compared_pairs = 5000;  // instructions of a finally body that is compared with a copy
inline constexpr std::size_t guard_instructions = 2000;  // instructions in the guard of a `case _ if guard`
inline constexpr std::size_t type_instructions = 100;  // instructions of the expression in `except expression:`
inline constexpr int region_nesting = 1000;
inline constexpr int generator_start = 64;  // instructions in front of RETURN_GENERATOR
inline constexpr int comprehension_end = 10'000;  // instructions that restore variables after an inlined comprehension
inline constexpr int pattern_steps = 20'000;  // instructions of a case, counted once for each alternative
inline constexpr int pattern_nesting = 100;
inline constexpr int pattern_parts = 10'000;  // parts of one sequence pattern

// The following are the bounds of lifting.
inline constexpr int targets = 100'000;  // targets of one unpacking
inline constexpr int restarts = 64;  // restarts of the simulation of a code object
inline constexpr int restarts_one_by_one = 16;  // restarts after which all moved values are stored in temporaries

// The following are the bounds of nesting statements (`structure/`) and of refinement.
inline constexpr int nodes_to_meeting = 1000;  // nodes on the paths from a loop to the code behind it
inline constexpr int nodes_behind_break = 100;
inline constexpr int loop_test_rounds = 1000;  // rounds, each of which joins the tests of one loop
inline constexpr int statement_nesting = 200;
inline constexpr int statement_nesting_searched = 50;  // nesting levels that are searched for the column of a statement
inline constexpr int operand_nesting = 100;  // nesting depth of the leftmost operand of a test
inline constexpr std::size_t display_items = 4096;  // items of a display; a longer one is built in a variable

// The following are the bounds of the prover.
inline constexpr std::size_t known_items = std::size_t{1} << 16;  // items of a list or dict whose content is tracked
inline constexpr std::size_t compared_keys = 512;  // keys of a dict whose content is tracked
inline constexpr std::size_t open_blocks = 100;  // nested entries of the block stack; CPython allows 20

}  // namespace depyf::search_limits
