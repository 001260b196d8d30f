// Prepares code objects before their turn. Neighbours among the constants of one code object are decoded together and
// then get their control flow graphs together, so that the machine code of each stage stays in the processor's cache.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "decode/decode.h"
#include "flow/cfg.h"
#include "support/function_ref.h"
#include "support/result.h"
#include "support/table.h"

namespace depyf {

// The part of the work on a code object that does not depend on the code objects around it.
struct Prepared {
  explicit Prepared(DecodedCode&& of_code)
      : decoded(std::move(of_code)), cfg(build_cfg(decoded, GraphForm::statements)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // The block stack of 3.8 to 3.10 has been replaced, and an iterator is one value on the stack.
  DecodedCode decoded;
  // Of the form `statements`.
  Cfg cfg;
};
using PreparedCode = std::unique_ptr<const Prepared>;

class Ahead {
 public:
  // A code object with more than `longest` instructions is an error. What `decode` makes of each code object is copied to
  // `kept`, if that is not null.
  explicit Ahead(std::size_t longest, DecodedCodes* kept = nullptr) : longest_(longest), kept_(kept) {}

  // Returns `code`, prepared. Also prepares the code objects that follow `code` among the constants of the code object
  // that was entered last, and keeps these for later calls; code objects for which `is_done` holds are skipped. An
  // error carries its offset in the bytecode.
  Result<PreparedCode> take(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done);

  // The caller enters a code object, takes the code objects among its constants, mostly in their order, and leaves it.
  void enter(const CodeObject& code) { around_.push_back({&code, 0}); }
  void leave() { around_.pop_back(); }

 private:
  struct Around {
    const CodeObject* code;
    // Index of the first constant of `code` that `with_next` has not looked at yet.
    std::size_t next;
  };

  // Returns `code`, followed by the code objects that are worth preparing together with it.
  Table<const CodeObject*> with_next(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done);
  // Prepares all of `codes`: returns the first, and puts the others into `ready_`.
  Result<PreparedCode> together(const Table<const CodeObject*>& codes);
  // Returns the instructions of `code` in the form that all later passes expect, whatever its version.
  Result<DecodedCode> decoded(const CodeObject& code) const;

  const std::size_t longest_;
  DecodedCodes* const kept_;
  // The code objects between `enter` and `leave`, the innermost last.
  Table<Around> around_;
  // The code objects that were prepared before their turn. `take` removes the entry that it returns. One that cannot be
  // prepared is not kept, since trying it again in its turn gives the same error.
  std::unordered_map<const CodeObject*, PreparedCode> ready_;
};

}  // namespace depyf
