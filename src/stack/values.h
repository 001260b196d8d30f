// Which value lies where: one forward data flow analysis over a code object, in the manner of SSA. A value is named by
// the instruction that made it, or by the block where different ones meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decode/decode.h"

namespace depyf {

// A version of a variable: the instruction that set it, the block where several meet (`join`), or the start.
using VersionId = std::int32_t;
constexpr VersionId at_start = -1;

constexpr std::int32_t jump_values = 1 << 24;

struct StackValue {
  enum class Kind : std::uint8_t { made, met, entry, exception, previous_exception, lasti, traceback, resumed };
  Kind kind = Kind::made;
  std::int32_t at = -1;        // made: instruction; met, exception, ...: block
  std::int32_t index = 0;  // made: which of the values that it pushes, bottom first, counted from `jump_values` where
  // it jumps; met: slot
  std::vector<int> inputs;  // made: what it took, bottom first; met: one a way (values that are in `ways`)
  VersionId local = at_start;  // of the local that a load read
  VersionId memory = at_start;  // of everything that is no local, when it was made
};

// A block of the block stack of 3.10 and earlier.
struct OpenBlock {
  std::int32_t handler = -1;  // instruction; -1: a handler is running
  std::int32_t level = 0;
  friend bool operator==(const OpenBlock&, const OpenBlock&) = default;
};

struct MachineState {
  std::vector<int> stack;  // values
  std::vector<VersionId> locals;  // empty where they are not followed
  VersionId memory = at_start;
  std::vector<OpenBlock> blocks;
};

class StackValues {
 public:
  explicit StackValues(const DecodedCode& decoded);

  const std::vector<Instruction>& code() const { return decoded_.instructions; }
  const DecodedCode& decoded() const { return decoded_; }
  const std::string& error() const { return error_; }
  const StackValue& value(int id) const { return values_[id]; }
  // The state before an instruction; nothing where control never comes.
  std::optional<MachineState> before(int instruction);
  int block_of(int instruction) const { return block_of_[instruction]; }
  // Blocks from which control comes, exceptions not counted, and the end of each.
  const std::vector<int>& ways_to(int block) const { return blocks_[block].ways; }
  int end_of(int block) const { return blocks_[block].end; }
  bool handles(int block) const { return blocks_[block].is_handler; }
  // The values that a store to a fast local put there: by instruction; -1: none.
  int stored_by(int instruction) const { return stored_[instruction]; }
  // What the last conditional jump of a block tests, -1: none.
  int tested_by(int block) const { return blocks_[block].tested; }

 private:
  struct Block {
    int begin = 0, end = 0;
    bool is_handler = false, queued = false;
    std::optional<MachineState> entry;
    std::vector<int> ways;
    int tested = -1;
  };

  void find_blocks();
  void run();
  void walk(int block);
  bool step(MachineState& state, int at, int block);
  void special(MachineState& state, const Instruction& it, int at, const std::vector<int>& taken,
               const StackEffect& effect, bool jump);
  void raise(const MachineState& state, int at);
  void flow(const MachineState& state, int from, int target);
  void join(MachineState state, int block);
  int make(StackValue::Kind kind, int at, int index);
  void fail(std::string what) { error_ = std::move(what); }

  const DecodedCode& decoded_;
  Version version_;
  std::vector<Block> blocks_;
  std::vector<int> block_of_;
  std::vector<int> range_of_;  // by instruction: its protected range, -1: none
  std::vector<StackValue> values_;
  std::map<std::tuple<int, int, int>, int> known_;
  std::vector<int> stored_;
  std::vector<int> todo_;
  std::size_t steps_ = 0;
  bool follow_locals_ = true;
  std::string error_;
};

}  // namespace depyf
