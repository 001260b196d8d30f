// The printer: expressions, f-strings, patterns and statements share one emitter and one version.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ast/node.h"
#include "print/emitter.h"
#include "print/known_names.h"
#include "print/layout.h"
#include "print/literal.h"
#include "print/odd_names.h"
#include "print/precedence.h"
#include "print/print.h"

namespace depyf {
struct Position;
}

namespace depyf::print {

std::string_view name_of(ast::Marker marker);
std::string_view name_of(ast::StmtMarker marker);

class Printer {
 public:
  Printer(Version version, const CodeObject* module, const PrintOptions& options)
      : out_(options.limit), version_(version), code_(module), options_(options), renamed_(options.root) {}

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
  struct StringLine;
  enum class Above : std::uint8_t { nothing, comment, statement, heading };  // what stands in the block so far

  void write(std::string_view text) { out_.write(text); }
  void name(std::string_view name);
  void dotted_name(std::string_view name);

  // breaks.cpp: where lines may break
  static std::int32_t first_line(const ast::Expr* expr);
  static std::int32_t first_line_within(const ast::Expr* expr);
  std::int32_t end_line(const ast::Expr* expr) const;
  std::int32_t column(const ast::Expr* expr) const;
  void mark(Mark::Kind kind, std::int32_t line, std::uint8_t priority = 0, bool optional = false);
  void open(std::int32_t line = -1) { mark(Mark::Kind::open, line); }
  void close(const ast::Expr* whole = nullptr);
  void comma(std::int32_t line = -1);
  void reached(const ast::Expr* expr);
  void anchor(const ast::Expr* expr);
  // Prints an expression that the source may have had in brackets of its own.
  template <class F>
  void perhaps_bracketed(const ast::Expr* expr, F print) {
    const bool may_be = marking_ && may_need_lines(expr);
    if (may_be) mark(Mark::Kind::open, -1, 0, true), marks_.back().is_hint = true;
    print();
    if (may_be) mark(Mark::Kind::close, -1, 0, true), marks_.back().is_hint = true;
  }
  static bool may_need_lines(const ast::Expr* expr);
  void part(const ast::Expr* expr, Level loosest) {
    perhaps_bracketed(expr, [&] { this->expr(expr, loosest); });
  }
  template <class F>
  void optional_brackets(std::int32_t line, F print) {
    mark(Mark::Kind::open, line, 0, true);
    print();
    mark(Mark::Kind::close, -1, 0, true);
  }
  void value(const ast::Expr* expr, Level loosest,
             bool starred_allowed = true);  // a bare one, in brackets where it breaks
  void clause_condition(const ast::Expr* test);
  static const ast::Expr* first_leaf(const ast::Expr* expr);
  bool is_in_brackets(const ast::Stmt* stmt, const ast::Expr* value) const;
  void starts_at(std::int32_t line);
  void place_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line, std::int32_t body_line);
  static std::int32_t body_line(ast::Block body);
  const Position* ellipsis_of(const CodeObject* code) const;
  std::int32_t first_line_of_body(const ast::FunctionDef& node) const;
  bool body_on_line(const CodeObject* code);
  std::size_t limit_of(std::int32_t line) const;
  void break_lines(ast::Block body = {});
  template <class F>
  void without_breaks(F print) {
    const bool outer = std::exchange(marking_, false);
    print();
    marking_ = outer;
  }
  template <class F>
  std::string capture(F print) {
    std::string text;
    without_breaks([&] { text = out_.capture(print); });
    return text;
  }

  // expression.cpp
  void comma_separated(ast::List<ast::Expr*> exprs);
  void call_arguments(ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords, const ast::Expr* whole = nullptr);
  void condition(const ast::Expr* expr);                       // where `:=` needs no parentheses
  void bare(const ast::Expr* expr, Level loosest, bool starred_allowed = true);  // where a tuple may need none
  static Operand leftmost(const ast::Expr* expr);
  void after_leftmost(const ast::Expr* expr);
  void operator_before(std::string_view op, Level level, const ast::Expr* right);
  void without_leftmost(const ast::Expr* expr);
  void constant(const Constant& constant);
  void constant_text(const Constant& constant);
  void constant(const ast::Expr* leaf, const Constant& constant, bool bracketed = true);
  void elements(const ast::Expr* whole, ast::List<ast::Expr*> elts);
  bool loads(const ast::Expr* leaf, const Constant& constant) const;
  bool has_own_position(const ast::Expr* leaf, const Constant& constant) const;
  bool multiline_string(const ast::Expr* leaf, const Constant& constant);
  void joined_string(const ast::Expr* leaf, const Constant& constant);
  void constant_items(const Constant& constant, std::int32_t line, int step);
  void slice_index(const ast::Expr* index);
  void slice_element(const ast::Expr* element);
  void slice_element(const Constant& element);
  void generators(ast::List<ast::Comprehension> generators, const CodeObject* around);
  void comprehension(const ast::ComprehensionExpr& node);
  void dict(const ast::Dict& node, const ast::Expr* whole);
  void internal(std::string_view what, std::int32_t index, const ast::Expr* value, const ast::Expr* value2 = nullptr);

  // fstring.cpp
  void fstring(const ast::Expr* expr);
  bool multiline_fstring(const ast::JoinedStr& node, const ast::Expr* whole);
  bool fstring_lines(const ast::JoinedStr& node, const ast::Expr* whole);
  static bool add_literal_lines(std::vector<StringLine>& lines, const ast::Expr* part, const Position& position,
                                std::int32_t column);
  void percent_format(const ast::JoinedStr& node, const ast::Expr* whole);
  void add_pieces(std::vector<Piece>& pieces, const ast::Expr* part, int spec_depth);
  void add_field(std::vector<Piece>& pieces, std::string value, char conversion, const ast::Expr* spec, int spec_depth);
  std::string field_value(const ast::Expr* value);
  bool quoted(std::string_view prefix, const std::vector<Piece>& pieces);
  void joined_calls(ast::List<ast::Expr*> parts);
  void format_call(const ast::FormattedValue& field);

  // pattern.cpp
  void pattern(const ast::Pattern* pattern, int loosest);
  void patterns(ast::List<ast::Pattern*> patterns);

  // aligned.cpp: each statement on the line that it had in the source
  std::int32_t source_line(const ast::Stmt* stmt);
  std::int32_t first_source_line(ast::Block body);
  std::int32_t line_of_code_above(std::int32_t line);
  std::int32_t keyword_line(ast::Block body, std::int32_t otherwise);
  bool has_line_above(const ast::Expr* test, ast::Block body, std::string_view keyword);
  void pad_to(std::int32_t line);
  void pad_to_clause(ast::Block body);
  void aligned_statements(ast::Block body, bool behind_colon);
  bool fits_behind_colon(ast::Block body);
  bool has_no_room_below();
  void suite_before(ast::Block body, ast::Block following);
  std::int32_t room(ast::Block body);

  // statement.cpp
  void begin(const ast::Stmt* stmt);
  void suite(ast::Block body);                                 // a colon and an indented block
  void otherwise(std::string_view keyword, ast::Block body);   // nothing where the block is empty
  void statement(const ast::Stmt* stmt);
  void statements(ast::Block body, Above above);
  void pass_line();
  void comment(std::string_view text);
  void conditional(const ast::Stmt* stmt);
  void annotated_assignment(const ast::AnnAssign& assign);
  void import_from(const ast::Stmt* stmt, const ast::ImportFrom& import);
  void keyword_statement(const ast::Stmt* stmt);               // without what begins and ends a line
  void with_items(ast::List<ast::WithItem> items);
  void cases(const ast::Match& node);
  void handlers(const ast::Try& node);
  void aliases(ast::List<ast::Alias> aliases, std::int32_t line, int step);
  const Position* position_of(const ast::Stmt* stmt) const;
  void names(std::string_view keyword, ast::List<std::string_view> names);

  // definition.cpp
  void definition(const ast::Stmt* stmt, const ast::FunctionDef& node);
  void definition(const ast::Stmt* stmt, const ast::ClassDef& node);
  void decorators(ast::List<ast::Expr*> decorators, std::int32_t line);
  void type_params(ast::List<ast::TypeParam> params);
  // Returns the marks before each parameter and behind the last.
  std::vector<std::size_t> arguments(const ast::Arguments* args, bool annotated, const ast::Expr* behind = nullptr);
  void argument(const ast::Arg& arg, const ast::Expr* default_value, bool annotated);
  void body(const ast::Stmt* stmt, const CodeObject* code, ast::Block body);
  // Prints the docstring that `body` begins with, below its marks; returns how many statements these are, 0 if it has none.
  std::size_t docstring(ast::Block body);

  Emitter out_;
  Version version_;
  const CodeObject* code_;       // that the statements belong to which are being printed; null: none
  const PrintOptions options_;
  KnownNames known_names_;
  Renamed renamed_;
  std::string private_;          // what private names of the class around begin with; empty: none
  int fields_ = 0;               // f-strings around the expression that is being printed
  std::vector<Open> open_;
  std::vector<Anchor> anchors_;  // of the text since the line began
  std::vector<Mark> marks_;      // of the text since the line began
  bool marking_ = true;          // false: the text may not break, or is not in its place yet
  bool spread_ = false;          // some mark is where the source had a break
  bool continues_line_ = false;  // the next statement is written behind what stands on the line
  const CodeObject* code_of_lines_ = nullptr;  // whose are in `lines_of_code_`
  std::vector<std::int32_t> lines_of_code_;
  std::int32_t next_line_ = -1;  // of the source: where what follows the statement starts; -1: unknown
  std::int32_t last_line_ = -1;  // of the source, that the text so far reaches; -1: unknown
};

}  // namespace depyf::print
