// Collects the operations of one code object while they are emitted, with labels, handlers, the depth of the stack,
// constants and names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "decode/decode.h"
#include "lift/context.h"
#include "lower/name_map.h"

namespace depyf {
struct LoweredCode;
}

namespace depyf::lowering {

// A place in the code to jump to: an index into the labels of its Assembler.
using Label = int;

// Instructions refer to free variable i by the index `free_marker - i` until the number of local and cell variables is
// known.
constexpr std::int32_t free_marker = -1000;

// Abandons the lowering of the current code object because of a construct that cannot be lowered.
[[noreturn]] inline void fail(std::string why) { throw InternalError{std::move(why), 0}; }

// The lists that an Assembler fills. After the Assembler is destroyed, another Assembler reuses the memory of the
// lists.
struct AssemblerLists {
  // The index of a label's instruction, and the depth of the stack at this instruction; -1 if they are not known yet.
  struct Place {
    std::int32_t at = -1, depth = -1;
  };
  // An exception handler that starts at `label`. When the handler starts, the stack consists of `depth` values, the
  // offset of the instruction that raised (only if `lasti` is true), and the exception.
  struct Handler {
    Label label = -1;
    int depth = 0;
    bool lasti = false;
  };
  // The instructions from `begin` to the `begin` of the next stretch, which all have the same handler (-1 for no
  // handler).
  struct Stretch {
    std::int32_t begin = 0;
    int handler = -1;
  };

  void clear();

  std::vector<Instruction> code;  // longer than the number of instructions emitted so far
  std::vector<Stretch> stretches;
  Table<Handler> handlers;
  Table<Place, Label> labels;
  std::vector<std::size_t> jumps;  // the indices of jump instructions
  NameMap<std::monostate> names;  // the names of the code object, in the order of their indices
};

// The resources that the Assemblers of one tree share.
struct AssemblerSupplies {
  // The memory that instructions and constants may still take.
  std::int64_t bytes_left = 0;
  // The lists of all Assemblers; each code object that is being lowered uses one of the first `lists_in_use` entries.
  std::deque<AssemblerLists> lists = {};
  std::size_t lists_in_use = 0;
};

// Emits operations one after the other, and resolves labels at the end.
class Assembler {
 public:
  Assembler(LoweredCode& result, AssemblerSupplies& supplies);
  ~Assembler() { --supplies_.lists_in_use; }
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  // The handler that protects the instructions that are emitted next; -1 if no handler protects them.
  int handler = -1;
  int depth = 0;  // the depth of the operand stack

  // Appends an instruction, and updates the depth of the stack (`depth`). The returned reference is valid until the
  // next instruction is emitted.
  Instruction& emit(Op op, std::int32_t arg = 0, std::int32_t aux = 0);
  // Appends an instruction whose argument is the index of a name.
  void named(Op op, const NameKey& name, std::int32_t aux = 0) { emit(op, name_index(name), aux); }
  // Each of the following five functions appends a LOAD_CONST.
  void load(const Constant& value);
  void load(Constant&& value);
  void load_none();
  void load_string(std::string_view text);
  void load_integer(std::int64_t value);

  // Returns a new label, which has no place in the code yet.
  Label label();
  // Appends a jump to a label.
  void jump(Op op, Label label, std::int32_t aux = 0);
  // Places the label at the next instruction. If a jump to the label was emitted before, `depth` is set to the depth
  // of the stack after that jump.
  void place(Label label);
  // Returns the depth of the stack at a label; negative as long as it is unknown.
  std::int32_t& depth_at(Label label) { return lists_.labels[label].depth; }
  // Adds an exception handler that starts at the label `handler`. Returns the index of the handler, to which the member
  // `handler` can be set. When the handler starts, the stack consists of `depth` values, the offset of the instruction
  // that raised (only if `lasti` is true), and the exception.
  int protect(Label handler, int depth, bool lasti = false);

  // Copies the instructions emitted so far to the result, with unresolved jumps and without exception ranges.
  void hand_over();
  // Copies the instructions to the result, and determines the targets of jumps, the ranges of handlers and the indices
  // of free variables.
  void finish();

 private:
  // Subtracts `bytes` from the memory that is left, and fails if the limit is exceeded. Each use of a constant is
  // counted, because the code object stores a copy for each use.
  void take(std::size_t bytes) {
    supplies_.bytes_left -= static_cast<std::int64_t>(bytes);
    if (supplies_.bytes_left < 0) [[unlikely]]
      fail_at_limit();
  }
  void take(const Constant& value);
  [[noreturn]] static void fail_at_limit();
  // Begins a new stretch if `handler` has changed, enlarges the list of instructions if the list is full, and then
  // appends an instruction.
  Instruction& emit_elsewhere(Op op, std::int32_t arg, std::int32_t aux);
  void change_depth(std::int32_t change) {
    depth += change;
    // The margin of 8 covers the values of an exception, which are on the stack when a handler starts.
    deepest_ = std::max(deepest_, depth + 8);
  }
  // Updates the depth for an instruction whose stack effect depends on the version or on fields other than `arg`.
  // Returns the instruction.
  Instruction& change_depth_by_version(Instruction& instruction);
  // Begins a stretch of instructions for the current handler.
  void begin_stretch();
  // Doubles the number of instructions for which there is room.
  void make_room();
  // Emits a LOAD_CONST of the constant that was added last.
  void load_last();
  // Returns the index of a name in co_names. Adds the name if co_names does not contain it.
  std::int32_t name_index(const NameKey& name);
  // Replaces labels in jumps by the indices of instructions.
  void find_targets();
  // Adds an exception range for each stretch of instructions that has a handler.
  void find_ranges();
  // Assigns indices to the free variables, behind the indices of all other variables.
  void place_free_variables();

  LoweredCode& result_;
  AssemblerSupplies& supplies_;
  AssemblerLists& lists_;
  // The number of instructions emitted so far, and the number for which `lists_.code` has room.
  std::size_t count_ = 0, room_;
  std::int32_t none_ = -1;  // the index of the constant None; -1 if the code has not loaded it
  // The largest depth so far, with room for the values of an exception.
  int deepest_ = 0;
};

}  // namespace depyf::lowering
