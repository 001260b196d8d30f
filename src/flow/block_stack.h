// Replaces the block stack of CPython 3.8 to 3.10 by the form of 3.11: exception ranges, and handlers with the
// instructions that the 3.11 compiler emits.
#pragma once

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Rewrites `decoded` so that later passes see one form for all versions; code of 3.11 and later is left as it is. In
// 3.8 to 3.10, the code on the left is replaced by the code on the right (internal operations are in lower case):
//
//   SETUP_FINALLY h; <body>; POP_BLOCK                   <body>, protected by h
//   SETUP_WITH h; <body>; POP_BLOCK                      before_with; <body>, protected by h
//   six values for an exception and the previous one     two values
//   h: <handler>                                         push_exc_info; <handler>, protected by c
//                                                        c: copy 3; pop_except; reraise
//   h: LOAD_CONST None; STORE e; DELETE e; RERAISE       unchanged: the end of `except T as e`
//   h: END_ASYNC_FOR                                     unchanged
//   POP_TOP x 3; POP_EXCEPT; RERAISE                     pop_top; pop_except; reraise
//
// In 3.8, control also runs through handlers when no exception was raised (see compiler_try_finally and compiler_with
// in CPython's Python/compile.c), so the following code is replaced as well:
//
//   BEGIN_FINALLY; h: <finally>; END_FINALLY             jump n; h: push_exc_info; <finally>; reraise; n:
//   CALL_FINALLY h                                       nop: the range of h is marked as `called`
//   POP_FINALLY                                          pop_top; pop_except
//   BEGIN_FINALLY; WITH_CLEANUP_START; ...               with_exit; ...
//
// Returns an error with an offset if blocks do not nest, or if two paths to one instruction have different block
// stacks.
Result<bool> replace_block_stack(DecodedCode& decoded);

}  // namespace depyf
