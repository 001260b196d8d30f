// Finds which value lies in each slot of the stack, by one forward data flow analysis over a code object, similar to
// SSA form. A value is identified by the instruction that pushed it, or by the block where different values meet.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "decode/decode.h"
#include "support/table.h"

namespace depyf {

// The version of a variable is the index of the instruction that set the variable. If several versions meet at the
// start of a basic block, the version is the count of all instructions plus the index of the block. The version at the
// start of the code object is `at_start`.
using VersionId = std::int32_t;
constexpr VersionId at_start = -1;

// An instruction may push other values if it jumps than if it does not jump. `jump_values` is added to
// `StackValue::index` of the values that the instruction pushes if it jumps.
constexpr std::int32_t jump_values = 1 << 24;

// A value that lies on the stack at some point of the code.
struct StackValue {
  // The kind states where a value comes from. A `made` value was pushed by an instruction, and a `met` value replaces
  // different values where paths join. Values of the kinds from `exception` to `traceback` are pushed at the start of a
  // handler. The values on the stack at the start of a generator (`resumed`) or of another code object (`entry`) are
  // unknown.
  enum class Kind : std::uint8_t { made, met, entry, exception, previous_exception, lasti, traceback, resumed };
  Kind kind = Kind::made;
  // The index of the instruction that made the value, or of the basic block at whose start the value appears.
  std::int32_t at = -1;
  // For a `made` value: its index among the values that the instruction pushes, bottom first, plus `jump_values` if the
  // instruction jumps. For a `met` value: its stack slot.
  std::int32_t index = 0;
  // The values that the instruction of a `made` value popped, bottom first, or the values that meet in a `met` value.
  Table<int> inputs;
  // If the value was loaded from a local: the version of the local at the load.
  VersionId local = at_start;
  // The version of all memory except locals when the value was computed.
  VersionId memory = at_start;
};

// An entry of the block stack of 3.10 and earlier.
struct OpenBlock {
  std::int32_t handler = -1;  // the first instruction of the handler; -1 for a block whose handler is running
  // The depth to which the stack is cut when an exception reaches the handler.
  std::int32_t level = 0;
  friend bool operator==(const OpenBlock&, const OpenBlock&) = default;
};

// The stack and the versions of variables in front of an instruction.
struct MachineState {
  Table<int> stack;  // the numbers of the values, bottom first
  // The versions of the locals; empty if locals are not tracked.
  Table<VersionId> locals;
  VersionId memory = at_start;
  Table<OpenBlock> blocks;
};

// Runs the data flow analysis of a code object, and keeps its result.
class StackValues {
 public:
  explicit StackValues(const DecodedCode& decoded);

  const Instructions& code() const { return decoded_.instructions; }
  const DecodedCode& decoded() const { return decoded_; }
  // Returns the reason why the analysis failed; an empty text if it succeeded.
  const std::string& error() const { return error_; }
  const StackValue& value(int id) const { return values_[id]; }
  // Returns the state in front of an instruction; std::nullopt if the instruction is unreachable or the analysis
  // failed.
  std::optional<MachineState> before(int instruction);
  int block_of(int instruction) const { return block_of_[instruction]; }
  // Returns the blocks from which control reaches `block` other than by an exception.
  const Table<int>& ways_to(int block) const { return blocks_[block].ways; }
  int end_of(int block) const { return blocks_[block].end; }
  bool handles(int block) const { return blocks_[block].is_handler; }
  // Returns the number of the value that a STORE_FAST instruction stores; -1 for any other instruction.
  int stored_by(int instruction) const { return stored_[instruction]; }
  // Returns the number of the value that the conditional jump at the end of a block tests; -1 if no conditional jump
  // ends the block.
  int tested_by(int block) const { return blocks_[block].tested; }

 private:
  // A basic block, with the state in which control enters it.
  struct Block {
    int begin = 0, end = 0;
    bool is_handler = false, queued = false;
    std::optional<MachineState> entry;
    Table<int> ways;
    int tested = -1;
  };

  // Cuts the code into basic blocks.
  void find_blocks();
  // Simulates blocks until no state changes.
  void run();
  void walk(int block);
  // Simulates one instruction. Returns false if control does not go on to the next instruction, or on an error.
  bool step(MachineState& state, int at, int block);
  void special(MachineState& state, const Instruction& it, int at, const Table<int>& taken, const StackEffect& effect,
               bool jump);
  // Passes the state to the handler of the exception that the instruction may raise.
  void raise(const MachineState& state, int at);
  // Passes the state from the block `from` to the block that starts at the instruction `target`.
  void flow(const MachineState& state, int from, int target);
  // Merges `state` into the state at the start of `block`.
  void join(MachineState state, int block);
  // Returns the number of the value with this kind, place and index, and creates the value if necessary.
  int make(StackValue::Kind kind, int at, int index);
  void fail(std::string what) { error_ = std::move(what); }

  const DecodedCode& decoded_;
  Version version_;
  Table<Block> blocks_;
  Table<int> block_of_;
  Table<int> range_of_;  // maps an instruction to its protected range, or to -1 if no range covers it
  Table<StackValue> values_;
  std::map<std::tuple<int, int, int>, int> known_;
  Table<int> stored_;
  Table<int> todo_;
  std::size_t steps_ = 0;
  bool follow_locals_ = true;
  std::string error_;
};

}  // namespace depyf
