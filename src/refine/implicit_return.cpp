// LOAD_CONST None; RETURN_VALUE at the end of a body is not written out:
//
//     if c:                 if c:
//         a()                   a()
//         return None       else:
//     b()                       b()        where that return stands on the line of a()
//     return None
#include "refine/refine.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int width_of_none = 4, width_of_break = 5;

bool returns_none(const Stmt* stmt) {
  auto* leave = as<Return>(stmt);
  if (!leave) return false;
  auto* constant = as<ConstantExpr>(leave->value);
  return !leave->value || (constant && constant->value->kind == Constant::Kind::none);
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

Block drop(Context& context, Block body, int depth) {
  std::vector<Stmt*> statements(body.begin(), body.end());
  if (!statements.empty() && returns_none(statements.back())) {
    // An explicit `return` stands on a line of its own; what is left empty needs it.
    statements.pop_back();
  }
  if (statements.empty() || depth > 200) return context.arena.copy(statements);
  // `if` with a return of its own before the rest: the rest is its else.
  for (std::size_t index = 0; index + 1 < statements.size(); ++index) {
    auto* branch = as<If>(statements[index]);
    if (!branch || !branch->orelse.empty() || branch->body.size() < 2 || !returns_none(branch->body.back())) continue;
    Stmt* leave = branch->body.back();
    Stmt* before = branch->body[branch->body.size() - 2];
    const bool of_before =
        leave->line >= 0 && leave->line == before->line && !is<If>(before) && !is<For>(before) && !is<While>(before);
    if (!of_before && written_return(leave) != WrittenReturn::implied) continue;
    std::vector<Stmt*> rest(statements.begin() + index + 1, statements.end());
    branch->orelse = context.arena.copy(rest);
    statements.resize(index + 1);
  }
  Stmt* last = statements.back();
  auto keep = [&](Block& inner) {
    if (inner.empty()) return;
    inner = drop(context, inner, depth + 1);
    if (inner.empty()) inner = context.list({context.stmt(Pass{})});
  };
  // The same at the end of the last statement's own blocks, where the return has no line of its own.
  // `next`: the line where the statement goes on.
  auto keep_implied = [&](Block& inner, int next) {
    if (inner.size() < 2 || !returns_none(inner.back())) return keep(inner);
    int line = inner.back()->line;
    if (written_return(inner.back()) == WrittenReturn::implied) return keep(inner);
    if (line < 0 || line <= inner[inner.size() - 2]->line || (next >= 0 && line >= next)) keep(inner);
  };
  if (auto* attempt = as<Try>(last)) {
    int next = -1;
    if (!attempt->finalbody.empty()) next = attempt->finalbody[0]->line;
    if (!attempt->handlers.empty() && !attempt->handlers[0].body.empty()) next = attempt->handlers[0].body[0]->line;
    if (attempt->orelse.empty()) keep_implied(attempt->body, next);
    else keep_implied(attempt->orelse, attempt->finalbody.empty() ? -1 : attempt->finalbody[0]->line);
    std::vector<ExceptHandler> handlers(attempt->handlers.begin(), attempt->handlers.end());
    for (ExceptHandler& handler : handlers)
      if (handler.body.size() > 1 || written_return(handler.body[0]) == WrittenReturn::implied)
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
    bool only_return = branch->body.size() == 1 && returns_none(branch->body[0]);
    if (!only_return) keep(branch->body);
    if (!(branch->orelse.size() == 1 && returns_none(branch->orelse[0]))) keep(branch->orelse);
    else branch->orelse = {};
  }
  return context.arena.copy(statements);
}

}  // namespace

namespace {
// `return None` is written out where the function returns other values too, if no column says that it was not, and may not be in
// an async generator.
void shorten(Context& context, Block body, const Scope& scope) {
  std::vector<Stmt*> empty;
  bool values = false;
  rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (Stmt* stmt : statements) {
      if (!is<Return>(stmt)) continue;
      if (returns_none(stmt)) empty.push_back(stmt);
      else values = true;
    }
  });
  const bool any = !values || (scope.decoded.code->flags & CodeObject::async_generator);
  for (Stmt* stmt : empty)
    if (any || stmt->width == width_of_return) stmt->node = Return{nullptr};
}
}  // namespace

Block implicit_return(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  body = drop(context, body, 0);
  shorten(context, body, scope);
  return body;
}

}  // namespace depyf
