#include "flow/idioms.h"

#include <algorithm>

#include "decode/op.h"
#include "decode/op_table.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "flow/ranges.h"
#include "flow/search.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
namespace {

// Replaces the instruction sequences that idioms.h lists. A sequence is searched for only if its operations occur in
// the code.
class Simplifier {
 public:
  Simplifier(const DecodedCode& decoded, const SurveyedOps& ops, const Jumps& jumps,
             Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges)
      : decoded_(decoded), ops_(ops), jumps_(jumps), code_(code), ranges_(ranges), size_(int(code.size())) {}

  // Returns false if the rewritten code certainly contains no COPY 1.
  bool run() {
    if (!ranges_.empty()) drops_.resize(code_.size());
    for (const ProtectedRange& range : ranges_) has_drops_ |= drops_[range.target] = throws_into(range.target);
    const bool copies = ops_.has<Op::get_anext_, Op::copy_, Op::set_add_, Op::rotate_, Op::call_function_>();
    if (copies || !dialect_of(decoded_.version).turned_jumps) count_targets();
    if (!jumps_.empty()) find_turned();
    if (ops_.has<Op::return_generator_>()) generator_start();
    if (ops_.has<Op::resume_, Op::yield_value_>()) forget_states();
    if (ops_.has<Op::send_, Op::for_iter_>())
      for (const int at : jumps_) {
        if (code_[at].op == Op::send_) delegation(at);
        if (code_[at].op == Op::for_iter_ && code_[at].aux == 1) exhausted(at);
      }
    if (copies) find_copies();
    if (has_drops_)
      drop_handlers(ranges_, code_.size(), [&](const ProtectedRange& range) { return drops_[range.target] != 0; });
    return has_copies_;
  }

 private:
  int size() const { return size_; }
  void clear(int at) { code_[at].op = Op::nop_, code_[at].arg = code_[at].aux = 0, code_[at].target = -1; }
  // Returns the first instruction from `at` that is neither a NOP nor a RESUME.
  int skip(int at) const {
    while (at < size() - 1 && (code_[at].op == Op::nop_ || code_[at].op == Op::resume_)) ++at;
    return at;
  }

  // Rewrites the instruction sequences that are recognised by one of the operations in `shows_idiom`.
  void find_copies() {
    static constexpr OpTable<bool> shows_idiom(
        false, {{{Op::get_anext_, Op::copy_, Op::set_add_, Op::rotate_, Op::call_function_}, true}});
    for_each_marked(code_, shows_idiom, [&](int at) {
      if (code_[at].op == Op::get_anext_) async_for(at);
      if (code_[at].op == Op::copy_ && code_[at].arg == 1) {
        if (ops_.has<Op::load_special_>()) with_start(at);
        if (ops_.has<Op::load_common_constant_>()) known_function(at);
        short_circuit(at);
        has_copies_ |= code_[at].op == Op::copy_;
      }
      if (code_[at].op == Op::set_add_ && code_[at].arg == 1) annotated(at);
      if (code_[at].op == Op::rotate_ && code_[at].arg == 3) chained_comparison(at), reverse(at);
      if (code_[at].op == Op::call_function_ && code_[at].arg == 3) with_exit(at);
    });
  }

  // Counts in `targets_` the jumps that lead to each instruction.
  void count_targets() {
    targets_.resize(code_.size() + 1);
    for (const int at : jumps_) ++targets_[code_[at].target];
  }

  // Removes RESUME and the argument of YIELD_VALUE, which record the state of the interpreter and correspond to no
  // Python source.
  void forget_states() {
    const bool goes_on = ops_.has<Op::yield_value_, Op::send_>();
    for (int at = 0; at < size(); ++at) {
      if (code_[at].op == Op::yield_value_) code_[at].arg = 0;
      if (code_[at].op != Op::resume_) continue;
      clear(at);
      if (!goes_on) return;
    }
  }

  // Removes RETURN_GENERATOR; POP_TOP from the start of a generator.
  void generator_start() {
    for (int at = 0; at + 1 < size() && at < search_limits::generator_start; ++at) {
      if (code_[at].op != Op::return_generator_) continue;
      int pop = skip(at + 1);
      if (code_[pop].op == Op::pop_top_) clear(at), clear(pop);
      return;
    }
  }

  // Sets `turned` of each conditional jump, which states whether the compiler inverted the jump. From 3.12 on, the
  // compiler inverts each conditional jump that would lead backwards: it emits the opposite test, which jumps over an
  // unconditional jump back (normalize_jumps in CPython's Python/flowgraph.c). In 3.13 and 3.14, an inverted jump lies
  // outside of the exception range that covers the instructions around the jump.
  void find_turned() {
    const Dialect& dialect = dialect_of(decoded_.version);
    if (may_jump_behind_test()) {
      if (dialect.turned_jumps) find_placed_continues();
      else find_continues();
    }
    if (!dialect.uncovered_turned_jumps || ranges_.empty()) return;
    Table<bool> covered(code_.size());
    for (const ProtectedRange& range : ranges_)
      for (int at = range.begin; at < range.end; ++at) covered[at] = true;
    for (const int at : jumps_) {
      if (!is_test(at) || at < 1 || !covered[at - 1]) continue;
      const int next = skip(at + 1);
      const int far = code_[at].target > at ? skip(code_[at].target) : -1;
      if (!covered[at]) code_[at].turned = Turned::yes;
      else if (jumps_back(code_[next], at)) code_[at].turned = covered[next] ? Turned::no : Turned::yes;
      else if (far >= 0 && covered[far] && jumps_back(code_[far], at))
        code_[at].turned = target_of(code_[at], code_[far]);
    }
  }

  // True if the code may have an unconditional jump behind a conditional jump, with at most NOPs and RESUMEs between
  // the two jumps. The loop tests a jump without a branch, because the processor could not predict a branch on the
  // operation of a jump.
  bool may_jump_behind_test() const {
    static constexpr OpTable<bool> leads_to_jump(false, {{{Op::nop_, Op::resume_, Op::jump_}, true}});
    bool is_possible = false;
    for (const int at : jumps_)
      is_possible |= is_conditional_jump(code_[at].op) & leads_to_jump[code_[std::min(at + 1, size() - 1)].op];
    return is_possible;
  }

  // True if `at` is a conditional jump, and not the last instruction.
  bool is_test(int at) const { return is_conditional_jump(code_[at].op) && at + 1 < size(); }

  // True if `it` is an unconditional jump to `at` or to code in front of `at`.
  static bool jumps_back(const Instruction& it, int at) {
    return it.op == Op::jump_ && it.target >= 0 && it.target <= at;
  }

  // Before 3.12, the compiler inverts no conditional jump, so a test that jumps over an unconditional jump back comes
  // from `if c: continue`.
  void find_continues() {
    for (const int at : jumps_) {
      if (!is_test(at)) continue;
      const int next = skip(at + 1);
      if (jumps_back(code_[next], at) && targets_[next] == 0) code_[at].turned = Turned::no;
    }
  }

  // The widths, in columns, of the words `continue` and `pass`, which compile to a jump back at the end of a loop.
  static constexpr int continue_width = 8, pass_width = 4;

  // `back` is the unconditional jump to which the conditional jump `jump` leads. Returns `to_continue` or `to_pass` if
  // `back` comes from a `continue` or `pass` of the source, and otherwise `elsewhere`.
  Turned target_of(const Instruction& jump, const Instruction& back) const {
    if (is_word(back, jump, continue_width)) return Turned::to_continue;
    return is_word(back, jump, pass_width) && back.line > jump.line ? Turned::to_pass : Turned::elsewhere;
  }

  // True if the source position of the jump `back` is `width` columns wide and differs from that of the conditional
  // jump `jump`.
  bool is_word(const Instruction& back, const Instruction& jump, int width) const {
    const std::span<const Position> positions = decoded_.positions;
    if (back.offset / 2 >= positions.size()) return false;
    const Position &own = positions[back.offset / 2], &test = positions[jump.offset / 2];
    const bool apart = own.line != test.line || own.column != test.column;
    return apart && own.end_line == own.line && own.end_column - own.column == width;
  }

  // From 3.12 on, a jump back right behind a test is a `continue` of the source if its position is eight columns wide.
  void find_placed_continues() {
    for (const int at : jumps_) {
      if (!is_test(at)) continue;
      const Instruction& next = code_[skip(at + 1)];
      if (jumps_back(next, at) && is_word(next, code_[at], continue_width)) code_[at].turned = Turned::no;
    }
  }

  // True if the compiler adds the handler at `target` without a statement in the source, either for an exception thrown
  // into an await (CLEANUP_THROW) or for a StopIteration that leaves a generator.
  bool throws_into(int target) {
    int at = skip(target);
    if (code_[at].op == Op::intrinsic_1_) return Intrinsic1(code_[at].arg) == Intrinsic1::stopiteration_error;
    return code_[at].op == Op::cleanup_throw_;
  }

  // Simplifies the end of the loop FOR_ITER E; ...; E: END_FOR; POP_TOP (or POP_ITER). The new FOR_ITER jumps behind
  // the POP_TOP or POP_ITER and pops the iterator itself, as in versions up to 3.11.
  void exhausted(int at) {
    int end = code_[at].target, pop = skip(end + 1);
    if (end < 0 || code_[end].op != Op::end_for_ || pop >= size()) return;
    if (code_[pop].op != Op::pop_top_ && code_[pop].op != Op::pop_iter_) return;
    code_[at].aux = 0, code_[at].target = pop + 1;
  }

  // Rewrites the loop that drives an awaitable or a generator to a single `yield_from`. The compiler emits the loop as:
  //
  //   LOAD_CONST None; S: SEND E; YIELD_VALUE; RESUME; JUMP_BACKWARD_NO_INTERRUPT S; E: [END_SEND].
  void delegation(int at) {
    int yield = skip(at + 1), jump = skip(yield + 1);
    if (code_[yield].op != Op::yield_value_ || code_[jump].op != Op::jump_ || skip(code_[jump].target) != at) return;
    int end = code_[at].target;
    if (end < 0) return;
    code_[at].op = Op::yield_from_, code_[at].target = -1;
    for (int between = at + 1; between <= jump; ++between) clear(between);
    // CLEANUP_THROW may lie between the loop and the target E of SEND.
    bool next = end > jump;
    for (int between = jump; next && between < end; ++between)
      next = code_[between].op == Op::nop_ || code_[between].op == Op::cleanup_throw_;
    if (next)
      for (int between = jump; between < end; ++between) clear(between);
    else code_[jump].op = Op::jump_, code_[jump].target = end;
    if (code_[skip(end)].op == Op::end_send_) clear(skip(end));
  }

  // Rewrites GET_ANEXT; LOAD_CONST None; yield_from at the head of an `async for` to for_iter, if END_ASYNC_FOR handles
  // the exceptions of GET_ANEXT. The body of the `async for` ends in a jump back to GET_ANEXT.
  void async_for(int at) {
    int none = skip(at + 1), await = skip(none + 1);
    if (code_[none].op != Op::load_const_ || code_[await].op != Op::yield_from_) return;
    if (ended_by_.empty())
      ended_by_ = first_cover(ranges_, code_.size(), [&](const ProtectedRange& range) {
        return code_[skip(range.target)].op == Op::end_async_for_;
      });
    if (ended_by_[at] < 0) return;
    const int target = ranges_[ended_by_[at]].target;
    int after = skip(skip(target) + 1);
    if (code_[after].op == Op::jump_ && code_[after].target >= 0) after = code_[after].target;
    code_[at].op = Op::for_iter_, code_[at].arg = 0, code_[at].aux = 2, code_[at].target = after;
    clear(none), clear(await);
    drops_[target] = true, has_drops_ = true;
  }

  // Returns the indices of the instructions from `at` on if their operations are `ops`, with only NOPs between them and
  // no jump into the middle; otherwise an empty table.
  Table<int> sequence(int at, std::initializer_list<Op> ops) const {
    Table<int> found;
    for (Op op : ops) {
      at = skip(at);
      if (code_[at].op != op || (!found.empty() && targets_[at])) return {};
      found.push_back(at++);
    }
    return found;
  }

  // Rewrites the start of a with statement of 3.14 to before_with or before_async_with. For `with`, the compiler emits:
  //
  //   COPY 1; LOAD_SPECIAL __exit__; SWAP 2; SWAP 3; LOAD_SPECIAL __enter__; CALL 0.
  void with_start(int at) {
    Table<int> parts = sequence(at, {Op::copy_, Op::load_special_, Op::swap_, Op::swap_, Op::load_special_, Op::call_});
    if (parts.empty()) return;
    const bool async = code_[parts[1]].arg == 3;
    if (code_[parts[1]].arg != (async ? 3 : 1) || code_[parts[4]].arg != (async ? 2 : 0)) return;
    const int last = parts.back();
    for (int part : parts) clear(part);
    code_[last].op = async ? Op::before_async_with_ : Op::before_with_, code_[last].aux = 1;
  }

  // In front of a call such as `all(x for x in a)`, 3.14 adds a loop that computes the result of the call. A test skips
  // the loop if `all` is not the builtin function. Replaces the test by a jump over the loop to the call. The compiler
  // emits:
  //
  //   LOAD all; COPY 1; LOAD_COMMON_CONSTANT all; IS_OP; POP_JUMP_IF_FALSE L; POP_TOP; <loop>; L: <call>.
  void known_function(int at) {
    Table<int> parts =
        sequence(at, {Op::copy_, Op::load_common_constant_, Op::is_op_, Op::pop_jump_if_false_, Op::pop_top_});
    if (parts.empty() || code_[parts[2]].arg != 0) return;
    const int call = code_[parts[3]].target;
    for (int part : parts) clear(part);
    code_[parts[3]].op = Op::jump_, code_[parts[3]].target = call;
  }

  // Rewrites LOAD __conditional_annotations__; LOAD index; SET_ADD 1; POP_TOP, by which code of 3.14 records that it
  // has executed an annotation, to `annotated`.
  void annotated(int at) {
    if (at < 2) return;
    const Instruction& number = code_[at - 1];
    const bool large = number.op == Op::load_const_ && decoded_.constant(number.arg).kind == Constant::Kind::integer &&
                       decoded_.constant(number.arg).text.size() < 9;
    if (!large && number.op != Op::load_int_) return;
    const Instruction& load = code_[at - 2];
    const bool name = load.op == Op::load_name_ || load.op == Op::load_global_;
    if (!name && load.op != Op::load_deref_) return;
    std::string_view set =
        name ? std::string_view(decoded_.names[std::size_t(load.arg)]) : decoded_.localsplus[load.arg];
    Table<int> parts = sequence(at - 2, {load.op, number.op, Op::set_add_, Op::pop_top_});
    if (parts.empty() || set != "__conditional_annotations__") return;
    const int index = large ? std::stoi(decoded_.constant(number.arg).text) : number.arg;
    for (int part : parts) clear(part);
    code_[at].op = Op::annotated_, code_[at].arg = index;
  }

  // Rewrites COPY 1; [TO_BOOL]; POP_JUMP_IF_x T; POP_TOP (from 3.12 on) to jump_if_x_or_pop T, as versions up to 3.11
  // have it.
  void short_circuit(int at) {
    int test = skip(at + 1);
    if (code_[test].op == Op::to_bool_) test = skip(test + 1);
    int pop = skip(test + 1);
    if (code_[test].op != Op::pop_jump_if_false_ && code_[test].op != Op::pop_jump_if_true_) return;
    if (code_[pop].op != Op::pop_top_ || pop >= size()) return;
    for (int between = at + 1; between <= pop; ++between)
      if (targets_[between]) return;
    // If the jump leads to the POP_TOP of another short circuit, the tested value is dropped on both paths: `a and b or
    // c` tests `a` and jumps behind the POP_TOP of `or`. The POP_TOP that ends the statement `a or b` belongs to no
    // short circuit: it pops the value of the whole expression.
    if (int drop = skip(code_[test].target);
        code_[drop].op == Op::pop_top_ && drop > pop && drop + 1 < size() && follows_test(drop)) {
      --targets_[code_[test].target], ++targets_[drop + 1];
      code_[test].target = drop + 1;
      clear(at), clear(pop);
      return;
    }
    code_[test].op = code_[test].op == Op::pop_jump_if_false_ ? Op::jump_if_false_or_pop_ : Op::jump_if_true_or_pop_;
    for (int between = at; between < test; ++between) clear(between);
    clear(pop);
  }

  // True if the instruction `at` follows a conditional jump that tested a copy of a value, so that `at` pops the value
  // itself.
  bool follows_test(int at) const {
    auto before = [&](int from) {
      do --from;
      while (from > 0 && (code_[from].op == Op::nop_ || code_[from].op == Op::to_bool_));
      return std::max(from, 0);
    };
    const int jump = before(at);
    return is_conditional_jump(code_[jump].op) && code_[before(jump)].op == Op::copy_;
  }

  // Rewrites DUP_TOP; ROT_THREE of `a < b < c` to SWAP 2; COPY 2, as later versions have it.
  void chained_comparison(int at) {
    if (at < 1 || code_[at - 1].op != Op::copy_ || code_[at - 1].arg != 1 || targets_[at]) return;
    code_[at - 1].op = Op::swap_, code_[at - 1].arg = 2;
    code_[at].op = Op::copy_, code_[at].arg = 2;
  }

  // Rewrites ROT_THREE; ROT_TWO to SWAP 3, as later versions have it.
  void reverse(int at) {
    if (code_[at].op != Op::rotate_ || at + 1 >= size() || targets_[at + 1]) return;
    if (code_[at + 1].op != Op::swap_ || code_[at + 1].arg != 2) return;
    code_[at].op = Op::swap_, code_[at].arg = 3;
    clear(at + 1);
  }

  // Rewrites LOAD_CONST None; DUP_TOP; DUP_TOP; CALL_FUNCTION 3, the normal end of a with statement in 3.9 and 3.10, to
  // with_exit.
  void with_exit(int at) {
    if (at < 3 || code_[at - 3].op != Op::load_const_) return;
    for (int copy : {at - 2, at - 1})
      if (code_[copy].op != Op::copy_ || code_[copy].arg != 1 || targets_[copy]) return;
    const Constant& value = decoded_.constant(code_[at - 3].arg);
    if (value.kind != Constant::Kind::none || targets_[at]) return;
    for (int part = at - 3; part < at; ++part) clear(part);
    code_[at].op = Op::with_exit_, code_[at].arg = 0;
  }

  const DecodedCode& decoded_;
  const SurveyedOps& ops_;
  const Jumps& jumps_;
  const Row<Instruction, InstructionIndex> code_;
  Table<ProtectedRange>& ranges_;
  const int size_;  // number of instructions, which does not change
  Table<int> targets_;  // the number of jumps that lead to each instruction
  Table<char> drops_;  // nonzero where a handler starts whose ranges are removed; empty without ranges
  bool has_drops_ = false;   // true if `drops_` contains a nonzero element
  bool has_copies_ = false;  // true if `find_copies` left a COPY 1
  Table<int> ended_by_;  // maps an instruction to the range around it that END_ASYNC_FOR handles, or to -1
};

}  // namespace

bool simplify_idioms(const DecodedCode& decoded, const SurveyedOps& ops, const Jumps& jumps,
                     Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges) {
  return Simplifier(decoded, ops, jumps, code, ranges).run();
}

}  // namespace depyf
