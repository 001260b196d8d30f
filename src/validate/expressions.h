// Finds out why an expression, a target, a list of parameters or a pattern does not compile.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ast/node.h"

namespace depyf::validate {

// The reason why something does not compile, as a noun phrase; empty if it compiles.
using Reason = std::string_view;

// The facts about the place of an expression that determine which parts, such as `yield` and `await`, the expression
// may contain.
struct Where {
  bool yields : 1 = false;        // `yield` is allowed: in a function or lambda
  bool awaits : 1 = false;        // `await` is allowed: in an async function or a comprehension that may be async
  bool async_inside : 1 = false;  // a list, set or dict comprehension may be asynchronous
  bool delegates : 1 = false;     // `yield from` is allowed: in a function that is not async
  bool in_iterable : 1 = false;   // the place is in the iterable of a comprehension, where `:=` is not allowed
  bool in_class : 1 = false;  // the place is directly in a class body, in whose comprehensions `:=` is not allowed
  bool in_comprehension : 1 = false;
  bool no_functions : 1 = false;  // no lambda and no comprehension is allowed (3.12)
  // True in an annotation that is evaluated lazily, and in the scope that the compiler makes for type parameters. In
  // both places, the compiler refuses assignment expressions, `yield` and `await`.
  bool no_effects : 1 = false;
  // Under `from __future__ import annotations` the compiler writes the expression as text, with numbers in decimal
  // digits, of which Python writes at most 4,300.
  bool is_annotation : 1 = false;
};

class Expressions {
 public:
  explicit Expressions(Version version);

  Reason reason(ast::Expr* expr, Where where, bool starred_allowed = false) {
    return check(expr, where, 0, starred_allowed);
  }
  enum class Use : std::uint8_t { assign, augment, annotate, remove };
  Reason target_reason(const ast::Expr* target, Use use) const;
  Reason parameters_reason(const ast::Arguments* args);
  Reason keywords_reason(ast::List<ast::Keyword> keywords);
  // Returns the reason why the cases of one match statement, without their guards, do not compile; an empty text if
  // they compile.
  Reason cases_reason(ast::List<ast::MatchCase> cases);

 private:
  // Each of the following functions returns the reason why `expr` does not compile inside of `depth` levels of
  // brackets; an empty text if `expr` compiles. The parts of an expression are checked from the last to the first.
  // `check` calls `visit` only for an expression that may have a fault.
  Reason check(ast::Expr* expr, Where where, int depth, bool starred_allowed = false) {
    return needs_visit(expr, where, depth, starred_allowed) ? visit(expr, where, depth, starred_allowed) : Reason{};
  }
  Reason check_all(ast::List<ast::Expr*> exprs, Where where, int depth, bool starred_allowed = false);
  Reason visit(ast::Expr* expr, Where where, int depth, bool starred_allowed);
  // Visits an expression of a kind whose operands all lie deeper than the expression itself, such as a list.
  Reason visit_bracketed(ast::Expr* expr, Where where, int depth, bool starred_allowed);
  // True for names and simple constants, whose only possible fault is their nesting depth. Most expressions are names
  // and simple constants.
  static bool is_harmless(const ast::Expr* expr, Where where) {
    if (ast::is<ast::Name>(expr)) return true;
    auto* constant = ast::as<ast::ConstantExpr>(expr);
    return constant && constant->value->kind < Constant::Kind::tuple && !where.is_annotation;
  }
  // True if the expression has to be visited. Replaces `a.b` in `expr` by `a`, which has the same depth, because no
  // rule applies to an attribute itself.
  bool needs_visit(ast::Expr*& expr, Where where, int depth, bool& starred_allowed) const {
    for (auto* attribute = ast::as<ast::Attribute>(expr); attribute; attribute = ast::as<ast::Attribute>(expr))
      expr = attribute->value, starred_allowed = false;
    return expr && (depth > depth_max_ || !is_harmless(expr, where));
  }
  Reason comprehension(ast::Expr* expr, Where where, int depth);
  Reason pattern_reason(const ast::Pattern* pattern, std::vector<std::string_view>& bound, bool in_sequence);
  bool is_irrefutable(const ast::Pattern* pattern) const;

  const Version version_;
  const int depth_max_;  // the greatest depth to which brackets may nest
  std::vector<std::string_view> names_;  // the names of the parameters or keywords that are being compared
};

// True if two of `names` are equal. Names that differ are also printed differently. The function may change the order
// of `names`.
bool has_duplicates(std::span<std::string_view> names);

}  // namespace depyf::validate
