// Decodes code objects and builds their control flow graphs before the decompiler asks for them. Several neighbours in
// the `co_consts` of a code object are decoded before the first of their graphs is built, so that the machine code of
// one stage stays in the processor's cache.
#pragma once

#include <memory>
#include <utility>

#include "decode/decode.h"
#include "flow/cfg.h"
#include "flow/jumps.h"
#include "support/function_ref.h"
#include "support/result.h"
#include "support/table.h"

namespace depyf {

// The results of the stages that look at one code object alone: its decoded instructions and its control flow graph.
struct Prepared {
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // The decoded instructions, in which the block stack of CPython 3.8 to 3.10 has been replaced, and an iterator takes
  // one slot of the operand stack in all versions.
  DecodedCode decoded;
  Turns turns;  // the result of `find_turns` for `decoded`; moved out of `turns` when `cfg` is built
  // The control flow graph, built with `GraphForm::statements`.
  Cfg cfg;
};
using PreparedCode = std::unique_ptr<const Prepared>;

class Ahead {
 public:
  // `take` returns an error for a code object with more than `longest` instructions. If `kept` is not null, the result
  // of `decode` for each code object is copied to it.
  explicit Ahead(std::size_t longest, DecodedCodes* kept = nullptr) : longest_(longest), kept_(kept) {}

  // Returns the prepared form of `code`. `take` also prepares the code objects that follow `code` among the constants
  // of the innermost code object for which `enter` was called, and keeps the results for later calls. Code objects for
  // which `is_done` returns true are not prepared in advance. A returned error contains a bytecode offset.
  Result<PreparedCode> take(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done);

  // The caller calls `enter` for a code object, `take` for the code objects among its constants (mostly in order), and
  // then `leave`.
  void enter(const CodeObject& code) { around_.push_back({&code, 0}); }
  void leave() { around_.pop_back(); }

 private:
  struct Around {
    const CodeObject* code;
    // Index of the first constant of `code` that `with_next` has not looked at yet.
    std::size_t next;
    // The code objects that were prepared before `take` was called for them, in reverse order. `take` removes the entry
    // that it returns. A code object whose preparation failed is not stored, since `Ahead::take` repeats the
    // preparation and returns the same error.
    Table<std::pair<const CodeObject*, PreparedCode>> ready = {};

    // Returns null if `wanted` is not in `ready`.
    PreparedCode take(const CodeObject& wanted);
    bool has_ready(const CodeObject& wanted) const;
  };

  // Returns `code` and the code objects that follow `code` among the constants of the innermost code object for which
  // `enter` was called, up to `bytes_together` bytes of bytecode.
  Table<const CodeObject*> with_next(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done);
  // Prepares all of `codes`. Returns the result for the first code object, and stores the results for all other code
  // objects in the list `ready` of the last element of `around_`.
  Result<PreparedCode> together(const Table<const CodeObject*>& codes);
  // Returns the instructions of `code` in the version-independent form that all later passes expect, together with a
  // list of the instructions that jump or do not fall through.
  Result<std::unique_ptr<Prepared>> decoded(const CodeObject& code) const;

  const std::size_t longest_;
  DecodedCodes* const kept_;
  // The code objects for which `enter` was called but not yet `leave`, the innermost last.
  Table<Around> around_;
};

}  // namespace depyf
