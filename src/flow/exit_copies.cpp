// Finds the copies of code that leaves the function. From 3.10 on, the compiler copies a short block that ends in a
// return to the places that jump to it (inline_small_exit_blocks in CPython's Python/compile.c, later flowgraph.c). If
// `return x` follows a with statement, the normal path ends in a copy of the block that returns x, and the path of the
// handler ends in the block itself.
//
//   Without an exception, `with a: <body>` and `return x` run <a>; <body>; <exit>; POP_TOP; LOAD_FAST x; RETURN_VALUE.
//   If `with a` suppresses an exception, the code runs POP_TOP; POP_EXCEPT; POP_TOP; LOAD_FAST x; RETURN_VALUE.
//
// A copy has the same instructions as the block itself, on the same lines and in the same regions. A copy of an exit
// block may start in the middle of an expression. For example, `return a, b if c else d` compiles to:
//
//     <a>; <c>; POP_JUMP_IF_FALSE L; <b>; BUILD_TUPLE 2; RETURN_VALUE; L: <d>; BUILD_TUPLE 2; RETURN_VALUE.
//
// From 3.13 on, a class body ends in LOAD_CONST (); STORE_NAME __static_attributes__; LOAD_CONST None; RETURN_VALUE.
// The instructions at the end of a class body have no line from 3.13 on, so a copy of them takes the line of the
// instruction in front of the copy.
// Before 3.10, the compiler copies only the single instruction RETURN_VALUE.
//
// The search for copies is in one file, because all its steps read the same tables about the instructions of one code
// object.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "decode/decode.h"
#include "decode/folded_constants.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "dialect/dialect.h"
#include "flow/end_positions.h"
#include "flow/exception_regions.h"
#include "support/table.h"

namespace depyf {
namespace {

// The maximum number of instructions in a block that CPython copies (MAX_COPY_SIZE).
constexpr int longest = 4;

// Finds, for each place where a copy of a function's exit starts, the index of the original exit.
class ExitCopies {
 public:
  ExitCopies(const Cfg& cfg, const Flow& flow, const Table<char>& reachable, const DecodedCode& decoded)
      : code_(cfg.code),
        cfg_(cfg),
        decoded_(decoded),
        version_(decoded.version),
        flow_(flow),
        reachable_(reachable),
        positions_(code_, decoded),
        count_(int(code_.size())) {
    find_class_ends();
  }

  // Finds the copies among the exits of the function. Exits are compared only if their last instructions are equal.
  ExitGuess run(const Indices& exits, bool joins_unsure) {
    const std::uint64_t shared = shared_bits(exits);
    if (shared == 0) return {};
    Table<std::pair<Word, int>> ends;
    for (const InstructionIndex end : exits)
      if ((bit_of(end) & shared) != 0) ends.push_back({word(end), end});
    std::sort(ends.begin(), ends.end());
    if (std::ranges::adjacent_find(ends, {}, [](const auto& end) { return end.first; }) == ends.end()) return {};
    find_entered();
    std::optional<bool> is_on_one_line;  // computed on demand, since few code objects need it
    ExitGuess guess;
    Originals& original = guess.original;
    original.assign(code_.size() + 1, -1);
    Table<std::pair<int, Table<Tail>>> alike;  // exits whose last instruction equals another exit's, and their tails
    for (std::size_t index = 0; index < ends.size(); ++index) {
      const bool is_alike = (index > 0 && ends[index - 1].first == ends[index].first) ||
                            (index + 1 < ends.size() && ends[index + 1].first == ends[index].first);
      if (is_alike) alike.push_back({ends[index].second, tails(ends[index].second)});
    }
    std::sort(alike.begin(), alike.end(), [](const auto& one, const auto& two) { return one.first < two.first; });
    // Of several equal tails (possible copies of an exit), the last one counts as the original.
    std::map<Key, Tail> last;
    for (const auto& [end, all] : alike)
      for (const Tail& tail : all) {
        last.insert_or_assign(tail.key, tail);
        if (!may_take_value(tail)) continue;
        Tail variant = with_value(tail);
        last.insert_or_assign(variant.key, variant);
      }
    for (const auto& [end, all] : alike)
      for (const Tail& tail : all) {
        bool takes_value = tail.takes_value;
        const Tail* found = &last.at(tail.key);
        if (found->at == tail.at && may_take_value(tail)) takes_value = true, found = &last.at(with_value(tail).key);
        const Tail& other = *found;
        if (other.at == tail.at) continue;
        // If two tails end equal whole statements, the tails are not joined as parts of one expression, because equal
        // statements are copies as a whole or not at all.
        if (takes_value && !other.entered && same_statement(tail, other)) continue;
        if (!takes_value && !is_on_one_line) is_on_one_line = positions_.has_one_line();
        if (!takes_value && (*is_on_one_line || positions_.has_empty_position(tail.at))) {
          guess.is_unsure = true;
          if (!joins_unsure) continue;
        }
        original[tail.at] = other.at;
        break;
      }
    return guess;
  }

 private:
  using Word = std::array<int, 7>;  // the fields in which an instruction and its copies agree
  using Key = Table<Word>;  // a flag, which is 1 if the tail takes no value, and then a `Word` for each instruction
  // A possible copy of a function's exit: the instructions from `at` to an instruction that leaves the function.
  struct Tail {
    int at;
    int statement;  // the instruction where the statement starts
    bool takes_value;  // true if the tail uses one value that was pushed in front of it, and no other value
    bool entered;  // true if a jump leads to `at`, and no part of the statement is known to lie in front of `at`
    bool takes_operands;  // true if the tail pops at least two values that were pushed in front of it
    Key key;
  };

  // A jump to a tail may leave a value on the stack, like the jump of `or` in `return a or b`. If the tail pops fewer than
  // two values of its place, its instructions do not state whether a value lies on the stack in front of the tail, so a
  // tail that is a jump target whose columns are known may be either.
  bool may_take_value(const Tail& tail) const {
    if (tail.takes_value || !tail.entered) return false;
    return tail.takes_operands || (dialect_of(version_).columns && positions_.has_place(tail.at));
  }
  static Tail with_value(Tail tail) {
    tail.key[0] = {false}, tail.takes_value = true;
    return tail;
  }

  // A place where a tail (a possible copy) may start. `whole` is true if a statement starts at the place. `value` is
  // true if exactly one value of the statement was pushed in front of the place, and the straight-line code up to the
  // place does not follow a copied finally body.
  struct Place {
    int at, statement;
    bool whole, value;
  };

  // Returns a number with a single bit, which is the same bit for exits whose last instructions are equal.
  std::uint64_t bit_of(int end) const {
    const std::int64_t line = is_lineless(end) ? -1 : code_[end].line;
    return std::uint64_t{1} << ((line + 5 * cfg_.region_of[end] + 17 * int(code_[end].op)) & 63);
  }

  // Returns the bits that several exits have. Only exits with such a bit can be equal. In most code, the result is 0.
  std::uint64_t shared_bits(const Indices& exits) const {
    std::uint64_t seen = 0, shared = 0;
    for (const int end : exits) {
      const std::uint64_t bit = bit_of(end);
      shared |= seen & bit, seen |= bit;
    }
    return shared;
  }

  // Marks the instructions that control can reach other than from the preceding instruction.
  void find_entered() {
    entered_.resize(code_.size() + 1), resumed_.resize(code_.size() + 1);
    for (const InstructionIndex at : flow_.jumps)
      if (code_[at].target >= 0 && reachable_[at] && !ends_comprehension(at)) entered_[code_[at].target] = true;
    for (const InstructionIndex at : flow_.stops) {
      const InstructionIndex next = flow_.next[at];
      if (next >= 0 && reachable_[at] && !ends_comprehension(at)) entered_[next] = resumed_[next] = true;
    }
    for (const Region& region : cfg_.regions)
      for (int at : {region.handler_at, region.follow_at})
        if (at >= 0) entered_[at] = true;
    if (!dialect_of(version_).columns) find_lines();
  }

  // Fills `entered_elsewhere_` and `second_returns_`, which replace the columns in versions that record no columns.
  void find_lines() {
    for (const InstructionIndex at : flow_.jumps)
      if (const InstructionIndex to = code_[at].target; reachable_[at] && to >= 0 && code_[at].line != code_[to].line)
        entered_elsewhere_.insert(to);
    std::set<std::int32_t> returning;  // lines with a return
    for (int at = 0; at < count_; ++at)
      if (code_[at].op == Op::return_value_ && !returning.insert(code_[at].line).second)
        second_returns_.emplace(code_[at].line, at);
  }

  // True if `at` is the jump behind a `comprehension` operation that skips the NOPs which replaced the loop. The jump
  // behind a `comprehension` operation counts as a fall-through, since no other instruction leads to the jump's target.
  bool ends_comprehension(int at) const {
    return at > 0 && code_[at].op == Op::jump_ && code_[at].target > at && code_[at - 1].op == Op::comprehension_;
  }

  // Returns the instruction in front of `at`, or -1 if control may go from that instruction elsewhere than to `at`.
  int in_front_of(int at) const {
    int before = at - 1;
    while (before > 0 && !reachable_[before]) --before;
    if (before < 0 || ends_comprehension(before)) return before;
    return before == at - 1 && code_[before].target < 0 && flow_.next[before] == at ? before : -1;
  }

  // Marks the instructions at the end of a class body that have no line: those that store __classcell__ and, from 3.13
  // on, also __static_attributes__ and __classdictcell__. The end of a class body of 3.13 is:
  //
  //  LOAD_CONST; STORE __static_attributes__; [LOAD; STORE __classdictcell__;] LOAD; COPY; STORE __classcell__; RETURN.
  void find_class_ends() {
    if (!dialect_of(version_).columns || !decoded_.is_class_body()) return;
    constexpr OpSet of_end{Op::load_const_, Op::load_fast_, Op::load_closure_,
                           Op::load_deref_, Op::copy_,      Op::store_name_};
    const std::string_view first = dialect_of(version_).class_details ? "__static_attributes__" : "__classcell__";
    const int loads = dialect_of(version_).class_details ? 1 : 2;  // the number of loads in front of the store
    for (int at = loads; at + 1 < count_; ++at) {
      if (code_[at].op != Op::store_name_ || decoded_.names[std::size_t(code_[at].arg)] != first) continue;
      int end = at + 1;
      while (end + 1 < count_ && of_end.has(code_[end].op)) ++end;
      if (code_[end].op != Op::return_value_) continue;
      lineless_.resize(code_.size());
      std::fill(lineless_.begin() + at - loads, lineless_.begin() + end + 1, true);
    }
  }

  // Returns the fields in which the copies of instruction `at` agree.
  Word word(int at) const {
    const Instruction& it = code_[at];
    // From 3.12 on, the MAP_ADD in a call with many keyword arguments has no source position, so no MAP_ADD is compared
    // by position.
    if (it.op == Op::map_add_ || is_lineless(at)) return {int(it.op), it.arg, it.aux, -1, -1, -1, cfg_.region_of[at]};
    // The second half of LOAD_FAST_LOAD_FAST has the position of the first half, so LOAD_FAST is compared without
    // columns.
    const Position place =
        it.op == Op::load_fast_ && dialect_of(version_).paired_loads ? Position{} : positions_.position(at);
    return {int(it.op), it.arg, it.aux, it.line, place.column, place.end_column, cfg_.region_of[at]};
  }

  // Returns the tails (possible copies of an exit) of the straight-line code up to `end`, the longest first.
  Table<Tail> tails(int end) const {
    // Move `start` to the beginning of the straight-line code up to `end`, because all of it may be one statement.
    int start = end;
    for (int before = in_front_of(start); before >= 0; before = in_front_of(start)) {
      if (entered_[start] || !cfg_.inside(cfg_.region_of[before], cfg_.region_of[start])) break;
      start = before;
    }
    Table<Place> places;
    places.reserve(std::size_t(end - start) + 1);
    int depth = 0, statement = start;
    bool below = false;  // true if values from before `start` are part of the statement
    bool made = false;  // true if the instruction in front pushed a value
    for (int at = start; at <= end; ++at) {
      if (code_[at].op == Op::nop_ || code_[at].op == Op::resume_ || !reachable_[at] || ends_comprehension(at))
        continue;
      StackEffect effect = stack_effect(code_[at], std::max(version_, unwound_version), false);
      const bool takes = effect.pops > depth && code_[at].op != Op::pop_except_;
      places.push_back({at, statement, depth == 0 && !below && !takes,
                        !resumed_[start] && ((depth == 1 && made) || (places.empty() && takes))});
      if (takes) below = effect.pushes > 0, depth = effect.pushes;
      else depth += effect.pushes - std::min(effect.pops, depth);
      if (depth == 0 && !(at == start && drops_tested(at))) statement = at + 1, below = false;
      // A display may end in an instruction that extends it: BUILD_LIST 0; LOAD_CONST (1, 2, 3); LIST_EXTEND 1.
      made = effect.pushes > 0 || adds_to_display(code_[at].op);
    }
    Table<Tail> found;
    const int count = int(places.size()), bound = dialect_of(version_).copied_exits ? longest : 1;
    // Count back from `end` as many instructions as the compiler copies at most.
    int first = count;
    for (int copied = 0; first > 0; --first)
      if (const int at = places[std::size_t(first - 1)].at; (copied += is_counted(at) && !is_lineless(at)) > bound)
        break;
    for (int index = 0; index < count; ++index) {
      const Place& place = places[std::size_t(index)];
      // In 3.10, the MAP_ADD in a call with many keyword arguments has no line. The compiler copies an exit that starts
      // with an instruction without a line to all places that lead to it, regardless of its length.
      const bool is_copied_whole = dialect_of(version_).copied_exits && !dialect_of(version_).columns &&
                                   code_[place.at].op == Op::map_add_ && place.value && place.statement == start;
      if (index < first && !is_copied_whole) continue;
      if (ends_handler(place.at) || (!place.whole && !place.value)) continue;
      // The compiler emits a separate RAISE_VARARGS for each assert statement, so no part of an assert statement is a
      // copy.
      if (!place.whole && code_[place.statement].op == Op::load_assertion_error_) continue;
      if (!dialect_of(version_).copied_exits && !place.value) continue;
      bool exits_with = false;
      // `load` is the first instruction from the place on that is not a POP_EXCEPT.
      int load = end, values = 0;
      for (int other = index; other < count; ++other) {
        const int at = places[std::size_t(other)].at;
        const Instruction& it = code_[at];
        exits_with |= it.op == Op::with_exit_;
        if (it.op != Op::pop_except_ && values++ == 0) load = at;
      }
      // A tail that takes a value belongs to an expression such as `a if b else c`, so no statement may end between the
      // branch of the expression and the tail. A `return` within `with`, and the `return None` at the end of a
      // function, are excluded, because their positions do not identify the statements to which they belong.
      if (!place.whole &&
          (place.statement != start || exits_with || (!positions_.has_place(end) && !takes_operands(places, index)) ||
           (place.at == end && index == 1 && is_end(places[0].at, end) && !ends_conditional(places[0].at, end))))
        continue;
      // The compiler does not copy the return of a constant, but emits it for each `return` of the source.
      if (place.whole && values == 2 && code_[load].op == Op::load_const_ && !is_folded_late(load)) continue;
      const bool entered = place.whole && place.at == start && entered_[start];
      Tail tail{place.at, place.statement, !place.whole, entered, entered && takes_operands(places, index), {}};
      tail.key.reserve(std::size_t(count - index) + 1);
      tail.key.push_back({place.whole});
      for (int other = index; other < count; ++other) tail.key.push_back(word(places[std::size_t(other)].at));
      found.push_back(std::move(tail));
    }
    return found;
  }

  // True if the tail at `places[index]` pops at least two values that were pushed in front of the tail, so that the
  // values are operands of one expression. Apart from operands, the compiler leaves only values of loops and with
  // statements on the stack at a branch, and removes these values by SWAP and POP_TOP.
  bool takes_operands(const Table<Place>& places, int index) const {
    int depth = 0, taken = 0;
    for (; index < int(places.size()); ++index) {
      const Instruction& it = code_[places[index].at];
      if (it.op == Op::swap_ || it.op == Op::pop_except_ || (it.op == Op::pop_top_ && depth == 0)) return false;
      const StackEffect effect = stack_effect(it, std::max(version_, unwound_version), false);
      taken += std::max(effect.pops - depth, 0);
      depth = std::max(depth - effect.pops, 0) + effect.pushes;
    }
    return taken >= 2;
  }

  // True if the constant that the LOAD_CONST at `load` loads was still an unfolded expression when the compiler copied
  // exits.
  bool is_folded_late(int load) const {
    return dialect_of(version_).late_folding && is_folded(decoded_.constant(code_[load].arg));
  }

  // True if the instruction belongs to the end of a class body, which has no line and is therefore copied regardless of
  // its length.
  bool is_lineless(int at) const { return !lineless_.empty() && lineless_[at]; }

  // True if the compiler counts the instruction at `at` when it limits the length of a copied exit block. RETURN_CONST
  // counts as one instruction, although the decoder splits it into two, and so does a load together with the NULL of a
  // call.
  bool is_counted(int at) const {
    const Op op = code_[at].op;
    return code_[at].size > 0 || (op != Op::push_null_ && op != Op::load_global_ && op != Op::return_value_);
  }

  // True if `at` is the POP_TOP of COPY 1; [TO_BOOL;] POP_JUMP; POP_TOP, which pops the tested operand of `and` or
  // `or`, so that the next operand replaces the tested operand.
  bool drops_tested(int at) const {
    if (code_[at].op != Op::pop_top_) return false;
    auto before = [&](int from) {
      do --from;
      while (from > 0 && (code_[from].op == Op::nop_ || code_[from].op == Op::to_bool_));
      return from;
    };
    const int jump = before(at);
    return jump > 0 && code_[jump].target >= 0 && code_[std::max(before(jump), 0)].op == Op::copy_;
  }

  // True if `at` is STORE e or DELETE e in the LOAD_CONST None; STORE e; DELETE e that follows a handler.
  bool ends_handler(int at) const {
    auto is = [&](int load) {
      return load > 0 && load + 2 < count_ && is_none(load) && is_store_name(code_[load + 1].op) &&
             code_[load + 2].op == delete_of(code_[load + 1].op) && code_[load + 1].arg == code_[load + 2].arg;
    };
    return is(at - 1) || is(at - 2);
  }

  // True if `return None` from `load` to `end` may be the implicit `return None` at the end of a function, which has no
  // position of its own. From 3.11 on, both instructions of an implicit `return None` have the same position.
  bool is_end(int load, int end) const {
    const Position value = positions_.position(load), exit = positions_.position(end);
    return is_none(load) && (value.column < 0 || (value.column == exit.column && value.line == exit.line));
  }

  // In versions without columns: true if the return at `end` is at least the third on its line, and no jump on another
  // line leads to `load`. One line has no room for an `if` with an `elif`, so three returns on one line belong to one
  // conditional expression, whose tests are on that line, too. A jump that is not on the line of the three returns is
  // the test of an `if` around the expression, and leads to the end of the function. `return a if b else c if d else
  // None` compiles to:
  //
  //   <b>; POP_JUMP_IF_FALSE L; <a>; RETURN_VALUE; L: <d>; POP_JUMP_IF_FALSE E; <c>; RETURN_VALUE; E: None;
  //   RETURN_VALUE.
  bool ends_conditional(int load, int end) const {
    if (dialect_of(version_).columns || entered_elsewhere_.contains(load)) return false;
    const auto second = second_returns_.find(code_[end].line);
    return second != second_returns_.end() && second->second < end;
  }

  bool is_none(int at) const {
    const int constant = code_[at].arg;
    return code_[at].op == Op::load_const_ && constant >= 0 && constant < decoded_.constant_count() &&
           decoded_.constant(constant).kind == Constant::Kind::none;
  }

  // True if the instructions of the statements in front of both tails are equal, so that the tails end two equal whole
  // statements. Equal operands in different columns belong to one statement, like the two `c` of `return (a if b else
  // c) if d else c`.
  bool same_statement(const Tail& one, const Tail& two) const {
    auto plain = [&](int at, int end) {
      while (at < end && (code_[at].op == Op::nop_ || code_[at].op == Op::resume_)) ++at;
      return at;
    };
    // If jumps lead to both tails, as behind the operands of `return a and (b or c if d else e)`, the statements start
    // in front of the jumps. The instructions in front of the tails then stand for the statements.
    if (one.statement == one.at && two.statement == two.at) {
      const int before = action_in_front_of(one.at), before_other = action_in_front_of(two.at);
      return before < 0 || before_other < 0 || is_same(before, before_other);
    }
    int at = plain(one.statement, one.at), other = plain(two.statement, two.at);
    for (; at < one.at && other < two.at; at = plain(at + 1, one.at), other = plain(other + 1, two.at))
      if (!is_same(at, other)) return false;
    return at == one.at && other == two.at;
  }

  // True if the two instructions are equal, and at one place of the source.
  bool is_same(int one, int two) const {
    return code_[one].op == code_[two].op && code_[one].arg == code_[two].arg && code_[one].aux == code_[two].aux &&
           !positions_.elsewhere(one, two);
  }

  // Returns the instruction in front of `at` and the NOPs there, as `in_front_of` does.
  int action_in_front_of(int at) const {
    do at = in_front_of(at);
    while (at >= 0 && code_[at].op == Op::nop_);
    return at;
  }

  const Row<const Instruction, InstructionIndex> code_;
  const Cfg& cfg_;
  const DecodedCode& decoded_;
  const Version version_;
  const Flow& flow_;
  const Table<char>& reachable_;
  const EndPositions positions_;
  const int count_;  // number of instructions
  // Indexed by instruction: true for the instructions without a line at the end of a class body. The table is empty if
  // no element would be true.
  Table<bool> lineless_;
  Table<char> entered_;  // true for an instruction that control can reach other than from the preceding instruction
  Table<char> resumed_;  // true for an instruction that follows a copied finally body
  std::map<std::int32_t, int> second_returns_;  // maps a line to its second RETURN_VALUE
  std::set<int> entered_elsewhere_;  // instructions to which a jump on another line leads
};

}  // namespace

ExitGuess find_exit_copies(const Cfg& cfg, const Flow& flow, const Indices& exits, const Table<char>& reachable,
                           const DecodedCode& decoded, bool joins_unsure) {
  ExitGuess guess = ExitCopies(cfg, flow, reachable, decoded).run(exits, joins_unsure);
  join_ends(cfg, flow, reachable, decoded, guess.original);
  return guess;
}

}  // namespace depyf
