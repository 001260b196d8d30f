// The printer: expressions, f-strings, patterns and statements share one emitter and one version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ast/node.h"
#include "print/emitter.h"
#include "print/known_names.h"
#include "print/literal.h"
#include "print/odd_names.h"
#include "print/precedence.h"

namespace depyf::print {

std::string_view name_of(ast::Marker marker);
std::string_view name_of(ast::StmtMarker marker);

class Printer {
 public:
  Printer(Version version, const CodeObject* module, std::size_t limit = Limits().text, bool lines = false,
          const CodeObject* root = nullptr)
      : out_(limit), version_(version), code_(module), lines_(lines), renamed_(root) {}

  Emitter& emitter() { return out_; }
  bool has_renamed() const { return !renamed_.empty(); }

  void expr(const ast::Expr* expr, Level loosest);
  void module(ast::Block body);

 private:
  struct Operand {
    const ast::Expr* expr;
    Level loosest;
  };
  struct Open {
    const ast::Expr* expr;
    bool parenthesised;
  };  // a node whose leftmost operand is being printed
  struct Piece;
  enum class Above : std::uint8_t { nothing, comment, statement, heading };  // what stands in the block so far

  void write(std::string_view text) { out_.write(text); }
  void name(std::string_view name);
  void dotted_name(std::string_view name);

  // expression.cpp
  void comma_separated(ast::List<ast::Expr*> exprs);
  void call_arguments(ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
  void condition(const ast::Expr* expr);                       // where `:=` needs no parentheses
  void bare(const ast::Expr* expr, Level loosest, bool starred_allowed = true);  // where a tuple may need none
  static Operand leftmost(const ast::Expr* expr);
  void after_leftmost(const ast::Expr* expr);
  void between_blanks(std::string_view op);
  void without_leftmost(const ast::Expr* expr);
  void constant(const Constant& constant);
  void slice_index(const ast::Expr* index);
  void slice_element(const ast::Expr* element);
  void slice_element(const Constant& element);
  void generators(ast::List<ast::Comprehension> generators);
  void comprehension(const ast::ComprehensionExpr& node);
  void dict(const ast::Dict& node);
  void internal(std::string_view what, std::int32_t index, const ast::Expr* value, const ast::Expr* value2 = nullptr);

  // fstring.cpp
  void fstring(const ast::Expr* expr);
  void add_pieces(std::vector<Piece>& pieces, const ast::Expr* part, int spec_depth);
  void add_field(std::vector<Piece>& pieces, std::string value, char conversion, const ast::Expr* spec, int spec_depth);
  std::string field_value(const ast::Expr* value);
  bool quoted(std::string_view prefix, const std::vector<Piece>& pieces);
  void joined_calls(ast::List<ast::Expr*> parts);
  void format_call(const ast::FormattedValue& field);

  // pattern.cpp
  void pattern(const ast::Pattern* pattern, int loosest);
  void patterns(ast::List<ast::Pattern*> patterns);

  // statement.cpp
  void begin(const ast::Stmt* stmt);
  void suite(ast::Block body);                                 // a colon and an indented block
  void otherwise(std::string_view keyword, ast::Block body);   // nothing where the block is empty
  void statement(const ast::Stmt* stmt);
  void statements(ast::Block body, Above above);
  void pass_line();
  void comment(std::string_view text);
  void conditional(const ast::Stmt* stmt);
  void keyword_statement(const ast::Stmt* stmt);               // without what begins and ends a line
  void with_items(ast::List<ast::WithItem> items);
  void cases(const ast::Match& node);
  void handlers(const ast::Try& node);
  void aliases(ast::List<ast::Alias> aliases);
  void names(std::string_view keyword, ast::List<std::string_view> names);

  // definition.cpp
  void definition(const ast::Stmt* stmt, const ast::FunctionDef& node);
  void definition(const ast::Stmt* stmt, const ast::ClassDef& node);
  void decorators(ast::List<ast::Expr*> decorators);
  void type_params(ast::List<ast::TypeParam> params);
  void arguments(const ast::Arguments* args, bool annotated);
  void argument(const ast::Arg& arg, const ast::Expr* default_value, bool annotated);
  void body(const ast::Stmt* stmt, const CodeObject* code, ast::Block body);
  bool docstring(ast::Block body);                             // whether one begins `body`, which is printed then

  Emitter out_;
  Version version_;
  const CodeObject* code_;       // that the statements belong to which are being printed; null: none
  const bool lines_;  // map them
  KnownNames known_names_;
  Renamed renamed_;
  std::string private_;          // what private names of the class around begin with; empty: none
  int fields_ = 0;               // f-strings around the expression that is being printed
  std::vector<Open> open_;
};

}  // namespace depyf::print
