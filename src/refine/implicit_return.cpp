// LOAD_CONST None; RETURN_VALUE at the end of a body is not written out:
//
//     if c:                 if c:
//         a()                   a()
//         return None       else:
//     b()                       b()        where that return stands on the line of a()
//     return None
#include "decode/instruction.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int width_of_none = 4, width_of_break = 5;

bool returns_none(const Stmt* stmt) {
  auto* leave = as<Return>(stmt);
  return leave && (!leave->value || is_none(leave->value));
}

}  // namespace

WrittenReturn written_return(const Stmt* stmt) {
  if (!returns_none(stmt) || stmt->column < 0 || stmt->width < 0) return WrittenReturn::unknown;
  if (stmt->width == width_of_return) return WrittenReturn::written;
  // `None` stands behind `return `, at an odd column; a `pass` does not.
  if (stmt->width == width_of_none && stmt->column % 2 == 1) return WrittenReturn::written;
  return stmt->width == width_of_break ? WrittenReturn::broke : WrittenReturn::implied;
}

namespace {

// Does a `break` or a `pass` stand in `stmt`, whose line is unknown?
bool has_silent(Stmt* stmt, int depth) {
  if (is<Pass>(stmt) || is<Break>(stmt) || is<Continue>(stmt) || is<FunctionDef>(stmt) || is<ClassDef>(stmt))
    return true;
  bool found = depth > search_limits::statement_nesting;
  for_each_block(stmt, [&](Block& inner) {
    for (Stmt* nested : inner) found = found || has_silent(nested, depth + 1);
  });
  return found;
}

// Was the return of None at the end of a block written there? Then it stands on a line of its own: one that falls off the end has
// that of what comes before it.
bool stands_alone(const Stmt* leave, Stmt* before) {
  if (leave->line >= 0 && leave->line <= last_line({&before, 1})) return false;
  if (WrittenReturn written = written_return(leave); written != WrittenReturn::unknown)
    return written == WrittenReturn::written;
  return leave->line >= 0 && !has_silent(before, 0);
}

// 3.10: a handler that leaves the function by falling off its end, and what follows the statement: that is its else clause.
//
//     try: a()             try: a()
//     except E: pass       except E: return        the same, but for the line that `else:` takes
//     else: b()            b()
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
    may_fall &= index + 2 == statements.size() && first_line(statements[index + 1]) == last + 2;
    if (!falls && !may_fall) continue;
    attempt->orelse =
        context.arena.copy(std::vector<Stmt*>(statements.begin() + std::ptrdiff_t(index) + 1, statements.end()));
    statements.resize(index + 1);
  }
}

// Where nothing can be written, in a module or a class, what follows an `if` of which one branch ends so is in the other.
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

struct Ends {
  bool may_be_written;  // the code is a function's
  // 3.10 says the same of a `pass` and a `return` in a handler, and `pass` is what most handlers at the end of a function are
  // that returns no value.
  bool silent_handlers;
};

// `implied`: what the block ends in is known not to be written.
Block drop(Context& context, Block body, const Ends& ends, int depth, bool implied = false) {
  std::vector<Stmt*> statements(body.begin(), body.end());
  if (!statements.empty() && returns_none(statements.back())) {
    bool written = written_return(statements.back()) == WrittenReturn::written;
    if (statements.size() > 1) written = stands_alone(statements.back(), statements[statements.size() - 2]);
    if (implied || !written || !ends.may_be_written) statements.pop_back();
  }
  if (statements.empty() || depth > search_limits::statement_nesting) return context.arena.copy(statements);
  // `if` with a return of its own before the rest: the rest is its else.
  for (std::size_t index = 0; index + 1 < statements.size(); ++index) {
    auto* branch = as<If>(statements[index]);
    if (branch && !ends.may_be_written && into_branch(context, statements, index)) break;
    if (!branch || !branch->orelse.empty() || branch->body.size() < 2 || !returns_none(branch->body.back())) continue;
    const Stmt* leave = branch->body.back();
    const bool of_before = leave->line >= 0 && leave->line <= last_line(branch->body.first(branch->body.size() - 1));
    if (!of_before && written_return(leave) != WrittenReturn::implied) continue;
    std::vector<Stmt*> rest(statements.begin() + index + 1, statements.end());
    branch->orelse = context.arena.copy(rest);
    statements.resize(index + 1);
  }
  if (ends.silent_handlers) else_of_try(context, statements);
  Stmt* last = statements.back();
  auto keep = [&](Block& inner, bool known = false) {
    if (inner.empty()) return;
    inner = drop(context, inner, ends, depth + 1, known);
    if (inner.empty()) inner = context.list({context.stmt(Pass{})});
  };
  // The same at the end of the last statement's own blocks, where the return has no line of its own.
  // `next`: the line where the statement goes on.
  auto keep_implied = [&](Block& inner, int next) {
    if (inner.size() < 2 || !returns_none(inner.back())) return keep(inner);
    const int line = inner.back()->line;
    const bool of_before = line <= last_line(inner.first(inner.size() - 1));
    if (written_return(inner.back()) == WrittenReturn::implied || of_before || (next >= 0 && line >= next))
      keep(inner, true);
  };
  if (auto* attempt = as<Try>(last)) {
    int next = -1;
    if (!attempt->finalbody.empty()) next = attempt->finalbody[0]->line;
    if (!attempt->handlers.empty() && !attempt->handlers[0].body.empty()) next = attempt->handlers[0].body[0]->line;
    if (attempt->orelse.empty()) keep_implied(attempt->body, next);
    else keep_implied(attempt->orelse, attempt->finalbody.empty() ? -1 : attempt->finalbody[0]->line);
    std::vector<ExceptHandler> handlers(attempt->handlers.begin(), attempt->handlers.end());
    for (ExceptHandler& handler : handlers)
      if (handler.body.size() > 1 || written_return(handler.body[0]) == WrittenReturn::implied || ends.silent_handlers)
        keep_implied(handler.body, -1);
    attempt->handlers = context.arena.copy(handlers);
  }
  if (auto* with = as<With>(last)) keep_implied(with->body, -1);
  if (auto* match = as<Match>(last)) {
    std::vector<MatchCase> cases(match->cases.begin(), match->cases.end());
    for (MatchCase& each : cases) keep_implied(each.body, -1);
    match->cases = context.arena.copy(cases);
  }
  if (auto* branch = as<If>(last)) {
    bool only_return = ends.may_be_written && branch->body.size() == 1 && returns_none(branch->body[0]);
    if (!only_return) keep(branch->body);
    if (!(branch->orelse.size() == 1 && returns_none(branch->orelse[0]))) keep(branch->orelse);
    else branch->orelse = {};
  }
  return context.arena.copy(statements);
}

// `return None` is written out where the function returns other values too, if no column says that it was not, and may not be in
// an async generator.
void shorten(Context& context, Block body, const Scope& scope, bool values) {
  const bool never = (scope.decoded.code->flags & CodeObject::async_generator) != 0;
  rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (Stmt* stmt : statements) {
      if (!returns_none(stmt)) continue;
      const bool written = written_return(stmt) == WrittenReturn::written;
      // At the end of a function people write it out.
      const bool needless = written ? stmt->width == width_of_return : !values && stmt != body.back();
      if (never || needless) stmt->node = Return{nullptr};
    }
  });
}

bool returns_values(Block body) {
  return has_any(body, [](const Stmt* stmt) { return is<Return>(stmt) && !returns_none(stmt); });
}

}  // namespace

Block implicit_return(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  const bool values = returns_values(body);
  const Ends ends{scope.kind == Scope::Kind::function,
                  dialect_of(scope.decoded.code->version).bare_return_is_else && !values};
  body = drop(context, body, ends, 0);
  shorten(context, body, scope, values);
  return body;
}

}  // namespace depyf
