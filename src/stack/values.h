// Finds which value lies in each slot of the stack, by one forward data flow analysis over a code object, similar to
// SSA form. A value is identified by the instruction that made it, or by the block where different values meet.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "decode/decode.h"
#include "support/table.h"

namespace depyf {

// The version of a variable: the instruction that set it; the number of instructions plus a block, if several versions
// meet at that block; or `at_start`.
using VersionId = std::int32_t;
constexpr VersionId at_start = -1;

// Added to the index of a value that an instruction pushes when it jumps.
constexpr std::int32_t jump_values = 1 << 24;

// A value that lies on the stack at some point of the code.
struct StackValue {
  // `made` by an instruction, `met` where paths join with different values, pushed by the start of a handler, or
  // unknown at the start of a generator (`resumed`) or code object (`entry`).
  enum class Kind : std::uint8_t { made, met, entry, exception, previous_exception, lasti, traceback, resumed };
  Kind kind = Kind::made;
  // The instruction that made the value, or the block where it appears.
  std::int32_t at = -1;
  // For a `made` value: its index among the values that the instruction pushes, bottom first, counted from
  // `jump_values` if the instruction jumps. For a `met` value: the slot.
  std::int32_t index = 0;
  // For a `made` value: the values that the instruction popped, bottom first. For a `met` value: the values that meet.
  Table<int> inputs;
  // The version of the local that a load read.
  VersionId local = at_start;
  // The version of everything that is no local, when the value was made.
  VersionId memory = at_start;
};

// An entry of the block stack of 3.10 and earlier.
struct OpenBlock {
  std::int32_t handler = -1;  // the instruction where it starts; -1 while a handler runs
  // The depth of the stack when the handler starts.
  std::int32_t level = 0;
  friend bool operator==(const OpenBlock&, const OpenBlock&) = default;
};

// The stack and the versions of variables in front of an instruction.
struct MachineState {
  Table<int> stack;  // values
  // Empty if locals are not followed.
  Table<VersionId> locals;
  VersionId memory = at_start;
  Table<OpenBlock> blocks;
};

// The result of the analysis, and the analysis itself.
class StackValues {
 public:
  explicit StackValues(const DecodedCode& decoded);

  const Table<Instruction, InstructionIndex>& code() const { return decoded_.instructions; }
  const DecodedCode& decoded() const { return decoded_; }
  // An empty text if the analysis succeeded.
  const std::string& error() const { return error_; }
  const StackValue& value(int id) const { return values_[id]; }
  // Returns the state in front of an instruction; nothing if control never comes there.
  std::optional<MachineState> before(int instruction);
  int block_of(int instruction) const { return block_of_[instruction]; }
  // Returns the blocks from which control comes other than by an exception.
  const Table<int>& ways_to(int block) const { return blocks_[block].ways; }
  int end_of(int block) const { return blocks_[block].end; }
  bool handles(int block) const { return blocks_[block].is_handler; }
  // Returns the value that an instruction stores in a local, or -1 if it stores none.
  int stored_by(int instruction) const { return stored_[instruction]; }
  // Returns the value that the conditional jump at the end of a block tests, or -1 if there is none.
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
  // Runs blocks until no state changes.
  void run();
  void walk(int block);
  // Runs one instruction. Returns false if control does not go on to the next one.
  bool step(MachineState& state, int at, int block);
  void special(MachineState& state, const Instruction& it, int at, const Table<int>& taken, const StackEffect& effect,
               bool jump);
  // Sends the state to the handler of the exception that the instruction may raise.
  void raise(const MachineState& state, int at);
  // Sends the state from block `from` to the instruction `target`.
  void flow(const MachineState& state, int from, int target);
  // Merges a state into that of a block's start.
  void join(MachineState state, int block);
  // Returns the value with this identity, which is made if necessary.
  int make(StackValue::Kind kind, int at, int index);
  void fail(std::string what) { error_ = std::move(what); }

  const DecodedCode& decoded_;
  Version version_;
  Table<Block> blocks_;
  Table<int> block_of_;
  Table<int> range_of_;  // by instruction: its protected range, or -1
  Table<StackValue> values_;
  std::map<std::tuple<int, int, int>, int> known_;
  Table<int> stored_;
  Table<int> todo_;
  std::size_t steps_ = 0;
  bool follow_locals_ = true;
  std::string error_;
};

}  // namespace depyf
