// Chooses between forms of statements that compile to equal bytecode, such as an else clause and the statements behind
// an `if`. One rewrite of a block may enable another one, and all rewrites use the column of the block, so all rewrites
// are in one file. From 3.11 on, the columns of the bytecode's positions show how statements were indented, and so
// decide which form the source had. For example, a statement behind `if a: return b` may have been the else clause of
// the `if`. The body of `if a and b:` may have been the body of an `if b:` within `if a:`. In a loop, the body of `if
// c:` may have followed an `if not c: continue`.
#include <algorithm>
#include <utility>

#include "ast/equal.h"
#include "ast/visit.h"
#include "decode/instruction.h"
#include "depyf/constant.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "refine/statement_columns.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// True if `body`, the body of a loop, contains a `break` that ends this loop.
bool breaks_loop(Block body, int depth) {
  if (depth > search_limits::statement_nesting) return true;
  return std::ranges::any_of(body, [&](Stmt* stmt) {
    if (is<Break>(stmt)) return true;
    if (auto* inner = as<For>(stmt)) return breaks_loop(inner->orelse, depth + 1);
    if (auto* inner = as<While>(stmt)) return breaks_loop(inner->orelse, depth + 1);
    bool found = false;
    for_each_block(stmt, [&](Block& inner) { found = found || breaks_loop(inner, depth + 1); });
    return found;
  });
}

bool has_blocks(const Stmt* stmt) { return StmtKinds::of(stmt).has(StmtKinds::nesting()); }

// True if `stmt` is one of the statements that the compiler adds at the start of a class body with the column of the
// word `class`.
bool made_by_class(const Stmt* stmt) {
  auto* assign = as<Assign>(stmt);
  auto* name = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  return name && (name->id == "__module__" || name->id == "__qualname__" || name->id == "__firstlineno__" ||
                  name->id == "__type_params__" || name->id == "__classdict__");
}

// Rewrites the blocks of one code object.
class Indentation {
 public:
  Indentation(Context& context, const Scope& scope, Block body)
      : context_(context), columns_(*scope.decoded.code, body) {}

  Block run(Block body, bool function) {
    if (columns_.unit() == 0) return body;
    std::size_t first = 0;
    while (first + 1 < body.size() && made_by_class(body[first])) ++first;
    return block(body, columns_.of_first(body.subspan(first)), function ? Tail::function : Tail::none, 0);
  }

 private:
  // The code to which control goes at the end of a block: the next iteration of a loop, the end of the function, or
  // other code.
  enum class Tail : std::uint8_t { none, loop, function };

  // Removes the statements from `begin` up to `end`, and returns them as a block.
  Block take(std::vector<Stmt*>& statements, std::size_t begin, std::size_t end) {
    const auto first = statements.begin() + std::ptrdiff_t(begin), last = statements.begin() + std::ptrdiff_t(end);
    const Block taken = context_.arena.copy(std::vector<Stmt*>(first, last));
    statements.erase(first, last);
    return taken;
  }

  // Moves the statements behind the `if` at `index` that are indented further than the `if` into the else clause of the
  // `if`. The function is called only if control never reaches the end of the body of the `if`.
  void absorb(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* branch = as<If>(statements[index]);
    std::size_t end = index + 1;
    while (end < statements.size() && (columns_.of(statements[end]) > base || columns_.is_elif(statements[end], base)))
      ++end;
    if (end == index + 1) return;
    branch->orelse = take(statements, index + 1, end);
  }

  // Moves statements from the else clause of an `if` behind the `if`, if they are indented like the `if` itself.
  // Returns true if statements were moved.
  bool splice(std::vector<Stmt*>& statements, std::size_t index, int base, Tail behind) {
    auto* branch = as<If>(statements[index]);
    const bool goes = leaves(branch->body);
    if (!goes && !(behind == Tail::loop && index + 1 == statements.size())) return false;
    // The column of a `break` is unknown, but a `break` is moved without a check of its column, because few people
    // write `else: break` if control never reaches the end of the body of the `if`.
    const bool only_breaks = goes && branch->orelse.size() == 1 && is<Break>(branch->orelse[0]);
    // An `elif` at the start of the else clause is not moved.
    const std::size_t kept = branch->orelse.size() > 1 && columns_.is_elif(branch->orelse[0], base) ? 1 : 0;
    const Block behind_if = branch->orelse.subspan(kept);
    if (!only_breaks && !columns_.all_at(behind_if, base)) return false;
    for (const Stmt* stmt : behind_if)
      if (columns_.is_elif(stmt, base)) return false;
    if (!goes) branch->body = context_.arena.append(branch->body, context_.stmt(Continue{}));
    move_behind(statements, index, branch->orelse, kept);
    return true;
  }

  // If the body of an `if test:` at the end of a loop body is indented like the `if` itself, rewrites the `if` to `if
  // not test: continue`. If only the last statements of the body are indented like the `if`, adds `else: continue` and
  // moves these statements behind the `if`.
  void turn(std::vector<Stmt*>& statements, int base) {
    auto* branch = as<If>(statements.back());
    std::size_t kept = branch->body.size();
    while (kept > 0 && columns_.of(branch->body[kept - 1]) == base) --kept;
    const bool is_above = kept > 0 && columns_.all_at(branch->body.first(kept), base + columns_.unit());
    if (is_above && kept < branch->body.size()) {
      branch->orelse = context_.list({context_.stmt(Continue{})});
      return move_behind(statements, statements.size() - 1, branch->body, kept);
    }
    if (negation_changes(context_, branch->test)) return;
    for (const Stmt* stmt : branch->body)
      if (columns_.of(stmt) != base || stmt->line <= statements.back()->line) return;
    Block body = branch->body;
    branch->test = negate(context_, branch->test);
    branch->body = context_.list({context_.stmt(Continue{})});
    statements.insert(statements.end(), body.begin(), body.end());
  }

  // Moves a `return` or `break` at the end of a loop body into the `if` in front of the `return` or `break`. Nothing is
  // moved unless the body of the `if` ends in `continue` and has, according to the columns of the bytecode, the same
  // indentation as the `if` itself. For example, `if c: a(); continue` in front of a `return` becomes `if not c:
  // return` in front of `a()`.
  void leave_first(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* branch = as<If>(statements[index]);
    Stmt* leave = statements.back();
    if (!(is<Return>(leave) || is<Break>(leave)) || branch->body.size() < 2 || !is<Continue>(branch->body.back()))
      return;
    const Block body = branch->body.first(branch->body.size() - 1);
    if (body[0]->line <= statements[index]->line || !columns_.all_at(body, base)) return;
    if (negation_changes(context_, branch->test)) return;
    branch->test = negate(context_, branch->test);
    branch->body = context_.list({leave});
    statements.pop_back();
    statements.insert(statements.end(), body.begin(), body.end());
  }

  // Moves the else clause of a `try` behind the `try` if the clause is indented like the `try` itself and no handler
  // reaches its end. If the `try` is at the end of a loop body, a `continue` is added to handlers that reach their end.
  void splice_try(std::vector<Stmt*>& statements, std::size_t index, int base, Tail behind) {
    auto* attempt = as<Try>(statements[index]);
    if (attempt->orelse.empty() || !attempt->finalbody.empty()) return;
    if (!columns_.all_at(attempt->orelse, base)) return;
    std::vector<ExceptHandler> handlers(attempt->handlers.begin(), attempt->handlers.end());
    for (ExceptHandler& handler : handlers) {
      if (leaves(handler.body)) continue;
      if (behind != Tail::loop || index + 1 != statements.size()) return;
      if (handler.body.size() == 1 && is<Pass>(handler.body[0])) handler.body = {};
      handler.body = context_.arena.append(handler.body, context_.stmt(Continue{}));
    }
    attempt->handlers = context_.arena.copy(handlers);
    move_behind(statements, index, attempt->orelse, 0);
  }

  // Moves the statements behind a `try` that are indented like the body of the `try` into the else clause of the `try`.
  // Nothing is moved if control reaches the end of a handler, because an else clause runs only if control reaches the
  // end of the body.
  void absorb_behind_try(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* attempt = as<Try>(statements[index]);
    if (!attempt->orelse.empty() || !attempt->finalbody.empty() || leaves(attempt->body)) return;
    if (!std::ranges::all_of(attempt->handlers, [](const ExceptHandler& each) { return leaves(each.body); })) return;
    const int line = attempt->handlers.empty() ? -1 : last_line(attempt->handlers.back().body);
    std::size_t end = index + 1;
    while (end < statements.size() && columns_.of(statements[end]) == base + columns_.unit() &&
           first_line(statements[end]) > line)
      ++end;
    attempt->orelse = take(statements, index + 1, end);
  }

  // Moves a return of a constant from the end of the body of a `try` behind the `try`, if the return is indented like
  // the `try` itself and no handler reaches its end. A return of a constant cannot raise, so the `try` need not protect
  // it.
  void return_behind(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* attempt = as<Try>(statements[index]);
    if (attempt->body.size() < 2 || !attempt->orelse.empty() || !attempt->finalbody.empty()) return;
    auto* leave = as<Return>(attempt->body.back());
    if (!leave || (leave->value && !is<ConstantExpr>(leave->value)) || columns_.of(attempt->body.back()) != base)
      return;
    for (const ExceptHandler& handler : attempt->handlers)
      if (!leaves(handler.body) || handler.body.back()->line >= attempt->body.back()->line) return;
    statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, attempt->body.back());
    attempt->body = attempt->body.first(attempt->body.size() - 1);
  }

  // Moves a return of a constant from the ends of handlers behind the `try`, if the return is indented like the `try`
  // itself. The statements that were behind the `try` become its else clause. Nothing is moved unless the statements
  // behind the `try` are indented like the body of the `try`.
  void return_of_handlers(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* attempt = as<Try>(statements[index]);
    if (!attempt->orelse.empty() || !attempt->finalbody.empty() || index + 1 == statements.size()) return;
    Stmt* behind = nullptr;
    auto is_behind = [&](const Stmt* stmt) {
      auto* leave = as<Return>(stmt);
      return leave && (!leave->value || is<ConstantExpr>(leave->value)) && columns_.of(stmt) == base &&
             (!behind || (behind->line == stmt->line && equal(behind, stmt)));
    };
    for (const ExceptHandler& handler : attempt->handlers) {
      if (!leaves(handler.body)) return;
      if (is_behind(handler.body.back())) behind = handler.body.back();
    }
    if (!behind) return;
    const Block rest = Block(statements).subspan(index + 1);
    if (!leaves(rest) || behind->line <= last_line(rest) || !columns_.all_at(rest, base + columns_.unit())) return;
    std::vector<ExceptHandler> handlers(attempt->handlers.begin(), attempt->handlers.end());
    for (ExceptHandler& handler : handlers) {
      if (!is_behind(handler.body.back())) continue;
      handler.body = handler.body.first(handler.body.size() - 1);
      if (handler.body.empty()) handler.body = context_.list({context_.stmt(Pass{})});
    }
    attempt->handlers = context_.arena.copy(handlers);
    attempt->orelse = context_.arena.copy(rest.data(), rest.size());
    statements.resize(index + 1);
    statements.push_back(behind);
  }

  // Moves the statements behind a loop that are indented like the loop's body into the loop's else clause. A loop with
  // a `break` is not changed, because the `break` would skip the else clause.
  void absorb_behind_loop(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* counted = as<For>(statements[index]);
    auto* repeat = as<While>(statements[index]);
    Block& orelse = counted ? counted->orelse : repeat->orelse;
    const Block body = counted ? counted->body : repeat->body;
    if (!orelse.empty() || breaks_loop(body, 0) || body[0]->line <= statements[index]->line) return;
    if (repeat && constant_of(repeat->test, Constant::Kind::true_)) return;
    std::size_t end = index + 1;
    const int within = base + columns_.unit();
    auto is_within = [&](const Stmt* stmt) {
      auto* branch = as<If>(stmt);
      return columns_.of(stmt) == within &&
             (!branch || StatementColumns::is_behind_if(columns_.of_test(branch->test) - within));
    };
    while (end < statements.size() && is_within(statements[end])) ++end;
    orelse = take(statements, index + 1, end);
  }

  // Moves statements from the end of the body of an `if` behind the `if`, if they are indented like the `if` itself.
  // Nothing is moved unless control never reaches the end of the else clause, and the source has the else clause above
  // the statements that would be moved.
  void splice_body(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* branch = as<If>(statements[index]);
    if (branch->orelse.empty() || !leaves(branch->orelse)) return;
    std::size_t kept = branch->body.size();
    // The line of a `break` or `continue` is unknown, but the else clause with the `break` or `continue` takes at least
    // two lines.
    const Stmt* last = branch->orelse.back();
    const bool is_jump = is<Break>(last) || is<Continue>(last);
    const int line = !is_jump                    ? last->line
                     : branch->orelse.size() > 1 ? last_line(branch->orelse.first(branch->orelse.size() - 1))
                                                 : -1;
    while (kept > 1 && columns_.of(branch->body[kept - 1]) <= base && branch->body[kept - 1]->line > line) --kept;
    if (line < 0 && kept < branch->body.size() &&
        first_line(branch->body[kept]) <= last_line(branch->body.first(kept)) + 2)
      return;
    while (kept < branch->body.size() && columns_.of(branch->body[kept]) != base) ++kept;
    move_behind(statements, index, branch->body, kept);
  }

  // Moves the whole body of an `if` behind the `if` if the body has, according to the columns of the bytecode, the same
  // indentation as the `if` itself. Nothing is moved unless control never reaches the end of the else clause, and the
  // source has the else clause above the body. If the else clause is a `break`, `continue` or plain `return`, whose
  // line is unknown, nothing is moved unless a line between the test and the body is free for this statement. For
  // example, `if c: a()` with `else: break` becomes `if not c: break` in front of `a()`.
  void splice_whole_body(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* branch = as<If>(statements[index]);
    if (branch->orelse.empty() || !leaves(branch->orelse) || negation_changes(context_, branch->test)) return;
    const Stmt* leave = branch->orelse[0];
    auto* value = as<Return>(leave);
    const bool is_silent =
        is<Break>(leave) || is<Continue>(leave) ||
        (value && (!value->value || is_none(value->value)) && written_return(leave) != WrittenReturn::written);
    const int line = branch->body[0]->line;
    const bool is_first =
        is_silent ? branch->orelse.size() == 1 && line > last_line_of_test(branch->test, statements[index]->line) + 1
                  : leave->line >= 0 && leave->line < line;
    if (!is_first || !columns_.all_at(branch->body, base)) return;
    const Block behind = branch->body;
    branch->test = negate(context_, branch->test);
    branch->body = std::exchange(branch->orelse, {});
    statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, behind.begin(), behind.end());
  }

  // Joins `if a: if b:` to `if a and b:` if the inner body is indented by one unit only. Lifting does not join tests at
  // the end of a function, because the tests of `a and b` jump to separate copies of the return.
  void unite(If& branch, int base) {
    for (int count = 0; branch.body.size() == 1 && branch.orelse.empty() && count < search_limits::operand_nesting;
         ++count) {
      auto* inner = as<If>(branch.body[0]);
      if (!inner || !inner->orelse.empty() || inner->body.empty()) return;
      if (columns_.of_first(inner->body) != base + columns_.unit() || inner->body[0]->line <= branch.body[0]->line)
        return;
      std::vector<Expr*> values;
      for (Expr* part : {branch.test, inner->test}) {
        auto* chain = as<BoolOp>(part);
        if (chain && !chain->is_or) values.insert(values.end(), chain->values.begin(), chain->values.end());
        else values.push_back(part);
      }
      branch.test = context_.expr(BoolOp{false, context_.arena.copy(values)}, branch.test->offset, branch.test->line);
      branch.body = inner->body;
    }
  }

  // Restores `break` in a loop at the end of a function, where the compiler replaces the `break` by a return.
  void break_out(Block body, int depth) {
    for (Stmt* stmt : body) {
      if (written_return(stmt) == WrittenReturn::broke) stmt->node = Break{};
      if (depth > search_limits::statement_nesting || is<For>(stmt) || is<While>(stmt)) continue;
      // A `break` out of a try statement with a finally clause compiles to other bytecode than a return.
      if (auto* attempt = as<Try>(stmt); attempt && !attempt->finalbody.empty()) continue;
      for_each_block(stmt, [&](Block& inner) { break_out(inner, depth + 1); });
    }
  }

  // Exchanges the branches of an `if` and negates its test if the second branch comes first in the source.
  void exchange(If& branch, const Stmt* stmt) {
    if (branch.body.empty() || branch.orelse.empty() || negation_changes(context_, branch.test)) return;
    const Stmt *first = branch.body[0], *second = branch.orelse[0];
    if (second->line <= stmt->line || columns_.of(second) < 0) return;
    // A `break` or `continue`, whose line is unknown, is assumed to come second in the source if no line is free in
    // front of the other branch of the `if`.
    const bool jumps = is<Break>(first) || is<Continue>(first);
    if (jumps ? second->line - stmt->line > 1 : columns_.of(first) < 0 || first->line <= second->line) return;
    branch.test = negate(context_, branch.test);
    std::swap(branch.body, branch.orelse);
  }

  // Splits `if a and b:` into nested statements if the body is indented further than one unit. An operand starts the
  // test of a nested `if` if the operand begins a line, and its column fits a test behind the keyword of that `if`.
  void nest(Stmt* stmt, int base) {
    auto* branch = as<If>(stmt);
    auto* chain = as<BoolOp>(branch->test);
    if (!chain || chain->is_or || !branch->orelse.empty() || branch->body[0]->line <= stmt->line) return;
    const int inner = columns_.of(branch->body[0]);
    const int more = (inner - base) / columns_.unit() - 1;
    if (inner < 0 || more < 1 || (inner - base) % columns_.unit() != 0 || int(chain->values.size()) <= more) return;
    std::vector<std::size_t> cuts;
    for (std::size_t at = 1; at < chain->values.size(); ++at) {
      const Expr *one = innermost_left(chain->values[at - 1]), *two = innermost_left(chain->values[at]);
      const int keyword = base + columns_.unit() * (int(cuts.size()) + 1);
      if (two->line > one->line && StatementColumns::is_behind_if(columns_.of_test(chain->values[at]) - keyword))
        cuts.push_back(at);
    }
    if (int(cuts.size()) != more) return;
    List<Expr*> values = chain->values;
    // Build the nested statements from the inside out.
    Block body = branch->body;
    std::size_t end = values.size();
    for (std::size_t cut = cuts.size(); cut-- > 0;) {
      Expr* test = conjunction(values.subspan(cuts[cut], end - cuts[cut]));
      body = context_.list({context_.stmt(If{test, body, {}}, test->offset, innermost_left(test)->line)});
      end = cuts[cut];
    }
    branch->test = conjunction(values.first(end));
    branch->body = body;
  }

  // Splits `while a and b:` into a loop `while a:` whose body is `if b:` with `else: break`. The body must be indented
  // by two units, and `b` must begin a line at a column that fits the test of an `if` in the loop.
  void nest_in_loop(Stmt* stmt, int base) {
    auto* loop = as<While>(stmt);
    auto* chain = as<BoolOp>(loop->test);
    if (!chain || chain->is_or || !loop->orelse.empty() || loop->body[0]->line <= stmt->line) return;
    const int within = base + columns_.unit();
    if (columns_.of_first(loop->body) != within + columns_.unit()) return;
    const List<Expr*> values = chain->values;
    for (std::size_t at = 1; at < values.size(); ++at) {
      const Expr *one = innermost_left(values[at - 1]), *two = innermost_left(values[at]);
      if (two->line <= one->line || !StatementColumns::is_behind_if(columns_.of_test(values[at]) - within)) continue;
      Expr* test = conjunction(values.subspan(at));
      Stmt* branch =
          context_.stmt(If{test, loop->body, context_.list({context_.stmt(Break{})})}, test->offset, two->line);
      loop->test = conjunction(values.first(at));
      loop->body = context_.list({branch});
      return;
    }
  }

  Expr* conjunction(List<Expr*> values) {
    return values.size() == 1 ? values[0] : context_.expr(BoolOp{false, values}, values[0]->offset, values[0]->line);
  }

  // Rewrites a block whose statements are at column `base` (-1 if the column is unknown).
  Block block(Block body, int base, Tail behind, int depth) {
    const bool has_nested = std::ranges::any_of(body, has_blocks);
    return has_nested && depth <= search_limits::statement_nesting ? rewritten(body, base, behind, depth) : body;
  }

  Block rewritten(Block body, int base, Tail behind, int depth) {
    std::vector<Stmt*> statements(body.begin(), body.end());
    for (std::size_t index = 0; index < statements.size(); ++index) {
      Stmt* stmt = statements[index];
      if (!has_blocks(stmt)) continue;
      if (auto* branch = as<If>(stmt); branch && base >= 0 && !branch->body.empty()) {
        if (branch->orelse.empty() && leaves(branch->body)) {
          if (behind == Tail::loop && index + 2 == statements.size()) leave_first(statements, index, base);
          absorb(statements, index, base);
        }
        exchange(*branch, stmt);
        unite(*branch, base);
        splice_body(statements, index, base);
        splice_whole_body(statements, index, base);
        if (!branch->orelse.empty()) splice(statements, index, base, behind);
        else if (behind == Tail::loop && index + 1 == statements.size()) turn(statements, base);
        nest(stmt, base);
        choose_negation(context_, columns_, *branch, base);
        const Tail tail = index + 1 == statements.size() ? behind : Tail::none;
        branch->body = block(branch->body, base + columns_.unit(), tail, depth + 1);
        // An `elif` is not indented further than its `if`.
        const bool chained = !branch->orelse.empty() && columns_.is_elif(branch->orelse[0], base);
        branch->orelse = block(branch->orelse, chained ? base : base + columns_.unit(), tail, depth + 1);
        // Statements that were moved behind the `elif` may have to be moved behind the whole `if`.
        if (chained && branch->orelse.size() > 1) splice(statements, index, base, behind);
        continue;
      }
      if (is<Try>(stmt) && base >= 0) {
        absorb_behind_try(statements, index, base);
        splice_try(statements, index, base, behind);
        return_behind(statements, index, base);
        return_of_handlers(statements, index, base);
      }
      const bool looping = is<For>(stmt) || is<While>(stmt);
      if (looping && base >= 0) absorb_behind_loop(statements, index, base);
      if (is<While>(stmt) && base >= 0) nest_in_loop(stmt, base);
      bool first = true;
      // If a try statement is the last statement of a loop body, control goes from the ends of its handlers and its
      // else clause to the next iteration; without an else clause, also from the end of its body.
      auto* attempt = as<Try>(stmt);
      const bool goes_round =
          attempt && attempt->finalbody.empty() && behind == Tail::loop && index + 1 == statements.size();
      const bool body_goes_round = goes_round && attempt->orelse.empty();
      for_each_block(stmt, [&](Block& inner) {
        if (looping && first && behind == Tail::function && index + 1 == statements.size()) break_out(inner, 0);
        // A body on the line of its statement (`for a in b: c()`) has no indentation of its own.
        const bool below = base >= 0 && !inner.empty() && inner[0]->line > stmt->line;
        inner = block(inner, below ? base + columns_.unit() : columns_.of_first(inner),
                      (first ? looping || body_goes_round : goes_round) ? Tail::loop : Tail::none, depth + 1);
        first = false;
      });
    }
    return std::ranges::equal(statements, body) ? body : context_.arena.copy(statements);
  }

  Context& context_;
  const StatementColumns columns_;
};

}  // namespace

Block indentation(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  return Indentation(context, scope, body).run(body, scope.kind == Scope::Kind::function);
}

}  // namespace depyf
