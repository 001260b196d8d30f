// Finds out why an expression, a target, a list of parameters or a pattern does not compile.
#pragma once

#include <string_view>
#include <vector>

#include "ast/node.h"

namespace depyf::validate {

// The reason as a phrase without a subject; empty if there is nothing wrong.
using Reason = std::string_view;

// The parts that an expression may contain at its place.
struct Where {
  bool yields : 1 = false;        // in a function or lambda
  bool awaits : 1 = false;        // in an async function, or in a comprehension that may be asynchronous
  bool async_inside : 1 = false;  // a list, set or dict comprehension may be asynchronous
  bool delegates : 1 = false;     // `yield from`: in a function that is not async
  bool in_iterable : 1 = false;   // of a comprehension, where nothing may be assigned
  bool in_class : 1 = false;      // directly in a class body, in whose comprehensions nothing may be assigned
  bool in_comprehension : 1 = false;
  bool no_functions : 1 = false;  // 3.12: no lambda and no comprehension
  // In an annotation that is evaluated later, or in the scope that the compiler makes for type parameters. The compiler
  // refuses assignment expressions, `yield` and `await` there.
  bool no_effects : 1 = false;
  // Under `from __future__ import annotations` the compiler writes the expression as text, with numbers in decimal digits,
  // of which Python writes 4,300 at most.
  bool is_annotation : 1 = false;
};

class Expressions {
 public:
  explicit Expressions(Version version);

  Reason reason(ast::Expr* expr, const Where& where, bool starred_allowed = false) {
    Todo whole{expr, where, 0, starred_allowed};
    return needs_visit(whole) ? visit_with_parts(whole) : Reason{};
  }
  enum class Use : std::uint8_t { assign, augment, annotate, remove };
  Reason target_reason(const ast::Expr* target, Use use) const;
  Reason parameters_reason(const ast::Arguments* args) const;
  Reason keywords_reason(ast::List<ast::Keyword> keywords) const;
  // Returns what is wrong with the cases of one match statement, except in their guards.
  Reason cases_reason(ast::List<ast::MatchCase> cases);

 private:
  struct Todo {
    ast::Expr* expr;
    Where where;
    int depth;
    bool starred_allowed;
  };
  Reason visit_with_parts(const Todo& whole);
  Reason visit(const Todo& todo);
  // True for the names and constants with which nothing but their depth can be wrong. Most expressions are of these.
  static bool is_harmless(const ast::Expr* expr, const Where& where) {
    if (ast::is<ast::Name>(expr)) return true;
    auto* constant = ast::as<ast::ConstantExpr>(expr);
    return constant && constant->value->items.empty() && !where.is_annotation;
  }
  // True if the expression has to be visited. Takes the object of an attribute in its place: it is as deep, and the
  // attribute adds no rule.
  bool needs_visit(Todo& todo) const {
    for (auto* attribute = ast::as<ast::Attribute>(todo.expr); attribute;
         attribute = ast::as<ast::Attribute>(todo.expr))
      todo.expr = attribute->value, todo.starred_allowed = false;
    return todo.expr && (todo.depth > depth_max_ || !is_harmless(todo.expr, todo.where));
  }
  // Files an expression to visit, if it needs a visit.
  void push(ast::Expr* expr, const Where& where, int depth, bool starred_allowed = false) {
    Todo todo{expr, where, depth, starred_allowed};
    if (needs_visit(todo)) file(todo);
  }
  // Stands apart, so that the checks in front of it are compiled into their callers.
  void file(const Todo& todo);
  void push_all(ast::List<ast::Expr*> exprs, const Where& where, int depth, bool starred_allowed = false) {
    for (ast::Expr* expr : exprs) push(expr, where, depth, starred_allowed);
  }
  Reason comprehension(const ast::ComprehensionExpr& node, const Where& where, int depth);
  Reason pattern_reason(const ast::Pattern* pattern, std::vector<std::string_view>& bound, bool in_sequence);
  bool is_irrefutable(const ast::Pattern* pattern) const;

  const Version version_;
  const int depth_max_;  // the greatest depth to which brackets may nest
  std::vector<Todo> todo_;
};

// True if two of `names` are equal. Different names are never printed alike.
bool has_duplicates(std::vector<std::string_view> names);

}  // namespace depyf::validate
