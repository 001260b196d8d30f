// The block stack of CPython 3.8 to 3.10 as what 3.11 has in its place: protected ranges, and handlers of its shapes.
#pragma once

#include "decode/instruction.h"
#include "support/result.h"

namespace depyf {

// Rewrites `decoded` (3.8 to 3.10; other versions are left alone) so that later passes see one form:
//
//   SETUP_FINALLY h; <body>; POP_BLOCK      <body>, protected by h
//   SETUP_WITH h                            before_with, what follows protected by h
//   the six values of an exception          two: what was handled before, the exception
//   h: <handler>                            push_exc_info; <handler>, protected by copy 3; pop_except; reraise
//   h: the end of `except as e`, END_ASYNC_FOR        as it is
//   POP_TOP x 3; POP_EXCEPT; RERAISE        pop_top; pop_except; reraise
//
// and of 3.8, where normal flow runs through handlers too:
//
//   BEGIN_FINALLY; h: <finally>; END_FINALLY          jump behind; h: push_exc_info; <finally>; reraise
//   CALL_FINALLY h                          nothing: the range says that its handler is called
//   POP_FINALLY                             pop_top; pop_except
//   BEGIN_FINALLY; WITH_CLEANUP_START; ...  with_exit; ...
//
// Code whose blocks do not nest, or whose ways meet with different ones, is an error with its offset.
Result<bool> replace_block_stack(DecodedCode& decoded);

}  // namespace depyf
