// The operations of one code object as they are emitted: labels, handlers, the depth of the stack, constants and names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decode.h"
#include "lift/context.h"
#include "lower/lower.h"

namespace depyf::lowering {

using Label = int;

// The first free variable's index, until it is known where free variables begin; those of the others are below it.
constexpr std::int32_t free_marker = -1000;

// What is lowered has no form here: the code object fails.
[[noreturn]] inline void fail(std::string why) { throw InternalError{std::move(why), 0}; }

class Assembler {
 public:
  // `bytes_left`: for instructions and constants; a constant may be used any number of times.
  Assembler(LoweredCode& result, std::int64_t& bytes_left)
      : result_(result), code_(result.decoded.instructions), bytes_left_(bytes_left) {}

  int handler = -1;  // what protects the instructions that are emitted now; -1: nothing
  int depth = 0;  // of the stack

  Instruction& emit(Op op, std::int32_t arg = 0, std::int32_t aux = 0);
  void named(Op op, std::string_view name, std::int32_t aux = 0) { emit(op, name_index(name), aux); }
  void load(const Constant& value);
  void load_none();
  void load_string(std::string_view text);
  void load_integer(std::int64_t value);

  Label label();
  void jump(Op op, Label label, std::int32_t aux = 0);
  void place(Label label);
  // The depth of the stack at a label; negative where nothing has jumped there yet.
  std::int32_t& depth_at(Label label) { return label_depth_[static_cast<std::size_t>(label)]; }
  // Makes a handler; `depth`: what lies below the exception in it.
  int protect(Label handler, int depth, bool lasti = false);

  // Gives jumps their targets, handlers their ranges, and free variables their places.
  void finish();

 private:
  struct Handler {
    Label label = -1;
    int depth = 0;
    bool lasti = false;
  };

  void take(std::size_t bytes);
  void take(const Constant& value);
  std::int32_t constant(const Constant& value);
  std::int32_t name_index(std::string_view name);
  void find_targets();
  void find_ranges();

  LoweredCode& result_;
  std::vector<Instruction>& code_;
  std::int64_t& bytes_left_;
  std::vector<int> handler_of_;  // by instruction: index into handlers_, or -1
  std::vector<Handler> handlers_;
  std::vector<std::int32_t> label_at_, label_depth_;
  int deepest_ = 0;
  std::map<std::string_view, std::int32_t> names_;
};

}  // namespace depyf::lowering
