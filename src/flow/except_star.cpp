// The compiler emits the following code for a try statement with `except*` clauses (compiler_try_star_except in
// CPython's Python/compile.c).
//
//   The handler starts with PUSH_EXC_INFO; COPY 1; BUILD_LIST 0; SWAP 2 (3.12: BUILD_LIST 0; COPY 2).
//   A clause `except* T as e` starts with <T>; CHECK_EG_MATCH; COPY 1; POP_JUMP_IF_NONE unmatched; STORE e.
//   A clause `except* T` without a name has POP_TOP in place of STORE e.
//   The body of the clause is <body>; LOAD_CONST None; STORE e; DELETE e; JUMP next_clause.
//   The handler of the body is LOAD_CONST None; STORE e; DELETE e; LIST_APPEND 3; POP_TOP; JUMP next_clause.
//   If no exception matches T, control goes to the label `unmatched`: a POP_TOP in front of the next clause.
//   The code behind all clauses starts with LIST_APPEND 1; PREP_RERAISE_STAR; COPY 1; POP_JUMP_IF_NOT_NONE raise.
//   If all exceptions were handled, POP_TOP; POP_EXCEPT follows the jump to the label `raise`.
//   At the label `raise`, SWAP 2; POP_EXCEPT; RERAISE 0 raises the exceptions that no clause handled.
//
// The grammar forbids a `return`, `break` or `continue` that would leave the body of an `except*` clause. Because each
// body of an `except*` clause either raises or reaches the next clause, the jumps of the body to the next clause can be
// redirected to the POP_EXCEPT behind all clauses.
#include "flow/except_star.h"

#include "decode/op.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {
namespace {

// One clause of the statement, as indices of instructions.
struct Clause {
  int duplicate, test;  // COPY 1, and the jump behind CHECK_EG_MATCH
  int body, end;  // the instructions [body, end) of the body and the handler of its exceptions
  int next;  // the next clause
};

// Recognises and rewrites the handler of one except* statement.
class StarHandler {
 public:
  StarHandler(Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges, int handler)
      : code_(code), ranges_(ranges), handler_(handler) {}

  bool run() {
    if (!parse()) return false;
    for (int at : setup_) clear(at);
    for (const Clause& clause : clauses_) rewrite(clause);
    code_[unhandled_] = reraise(code_[unhandled_]);
    return true;
  }

 private:
  int size() const { return int(code_.size()); }
  void clear(int at) { code_[at].op = Op::nop_, code_[at].arg = code_[at].aux = 0, code_[at].target = -1; }
  static Instruction reraise(Instruction instruction) {
    instruction.op = Op::reraise_, instruction.arg = instruction.aux = 0, instruction.target = -1;
    return instruction;
  }
  // Returns the first instruction from `at` that is not a NOP.
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  // Returns the instruction that control reaches from `at` through NOPs and jumps.
  int follow(int at) const {
    for (int steps = 0; steps < search_limits::jump_chain && at >= 0 && at < size(); ++steps) {
      at = skip(at);
      if (code_[at].op != Op::jump_ || code_[at].target < 0) break;
      at = code_[at].target;
    }
    return at;
  }
  bool is(int at, Op op, int arg) const { return code_[at].op == op && code_[at].arg == arg; }
  bool is_prepare(int at) const { return is(at, Op::intrinsic_2_, static_cast<int>(Intrinsic2::prep_reraise_star)); }
  // True if `at` is the LIST_APPEND 1 that lies behind the last clause, in front of PREP_RERAISE_STAR.
  bool ends_clauses(int at) const { return is(at, Op::list_append_, 1) && follow(at + 1) == prepare_; }

  // Finds the clauses and the end of the statement. Returns false if the code is not that of an `except*` statement.
  bool parse() {
    int one = skip(handler_ + 1), two = skip(one + 1), three = skip(two + 1), at;
    if (is(one, Op::copy_, 1) && is(two, Op::build_list_, 0) && is(three, Op::swap_, 2))
      setup_ = {one, two, three}, at = three + 1;
    else if (is(one, Op::build_list_, 0) && is(two, Op::copy_, 2)) setup_ = {one, two}, at = two + 1;
    else return false;
    for (int count = 0; count < size(); ++count) {
      at = follow(at);
      if (is(at, Op::list_append_, 1)) break;
      Clause clause;
      // The type of an `except*` clause may be any expression that compiles without CHECK_EXC_MATCH, PUSH_EXC_INFO and
      // RETURN_VALUE.
      while (at < size() && code_[at].op != Op::check_eg_match_) {
        if (code_[at].op == Op::check_exc_match_ || code_[at].op == Op::push_exc_info_ ||
            code_[at].op == Op::return_value_)
          return false;
        ++at;
      }
      if (at >= size() - 4) return false;
      clause.duplicate = skip(at + 1), clause.test = skip(clause.duplicate + 1);
      if (!is(clause.duplicate, Op::copy_, 1) || code_[clause.test].op != Op::pop_jump_if_none_) return false;
      clause.body = skip(clause.test + 1) + 1, clause.end = skip(code_[clause.test].target);
      if (clause.end < clause.body || code_[clause.end].op != Op::pop_top_) return false;
      clause.next = at = follow(clause.end + 1);
      clauses_.push_back(clause);
      if (clause.next <= clause.test) return false;
    }
    if (clauses_.empty()) return false;
    unhandled_ = at, prepare_ = follow(at + 1);
    if (!is_prepare(prepare_)) return false;
    int copy = skip(prepare_ + 1), jump = skip(copy + 1), pop = skip(jump + 1);
    leave_ = skip(pop + 1);
    return is(copy, Op::copy_, 1) && code_[jump].op == Op::pop_jump_if_not_none_ && code_[pop].op == Op::pop_top_ &&
           code_[leave_].op == Op::pop_except_;
  }

  // Removes LOAD_CONST None; STORE name; DELETE name in front of `at`, which unbinds the name at the end of a clause.
  void unbind(int at, const Instruction& store) {
    int remove = before(at), none = before(remove), load = before(none);
    if (load < 0 || code_[load].op != Op::load_const_ || code_[none].op != store.op || code_[none].arg != store.arg)
      return;
    Op op = store.op == Op::store_fast_     ? Op::delete_fast_
            : store.op == Op::store_name_   ? Op::delete_name_
            : store.op == Op::store_global_ ? Op::delete_global_
                                            : Op::delete_deref_;
    if (!is(remove, op, store.arg)) return;
    clear(load), clear(none), clear(remove);
  }
  // Returns the last instruction in front of `at` that is not a NOP, or -1 if only NOPs precede `at`.
  int before(int at) const {
    do --at;
    while (at >= 0 && code_[at].op == Op::nop_);
    return at;
  }

  void rewrite(const Clause& clause) {
    clear(clause.duplicate);
    code_[clause.test].op = Op::pop_jump_if_false_;
    const Instruction store = code_[clause.body - 1];
    const int last = unhandled_;
    // The instructions at which control leaves the clause's body normally. From these instructions, control goes to the
    // next clause or, in the last clause, to the code that raises the collected exceptions.
    Table<int> ends;
    for (int at = clause.body; at < clause.end; ++at) {
      if (is_append(at)) continue;
      int target = code_[at].target;
      bool goes_on =
          target >= 0 && (follow(target) == clause.next || (clause.next == last && ends_clauses(follow(target))));
      if (goes_on && (target < clause.body || target >= clause.end || code_[at].op == Op::jump_)) ends.push_back(at);
      if (target < 0 && clause.next == last && ends_clauses(at)) ends.push_back(at);
    }
    for (int at : ends) {
      if (store.op != Op::pop_top_) unbind(at, store);
      if (code_[at].target < 0) clear(at), code_[at].op = Op::jump_;
      code_[at].target = leave_;
    }
    drop_cleanup(clause);
    clear(clause.end);
  }

  // True if LIST_APPEND 3; POP_TOP at `at` adds an exception that a clause's body raised to the list of exceptions.
  bool is_append(int at) const { return is(at, Op::list_append_, 3) && code_[skip(at + 1)].op == Op::pop_top_; }

  // Removes the handlers that append an exception raised in a clause's body to the list of collected exceptions. The
  // exception ranges of a removed handler lead to the handler around the except* statement instead. In the rewritten
  // form, the stack below a clause's body lacks three values of the original form: the original exception, the list
  // of collected exceptions, and the exceptions not handled yet.
  void drop_cleanup(const Clause& clause) {
    for (ProtectedRange& range : ranges_) {
      if (range.target < clause.body || range.target >= clause.end) continue;
      range.depth -= 3;
      int at = skip(range.target);
      if (code_[at].op == Op::load_const_) at = skip(skip(skip(at + 1) + 1) + 1);
      if (at >= clause.end || !is_append(at)) continue;
      const ProtectedRange* outer = nullptr;
      for (const ProtectedRange& other : ranges_)
        if (other.begin <= at && at < other.end && !outer) outer = &other;
      if (!outer) continue;
      range.target = outer->target, range.depth = outer->depth, range.lasti = outer->lasti;
    }
  }

  const Row<Instruction, InstructionIndex> code_;
  Table<ProtectedRange>& ranges_;
  // `unhandled_`: LIST_APPEND 1 behind the last clause; `prepare_`: PREP_RERAISE_STAR; `leave_`: the POP_EXCEPT behind
  // all clauses, which runs if no exception is left unhandled.
  int handler_, unhandled_ = -1, prepare_ = -1, leave_ = -1;
  // The instructions between PUSH_EXC_INFO and the first clause, which create the list of collected exceptions.
  Table<int> setup_;
  Table<Clause> clauses_;
};

}  // namespace

void simplify_except_star(Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges) {
  for (int at = 0; at < int(code.size()); ++at)
    if (code[at].op == Op::push_exc_info_) StarHandler(code, ranges, at).run();
}

}  // namespace depyf
