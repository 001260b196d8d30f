// Joins copies of the end of a function. The compiler copies a short end of a function to each place that leads to it,
// and structuring writes a copy of an end that only returns wherever control reaches it. All copies of an end have the
// position of the one statement in the source:
//
//     1 if a:              if a:
//     2     b()                b()
//     5     return x  ->   else:
//     4 c()                    c()
//     5 return x           return x
#include "ast/equal.h"
#include "ast/visit.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// The largest number of statements of a copied end: the compiler copies up to four instructions.
constexpr std::size_t longest_end = 4;

// Returns the line of the returned value; -1 if there is none. A return out of a `with` has the position of the `with`,
// and only the returned value has the position in the source.
std::int32_t value_line(const Stmt* stmt) {
  auto* leave = as<Return>(stmt);
  return leave && leave->value ? leave->value->line : -1;
}

// True if both statements are equal and have the same position.
bool is_same_statement(const Stmt* one, const Stmt* two) {
  return one->line >= 0 && one->line == two->line && one->column == two->column && one->width == two->width &&
         value_line(one) == value_line(two) && equal(one, two);
}

// True for a statement that leaves the function and has a position of its own.
bool is_end(const Stmt* stmt) {
  if (is<Raise>(stmt)) return stmt->line >= 0;
  auto* leave = as<Return>(stmt);
  if (!leave) return false;
  if (!leave->value || is_none(leave->value)) return written_return(stmt) == WrittenReturn::written;
  return true;
}

// True if the blocks of the statement may end in a copy of the statements behind it.
bool may_end_in_copy(const Stmt* stmt) { return StmtKinds::of(stmt).has(StmtKinds::of<If, Try, With>()); }

// Rewrites blocks whose last statements have copies in the nested blocks in front of them.
class SharedEnds {
 public:
  explicit SharedEnds(Context& context) : context_(context) {}

  // Rewrites a block, after the blocks nested in it.
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
  // True if `end` may be moved out of the protected body of a `try` or `with`: it is only a return of None, which
  // cannot raise.
  static bool may_leave_body(Block end) {
    auto* leave = end.size() == 1 ? as<Return>(end[0]) : nullptr;
    return leave && (!leave->value || is_none(leave->value));
  }

  // True if the blocks of the statement may end in copies of `end`.
  static bool may_hold_copy(const Stmt* stmt, Block end) {
    return is<If>(stmt) || is<Try>(stmt) || (is<With>(stmt) && may_leave_body(end));
  }

  // Removes the else clause of `if a: ... else: continue` in front of a `continue`.
  static void leave_out_else(Stmt* stmt) {
    auto* branch = as<If>(stmt);
    if (branch && branch->orelse.size() == 1 && is<Continue>(branch->orelse[0])) branch->orelse = {};
  }

  // True if the last statements of `body` are copies of `end`.
  static bool ends_with(Block body, Block end) {
    return body.size() >= end.size() && std::ranges::equal(body.last(end.size()), end, is_same_statement);
  }

  // True if `end` has the line of the try body, so that no handler can end in a copy of it: a statement behind the try
  // statement has a later line. Moving `end` out of a handler would execute it when the exception is not being handled
  // any more.
  static bool is_on_its_line(const Try& attempt, Block end) {
    return !attempt.body.empty() && first_line(attempt.body[0]) == end[0]->line;
  }

  // True if some handler ends in a copy of `end`, so that the statements between the `try` and `end` are its else
  // clause.
  static bool ends_handler(const Try& attempt, Block end) {
    if (!attempt.orelse.empty() || !attempt.finalbody.empty() || is_on_its_line(attempt, end)) return false;
    return std::ranges::any_of(attempt.handlers,
                               [&](const ExceptHandler& each) { return ends_with(each.body, end); }) &&
           std::ranges::all_of(attempt.handlers, [&](const ExceptHandler& each) { return leaves(each.body); });
  }

  // If the body of an `if` or a handler of a `try` ends in a copy of the last statement of the block, moves the
  // statements in front of the last one into the else clause.
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
      // The branch that comes first in the source is the body.
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

  // `stmt` is followed by the statements `end`: removes copies of `end` from the ends of the branches of `stmt`.
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

  // Returns `body` without a copy of `end` at its end, also in nested statements.
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
  SharedEnds ends(context);
  return ends.block(body);
}

}  // namespace depyf
