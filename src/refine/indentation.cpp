// Chooses between forms that compile to equal bytecode. From 3.11 on, the columns of the bytecode's positions show how
// statements were indented:
//
//     if a:                if a:                     if a and b:            if a:
//         return b    or       return b                  c()           or       if b:
//     c()                  else:                                                    c()
//                              c()
//
//     for a in b:          for a in b:
//         if c:       or       if not c:
//             d()                  continue
//                              d()
#include <algorithm>

#include "ast/position.h"
#include "ast/visit.h"
#include "decode/instruction.h"
#include "depyf/code_object.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

// Returns the operand of a test that stands first in the source.
const Expr* innermost_left(const Expr* test) {
  for (int depth = 0; depth < search_limits::operand_nesting; ++depth) {
    if (auto* chain = as<BoolOp>(test)) test = chain->values[0];
    else if (auto* unary = as<UnaryExpr>(test); unary && unary->op == UnaryOp::not_) test = unary->operand;
    else break;
  }
  return test;
}

constexpr int behind_return = 7;  // the length of `return `
constexpr int behind_with = 5, behind_async_with = 11;  // the lengths of `with ` and `async with `

// Rewrites the blocks of one code object.
class Indentation {
 public:
  Indentation(Context& context, const Scope& scope) : context_(context), code_(*scope.decoded.code) {}

  Block run(Block body, bool function) {
    collect(body, 0);
    if (columns_.empty()) return body;
    const int least = *std::min_element(columns_.begin(), columns_.end());
    for (int unit : {4, 2, 3, 1}) {
      // The unit of indentation is the largest of these of which most columns are multiples. A quarter may be wrong,
      // because CPython attributes some positions to a neighbouring statement.
      unit_ = unit;
      if (4 * std::ranges::count_if(columns_, [&](int at) { return (at - least) % unit == 0; }) >=
          3 * std::ssize(columns_))
        break;
    }
    return block(body, first_column(body), function ? Tail::function : Tail::none, 0);
  }

 private:
  // What follows a block: the next round of a loop, or the end of the function.
  enum class Tail : std::uint8_t { none, loop, function };

  // Collects the columns of all statements.
  void collect(Block body, int depth) {
    if (depth > search_limits::statement_nesting) return;
    for (Stmt* stmt : body) {
      if (const int at = stmt->column >= 0 ? column(stmt) : -1; at >= 0) columns_.push_back(at);
      for_each_block(stmt, [&](Block& inner) { collect(inner, depth + 1); });
    }
  }

  // Returns the column of a statement that is the first on its line; -1 if it is unknown.
  int column(const Stmt* stmt, int depth = 0) const {
    if (auto* leave = as<Return>(stmt); leave && (!leave->value || is<ConstantExpr>(leave->value))) {
      if (!leave->value || written_return(stmt) != WrittenReturn::unknown)
        return written_return(stmt) != WrittenReturn::written ? -1
               : stmt->width == width_of_return               ? stmt->column
                                                              : stmt->column - behind_return;
      return stmt->column < behind_return ? -1 : stmt->column - behind_return;  // the column of the constant
    }
    // A return out of a finally clause may have the position of the clause's end.
    if (auto* leave = as<Return>(stmt); leave && leave->value->line != stmt->line) return -1;
    if (stmt->column >= 0) return stmt->column;
    // A with statement has no position of its own, but its first context manager has one.
    if (auto* with = as<With>(stmt)) {
      const Expr* context = with->items[0].context_expr;
      const int behind = with->is_async ? behind_async_with : behind_with;
      if (const int at = context->line == stmt->line ? position_of(context) - behind : -1; at >= 0) return at;
    }
    int found = -1;
    if (depth > search_limits::statement_nesting_searched) return -1;
    // Otherwise the column follows from the first statement of its body.
    for_each_block(const_cast<Stmt*>(stmt), [&](Block& inner) {
      if (found >= 0 || inner.empty() || inner[0]->line <= stmt->line) return;
      const int within = column(inner[0], depth + 1);
      if (within >= unit_) found = within - unit_;
    });
    // The body of `if a and b` may be indented further, because the source had nested statements (see `nest`).
    if (auto* branch = as<If>(stmt); branch && unit_ > 0 && found >= unit_ && is<BoolOp>(branch->test)) {
      for (int outer = found; outer >= 0; outer -= unit_)
        if (is_behind_if(test_column(branch->test) - outer) || is_behind_elif(test_column(branch->test) - outer))
          return outer;
    }
    return found;
  }
  // Returns the column of the first statement of a block; -1 if it is unknown.
  int first_column(Block body) const { return body.empty() ? -1 : column(body[0]); }

  // Returns the column where the first operand of a test begins; -1 if it is unknown.
  int test_column(const Expr* test) const { return position_of(innermost_left(test)); }
  int position_of(const Expr* expr) const {
    const Position* position = position_in(code_, expr);
    return position ? position->column : -1;
  }

  // True if a test may stand so many columns behind the start of `if`: behind `if `, `if (`, `if not ` or `if not (`.
  static bool is_behind_if(int columns) { return columns == 3 || columns == 4 || columns == 7 || columns == 8; }
  // The same behind `elif`, which is two columns longer.
  static bool is_behind_elif(int columns) { return is_behind_if(columns - 2); }

  // True if the test of the statement stands where it does behind an `elif` at column `base`.
  bool is_elif(const Stmt* stmt, int base) const {
    auto* branch = as<If>(stmt);
    if (!branch) return false;
    return is_behind_elif(test_column(branch->test) - base);
  }

  // True if all statements of which the column is known stand at `base`, and it is known of at least one.
  bool stands_at(Block statements, int base) const {
    bool told = false;
    for (const Stmt* stmt : statements) {
      const int at = column(stmt);
      if (at >= 0 && at != base) return false;
      told |= at >= 0;
    }
    return told;
  }

  // Moves the statements that are indented further than the `if` at `index`, whose body leaves, into its else clause.
  void absorb(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* branch = as<If>(statements[index]);
    std::size_t end = index + 1;
    while (end < statements.size() && (column(statements[end]) > base || is_elif(statements[end], base))) ++end;
    if (end == index + 1) return;
    const auto first = statements.begin() + std::ptrdiff_t(index) + 1, last = statements.begin() + std::ptrdiff_t(end);
    branch->orelse = context_.arena.copy(std::vector<Stmt*>(first, last));
    statements.erase(first, last);
  }

  // Moves statements that are indented like the `if` itself from its else clause behind it. Returns true if it did.
  bool splice(std::vector<Stmt*>& statements, std::size_t index, int base, Tail behind) {
    auto* branch = as<If>(statements[index]);
    const bool goes = leaves(branch->body);
    if (!goes && !(behind == Tail::loop && index + 1 == statements.size())) return false;
    // The column of a `break` is unknown. Behind a body that leaves, few people write `else:` in front of a break.
    const bool only_breaks = goes && branch->orelse.size() == 1 && is<Break>(branch->orelse[0]);
    if (!only_breaks && !stands_at(branch->orelse, base)) return false;
    for (const Stmt* stmt : branch->orelse)
      if (is_elif(stmt, base)) return false;
    if (!goes) branch->body = context_.arena.append(branch->body, context_.stmt(Continue{}));
    statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, branch->orelse.begin(), branch->orelse.end());
    branch->orelse = {};
    return true;
  }

  // Rewrites the `if` at the end of a loop whose body is indented like the `if`: it was `if not test: continue`.
  void turn(std::vector<Stmt*>& statements, int base) {
    auto* branch = as<If>(statements.back());
    if (negation_changes(context_, branch->test)) return;
    for (const Stmt* stmt : branch->body)
      if (column(stmt) != base || stmt->line <= statements.back()->line) return;
    Block body = branch->body;
    branch->test = negate(context_, branch->test);
    branch->body = context_.list({context_.stmt(Continue{})});
    statements.insert(statements.end(), body.begin(), body.end());
  }

  // Moves the statement that leaves the loop at its end in front of the body of the `if`, if that body goes on and is
  // indented like the `if`:
  //
  //     if c:               if not c:
  //         a()                 return
  //         continue  ->    a()
  //     return
  void leave_first(std::vector<Stmt*>& statements, std::size_t index, int base) {
    auto* branch = as<If>(statements[index]);
    Stmt* leave = statements.back();
    if (!(is<Return>(leave) || is<Break>(leave)) || branch->body.size() < 2 || !is<Continue>(branch->body.back()))
      return;
    const Block body = branch->body.first(branch->body.size() - 1);
    if (body[0]->line <= statements[index]->line || !stands_at(body, base)) return;
    if (negation_changes(context_, branch->test)) return;
    branch->test = negate(context_, branch->test);
    branch->body = context_.list({leave});
    statements.pop_back();
    statements.insert(statements.end(), body.begin(), body.end());
  }

  // Moves statements that are indented like the `try` itself from its else clause behind it. This needs handlers that
  // leave.
  void splice_try(std::vector<Stmt*>& statements, std::size_t index, int base, Tail behind) {
    auto* attempt = as<Try>(statements[index]);
    if (attempt->orelse.empty() || !attempt->finalbody.empty()) return;
    if (!stands_at(attempt->orelse, base)) return;
    std::vector<ExceptHandler> handlers(attempt->handlers.begin(), attempt->handlers.end());
    for (ExceptHandler& handler : handlers) {
      if (leaves(handler.body)) continue;
      if (behind != Tail::loop || index + 1 != statements.size()) return;
      if (handler.body.size() == 1 && is<Pass>(handler.body[0])) handler.body = {};
      handler.body = context_.arena.append(handler.body, context_.stmt(Continue{}));
    }
    attempt->handlers = context_.arena.copy(handlers);
    statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, attempt->orelse.begin(), attempt->orelse.end());
    attempt->orelse = {};
  }

  // Restores `break` in a loop behind which the function ends. The compiler has made a return of it.
  void break_out(Block body, int depth) {
    for (Stmt* stmt : body) {
      if (written_return(stmt) == WrittenReturn::broke) stmt->node = Break{};
      if (depth > search_limits::statement_nesting || is<For>(stmt) || is<While>(stmt)) continue;
      // A break out of a try statement with a finally clause compiles to other code.
      if (auto* attempt = as<Try>(stmt); attempt && !attempt->finalbody.empty()) continue;
      for_each_block(stmt, [&](Block& inner) { break_out(inner, depth + 1); });
    }
  }

  // Exchanges the branches if the second one comes first in the source.
  void exchange(If& branch, const Stmt* stmt) {
    if (branch.body.empty() || branch.orelse.empty() || negation_changes(context_, branch.test)) return;
    const Stmt *first = branch.body[0], *second = branch.orelse[0];
    if (second->line <= stmt->line || column(second) < 0) return;
    // The line of a `break` is unknown. It comes second if there is no line for it in front of the other branch.
    const bool jumps = is<Break>(first) || is<Continue>(first);
    if (jumps ? second->line - stmt->line > 1 : column(first) < 0 || first->line <= second->line) return;
    branch.test = negate(context_, branch.test);
    std::swap(branch.body, branch.orelse);
  }

  // Chooses between `not (a or b)` and `not a and not b` by the column of a.
  void choose_negation(If& branch, int base) {
    const int behind = test_column(branch.test) - base;
    auto* chain = as<BoolOp>(branch.test);
    auto* unary = as<UnaryExpr>(branch.test);
    auto* wrapped = unary && unary->op == UnaryOp::not_ ? as<BoolOp>(unary->operand) : nullptr;
    if (!chain && !wrapped) return;
    auto keeps = [&](const Expr* part) { return negation_cost(context_, part) < other_operator; };
    if (!std::ranges::all_of((chain ? chain : wrapped)->values, keeps)) return;
    std::vector<Expr*> values;
    for (Expr* part : (chain ? chain : wrapped)->values) values.push_back(negate(context_, part));
    Expr* turned = context_.expr(BoolOp{!(chain ? chain : wrapped)->is_or, context_.arena.copy(values)},
                                 branch.test->offset, branch.test->line);
    // The operand stands behind `if not ` or `elif not `, so there is no bracket.
    if (wrapped && (behind == 7 || behind == 9)) branch.test = turned;
    auto* first = chain ? as<UnaryExpr>(chain->values[0]) : nullptr;
    // The operand stands behind `if not (` or `elif not (`.
    if (first && first->op == UnaryOp::not_ && (behind == 8 || behind == 10))
      branch.test = context_.expr(UnaryExpr{UnaryOp::not_, turned}, branch.test->offset, branch.test->line);
  }

  // Splits `if a and b:` into nested statements if the body is indented further than one unit. The operands that stand
  // on lines of their own, behind the space for an `if`, are the tests of the nested statements.
  void nest(Stmt* stmt, int base) {
    auto* branch = as<If>(stmt);
    auto* chain = as<BoolOp>(branch->test);
    if (!chain || chain->is_or || !branch->orelse.empty() || branch->body[0]->line <= stmt->line) return;
    const int inner = column(branch->body[0]);
    const int more = (inner - base) / unit_ - 1;
    if (inner < 0 || more < 1 || (inner - base) % unit_ != 0 || int(chain->values.size()) <= more) return;
    std::vector<std::size_t> cuts;
    for (std::size_t at = 1; at < chain->values.size(); ++at) {
      const Expr *one = innermost_left(chain->values[at - 1]), *two = innermost_left(chain->values[at]);
      const int keyword = base + unit_ * (int(cuts.size()) + 1);
      if (two->line > one->line && is_behind_if(test_column(chain->values[at]) - keyword)) cuts.push_back(at);
    }
    if (int(cuts.size()) != more) return;
    List<Expr*> values = chain->values;
    auto part = [&](std::size_t from, std::size_t to) {
      return to - from == 1 ? values[from]
                            : context_.expr(BoolOp{false, values.subspan(from, to - from)}, values[from]->offset,
                                            values[from]->line);
    };
    // Build the nested statements from the inside out.
    Block body = branch->body;
    std::size_t end = values.size();
    for (std::size_t cut = cuts.size(); cut-- > 0;) {
      Expr* test = part(cuts[cut], end);
      body = context_.list({context_.stmt(If{test, body, {}}, test->offset, innermost_left(test)->line)});
      end = cuts[cut];
    }
    branch->test = part(0, end);
    branch->body = body;
  }

  // Rewrites a block whose statements stand at column `base` (-1: unknown).
  Block block(Block body, int base, Tail behind, int depth) {
    if (depth > search_limits::statement_nesting) return body;
    std::vector<Stmt*> statements(body.begin(), body.end());
    for (std::size_t index = 0; index < statements.size(); ++index) {
      Stmt* stmt = statements[index];
      const bool last = index + 1 == statements.size();
      if (auto* branch = as<If>(stmt); branch && base >= 0 && !branch->body.empty()) {
        if (branch->orelse.empty() && leaves(branch->body)) {
          if (behind == Tail::loop && index + 2 == statements.size()) leave_first(statements, index, base);
          absorb(statements, index, base);
        }
        exchange(*branch, stmt);
        if (!branch->orelse.empty()) splice(statements, index, base, behind);
        else if (behind == Tail::loop && last) turn(statements, base);
        nest(stmt, base);
        choose_negation(*branch, base);
        const Tail tail = index + 1 == statements.size() ? behind : Tail::none;
        branch->body = block(branch->body, base + unit_, tail, depth + 1);
        // An elif is not indented further than its if.
        const bool chained = !branch->orelse.empty() && is_elif(branch->orelse[0], base);
        branch->orelse = block(branch->orelse, chained ? base : base + unit_, tail, depth + 1);
        continue;
      }
      if (is<Try>(stmt) && base >= 0) splice_try(statements, index, base, behind);
      const bool looping = is<For>(stmt) || is<While>(stmt);
      bool first = true;
      for_each_block(stmt, [&](Block& inner) {
        if (looping && first && behind == Tail::function && index + 1 == statements.size()) break_out(inner, 0);
        // The body may stand on the line of its statement, and then has no indentation.
        const bool below = base >= 0 && !inner.empty() && inner[0]->line > stmt->line;
        inner = block(inner, below ? base + unit_ : first_column(inner), looping && first ? Tail::loop : Tail::none,
                      depth + 1);
        first = false;
      });
    }
    return context_.arena.copy(statements);
  }

  Context& context_;
  const CodeObject& code_;
  std::vector<int> columns_;
  int unit_ = 0;  // columns of one indentation; 0: not known yet
};

}  // namespace

Block indentation(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  return Indentation(context, scope).run(body, scope.kind == Scope::Kind::function);
}

}  // namespace depyf
