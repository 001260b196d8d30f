// Bounds of searches. Compilers make nothing near them, but a program that writes bytecode may. A search that reaches
// its bound returns nothing, and the code keeps the plainer form that it has without the search. Bounds that a caller
// may set are in `Limits`.
#pragma once

#include <cstddef>

namespace depyf::search_limits {

// Flow.
inline constexpr int jump_chain = 100;  // jumps to jumps
inline constexpr int returned_value = 2000;  // instructions of a conditional expression that is returned
inline constexpr int silent_chain = 1000;  // jumps and NOPs between two instructions of a finally body
inline constexpr std::size_t compared_pairs = 5000;  // instructions of a copy of a finally body
inline constexpr std::size_t guard_instructions = 2000;  // of the guard of a `case _`
inline constexpr std::size_t type_instructions = 100;  // of what an except clause catches
inline constexpr int region_nesting = 1000;
inline constexpr int generator_start = 64;  // instructions in front of RETURN_GENERATOR
inline constexpr int comprehension_end = 10'000;  // instructions that put variables back
inline constexpr int pattern_steps = 20'000;  // instructions of a case, each alternative by itself
inline constexpr int pattern_nesting = 100;
inline constexpr int pattern_parts = 10'000;  // of one sequence

// Lifting.
inline constexpr int targets = 100'000;  // of one unpacking
inline constexpr int restarts = 64;  // of the simulation of a code object
inline constexpr int restarts_one_by_one = 16;  // after these, all moves of values are taken literally at once

// Structure and refinement.
inline constexpr int nodes_to_meeting = 1000;  // from the end of a loop to where its ways meet
inline constexpr int nodes_behind_break = 100;
inline constexpr int loop_test_rounds = 1000;  // each joins the tests of one loop
inline constexpr int statement_nesting = 200;
inline constexpr int statement_nesting_searched = 50;  // below a statement whose column is looked for
inline constexpr int operand_nesting = 100;  // of the leftmost operand of a test
inline constexpr std::size_t display_items = 4096;  // that are folded without a name for the display

// Proof.
inline constexpr std::size_t known_items = std::size_t{1} << 16;  // of a list or dict whose items are followed
inline constexpr std::size_t compared_keys = 64;  // of a dict, each with each
inline constexpr std::size_t open_blocks = 100;  // CPython has 20

}  // namespace depyf::search_limits
