// Joins copies of an end, which is a few last statements of a block that leave the function. The compiler copies a
// short end to each place from which control reaches the end, and src/structure also copies an end that only returns.
// All copies of one end have the position that the end has in the source. For example, if both returns of `if a: b();
// return x` and of the `c(); return x` behind it have one position, the source had `if a: b()` with `else: c()` in
// front of a single `return x`.
#include <cstdint>
#include <span>

#include "ast/equal.h"
#include "ast/visit.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// The largest number of statements in an end whose copies are searched for. The compiler copies ends of up to four
// instructions.
constexpr std::size_t longest_end = 4;

// Returns the line of the value that `stmt` returns; -1 if it returns no value. A return out of a `with` has the
// position of the `with`, so only the line of its value shows its place in the source.
std::int32_t value_line(const Stmt* stmt) {
  auto* leave = as<Return>(stmt);
  return leave && leave->value ? leave->value->line : -1;
}

// True if both statements are equal and have the same position.
bool is_same_statement(const Stmt* one, const Stmt* two) {
  return one->line >= 0 && one->line == two->line && one->column == two->column && one->width == two->width &&
         value_line(one) == value_line(two) && equal(one, two);
}

// True if `stmt` leaves the function and may be a statement of the source: a `raise` on a known line, a return of
// another value than None, or a return of None whose columns show that the source contains it.
bool is_end(const Stmt* stmt) {
  if (is<Raise>(stmt)) return stmt->line >= 0;
  auto* leave = as<Return>(stmt);
  if (!leave) return false;
  if (!leave->value || is_none(leave->value)) return written_return(stmt) == WrittenReturn::written;
  return true;
}

// True if two of the returns may be on one line. Only the remainders of the lines modulo 64 are compared, so the result
// may be true although no two returns are on one line.
bool share_line(std::span<Stmt* const> returns) {
  std::uint64_t seen = 0, shared = 0;
  for (const Stmt* stmt : returns) {
    const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::uint32_t>(stmt->line) % 64);
    shared |= seen & bit;
    seen |= bit;
  }
  return shared != 0;
}

// True if the blocks of `stmt` may end in copies of the statements behind `stmt`.
bool may_end_in_copy(const Stmt* stmt) { return StmtKinds::of(stmt).has(StmtKinds::of<If, Try, With>()); }

// Rewrites each block whose last statements have copies at the ends of earlier nested blocks.
class SharedEnds {
 public:
  explicit SharedEnds(Context& context) : context_(context) {}

  // Rewrites a block after its nested blocks.
  Block block(Block body) {
    for (Stmt* stmt : body)
      for_each_block(stmt, [&](Block& inner) {
        if (!inner.empty()) inner = block(inner);
      });
    if (body.size() < 2) return body;
    if (is<Continue>(body.back())) leave_out_else(body[body.size() - 2]);
    if (!is_end(body.back()) || std::ranges::none_of(body, may_end_in_copy)) return body;
    body = take_else(body);
    for (std::size_t size = 1; size <= longest_end && size < body.size(); ++size) {
      Stmt* stmt = body[body.size() - 1 - size];
      if (may_hold_copy(stmt, body.last(size))) leave_out(stmt, body.last(size), 0);
    }
    return body;
  }

 private:
  // True if `end` may be moved out of the protected body of a `try` or `with`, because `end` is only a return of None,
  // which cannot raise.
  static bool may_leave_body(Block end) {
    auto* leave = end.size() == 1 ? as<Return>(end[0]) : nullptr;
    return leave && (!leave->value || is_none(leave->value));
  }

  // True if the blocks of `stmt` may end in copies of `end`.
  static bool may_hold_copy(const Stmt* stmt, Block end) {
    return is<If>(stmt) || is<Try>(stmt) || (is<With>(stmt) && may_leave_body(end));
  }

  // Removes the else clause of `if a: b() else: continue` if a `continue` follows the `if`.
  static void leave_out_else(Stmt* stmt) {
    auto* branch = as<If>(stmt);
    if (branch && branch->orelse.size() == 1 && is<Continue>(branch->orelse[0])) branch->orelse = {};
  }

  // True if the last statements of `body` are copies of `end`.
  static bool ends_with(Block body, Block end) {
    return body.size() >= end.size() && std::ranges::equal(body.last(end.size()), end, is_same_statement);
  }

  // True if `end` has the line on which the try body starts. Statements behind a try statement have later lines than
  // the body of the try statement. An `end` on the line of the try body was therefore not behind the try statement in
  // the source, and no handler ends in a copy of that `end`. If `end` were moved out of a handler, `end` would run
  // after the exception has been handled.
  static bool is_on_its_line(const Try& attempt, Block end) {
    return !attempt.body.empty() && first_line(attempt.body[0]) == end[0]->line;
  }

  // True if some handler ends in a copy of `end`, so that the statements between the try statement and `end` are the
  // else clause of the try statement.
  static bool ends_handler(const Try& attempt, Block end) {
    if (!attempt.orelse.empty() || !attempt.finalbody.empty() || is_on_its_line(attempt, end)) return false;
    return std::ranges::any_of(attempt.handlers,
                               [&](const ExceptHandler& each) { return ends_with(each.body, end); }) &&
           std::ranges::all_of(attempt.handlers, [&](const ExceptHandler& each) { return leaves(each.body); });
  }

  // Searches `body` for an `if` or `try` with a copy of the last statement of `body`, at the end of the body of the
  // `if` or of a handler of the `try`. Moves the statements between the `if` or `try` and the last statement into the
  // else clause of the `if` or `try`.
  Block take_else(Block body) {
    Stmt* last = body.back();
    const Block end(&last, 1);
    for (std::size_t index = body.size() - 2; index-- > 0;) {
      const Block between = body.subspan(index + 1, body.size() - index - 2);
      if (auto* attempt = as<Try>(body[index]); attempt && ends_handler(*attempt, end)) {
        attempt->orelse = between;
        body = joined(body.first(index + 1), last);
        continue;
      }
      auto* branch = as<If>(body[index]);
      if (!branch || !branch->orelse.empty() || branch->body.size() < 2 || !ends_with(branch->body, end)) continue;
      branch->orelse = between;
      body = joined(body.first(index + 1), last);
      // The branch that comes first in the source becomes the body of the `if`.
      const int first = first_line(branch->body[0]), second = first_line(branch->orelse[0]);
      if (second >= 0 && second < first && !negation_changes(context_, branch->test)) {
        branch->test = negate(context_, branch->test);
        std::swap(branch->body, branch->orelse);
      }
    }
    return body;
  }

  Block joined(Block statements, Stmt* last) {
    std::vector<Stmt*> whole(statements.begin(), statements.end());
    whole.push_back(last);
    return context_.arena.copy(whole);
  }

  // Removes copies of `end`, the statements that follow `stmt`, from the ends of the branches of `stmt`.
  void leave_out(Stmt* stmt, Block end, int depth) {
    if (auto* branch = as<If>(stmt)) {
      branch->body = without(branch->body, end, depth);
      branch->orelse = without(branch->orelse, end, depth);
      if (branch->orelse.size() == 1 && is<Pass>(branch->orelse[0])) branch->orelse = {};
      // If the body of the `if` has become empty, the else clause becomes the body, and the test is negated.
      const bool is_turned = branch->body.size() == 1 && is<Pass>(branch->body[0]) && !branch->orelse.empty();
      if (is_turned && !negation_changes(context_, branch->test)) {
        branch->test = negate(context_, branch->test);
        branch->body = branch->orelse;
        branch->orelse = {};
      }
    }
    if (auto* with = as<With>(stmt)) with->body = without(with->body, end, depth);
    auto* attempt = as<Try>(stmt);
    if (!attempt || !attempt->finalbody.empty() || is_on_its_line(*attempt, end)) return;
    if (attempt->orelse.empty() && may_leave_body(end)) attempt->body = without(attempt->body, end, depth);
    std::vector<ExceptHandler> handlers(attempt->handlers.begin(), attempt->handlers.end());
    for (ExceptHandler& handler : handlers) handler.body = without(handler.body, end, depth);
    attempt->handlers = context_.arena.copy(handlers);
    attempt->orelse = without(attempt->orelse, end, depth);
    if (attempt->orelse.size() == 1 && is<Pass>(attempt->orelse[0])) attempt->orelse = {};
  }

  // Returns `body` without the copy of `end` at its end, and without copies at the ends of nested blocks.
  Block without(Block body, Block end, int depth) {
    if (body.empty() || depth > search_limits::statement_nesting) return body;
    if (!ends_with(body, end)) {
      if (may_hold_copy(body.back(), end)) leave_out(body.back(), end, depth + 1);
      return body;
    }
    body = body.first(body.size() - end.size());
    if (body.empty()) return context_.list({context_.stmt(Pass{})});
    if (may_hold_copy(body.back(), end)) leave_out(body.back(), end, depth + 1);
    return body;
  }

  Context& context_;
};

}  // namespace

Block shared_ends(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::function) return body;
  const bool may_have_copies = context.stmt_kinds.has(StmtKinds::of<Raise>()) || share_line(scope.returns);
  if (!may_have_copies && !context.stmt_kinds.has(StmtKinds::of<Continue>())) return body;
  SharedEnds ends(context);
  return ends.block(body);
}

}  // namespace depyf
