// The functions that simulate operations, grouped by the file that defines them. Each function pops the operands from
// the stack of `sim` and pushes the result, or emits a statement.
#pragma once

#include <array>

#include "decode/op.h"
#include "lift/simulation.h"
#include "support/table.h"

namespace depyf::lifting {

// The functions that simulate the operations, in the order of `Op`.
using Operation = void (*)(Simulation&, const Instruction&);
extern const std::array<Operation, op_count> operations;
// Returns the name that represents constant `index` of the current code object, which has no literal.
ast::Expr* named_constant(Context& context, const Cursor& cursor, StableNames& names, int index);

void binary(Simulation& sim, BinaryOp op, bool in_place);  // binary.cpp

// calls.cpp
void call(Simulation& sim, const Instruction& instruction);
void call_ex(Simulation& sim, const Instruction& instruction);
void finish_call(Simulation& sim, ast::Expr* function, ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
void super_attribute(Simulation& sim, const Instruction& instruction);

// comparisons.cpp
void compare(Simulation& sim, CompareOp op);
bool test_for_none(Simulation& sim, bool jumps_on_none);

// context_managers.cpp
void call_exit(Simulation& sim, const Instruction& instruction);
void enter_with(Simulation& sim, const Instruction& instruction);

// definitions.cpp
void make_function(Simulation& sim, const Instruction& instruction);
void set_function_attribute(Simulation& sim, int which);

// displays.cpp
void build_dict(Simulation& sim, int count, bool has_constant_keys);
void build_unpack(Simulation& sim, const Instruction& instruction);
void extend(Simulation& sim, const Instruction& instruction);
void list_to_tuple(Simulation& sim);

void pop_top(Simulation& sim);  // drops.cpp

// In exception_groups.cpp: simulates an operation of `except*`, and returns false for any other instruction.
bool exception_group(Simulation& sim, const Instruction& instruction);

// fstrings.cpp
void format_value(Simulation& sim, const Instruction& instruction);
void join_string(Simulation& sim, int count);
void convert(Simulation& sim, int conversion);
void build_interpolation(Simulation& sim, const Instruction& instruction);
void build_template(Simulation& sim);

// handlers.cpp
void handler(Simulation& sim, const Instruction& instruction);
void reraise(Simulation& sim, const Instruction& instruction);

void import_name(Simulation& sim);  // imports.cpp

// In long_fstrings.cpp: returns the f-string that the compiler turned into a call of ''.join(); null if the call does
// not come from an f-string.
ast::Expr* long_fstring(Context& context, const Cursor& cursor, const ast::Expr* function, ast::List<ast::Expr*> args);

void matching(Simulation& sim, const Instruction& instruction);  // matching.cpp
void match_case(Simulation& sim, const Instruction& instruction);  // patterns.cpp

// moves.cpp
void copy(Simulation& sim, int n);
void swap(Simulation& sim, int n);
void rotate(Simulation& sim, int n);

void name_effects(Simulation& sim);  // name_effects.cpp: for the exact style, with a Split other than `none`

void yields(Simulation& sim, const Instruction& instruction);  // yields.cpp

}  // namespace depyf::lifting
