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

// Until the number of other variables is known, free variable i has the index free_marker - i.
constexpr std::int32_t free_marker = -1000;

// Gives up the lowering of the current code object: something in it has no form here.
[[noreturn]] inline void fail(std::string why) { throw InternalError{std::move(why), 0}; }

// The lists that an Assembler fills. When it is done, another one uses their memory again.
struct AssemblerLists {
  // A label: the index of its instruction, and the depth of the stack there; -1 if they are not known yet.
  struct Place {
    std::int32_t at = -1, depth = -1;
  };
  // A handler, with the depth of the stack below the exception.
  struct Handler {
    Label label = -1;
    int depth = 0;
    bool lasti = false;
  };
  // The instructions from `begin` on, up to the next stretch: they have the same handler, or none (-1).
  struct Stretch {
    std::int32_t begin = 0;
    int handler = -1;
  };

  void clear();

  std::vector<Instruction> code;  // with room for more
  std::vector<Stretch> stretches;
  Table<Handler> handlers;
  Table<Place, Label> labels;
  std::vector<std::size_t> jumps;  // indices of instructions
  NameMap<std::monostate> names;  // in the order of the names of the code object
};

// What the Assemblers of a tree share.
struct AssemblerSupplies {
  // The memory that instructions and constants may still take.
  std::int64_t bytes_left = 0;
  // One for each nested code object. The first ones are in use.
  std::deque<AssemblerLists> lists = {};
  std::size_t lists_in_use = 0;
};

// Emits operations one behind the other, and resolves labels at the end.
class Assembler {
 public:
  Assembler(LoweredCode& result, AssemblerSupplies& supplies);
  ~Assembler() { --supplies_.lists_in_use; }
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  // The handler that protects the instructions that are emitted next, or -1.
  int handler = -1;
  int depth = 0;  // the depth of the operand stack

  // Appends an instruction and updates the depth. The reference is valid until the next call.
  Instruction& emit(Op op, std::int32_t arg = 0, std::int32_t aux = 0);
  // Appends an instruction whose argument is the index of a name.
  void named(Op op, const NameKey& name, std::int32_t aux = 0) { emit(op, name_index(name), aux); }
  // Each of these appends LOAD_CONST.
  void load(const Constant& value);
  void load(Constant&& value);
  void load_none();
  void load_string(std::string_view text);
  void load_integer(std::int64_t value);

  // Returns a label that has no place yet.
  Label label();
  // Appends a jump to a label.
  void jump(Op op, Label label, std::int32_t aux = 0);
  // Gives the label the place of the next instruction. The depth becomes that of the jumps to it, if there were any.
  void place(Label label);
  // The depth of the stack at a label; negative if nothing has jumped to it yet.
  std::int32_t& depth_at(Label label) { return lists_.labels[label].depth; }
  // Makes a handler that starts at a label, and returns its number. `depth` is the depth of the stack below the
  // exception.
  int protect(Label handler, int depth, bool lasti = false);

  // Gives the code object the instructions so far, without what `finish` finds.
  void hand_over();
  // Gives the code object the instructions. Jumps get their targets, handlers their ranges, and free variables their
  // indices.
  void finish();

 private:
  // Counts memory against the limit. Each use of a constant counts, as a tree may contain a constant many times.
  void take(std::size_t bytes) {
    supplies_.bytes_left -= static_cast<std::int64_t>(bytes);
    if (supplies_.bytes_left < 0) [[unlikely]]
      fail_at_limit();
  }
  void take(const Constant& value);
  [[noreturn]] static void fail_at_limit();
  // Appends an instruction that begins a stretch, or for which there is no room.
  Instruction& emit_elsewhere(Op op, std::int32_t arg, std::int32_t aux);
  void change_depth(std::int32_t change) {
    depth += change;
    // A margin for the values with which handlers start.
    deepest_ = std::max(deepest_, depth + 8);
  }
  // Updates the depth for an instruction whose effect depends on the version. Returns the instruction.
  Instruction& change_depth_by_version(Instruction& instruction);
  // Begins a stretch of instructions for the current handler.
  void begin_stretch();
  // Makes room for as many instructions again.
  void make_room();
  // Loads the constant that was added last.
  void load_last();
  // Returns the index of a name, which is added if necessary.
  std::int32_t name_index(const NameKey& name);
  // Replaces labels in jumps by the indices of instructions.
  void find_targets();
  // Makes a range of each stretch of instructions that has a handler.
  void find_ranges();
  // Gives the free variables their indices, behind all other variables.
  void place_free_variables();

  LoweredCode& result_;
  AssemblerSupplies& supplies_;
  AssemblerLists& lists_;
  // The number of instructions so far, and of those that there is room for.
  std::size_t count_ = 0, room_;
  std::int32_t none_ = -1;  // the index of the constant None, if the code has loaded it
  // The largest depth so far, with room for the values of an exception.
  int deepest_ = 0;
};

}  // namespace depyf::lowering
