// Prints expressions; arguments.cpp prints arguments and parameters, and expression.cpp prints most kinds of
// expressions.
#pragma once

#include <string_view>
#include <vector>

#include "print/fstring.h"
#include "print/precedence.h"
#include "print/records.h"
#include "print/sheet.h"

namespace depyf::print {

// A node whose leftmost operand is being printed, and whether the node itself is in parentheses.
struct Open {
  const ast::Expr* expr = nullptr;
  bool parenthesised = false;
};

// A level is a precedence, which says how tightly an expression binds. Each function puts its expression in
// parentheses if the expression binds looser than its place allows.
class Expressions {
 public:
  explicit Expressions(Sheet& sheet)
      : out_(sheet.out),
        version_(sheet.version),
        positions_(sheet.positions),
        breaks_(sheet.breaks),
        names_(sheet.names),
        constants_(sheet.constants),
        fstrings_(sheet, *this) {}

  // Prints `expr`, in parentheses if its level is looser than `loosest`.
  void expr(const ast::Expr* expr, Level loosest) {
    // Half of all expressions are names, which never need parentheses, and most others are constants.
    if (auto* n = ast::as<ast::Name>(expr)) name(expr, *n);
    else if (auto* leaf = ast::as<ast::ConstantExpr>(expr)) constant(expr, *leaf->value, loosest);
    else any_expr(expr, loosest);
  }
  // Prints an expression where an assignment expression (`:=`) needs no parentheses.
  void condition(const ast::Expr* expr);
  // Prints the test of an `if` or `while`, with brackets around it if it breaks over lines.
  void clause_condition(const ast::Expr* test);
  // Prints an expression where a tuple may stand without brackets, as in `return a, b`.
  void bare(const ast::Expr* expr, Level loosest, bool starred_allowed = true);
  // Prints an expression as `bare` does, but adds brackets if the line breaks inside the expression.
  void value(const ast::Expr* expr, Level loosest, bool starred_allowed = true);
  // Prints an operand, within redundant brackets if columns prove that the source had them.
  void part(const ast::Expr* expr, Level loosest) {
    breaks_.perhaps_bracketed(expr, [&] { this->expr(expr, loosest); });
  }
  void comma_separated(ast::List<ast::Expr*> exprs);
  // Prints the name `__internal_WHAT__`, which keeps the text valid Python, for a node that no finished tree should
  // contain.
  void internal(std::string_view what, std::int32_t index, const ast::Expr* value, const ast::Expr* value2 = nullptr);

  // The next four functions are defined in arguments.cpp.
  void call_arguments(ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords, const ast::Expr* whole = nullptr);
  // Prints parameters, and returns the indices of the marks (places where the line may break) before each parameter and
  // behind the last parameter. `annotated` is false for a lambda. `behind` is the annotation of the function's result,
  // or null.
  std::vector<std::size_t> arguments(const ast::Arguments* args, bool annotated, const ast::Expr* behind = nullptr);
  void type_params(ast::List<ast::TypeParam> params);
  // Prints the annotation of a parameter or a result. `is_below` is true if the annotation stood in brackets on the line
  // below.
  void annotation_of(const ast::Expr* annotation, bool is_below);
  // Returns true if the annotation of a result (`-> T`) that was kept as text stood in brackets on the line below `->`.
  bool is_result_below(const ast::Expr* annotation) const;

 private:
  void constant(const ast::Expr* expr, const Constant& value, Level loosest);
  void any_expr(const ast::Expr* expr, Level loosest);
  void name(const ast::Expr* expr, const ast::Name& node);
  void attribute(const ast::Expr* whole, const ast::Attribute& node);
  void after_operand(const ast::Expr* whole);
  void operator_before(std::string_view op, Level level, const ast::Expr* right);
  void without_leftmost(const ast::Expr* expr);
  void annotation_text(const ast::Expr* leaf, std::string_view text);
  void elements(const ast::Expr* whole, ast::List<ast::Expr*> elts);
  void slice_index(const ast::Expr* index);
  void slice_element(const ast::Expr* element);
  void slice_element(const Constant& element);
  void generators(ast::List<ast::Comprehension> generators, const CodeObject* around);
  void comprehension(const ast::ComprehensionExpr& node);
  void dict(const ast::Dict& node, const ast::Expr* whole);
  void argument(const ast::Arg& arg, const ast::Expr* default_value, bool annotated);

  Emitter& out_;
  const Version version_;
  Positions& positions_;
  Breaks& breaks_;
  Identifiers& names_;
  Constants& constants_;
  FStrings fstrings_;
  Records<Open> open_;
};

}  // namespace depyf::print
