// Code objects taken apart before their turn: those that stand beside each other in the constants of another go through
// one stage after the other together, while the instructions of the stage are at hand in the processor's cache.
#pragma once

#include <unordered_map>
#include <vector>

#include "flow/cfg.h"
#include "support/function_ref.h"
#include "support/result.h"

namespace depyf {

// What of a code object does not depend on the code around it.
struct Prepared {
  DecodedCode decoded;  // without the block stack, one value an iterator
  Cfg cfg;  // structured
};

class Ahead {
 public:
  // `longest`: more instructions than that are an error.
  explicit Ahead(std::size_t longest) : longest_(longest) {}

  // `code`, and ready for later what follows it in the constants of the code that was entered last, unless it `is_done`.
  // An error has the offset in the bytecode.
  Result<Prepared> take(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done);

  // Between the two, what is taken are constants of `code`, mostly in their order.
  void enter(const CodeObject& code) { around_.push_back({&code, 0}); }
  void leave() { around_.pop_back(); }

 private:
  struct Around {
    const CodeObject* code;
    std::size_t next;  // the first of its constants that was not looked at yet
  };

  std::vector<const CodeObject*> with_next(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done);
  Result<Prepared> together(const std::vector<const CodeObject*>& codes);
  Result<DecodedCode> decoded(const CodeObject& code) const;

  const std::size_t longest_;
  std::vector<Around> around_;
  std::unordered_map<const CodeObject*, Result<Prepared>> ready_;
};

}  // namespace depyf
