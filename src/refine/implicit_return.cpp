// Removes the returns of None that the compiler added at the ends of a function, by the code LOAD_CONST None;
// RETURN_VALUE. For example, if the return of `if c: a(); return None` has the line of a(), the compiler added this
// return. A statement `b()` that follows such an `if` was the else clause of the `if`.
#include "ast/visit.h"
#include "decode/instruction.h"
#include "dialect/dialect.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "refine/statement_columns.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// The lengths of the words `None` and `break`.
constexpr int width_of_none = 4, width_of_break = 5;

// True if `stmt` is `return` or `return None`.
bool returns_none(const Stmt* stmt) {
  auto* leave = as<Return>(stmt);
  return leave && (!leave->value || is_none(leave->value));
}

}  // namespace

WrittenReturn written_return(const Stmt* stmt) {
  if (!returns_none(stmt) || stmt->column < 0 || stmt->width < 0) return WrittenReturn::unknown;
  if (stmt->width == width_of_return) return WrittenReturn::written;
  // In an explicit `return None`, the `None` is seven columns to the right of the `return`, which is an odd column if
  // the indentation is even. A `pass`, which is as wide as `None`, is at an even column if the indentation is even.
  if (stmt->width == width_of_none && stmt->column % 2 == 1) return WrittenReturn::written;
  return stmt->width == width_of_break ? WrittenReturn::broke : WrittenReturn::implied;
}

namespace {

// True if `stmt` is or contains a definition or a statement without a known line (`break`, `continue`, `pass`).
bool has_silent(Stmt* stmt, int depth) {
  if (is<Pass>(stmt) || is<Break>(stmt) || is<Continue>(stmt) || is<FunctionDef>(stmt) || is<ClassDef>(stmt))
    return true;
  bool found = depth > search_limits::statement_nesting;
  for_each_block(stmt, [&](Block& inner) {
    for (Stmt* nested : inner) found = found || has_silent(nested, depth + 1);
  });
  return found;
}

// True if `stmt` is a copy of the return `leave`, or if a block nested in `stmt` ends in a copy of `leave`.
bool ends_in_copy(Stmt* stmt, const Stmt* leave, int depth) {
  if (returns_none(stmt) && stmt->line == leave->line && stmt->column == leave->column && stmt->width == leave->width)
    return true;
  bool found = false;
  if (depth > search_limits::statement_nesting) return false;
  for_each_block(
      stmt, [&](Block& inner) { found = found || (!inner.empty() && ends_in_copy(inner.back(), leave, depth + 1)); });
  return found;
}

// True if `leave`, the return of None at the end of a block, was a `return` statement of the source. A `return` of the
// source is on a line of its own, while a return that the compiler added has the line of the statement in front of it.
// If control goes from the end of the statement `before` to a `return` of the source, the compiler may copy the return
// into `before`.
bool stands_alone(const Stmt* leave, Stmt* before) {
  const WrittenReturn source = written_return(leave);
  if (source == WrittenReturn::implied || source == WrittenReturn::broke) return false;
  const bool is_written = source == WrittenReturn::written;
  if (leave->line < 0) return is_written;
  const int last = last_line({&before, 1});
  const bool is_copied = leave->line == last && is_written && ends_in_copy(before, leave, 0);
  if (leave->line <= last && !is_copied) return false;
  return is_written || !has_silent(before, 0);
}

// Restores the else clause of a try statement in 3.10. If a handler ends in a return that the compiler added, the code
// behind the try statement must have been the else clause. At the end of a function, CPython compiles a `try` that has
// `except E: pass` and `else: b()` to the bytecode of a `try` that has `except E: return` and is followed by `b()`;
// only the lines differ.
void else_of_try(Context& context, std::vector<Stmt*>& statements) {
  for (std::size_t index = 0; index + 1 < statements.size(); ++index) {
    auto* attempt = as<Try>(statements[index]);
    if (!attempt || attempt->handlers.empty() || !attempt->orelse.empty() || !attempt->finalbody.empty()) continue;
    bool falls = false, may_fall = false;
    int last = -1;
    for (const ExceptHandler& handler : attempt->handlers) {
      last = std::max(last, last_line(handler.body));
      if (!returns_none(handler.body.back())) continue;
      if (handler.body.size() == 1) may_fall = true;
      else falls |= !stands_alone(handler.body.back(), handler.body[handler.body.size() - 2]);
    }
    // The else clause starts two lines below the last handler, because `else:` takes a line.
    may_fall &= index + 2 == statements.size() && first_line(statements[index + 1]) == last + 2;
    if (!falls && !may_fall) continue;
    attempt->orelse =
        context.arena.copy(std::vector<Stmt*>(statements.begin() + std::ptrdiff_t(index) + 1, statements.end()));
    statements.resize(index + 1);
  }
}

// This function is called only for an `if` of a module or class, where the source cannot contain a `return`. Moves the
// code behind the `if` into one of its branches if the other branch ends in a return of None. Returns true if the code
// was moved.
bool into_branch(Context& context, std::vector<Stmt*>& statements, std::size_t index) {
  auto* branch = as<If>(statements[index]);
  const bool first = has_return(branch->body) && leaves(branch->body);
  if (!first && !(has_return(branch->orelse) && leaves(branch->orelse))) return false;
  Block& other = first ? branch->orelse : branch->body;
  if (leaves(other)) return false;
  std::vector<Stmt*> whole(other.begin(), other.end());
  whole.insert(whole.end(), statements.begin() + std::ptrdiff_t(index) + 1, statements.end());
  other = context.arena.copy(whole);
  statements.resize(index + 1);
  return true;
}

// The facts about a code object that show which returns the compiler added at the ends of the code object's blocks.
struct Ends {
  const StatementColumns& columns;
  bool may_be_written;  // true for functions, where `return` can be written
  // True in 3.10 for functions that return no value. At the end of a function of 3.10, `pass` and `return` in a handler
  // compile to the same code, and `pass` is the more frequent source.
  bool silent_handlers;
  bool have_clauses;  // true if the code object has an `if` or a `try`
};

// True if the statement `next` is indented like the `if` in front of it, so that `next` is no else clause. The
// indentation must be compared for a return out of a with statement, because the return has the line of the with
// statement. The line of the with statement does not show whether the source contains the return.
bool stands_at_if(const Ends& ends, const Stmt* branch, const Stmt* next) {
  const int test = ends.columns.of_test(as<If>(branch)->test), column = ends.columns.of(next);
  return test >= 0 && column >= 0 && StatementColumns::is_behind_if(test - column) &&
         !ends.columns.is_elif(next, column);
}

// Moves statements from the body of a block's last `if` behind the `if`, if the source has these statements below the
// else clause of the `if`. If the body of the `if` always leaves the block, the tree contains the return of the else
// clause behind the `if`. For example, if c() has a later line than the return, `if a: b(); c()` with `else: return`
// becomes `if a: b()` with `else: return` in front of `c()`.
void leave_behind_else(Context& context, std::vector<Stmt*>& statements) {
  if (statements.empty()) return;
  const bool is_behind = statements.size() > 1 && returns_none(statements.back());
  Stmt* stmt = is_behind ? statements[statements.size() - 2] : statements.back();
  auto* branch = as<If>(stmt);
  if (!branch || branch->orelse.size() != (is_behind ? 0 : 1) || (is_behind && !leaves(branch->body))) return;
  Stmt* leave = is_behind ? statements.back() : branch->orelse[0];
  if (!returns_none(leave) || leave->line <= stmt->line) return;
  const std::size_t kept = above_line(branch->body, leave->line);
  if (kept == 0 || kept == branch->body.size()) return;
  if (is_behind) branch->orelse = context.list({leave}), statements.pop_back();
  move_behind(statements, statements.size() - 1, branch->body, kept);
}

// True if the return of None at the end of `body` has no line, or a line that is not below the code in front of it.
bool is_on_line_before(Block body) { return body.back()->line <= last_line(body.first(body.size() - 1)); }

// Returns `body` without the return of None at its end, unless the source contains this return. `implied` is true if
// the compiler is known to have added the return of None at the end of `body`.
Block without_return(Block body, const Ends& ends, bool implied) {
  if (body.empty() || !returns_none(body.back())) return body;
  if (!implied && ends.may_be_written) {
    const bool is_written = body.size() > 1 ? stands_alone(body.back(), body[body.size() - 2])
                                            : written_return(body.back()) == WrittenReturn::written;
    if (is_written) return body;
  }
  return body.first(body.size() - 1);
}

// Moves the code behind an `if` into the else clause of the `if`, if the body of the `if` ends in a return that the
// compiler added.
void else_of_if(Context& context, std::vector<Stmt*>& statements, const Ends& ends, int with_line) {
  for (std::size_t index = 0; index + 1 < statements.size(); ++index) {
    auto* branch = as<If>(statements[index]);
    if (branch && !ends.may_be_written && into_branch(context, statements, index)) break;
    if (!branch || !branch->orelse.empty() || branch->body.size() < 2 || !returns_none(branch->body.back())) continue;
    const Stmt* leave = branch->body.back();
    if (leave->line >= 0 && leave->line == with_line && stands_at_if(ends, statements[index], statements[index + 1]))
      continue;
    const bool is_implied = written_return(leave) == WrittenReturn::implied;
    if (!is_implied && (leave->line < 0 || !is_on_line_before(branch->body))) continue;
    std::vector<Stmt*> rest(statements.begin() + std::ptrdiff_t(index) + 1, statements.end());
    branch->orelse = context.arena.copy(rest);
    statements.resize(index + 1);
  }
}

// Removes the return that the compiler added at the end of a block. Moves statements into or out of the branches of the
// block's `if` and `try` statements, where the returns in these branches show that the source had the statements
// elsewhere.
Block arranged(Context& context, Block body, const Ends& ends, int with_line, bool implied, bool is_deep) {
  std::vector<Stmt*> statements(body.begin(), body.end());
  if (ends.may_be_written) leave_behind_else(context, statements);
  statements.resize(without_return(statements, ends, implied).size());
  if (!is_deep) {
    else_of_if(context, statements, ends, with_line);
    if (ends.silent_handlers) else_of_try(context, statements);
  }
  return context.arena.copy(statements);
}

// Removes the returns that the compiler added at the end of a block and at the ends of the blocks nested in the block's
// last statement. `implied` is true if the compiler is known to have added the return at the end of `body`. `with_line`
// is the line of the enclosing with statement or the last line of the enclosing finally clause; -1 if no with statement
// or finally clause encloses the block.
Block drop(Context& context, Block body, const Ends& ends, int depth, int with_line = -1, bool implied = false) {
  const bool is_deep = depth > search_limits::statement_nesting;
  const auto may_have_clauses = [](const Stmt* stmt) { return StmtKinds::of(stmt).has(StmtKinds::of<If, Try>()); };
  const bool has_clauses = ends.have_clauses && std::ranges::any_of(body, may_have_clauses);
  body = has_clauses ? arranged(context, body, ends, with_line, implied, is_deep) : without_return(body, ends, implied);
  if (body.empty() || is_deep) return body;
  Stmt* last = body.back();
  if (is<With>(last)) with_line = last->line;
  // A block whose only statement is removed gets a `pass`.
  auto keep = [&](Block& inner, bool known = false) {
    if (inner.empty()) return;
    inner = drop(context, inner, ends, depth + 1, with_line, known);
    if (inner.empty()) inner = context.list({context.stmt(Pass{})});
  };
  // Removes the return at the end of `inner`, a block of the last statement, if the compiler seems to have added this
  // return. The compiler seems to have added a return if the columns of the return show it, or if the return has the
  // line of the statement in front of it or of code behind the block. `next` is the line of the code behind the block,
  // or -1 if it is unknown.
  auto keep_implied = [&](Block& inner, int next) {
    if (inner.size() < 2 || !returns_none(inner.back())) return keep(inner);
    if (written_return(inner.back()) == WrittenReturn::implied || (next >= 0 && inner.back()->line >= next) ||
        is_on_line_before(inner))
      keep(inner, true);
  };
  if (auto* attempt = as<Try>(last)) {
    int next = -1;
    if (!attempt->finalbody.empty()) next = attempt->finalbody[0]->line;
    if (!attempt->handlers.empty() && !attempt->handlers[0].body.empty()) next = attempt->handlers[0].body[0]->line;
    // If a return that the compiler added runs a finally clause first, the return has the last line of that clause.
    if (!attempt->finalbody.empty()) with_line = last_line(attempt->finalbody);
    if (attempt->orelse.empty()) keep_implied(attempt->body, next);
    else keep_implied(attempt->orelse, attempt->finalbody.empty() ? -1 : attempt->finalbody[0]->line);
    for (ExceptHandler& handler : attempt->handlers)
      if (handler.body.size() > 1 || written_return(handler.body[0]) == WrittenReturn::implied || ends.silent_handlers)
        keep_implied(handler.body, -1);
  }
  if (auto* with = as<With>(last)) keep_implied(with->body, -1);
  if (auto* match = as<Match>(last))
    for (MatchCase& each : match->cases) keep_implied(each.body, -1);
  if (auto* branch = as<If>(last)) {
    const bool only_return = ends.may_be_written && branch->body.size() == 1 && returns_none(branch->body[0]);
    // A return that has a line above the `if` was added by the compiler at the end of a statement around the `if`, for
    // example of the with statement in a final `with a: assert b`.
    const bool is_above = only_return && branch->body[0]->line >= 0 && branch->body[0]->line < first_line(last);
    if (!only_return || is_above) keep(branch->body, is_above);
    if (!(branch->orelse.size() == 1 && returns_none(branch->orelse[0]))) keep(branch->orelse);
    else if (!ends.may_be_written || written_return(branch->orelse[0]) != WrittenReturn::written) branch->orelse = {};
  }
  return body;
}

// Decides for each return of None between the forms `return` and `return None`. If the columns do not show which form
// the source has, `return None` is used in functions that also return other values, and at the end of any function. An
// asynchronous generator may only contain a `return` without a value. `has_values` is true if some return has a value
// other than None. `end` is the last statement of the function.
void shorten(bool has_values, const Stmt* end, const Scope& scope) {
  const bool never = scope.decoded.is_async_generator();
  for (Stmt* stmt : scope.returns) {
    if (!returns_none(stmt)) continue;
    const bool written = written_return(stmt) == WrittenReturn::written;
    // A return of None that was written at the end of a function is usually `return None`.
    const bool needless = written ? stmt->width == width_of_return : !has_values && stmt != end;
    if (never || needless) stmt->node = Return{nullptr};
  }
}

}  // namespace

Block implicit_return(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  const bool has_values = !std::ranges::all_of(scope.returns, returns_none);
  // The pass uses columns only for an `if` inside a with statement or a try statement with a finally clause, because a
  // return inside such a statement may run further code before it leaves the function.
  const bool needs_columns = context.stmt_kinds.has(StmtKinds::of<If>()) &&
                             (context.stmt_kinds.has(StmtKinds::of<With>()) || has_finally(scope.cfg));
  const StatementColumns columns(*scope.decoded.code, needs_columns ? body : Block());
  const Ends ends{columns, scope.kind == Scope::Kind::function,
                  dialect_of(scope.decoded.version).bare_return_is_else && !has_values,
                  context.stmt_kinds.has(StmtKinds::of<If, Try>())};
  body = drop(context, body, ends, 0);
  if (!body.empty()) shorten(has_values, body.back(), scope);
  return body;
}

}  // namespace depyf
