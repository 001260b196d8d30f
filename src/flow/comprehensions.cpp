// For an inlined comprehension such as `[e for x in a]`, of which n variables hide variables of the function, the
// compiler emits the following code (3.12 and later, push_inlined_comprehension_state in CPython's Python/compile.c).
//
//   The code in front of the comprehension ends in <a>; GET_ITER, but in 3.15 GET_ITER lies right in front of FOR_ITER.
//   LOAD_FAST_AND_CLEAR x; [MAKE_CELL x;] saves each of the n variables, and then SWAP n+1 puts the iterator on top.
//   BUILD_LIST 0; SWAP 2 puts the new list below the iterator.
//   The loop compiles to loop: FOR_ITER end; <body with LIST_APPEND>; JUMP loop; end: <code behind the loop>.
//   Behind the loop, SWAP n+1 and n times STORE_FAST restore the variables, whose values lie below the result.
//   The handler of the exceptions of the loop is SWAP 2; POP_TOP; SWAP n+1; n times STORE_FAST; RERAISE 0.
//
// If the result is stored or popped at once, the compiler reorders the stores behind the loop instead of emitting SWAP,
// so the code behind the loop is executed symbolically. The instruction that stores or pops the result is moved behind
// the stores that restore the variables.
#include "flow/comprehensions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "decode/op.h"
#include "decode/op_table.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "flow/ranges.h"
#include "flow/search.h"
#include "support/search_limits.h"
#include "support/shared_table.h"
#include "support/table.h"

namespace depyf {
namespace {

class Outliner {
 public:
  Outliner(const DecodedCode& decoded, Row<Instruction, InstructionIndex> code, Table<ProtectedRange>& ranges,
           Table<InlinedComprehension>& comprehensions)
      : decoded_(decoded), code_(code), ranges_(ranges), comprehensions_(comprehensions) {}

  void run() {
    drop_handlers(ranges_, code_.size(), [&](const ProtectedRange& range) { return is_cleanup(range.target); });
    for_each_marked(code_, builds_display, [&](int at) {
      if (!is_start(at)) return;
      if (!has_jumps_) find_jumps();
      Found found;
      if (parse(at, found)) rewrite(found);
    });
  }

 private:
  // An inlined comprehension that was recognised. All members are indices of instructions, if nothing else is stated.
  struct Found {
    int build, loop, end;  // BUILD_LIST, FOR_ITER, and the first instruction behind the loop
    // The instructions of the loop in ascending order, which need not be contiguous.
    Table<int> body;
    // True if the 3.15 form was found, where GET_ITER belongs to the comprehension.
    bool gets_iterator;
    Table<int> setup, variables, cleanup;  // `variables` contains slots of localsplus
    int use = -1;  // the instruction that stores or pops the result; -1 if the result is not used at once
  };

  static constexpr OpTable<bool> builds_display{false, {{{Op::build_list_, Op::build_set_, Op::build_map_}, true}}};

  int size() const { return int(code_.size()); }
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  void clear(int at) { code_[at].op = Op::nop_, code_[at].arg = code_[at].aux = 0, code_[at].target = -1; }
  bool is(int at, Op op, int arg) const { return at >= 0 && code_[at].op == op && code_[at].arg == arg; }

  // True if the code at `at` is the handler of an inlined comprehension:
  //
  //  SWAP 2; POP_TOP; [SWAP n]; STORE_FAST ...; RERAISE 0.
  bool is_cleanup(int at) const {
    at = skip(at);
    if (!is(at, Op::swap_, 2)) return false;
    at = skip(at + 1);
    if (code_[at].op != Op::pop_top_) return false;
    do at = skip(at + 1);
    while (code_[at].op == Op::swap_ || code_[at].op == Op::store_fast_);
    return is(at, Op::reraise_, 0);
  }

  // Returns the last instruction in front of `at` that is not a NOP, or -1 if only NOPs precede `at`.
  int before(int at) const {
    do --at;
    while (at >= 0 && code_[at].op == Op::nop_);
    return at;
  }

  // Fills `jumps_` with the jumps that can be reached. Unreachable jumps are left out: when `simplify_idioms` replaces
  // an await or `async for` by one operation, it also removes an exception range, and the jumps in the handler of this
  // range become unreachable.
  void find_jumps() {
    Table<bool> seen(code_.size());
    Table<int> todo{0};
    for (const ProtectedRange& range : ranges_) todo.push_back(range.target);
    while (!todo.empty()) {
      int at = todo.back();
      todo.pop_back();
      for (bool is_reached = true; is_reached && at >= 0 && at < size() && !seen[at]; ++at) {
        seen[at] = true;
        is_reached = falls_through(code_[at].op);
        if (code_[at].target < 0) continue;
        todo.push_back(code_[at].target);
        jumps_.push_back({code_[at].target, at});
      }
    }
    std::sort(jumps_.begin(), jumps_.end());
    has_jumps_ = true;
  }

  // True if the code at `at` is BUILD_LIST 0, BUILD_SET 0 or BUILD_MAP 0, followed by SWAP 2.
  bool is_start(int at) const {
    return builds_display[code_[at].op] && code_[at].arg == 0 && is(skip(at + 1), Op::swap_, 2);
  }

  bool parse(int at, Found& found) const {
    const int swap = skip(at + 1);
    found.build = at;
    found.loop = skip(swap + 1);
    found.gets_iterator = code_[found.loop].op == Op::get_iter_ || code_[found.loop].op == Op::get_aiter_;
    found.setup = {at, swap};
    if (found.gets_iterator) found.setup.push_back(found.loop), found.loop = skip(found.loop + 1);
    if (code_[found.loop].op != Op::for_iter_) return false;
    found.end = code_[found.loop].target;
    return found.end >= 0 && prologue(found) && closed(found) && epilogue(found) && is_apart(found);
  }

  // True if the setup and the cleanup of the comprehension lie outside of its loop. If the loop contained the setup or
  // the cleanup, the body that is moved out would contain the comprehension itself.
  static bool is_apart(const Found& found) {
    auto in_body = [&](int at) { return std::ranges::binary_search(found.body, at); };
    return std::ranges::none_of(found.setup, in_body) && std::ranges::none_of(found.cleanup, in_body);
  }

  // Finds the variables that LOAD_FAST_AND_CLEAR x; ...; SWAP n+1 saves in front of the comprehension.
  bool prologue(Found& found) const {
    int at = before(found.build);
    if (at < 0 || code_[at].op != Op::swap_) return true;
    const int count = code_[at].arg - 1;
    Table<int> setup{at};
    int load = before(at);
    for (; load >= 0 && (code_[load].op == Op::load_fast_and_clear_ || code_[load].op == Op::make_cell_);
         load = before(load)) {
      if (int(found.variables.size()) == count && code_[load].op == Op::load_fast_and_clear_) break;
      setup.push_back(load);
      if (code_[load].op == Op::load_fast_and_clear_) found.variables.insert(found.variables.begin(), code_[load].arg);
    }
    if (int(found.variables.size()) == count) found.setup.insert(found.setup.end(), setup.begin(), setup.end());
    // If fewer than n LOAD_FAST_AND_CLEAR lie in front of the SWAP n+1, the SWAP is not part of the comprehension, and
    // the comprehension saves no variables.
    else found.variables.clear();
    return true;
  }

  // Collects the instructions of the loop of the comprehension. Returns true if the loop can be entered only at
  // FOR_ITER, and left only when the iterator is exhausted.
  bool closed(Found& found) const {
    Table<int> todo{found.loop + 1};
    std::unordered_set<int> seen{found.loop};
    while (!todo.empty()) {
      int at = todo.back();
      todo.pop_back();
      if (at >= size() || at == found.end || code_[at].op == Op::return_value_) return false;
      if (!seen.insert(at).second) continue;
      if (code_[at].target >= 0) todo.push_back(code_[at].target);
      if (falls_through(code_[at].op)) todo.push_back(at + 1);
    }
    found.body.assign(seen.begin(), seen.end());
    std::sort(found.body.begin(), found.body.end());
    for (int at : found.body) {
      auto jump = std::lower_bound(jumps_.begin(), jumps_.end(), std::pair(at, -1));
      for (; jump != jumps_.end() && jump->first == at; ++jump)
        if (!seen.contains(jump->second)) return false;
    }
    return true;
  }

  // Follows the instructions behind the loop that restore the saved variables. Returns true if the code restores all
  // saved variables before it does anything else than storing or popping the result.
  bool epilogue(Found& found) const {
    const int count = int(found.variables.size());
    Table<int> stack;  // the slots of saved variables; -1 for the result
    // SWAP n+1 in the prologue exchanged the iterator, which lay below the n saved values, with the last saved value.
    if (count > 0) stack.push_back(found.variables.back());
    if (count > 1) stack.insert(stack.end(), found.variables.begin(), found.variables.end() - 1);
    stack.push_back(-1);
    int left = count;
    // Execute the epilogue symbolically until all variables are restored.
    for (int at = found.end, steps = 0; left > 0; ++steps) {
      if (steps > search_limits::comprehension_end) return false;
      at = skip(at);
      if (at >= size() - 1 || (at != found.end && steps > 0 && entered(at, found))) return false;
      const Instruction& instruction = code_[at];
      int next = at + 1;
      if (instruction.op == Op::jump_ && instruction.target >= 0) {
        next = instruction.target;
      } else if (instruction.op == Op::swap_ && instruction.arg >= 2 && instruction.arg <= int(stack.size())) {
        std::swap(stack.back(), stack.end()[-instruction.arg]);
      } else if (instruction.op == Op::store_fast_ && !stack.empty() && stack.back() == instruction.arg) {
        stack.pop_back(), --left;
      } else if ((is_store_name(instruction.op) || instruction.op == Op::pop_top_) && !stack.empty() &&
                 stack.back() == -1) {
        stack.pop_back(), found.use = at;
      } else {
        return false;
      }
      found.cleanup.push_back(at);
      at = next;
    }
    return true;
  }

  // True if any jump leads to `at`, apart from the FOR_ITER of the loop and the jumps of the cleanup.
  bool entered(int at, const Found& found) const {
    auto jump = std::lower_bound(jumps_.begin(), jumps_.end(), std::pair(at, -1));
    for (; jump != jumps_.end() && jump->first == at; ++jump)
      if (jump->second != found.loop &&
          std::find(found.cleanup.begin(), found.cleanup.end(), jump->second) == found.cleanup.end())
        return true;
    return false;
  }

  // Replaces the comprehension by one operation, and moves its loop into a DecodedCode.
  void rewrite(const Found& found) {
    InlinedComprehension made;
    made.variables = found.variables;
    DecodedCode& body = made.body;
    body.set_code(*decoded_.code), body.is_comprehension = true;
    body.cell_count = decoded_.cell_count, body.first_cell = decoded_.first_cell, body.first_free = decoded_.first_free;
    const int argument = int(decoded_.localsplus.size());
    if (names_.size() == 0) {
      names_ = decoded_.localsplus, names_.push_back(".0");
      is_cell_ = decoded_.is_cell, is_cell_.push_back(false);
    }
    body.localsplus = names_, body.is_cell = is_cell_;
    auto add = [&](Instruction instruction, Op op, int arg) {
      instruction.op = op, instruction.arg = arg, instruction.aux = 0, instruction.target = -1;
      body.instructions.push_back(instruction);
    };
    // The body starts like the functions that versions up to 3.11 emit for comprehensions: BUILD_LIST 0; LOAD_FAST .0;
    // GET_ITER.
    add(code_[found.build], code_[found.build].op, 0);
    add(code_[found.loop], Op::load_fast_, argument);
    add(code_[found.loop], code_[found.loop].aux == 2 ? Op::get_aiter_ : Op::get_iter_, 0);
    const int first = int(body.instructions.size());
    // Maps each instruction of the loop to its index in the body, and the end of the loop to the RETURN_VALUE that is
    // added last.
    std::unordered_map<int, int> place{{found.end, first + int(found.body.size())}};
    for (int index = 0; index < int(found.body.size()); ++index) place[found.body[index]] = first + index;
    for (int at : found.body) {
      body.instructions.push_back(code_[at]);
      if (code_[at].target >= 0) body.instructions.back().target = place[code_[at].target];
    }
    add(code_[found.loop], Op::return_value_, 0);

    const int index = int(comprehensions_.size());
    comprehensions_.push_back(std::move(made));
    Instruction made_of = code_[found.loop];
    made_of.op = Op::comprehension_, made_of.arg = index, made_of.aux = found.gets_iterator, made_of.target = -1;
    for (int at : found.setup) clear(at);
    for (int at : found.body) clear(at);
    code_[found.loop] = made_of;
    code_[found.loop + 1].op = Op::jump_, code_[found.loop + 1].target = found.end;
    if (found.cleanup.empty()) return;
    Instruction use;
    if (found.use >= 0) use = code_[found.use];
    const int last = found.cleanup.back();
    for (int at : found.cleanup)
      // The instruction that stores or pops the result is moved to the end of the cleanup, behind the stores that
      // restore the variables.
      if (code_[at].op != Op::jump_) clear(at);
    if (found.use >= 0) code_[last] = use;
  }

  const DecodedCode& decoded_;
  const Row<Instruction, InstructionIndex> code_;
  Table<ProtectedRange>& ranges_;
  Table<InlinedComprehension>& comprehensions_;
  Table<std::pair<int, int>> jumps_;  // pairs of target and source, sorted
  bool has_jumps_ = false;  // true once `jumps_` is filled
  // The names of the variables of each comprehension body: those of the function and `.0`; empty until the first
  // comprehension is found.
  SharedTable<std::string_view> names_;
  SharedFlags is_cell_;
};

}  // namespace

void outline_comprehensions(const DecodedCode& decoded, Row<Instruction, InstructionIndex> code,
                            Table<ProtectedRange>& ranges, Table<InlinedComprehension>& comprehensions) {
  if (!dialect_of(decoded.version).inlined_comprehensions) return;
  Outliner(decoded, code, ranges, comprehensions).run();
}

}  // namespace depyf
