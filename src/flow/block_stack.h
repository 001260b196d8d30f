// Replaces the block stack of CPython 3.8 to 3.10 by the form of 3.11: exception ranges, and handlers with the
// instructions that the 3.11 compiler emits.
#pragma once

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Rewrites `decoded` so that later passes see one form for all versions; code of 3.11 and later is not changed. Code of
// 3.8 to 3.10 is replaced as follows, with internal operations in lower case.
//
//   SETUP_FINALLY h; <body>; POP_BLOCK becomes <body>, which the handler h protects.
//   SETUP_WITH h; <body>; POP_BLOCK becomes before_with; <body>, which the handler h protects.
//   The six stack values for an exception and the previous exception become two values.
//   A handler h: <handler> becomes h: push_exc_info; <handler>, with the cleanup c: copy 3; pop_except; reraise.
//   POP_TOP; POP_TOP; POP_TOP; POP_EXCEPT; RERAISE becomes pop_top; pop_except; reraise.
//   h: LOAD_CONST None; STORE e; DELETE e; RERAISE, the end of `except T as e`, stays unchanged.
//   h: END_ASYNC_FOR, the end of `async for`, stays unchanged.
//
// In 3.8, control also runs through handlers when no exception was raised (see compiler_try_finally and compiler_with
// in CPython's Python/compile.c). For 3.8, the following replacements are made as well.
//
//   BEGIN_FINALLY; h: <finally>; END_FINALLY becomes jump n; h: push_exc_info; <finally>; reraise; n: <next statement>.
//   CALL_FINALLY h becomes nop, and the exception range whose handler is h is marked as `called`.
//   POP_FINALLY becomes pop_top; pop_except.
//   BEGIN_FINALLY; WITH_CLEANUP_START becomes with_exit.
//
// Returns true, or an error with a bytecode offset if the code has no equivalent with exception ranges. For example,
// blocks may not nest, or two paths to one instruction may have different block stacks.
Result<bool> replace_block_stack(DecodedCode& decoded);

}  // namespace depyf
