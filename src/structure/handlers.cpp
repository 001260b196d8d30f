// Turns the code of a handler into except clauses. For example, `if <exc_match A>: bind_exception name; body;
// pop_except else: bind_exception; rest` becomes `except A as name: body` and `except: rest`. The marker `reraise` at
// the end of a handler, which control reaches if no clause matched, becomes no code.
#include "structure/handlers.h"
#include "ast/visit.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

namespace {
using Statements = Table<Stmt*>;

// Returns the statement if it is a marker of the kind `wanted`; otherwise null.
const InternalStmt* marker(const Stmt* stmt, StmtMarker wanted) {
  auto* internal = as<InternalStmt>(stmt);
  return internal && internal->marker == wanted ? internal : nullptr;
}
// True if `statements` contains only the marker that raises the exception again because no clause matched.
bool ends_clauses(const Table<Stmt*>& statements) {
  return statements.size() == 1 && marker(statements[0], StmtMarker::reraise);
}
}  // namespace

// Each `if` that tests an exception type becomes an except clause, and its else branch contains the next clauses.
Table<ExceptHandler> except_clauses(Context& context, const Statements& body) {
  Table<ExceptHandler> clauses;
  Statements rest = body;
  // An except clause needs at least one statement in its body.
  auto pass = [&](Statements statements) {
    if (statements.empty()) statements.push_back(context.stmt(Pass{}));
    return context.arena.copy(statements);
  };
  while (!rest.empty() && !ends_clauses(rest)) {
    auto* branch = as<If>(rest[0]);
    auto* match = branch ? as<Internal>(branch->test) : nullptr;
    if (match && (match->marker == Marker::exc_match || match->marker == Marker::eg_match)) {
      if (rest.size() != 1) throw InternalError{"a handler goes on after its clauses", rest[1]->offset};
      ExceptHandler clause{match->value, {}, {}};
      Statements inner(branch->body.begin(), branch->body.end());
      if (!inner.empty())
        if (auto* bind = marker(inner[0], StmtMarker::bind_exception)) {
          if (bind->value) clause.name = as<Name>(bind->value)->id;
          inner.erase(inner.begin());
        }
      clause.body = pass(inner);
      clauses.push_back(clause);
      rest.assign(branch->orelse.begin(), branch->orelse.end());
      continue;
    }
    // Statements without a test of an exception type form a bare except clause.
    ExceptHandler clause{nullptr, {}, {}};
    Statements inner = rest;
    if (auto* bind = marker(inner[0], StmtMarker::bind_exception)) {
      if (bind->value) {
        // A bare except cannot bind a name, but `except BaseException as e` has the same effect.
        clause.type = context.name("BaseException");
        clause.name = as<Name>(bind->value)->id;
      }
      inner.erase(inner.begin());
    }
    clause.body = pass(inner);
    clauses.push_back(clause);
    break;
  }
  // A handler that only raises the exception again becomes `except: raise`, because a try statement needs a clause.
  if (clauses.empty()) {
    ExceptHandler clause{nullptr, {}, context.list({context.stmt(Raise{nullptr, nullptr})})};
    clauses.push_back(clause);
  }
  return clauses;
}

// In a finally clause, the marker that pops the exception is a `bind_exception` without a name.
Statements without_exception(Context& context, const Statements& body) {
  Statements result;
  for (Stmt* stmt : body) {
    if (auto* bind = marker(stmt, StmtMarker::bind_exception); bind && !bind->value) continue;
    for_each_block(stmt, [&](Block& inner) {
      if (inner.empty()) return;
      Statements kept = without_exception(context, {inner.begin(), inner.end()});
      if (kept.empty()) kept.push_back(context.stmt(Pass{}));
      inner = context.arena.copy(kept);
    });
    result.push_back(stmt);
  }
  return result;
}

// Removes the markers of cleanup code that try and with statements execute implicitly. Each remaining reraise marker
// becomes a bare `raise`.
Block clean(Context& context, Block statements) {
  std::size_t kept = 0;
  for (Stmt* stmt : statements) {
    if (auto* internal = as<InternalStmt>(stmt)) {
      switch (internal->marker) {
        case StmtMarker::pop_except:
        case StmtMarker::with_exit: continue;
        case StmtMarker::reraise:
          stmt->node = Raise{nullptr, nullptr};
          context.stmt_kinds.add(stmt->node);
          break;
        case StmtMarker::bind_exception: throw InternalError{"an exception bound outside its handler", stmt->offset};
        case StmtMarker::annotated:
        case StmtMarker::annotate:
        case StmtMarker::append:
        case StmtMarker::other: break;
      }
    }
    for_each_block(stmt, [&](Block& inner) {
      if (inner.empty()) return;
      inner = clean(context, inner);
      // A block that has lost all of its statements needs a `pass`.
      if (inner.empty()) inner = context.list({context.stmt(Pass{})});
    });
    statements[kept++] = stmt;
  }
  return statements.first(kept);
}

}  // namespace depyf
