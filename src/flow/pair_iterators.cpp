// Rewrites code of 3.15 and later as if an iterator were one value on the stack. In code of 3.15, an iterator is two
// values on the stack, the second of which is an index.
//
//   `for x in a:` starts with <a>; GET_ITER, which pushes the iterator and its index.
//   `return x.b` in the loop is <x.b>; SWAP 3; POP_TOP; POP_TOP; RETURN_VALUE, which pops the iterator and its index.
//   `await a` is <a>; GET_AWAITABLE; PUSH_NULL; LOAD_CONST None; SEND, where PUSH_NULL pushes the index.
//
// Each instruction is executed symbolically once over a stack of flags, each of which is true if the place of the stack
// holds the index of an iterator. Arguments that count places from the top of the stack are reduced, so that they do
// not count the places of indices. Instructions that move or pop an index become NOPs.
#include "flow/pair_iterators.h"

#include <algorithm>
#include <optional>

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "support/table.h"

namespace depyf {
namespace {

// The operand stack as one flag per place, which is true for the index of an iterator.
using Flags = Table<bool>;

// Executes all reachable code symbolically, and rewrites each instruction when it is first reached.
class Uniter {
 public:
  explicit Uniter(DecodedCode& decoded)
      : decoded_(decoded), code_(decoded.instructions), handler_of_(code_.size(), -1) {
    for (std::size_t range = decoded_.ranges.size(); range-- > 0;)
      for (int at = decoded_.ranges[range].begin; at < decoded_.ranges[range].end; ++at) handler_of_[at] = int(range);
    depths_.resize(decoded_.ranges.size());
  }

  Result<bool> run() {
    seen_.assign(code_.size(), false);
    todo_.push_back({0, {}});
    while (!todo_.empty()) {
      auto [at, flags] = std::move(todo_.back());
      todo_.pop_back();
      while (at >= 0 && at < int(code_.size()) && !seen_[at]) {
        seen_[at] = true;
        enter_handler(at, flags);
        const Instruction before = code_[at];
        Flags jumped = flags;
        if (!step(at, before, flags, false) || (before.target >= 0 && !step(at, before, jumped, true)))
          return Error{"an iterator taken apart", before.offset};
        if (before.target >= 0) todo_.push_back({before.target, std::move(jumped)});
        at = falls_through(before.op) || before.op == Op::end_async_for_ ? at + 1 : -1;
      }
    }
    for (std::size_t range = 0; range < depths_.size(); ++range)
      if (depths_[range]) decoded_.ranges[range].depth = *depths_[range];
    return true;
  }

 private:
  // If control reaches an exception range for the first time (at the instruction `at`), adds the handler of the range
  // to `todo_`, with the stack cut to the depth of the range.
  void enter_handler(int at, const Flags& flags) {
    const int range = handler_of_[at];
    if (range < 0 || depths_[range]) return;
    const ProtectedRange& info = decoded_.ranges[range];
    Flags kept(flags.begin(), flags.begin() + std::min<std::ptrdiff_t>(info.depth, std::ptrdiff_t(flags.size())));
    depths_[range] = info.depth - int(std::count(kept.begin(), kept.end(), true));
    // The handler starts with the exception and, if the range has `lasti` set, the offset of the instruction that
    // raised.
    kept.insert(kept.end(), 1 + info.lasti, false);
    todo_.push_back({info.target, std::move(kept)});
  }

  // True if the PUSH_NULL at `at` pushes the index that accompanies a receiver of SEND or an iterator of FOR_ITER.
  bool is_index(int at) const {
    if (at + 2 >= int(code_.size())) return false;
    return code_[at + 1].op == Op::for_iter_ || (code_[at + 1].op == Op::load_const_ && code_[at + 2].op == Op::send_);
  }

  // Applies the stack effect of `it`, the instruction at `at`, to `flags`, which contains true for each stack value
  // that is the index of an iterator. Also rewrites the instruction at `at`. Returns false if the instruction separates
  // an iterator from its index.
  bool step(int at, const Instruction& it, Flags& flags, bool jump) {
    Instruction& rewritten = code_[at];
    const auto size = flags.size();
    auto within = [&](int n) { return n >= 1 && std::size_t(n) <= size; };
    auto drop = [&]() { rewritten.op = Op::nop_, rewritten.arg = rewritten.aux = 0; };
    // Returns how many of the `n` places below the top `pops` places of the stack hold the index of an iterator.
    auto indices = [&](int n, int pops) { return int(std::count(flags.end() - pops - n, flags.end() - pops, true)); };
    StackEffect effect = stack_effect(it, decoded_.version, jump);
    if (it.op == Op::push_null_) {
      flags.push_back(is_index(at));
      if (flags.back()) drop();
      return true;
    }
    if (it.op == Op::copy_) {
      if (!within(it.arg)) return false;
      flags.push_back(flags[size - std::size_t(it.arg)]);
      if (flags.back()) drop();
      else rewritten.arg = it.arg - int(std::count(flags.end() - it.arg, flags.end() - 1, true));
      return true;
    }
    if (it.op == Op::swap_) {
      if (!within(it.arg) || flags.back() || flags[size - std::size_t(it.arg)]) return false;
      rewritten.arg = it.arg - indices(it.arg, 0);
      return true;
    }
    if (it.op == Op::pop_top_ && size > 0 && flags.back()) drop();
    if (adds_to_display(it.op)) {
      if (!within(it.arg + effect.pops)) return false;
      rewritten.arg = it.arg - indices(it.arg, effect.pops);
    }
    if (std::size_t(effect.pops) > size) return false;
    flags.resize(size - std::size_t(effect.pops));
    const std::size_t base = flags.size();
    flags.insert(flags.end(), std::size_t(effect.pushes), false);
    constexpr OpSet makes_pair = {Op::get_iter_, Op::get_yield_from_iter_, Op::for_iter_, Op::send_,
                                  Op::cleanup_throw_};
    if (makes_pair.has(it.op)) flags[base + 1] = true;
    return true;
  }

  DecodedCode& decoded_;
  Instructions& code_;
  // Maps each instruction to the range that covers it, or to -1 if no range does.
  Table<int> handler_of_;
  // Maps each range to the stack depth at which its handler starts, where indices of iterators do not count; no value
  // if control never reaches the range.
  Table<std::optional<int>> depths_;
  Table<bool> seen_;
  Table<std::pair<int, Flags>> todo_;
};

}  // namespace

Result<bool> unite_pair_iterators(DecodedCode& decoded) {
  if (!dialect_of(decoded.version).pair_iterators) return true;
  return Uniter(decoded).run();
}

}  // namespace depyf
