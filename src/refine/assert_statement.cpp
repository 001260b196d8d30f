// Restores assert statements. For example, `if not c: raise AssertionError(m)` becomes `assert c, m` if
// LOAD_ASSERTION_ERROR loads the exception.
#include <algorithm>

#include "decode/op.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "refine/statement_columns.h"

namespace depyf {
using namespace ast;

namespace {
// True if `expr` is the AssertionError of an assert statement. From 3.9 on, the text `Name::id` of a global that the
// source names is part of co_names. The text of the name `AssertionError` that represents LOAD_ASSERTION_ERROR is
// outside of co_names, even if co_names contains an equal text. In 3.8, an assert loads the exception by LOAD_GLOBAL
// even in modules and classes, where an explicit `AssertionError` is loaded by LOAD_NAME. In functions of 3.8, `assert
// c` and `if not c: raise AssertionError` have the same code. If a local variable is named AssertionError, the opcode
// of the instruction that loads `expr` shows if the instruction belongs to an assert.
bool is_assertion(const Expr* expr, const Scope& scope) {
  auto* name = as<Name>(expr);
  if (!name || name->id != "AssertionError") return false;
  const auto is_loaded_by = [&](OpSet loads) {
    return std::ranges::any_of(scope.decoded.instructions, [&](const Instruction& instruction) {
      return instruction.offset == expr->offset && loads.has(instruction.op);
    });
  };
  if (dialect_of(scope.decoded.version).global_assertion_error) return is_loaded_by({Op::load_global_});
  if (std::ranges::find(scope.decoded.localsplus, name->id) != scope.decoded.localsplus.end())
    return is_loaded_by({Op::load_assertion_error_, Op::load_common_constant_});
  for (const std::string& own : scope.decoded.names)
    if (own.data() == name->id.data()) return false;
  return true;
}

// True if the code contains an instruction that may load the exception of an assert statement.
bool may_assert(const Scope& scope) {
  const SurveyedOps& ops = scope.cfg.ops;
  if (ops.has<Op::load_common_constant_>()) return true;
  return dialect_of(scope.decoded.version).global_assertion_error ? ops.has<Op::load_global_>()
                                                                  : ops.has<Op::load_assertion_error_>();
}

// True if the compiler emits no test for `assert False` (3.10 and later).
bool known_to_fail(const Scope& scope) { return dialect_of(scope.decoded.version).known_assertions; }

// True if the only statement of `block` is `raise AssertionError` or `raise AssertionError(message)`. Sets `message` to
// the argument of AssertionError, or to null if AssertionError has no argument.
bool fails(Block block, const Scope& scope, Expr*& message) {
  message = nullptr;
  if (block.size() != 1) return false;
  // Before 3.10, `assert False` is compiled with a test, like any other assert.
  if (auto* failed = as<Assert>(block[0]); failed && known_to_fail(scope)) {
    message = failed->msg;
    return constant_of(failed->test, Constant::Kind::false_) != nullptr;
  }
  auto* raise = as<Raise>(block[0]);
  if (!raise || raise->cause || !raise->exc) return false;
  if (is_assertion(raise->exc, scope)) return true;
  auto* call = as<Call>(raise->exc);
  if (!call || !is_assertion(call->func, scope) || call->args.size() != 1 || !call->keywords.empty() ||
      is<Starred>(call->args[0]))
    return false;
  message = call->args[0];
  return true;
}
// True if control never reaches the end of the block. The end of a block is reachable if its last statement is a
// `with`, because `__exit__` may suppress an exception.
bool never_ends(Block block) {
  if (block.empty()) return false;
  const Stmt* last = block.back();
  if (auto* branch = as<If>(last)) return never_ends(branch->body) && never_ends(branch->orelse);
  if (auto* attempt = as<Try>(last)) {
    if (never_ends(attempt->finalbody)) return true;
    return never_ends(attempt->orelse.empty() ? attempt->body : attempt->orelse) &&
           std::ranges::all_of(attempt->handlers, [](const ExceptHandler& each) { return never_ends(each.body); });
  }
  return leaves(block);
}

// True if the raise `failure` belongs to an assert with the test of `branch`, because the raise has no later line than
// the test. The raise of an `assert False` in the body of an `if` has a later line than the test of the `if`.
bool asserts(const Stmt* branch, const Stmt* failure) { return failure->line >= 0 && failure->line <= branch->line; }

// Returns the number of operands of the `and` in the test of `branch` that are on lines above the raise `failure`.
// Returns 0 if none or all of the operands are on lines above the raise. The operands on lines above the raise are the
// test of an `if` around the assert. For example, if `a` is on a line above the raise and `b` is not, the code of
// `if a and not b: raise AssertionError` becomes `if a: assert b`.
std::size_t operands_above(const If& branch, const Stmt* failure) {
  auto* chain = as<BoolOp>(branch.test);
  if (!chain || chain->is_or || failure->line < 0) return 0;
  const auto is_above = [&](const Expr* operand) { return operand->line >= 0 && operand->line < failure->line; };
  const auto first_below = std::ranges::find_if_not(chain->values, is_above);
  return first_below == chain->values.end() ? 0 : std::size_t(first_below - chain->values.begin());
}

// True if the whole test is on lines above the raise `failure`. From 3.11 on, the raise of an assert has the line of
// the word `assert`, and no part of the test of an assert is above that line. If the whole test is on lines above the
// raise, the source was `assert False, message` within `if test:`, and not `assert not test, message`.
bool is_test_above(const If& branch, const Stmt* failure) {
  const std::int32_t line = innermost_left(branch.test)->line;
  auto* chain = as<BoolOp>(branch.test);
  const Expr* last = chain ? innermost_left(chain->values.back()) : nullptr;
  return failure->line >= 0 && line >= 0 && line < failure->line && (!last || last->line < failure->line);
}

// Returns an `and` of `operands`, or the operand itself if there is only a single operand.
Expr* conjunction(Context& context, List<Expr*> operands) {
  return operands.size() == 1 ? operands[0]
                              : context.expr(BoolOp{false, operands}, operands[0]->offset, operands[0]->line);
}

// Removes the `continue` behind an assert at the end of a loop body, also at the ends of the branches of a last `if`.
// If `if c: continue` in front of a raise has become `assert c`, the `continue` is left over behind the assert.
Block drop_continue(Block body) {
  if (body.empty()) return body;
  if (auto* branch = as<If>(body.back())) {
    branch->body = drop_continue(branch->body);
    branch->orelse = drop_continue(branch->orelse);
  }
  const bool is_left_over = body.size() > 1 && is<Continue>(body.back()) && is<Assert>(body[body.size() - 2]);
  return is_left_over ? body.first(body.size() - 1) : body;
}

// Removes the return behind an assert at the end of a function, also at the end of a last with statement. The compiler
// added a return behind an assert if the return has the position of the test of the assert or of an enclosing with
// statement.
Block drop_return(Block body) {
  if (body.empty()) return body;
  if (auto* with = as<With>(body.back())) with->body = drop_return(with->body);
  const Stmt* leave = body.back();
  auto* value = as<Return>(leave);
  if (body.size() < 2 || !value || (value->value && !is_none(value->value)) || !is<Assert>(body[body.size() - 2]))
    return body;
  const bool is_above = leave->line >= 0 && leave->line < body[body.size() - 2]->line;
  return is_above || written_return(leave) == WrittenReturn::implied ? body.first(body.size() - 1) : body;
}
}  // namespace

Block assert_statement(Context& context, Block body, const Scope& scope) {
  if (!may_assert(scope)) return body;
  body = rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
    for (std::size_t index = 0; index < statements.size(); ++index) {
      if (auto* loop = as<For>(statements[index])) loop->body = drop_continue(loop->body);
      if (auto* loop = as<While>(statements[index])) loop->body = drop_continue(loop->body);
      Expr* message = nullptr;
      auto* branch = as<If>(statements[index]);
      if (!branch) {
        if (known_to_fail(scope) && is<Raise>(statements[index]) && fails({&statements[index], 1}, scope, message))
          statements[index]->node = Assert{context.constant(Constant::Kind::false_), message};
        continue;
      }
      Expr* test = nullptr;
      Block rest;
      // rewrite_blocks has already rewritten the blocks of the `if`, so a branch that was a raise may already be an
      // `assert False`.
      if (fails(branch->body, scope, message) &&
          (dialect_of(scope.decoded.version).asserts_either_way || !negation_changes(context, branch->test))) {
        if (const std::size_t above = operands_above(*branch, branch->body[0])) {
          const List<Expr*> operands = as<BoolOp>(branch->test)->values;
          Expr* asserted = negate(context, conjunction(context, operands.subspan(above)));
          branch->test = conjunction(context, operands.first(above));
          branch->body = context.list({context.stmt(Assert{asserted, message}, branch->body[0]->offset,
                                                    branch->body[0]->line, branch->body[0]->column)});
          const Block behind = branch->orelse;
          branch->orelse = {};
          statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, behind.begin(), behind.end());
          continue;
        }
        if (dialect_of(scope.decoded.version).columns && is_test_above(*branch, branch->body[0])) {
          branch->body =
              context.list({context.stmt(Assert{context.constant(Constant::Kind::false_), message},
                                         branch->body[0]->offset, branch->body[0]->line, branch->body[0]->column)});
          continue;
        }
        test = negate(context, branch->test), rest = branch->orelse;
      } else if (branch->body.size() == 1 && is<Pass>(branch->body[0]) && fails(branch->orelse, scope, message)) {
        // The statement is `if c in d: pass` with an `else: raise AssertionError`; the negation of `c in d` would need
        // another instruction.
        test = branch->test;
      } else if (fails(branch->orelse, scope, message) &&
                 (!known_to_fail(scope) || asserts(statements[index], branch->orelse[0]))) {
        test = branch->test, rest = branch->body;
      } else if (index + 2 == statements.size() && branch->orelse.empty() && never_ends(branch->body) &&
                 (!known_to_fail(scope) || is<Continue>(branch->body[0]) ||
                  asserts(statements[index], statements[index + 1])) &&
                 fails({&statements[index + 1], 1}, scope, message)) {
        test = branch->test, rest = branch->body;
        statements.pop_back();
      } else {
        continue;
      }
      statements[index] = context.stmt(Assert{test, message}, statements[index]->offset, statements[index]->line);
      std::vector<Stmt*> after(rest.begin(), rest.end());
      statements.insert(statements.begin() + std::ptrdiff_t(index) + 1, after.begin(), after.end());
    }
  });
  // If LOAD_ASSERTION_ERROR loads the exception of a raise to which no test belongs, the raise becomes `assert False`,
  // because LOAD_ASSERTION_ERROR loads the builtin exception even if the name AssertionError is rebound.
  const Dialect& dialect = dialect_of(scope.decoded.version);
  if (!dialect.global_assertion_error && !known_to_fail(scope))
    body = rewrite_blocks(context, body, [&](std::vector<Stmt*>& statements) {
      Expr* message = nullptr;
      for (Stmt*& stmt : statements)
        if (is<Raise>(stmt) && fails({&stmt, 1}, scope, message))
          stmt->node = Assert{context.constant(Constant::Kind::false_), message};
    });
  return scope.kind == Scope::Kind::function ? drop_return(body) : body;
}

}  // namespace depyf
