// [e for x in a]          <a>; GET_ITER
//                         LOAD_FAST_AND_CLEAR x; ...; SWAP n+1        n variables, put aside; [MAKE_CELL x; ...]
//                         BUILD_LIST 0; SWAP 2                        (3.15: GET_ITER here)
//                      F: FOR_ITER E; <body with LIST_APPEND>; JUMP F
//                      E: SWAP n+1; STORE_FAST x; ...                 the result lies on the stack
//                      H: SWAP 2; POP_TOP; SWAP n+1; STORE_FAST x; ...; RERAISE 0     protects F to E
//
// Where the result is stored or dropped at once, the compiler exchanges the stores at E instead of the values: the code
// there is run over symbols, and what takes the result comes last.
#include "flow/comprehensions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/exception_regions.h"
#include "flow/ranges.h"
#include "support/search_limits.h"

namespace depyf {
namespace {

class Outliner {
 public:
  Outliner(const DecodedCode& decoded, std::vector<Instruction>& code, std::vector<ProtectedRange>& ranges,
           std::vector<InlinedComprehension>& comprehensions)
      : decoded_(decoded), code_(code), ranges_(ranges), comprehensions_(comprehensions) {}

  void run() {
    drop_handlers(ranges_, code_.size(), [&](const ProtectedRange& range) { return is_cleanup(range.target); });
    for (int at = 0; at < size(); ++at) {
      if (!is_start(at)) continue;
      if (before_.empty()) find_before(), find_jumps();
      Found found;
      if (parse(at, found)) rewrite(found);
    }
  }

 private:
  struct Found {
    int build, loop, end;  // BUILD_LIST, FOR_ITER, where its loop ends
    std::vector<int> body;  // the loop, which need not be in one piece
    bool gets_iterator;
    std::vector<int> setup, variables, cleanup;  // instructions; slots; instructions
    int use = -1;  // takes the result
  };

  int size() const { return int(code_.size()); }
  int skip(int at) const {
    while (at < size() - 1 && code_[at].op == Op::nop_) ++at;
    return at;
  }
  void clear(int at) { code_[at].op = Op::nop_, code_[at].arg = code_[at].aux = 0, code_[at].target = -1; }
  bool is(int at, Op op, int arg) const { return at >= 0 && code_[at].op == op && code_[at].arg == arg; }

  // SWAP 2; POP_TOP; [SWAP n]; STORE_FAST ...; RERAISE 0
  bool is_cleanup(int at) const {
    at = skip(at);
    if (!is(at, Op::swap_, 2)) return false;
    at = skip(at + 1);
    if (code_[at].op != Op::pop_top_) return false;
    do at = skip(at + 1);
    while (code_[at].op == Op::swap_ || code_[at].op == Op::store_fast_);
    return is(at, Op::reraise_, 0);
  }

  void find_before() {
    before_.assign(code_.size(), -1);
    for (int at = 0, last = -1; at < size(); ++at) {
      before_[at] = last;
      if (code_[at].op != Op::nop_) last = at;
    }
  }

  // The jumps that can be reached: what handled the exceptions of an await or `async for` stands there still.
  void find_jumps() {
    std::vector<bool> seen(code_.size());
    std::vector<int> todo{0};
    for (const ProtectedRange& range : ranges_) todo.push_back(range.target);
    while (!todo.empty()) {
      int at = todo.back();
      todo.pop_back();
      if (at < 0 || at >= size() || seen[at]) continue;
      seen[at] = true;
      if (falls_through(code_[at].op)) todo.push_back(at + 1);
      if (code_[at].target < 0) continue;
      todo.push_back(code_[at].target);
      jumps_.push_back({code_[at].target, at});
    }
    std::sort(jumps_.begin(), jumps_.end());
  }

  // BUILD_LIST 0; SWAP 2
  bool is_start(int at) const {
    const Op op = code_[at].op;
    const bool builds = op == Op::build_list_ || op == Op::build_set_ || op == Op::build_map_;
    return builds && code_[at].arg == 0 && is(skip(at + 1), Op::swap_, 2);
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

  // What is around the loop must not be in it: the loop, taken out, would hold itself again.
  static bool is_apart(const Found& found) {
    auto in_body = [&](int at) { return std::ranges::binary_search(found.body, at); };
    return std::ranges::none_of(found.setup, in_body) && std::ranges::none_of(found.cleanup, in_body);
  }

  bool prologue(Found& found) const {
    int at = before_[found.build];
    if (at < 0 || code_[at].op != Op::swap_) return true;
    const int count = code_[at].arg - 1;
    std::vector<int> setup{at};
    int load = before_[at];
    for (; load >= 0 && (code_[load].op == Op::load_fast_and_clear_ || code_[load].op == Op::make_cell_);
         load = before_[load]) {
      if (int(found.variables.size()) == count && code_[load].op == Op::load_fast_and_clear_) break;
      setup.push_back(load);
      if (code_[load].op == Op::load_fast_and_clear_) found.variables.insert(found.variables.begin(), code_[load].arg);
    }
    if (int(found.variables.size()) == count) found.setup.insert(found.setup.end(), setup.begin(), setup.end());
    else found.variables.clear();  // a swap of something else
    return true;
  }

  // Is the loop entered and left at its two ends alone?
  bool closed(Found& found) const {
    std::vector<int> todo{found.loop + 1};
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

  bool epilogue(Found& found) const {
    const int count = int(found.variables.size());
    std::vector<int> stack;  // slots put aside, the result: -1
    // SWAP n+1 had exchanged the iterator below them with the last.
    if (count > 0) stack.push_back(found.variables.back());
    if (count > 1) stack.insert(stack.end(), found.variables.begin(), found.variables.end() - 1);
    stack.push_back(-1);
    int left = count;
    for (int at = found.end, steps = 0; left > 0; ++steps) {
      if (steps > search_limits::comprehension_end) return false;
      at = skip(at);
      if (at >= size() - 1 || (at != found.end && steps > 0 && entered(at, found))) return false;
      const Instruction& instruction = code_[at];
      int next = at + 1;
      if (instruction.op == Op::jump_ && instruction.target >= 0) {
        next = instruction.target;
      } else if (instruction.op == Op::swap_ && instruction.arg >= 2 && instruction.arg <= int(stack.size())) {
        std::swap(stack.back(), stack[stack.size() - instruction.arg]);
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

  // By something else than the jumps that were followed?
  bool entered(int at, const Found& found) const {
    auto jump = std::lower_bound(jumps_.begin(), jumps_.end(), std::pair(at, -1));
    for (; jump != jumps_.end() && jump->first == at; ++jump)
      if (jump->second != found.loop &&
          std::find(found.cleanup.begin(), found.cleanup.end(), jump->second) == found.cleanup.end())
        return true;
    return false;
  }

  void rewrite(const Found& found) {
    InlinedComprehension made;
    made.variables = found.variables;
    DecodedCode& body = made.body;
    body.code = decoded_.code, body.is_comprehension = true;
    body.localsplus = decoded_.localsplus, body.is_cell = decoded_.is_cell;
    body.cell_count = decoded_.cell_count, body.first_cell = decoded_.first_cell, body.first_free = decoded_.first_free;
    const int argument = int(body.localsplus.size());
    body.localsplus.push_back(".0"), body.is_cell.push_back(false);
    auto add = [&](Instruction instruction, Op op, int arg) {
      instruction.op = op, instruction.arg = arg, instruction.aux = 0, instruction.target = -1;
      body.instructions.push_back(instruction);
    };
    add(code_[found.build], code_[found.build].op, 0);
    add(code_[found.loop], Op::load_fast_, argument);
    add(code_[found.loop], code_[found.loop].aux == 2 ? Op::get_aiter_ : Op::get_iter_, 0);
    const int first = int(body.instructions.size());
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
      if (code_[at].op != Op::jump_) clear(at);
    if (found.use >= 0) code_[last] = use;
  }

  const DecodedCode& decoded_;
  std::vector<Instruction>& code_;
  std::vector<ProtectedRange>& ranges_;
  std::vector<InlinedComprehension>& comprehensions_;
  std::vector<int> before_;  // the instruction before that does something, -1: none
  std::vector<std::pair<int, int>> jumps_;  // target, source
};

}  // namespace

void outline_comprehensions(const DecodedCode& decoded, std::vector<Instruction>& code,
                            std::vector<ProtectedRange>& ranges, std::vector<InlinedComprehension>& comprehensions) {
  if (!dialect_of(decoded.code->version).inlined_comprehensions) return;
  Outliner(decoded, code, ranges, comprehensions).run();
}

}  // namespace depyf
