// Writes an `Unwound`, the result of replacing the block stack, as instructions and exception ranges. Handlers get the
// shape of 3.11, with their cleanups c at the end of the code:
//
//   h: push_exc_info; <handler>, protected by c; c: copy 3; pop_except; reraise.
//
// Each run of instructions that one block of the block stack protects becomes an exception range. In 3.8, the handler
// of a with statement is written behind the END_FINALLY with which the path without an exception ends, and a jump leads
// that path over the handler. Behind the END_FINALLY of a with statement, the following code is written:
//
//   jump s; push_exc_info; with_except_start; [await;] pop_jump_if_true t; reraise;
//   t: pop_top; pop_except; pop_top; pop_top; s: <next statement>.
#include "decode/op.h"
#include "flow/unwinder.h"
#include "support/table.h"

namespace depyf {

namespace {

// Appends instructions to the result, each with the block that protects it.
class Writer {
 public:
  Writer(const Unwound& from, DecodedCode& decoded) : from_(from), decoded_(decoded) {}

  void run() {
    // Maps the index of an old instruction to its index in the result.
    Table<int> where(from_.old.size() + 1);
    Table<int> starts(from_.blocks.size(), -1);  // the index in the result where each block's handler starts, or -1
    for (int at = 0; at < int(from_.old.size()); ++at) {
      where[std::size_t(at)] = int(result_.size());
      Instruction it = from_.code[std::size_t(at)];
      const bool seen = from_.seen[std::size_t(at)];
      // Code that `Unwinder` did not visit becomes NOPs, apart from its jumps, returns and raises, which prevent a
      // fall-through into other code.
      if (!seen && it.op != Op::jump_ && it.op != Op::return_value_ && it.op != Op::raise_) {
        it.op = Op::nop_, it.arg = it.aux = 0, it.target = -1;
      }
      int cover = from_.cover[std::size_t(at)];
      if (auto found = from_.handler_of.find(at); found != from_.handler_of.end() && it.op != Op::with_exit_ && seen) {
        const Unwound::Block& block = from_.blocks[std::size_t(found->second)];
        starts[std::size_t(found->second)] = int(result_.size());
        if (!block.bare) put_made(it, Op::push_exc_info_, found->second);
        // A jump to the first instruction of a handler is redirected behind push_exc_info, because a loop may start at
        // this instruction.
        where[std::size_t(at)] = int(result_.size());
      }
      if (auto behind = from_.behind_handlers.find(at); behind != from_.behind_handlers.end())
        put_made(it, Op::behind_handlers_, cover, behind->second);
      put(it, cover, false);
      if (auto more = from_.after.find(at); more != from_.after.end())
        for (const Instruction& made : more->second) {
          int block = cover;
          if (auto inside = from_.protected_after.find(at);
              inside != from_.protected_after.end() && made.op == Op::protected_)
            block = inside->second;
          if (auto left = from_.left_after.find(at); left != from_.left_after.end() && made.op == Op::pop_except_)
            cover = block = left->second;
          put(made, block, true);
        }
      // The handler of a with statement of 3.8 is written behind the END_FINALLY of the statement.
      if (auto with = from_.with_handlers.find(at); with != from_.with_handlers.end()) {
        if (seen) put_made(it, Op::jump_, cover, 0, int(result_.size()));
        std::size_t around = result_.size() - 1;
        starts[std::size_t(with->second.handler)] = int(result_.size());
        put_with_handler(it, with->second);
        if (seen) result_[around].target = int(result_.size());
      }
    }
    where[from_.old.size()] = int(result_.size());
    // Write the cleanup of each handler, behind all other code.
    Table<int> cleanups(from_.blocks.size(), -1);
    Instruction last = result_.back();
    for (std::size_t index = 0; index < from_.blocks.size(); ++index) {
      const Unwound::Block& block = from_.blocks[index];
      if (block.kind != Unwound::Block::Kind::handler || block.bare || starts[index] < 0) continue;
      cleanups[index] = int(result_.size());
      put_made(last, Op::copy_, block.parent, 3);
      put_made(last, Op::pop_except_, block.parent);
      put_made(last, Op::reraise_, block.parent, 1);
    }
    // The targets of instructions from the old code are still indices of old instructions, so the loop translates these
    // targets.
    for (std::size_t at = 0; at < result_.size(); ++at)
      if (InstructionIndex& target = result_[at].target; target >= 0 && !translated_[at])
        target = where[std::size_t(target)];
    ranges(starts, cleanups);
    decoded_.instructions = std::move(result_);
  }

 private:
  // Returns the innermost block that is not a bare handler, from `block` outwards; -1 if no block is left. A bare
  // handler belongs to no statement of the source, so its instructions are protected by the block around it.
  int protector(int block) const {
    while (block >= 0 && from_.blocks[std::size_t(block)].kind == Unwound::Block::Kind::handler &&
           from_.blocks[std::size_t(block)].bare)
      block = from_.blocks[std::size_t(block)].parent;
    return block;
  }

  // `translated` is true if the target of the instruction already is an index in the result.
  void put(Instruction it, int block, bool translated) {
    result_.push_back(it);
    covers_.push_back(protector(block));
    translated_.push_back(translated);
  }

  // Appends an instruction that has no counterpart in the old code, with the position of `like`.
  void put_made(const Instruction& like, Op op, int block, int arg = 0, int target = -1) {
    Instruction made = like;
    made.op = op, made.arg = arg, made.aux = 0, made.target = target, made.size = 0;
    put(made, block, true);
  }

  // Appends the handler of a with statement. POP_EXCEPT ends the handler, so the instructions from POP_EXCEPT on belong
  // to the block around it.
  void put_with_handler(const Instruction& like, const Unwound::WithHandler& with) {
    const int inside = with.handler, outside = from_.blocks[std::size_t(inside)].parent;
    put_made(like, Op::push_exc_info_, inside);
    put_made(like, Op::with_except_start_, inside);
    for (int at = with.await_begin; at < with.await_end; ++at) {
      const Instruction& it = from_.old[std::size_t(at)];
      put_made(like, it.op, inside, it.arg);
    }
    put_made(like, Op::pop_jump_if_true_, inside, 0, int(result_.size()) + 2);
    put_made(like, Op::reraise_, inside, 2);
    put_made(like, Op::pop_top_, inside);
    put_made(like, Op::pop_except_, outside);
    put_made(like, Op::pop_top_, outside);
    put_made(like, Op::pop_top_, outside);
  }

  // Makes a range of each stretch of instructions that one block protects.
  void ranges(const Table<int>& starts, const Table<int>& cleanups) {
    for (int begin = 0; begin < int(result_.size());) {
      int end = begin + 1, block = covers_[std::size_t(begin)];
      while (end < int(result_.size()) && covers_[std::size_t(end)] == block) ++end;
      if (block >= 0) {
        const Unwound::Block& info = from_.blocks[std::size_t(block)];
        ProtectedRange range;
        range.begin = begin, range.end = end;
        if (info.kind == Unwound::Block::Kind::setup) {
          range.target = starts[std::size_t(from_.handler_of.at(info.target))];
          range.depth = info.kept, range.lasti = info.with, range.called = info.called && !info.bare && !info.with;
        } else {
          range.target = cleanups[std::size_t(block)];
          range.depth = info.kept + 1 + info.with, range.lasti = true;
        }
        if (range.target >= 0) decoded_.ranges.push_back(range);
      }
      begin = end;
    }
  }

  const Unwound& from_;
  DecodedCode& decoded_;
  // The instructions of the result, and for each instruction the block that protects it.
  Instructions result_;
  Table<int> covers_;
  Table<bool> translated_;  // true for an instruction whose target is an index in the result
};

}  // namespace

void write_unwound(const Unwound& unwound, DecodedCode& decoded) { Writer(unwound, decoded).run(); }

}  // namespace depyf
