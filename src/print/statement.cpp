#include <algorithm>

#include "ast/overloaded.h"
#include "ast/visit.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "print/markers.h"
#include "print/operands.h"
#include "print/statement.h"
#include "print/unicode.h"

namespace depyf::print {

using namespace ast;

namespace {

bool is_definition(const Stmt* stmt) { return is<FunctionDef>(stmt) || is<ClassDef>(stmt); }

// Returns the first statement in `body`, from index `at` on, that is no comment; null if only comments follow. A
// comment belongs to the statement below it.
const Stmt* without_comments(Block body, std::size_t at) {
  while (at < body.size() && is<Comment>(body[at])) ++at;
  return at < body.size() ? body[at] : nullptr;
}

bool only_comments(Block body) {
  return std::ranges::all_of(body, [](const Stmt* each) { return is<Comment>(each); });
}

}  // namespace

void Statements::begin_on_source_line(const Stmt* stmt) {
  const std::int32_t line = lines_.source_line(stmt);
  const bool continues = std::exchange(continues_line_, false);
  if (!continues) lines_.pad_to(line);
  if (options_.lines && positions_.code) out_.map_line(positions_.code, stmt->offset, line);
  continues ? out_.continue_line() : out_.begin_line();
}

void Statements::module(Block body) {
  const std::size_t documented = definitions_.docstring(body);
  statements(body.subspan(documented), documented ? Above::heading : Above::nothing);
}

// Prints two blank lines around the definitions of a module and one around other definitions. The docstring of a module
// or class gets one blank line below it.
void Statements::statements(Block body, Above above) {
  if (options_.align) return aligned_statements(body, false);
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (i > 0) above = is<Comment>(body[i - 1]) ? Above::comment : Above::statement;
    const bool definition = (i > 0 && is_definition(body[i - 1])) || is_definition(without_comments(body, i));
    const bool apart = above == Above::heading || (definition && above == Above::statement);
    if (apart) out_.end_line();
    if (apart && definition && out_.outermost()) out_.end_line();
    statement(body[i]);
  }
}

void Statements::suite(Block body) {
  out_.write(":");
  break_lines(body);
  // An empty body becomes `: pass` if the next statement leaves no line for it.
  if (body.empty() && lines_.has_no_room_below()) {
    out_.write(" pass");
    return out_.end_line();
  }
  if (lines_.fits_behind_colon(body)) {
    out_.write(" ");
    return aligned_statements(body, true);
  }
  out_.end_line();
  out_.deeper();
  statements(body, Above::nothing);
  // A block of comments alone needs a `pass`.
  if (only_comments(body)) pass_line();
  out_.shallower();
}

void Statements::pass_line(std::string_view text) {
  out_.begin_line();
  out_.write(text.empty() ? "pass" : text);
  out_.end_line();
}

void Statements::otherwise(std::string_view keyword, Block body) {
  if (body.empty()) return;
  lines_.pad_to_clause(body);
  out_.begin_line();
  out_.write(keyword);
  suite(body);
}

void Statements::statement(const Stmt* stmt) {
  if (!stmt) return;
  if (auto* n = as<Comment>(stmt)) return comment(n->text);
  if (is<If>(stmt)) return conditional(stmt);
  begin(stmt);
  keyword_statement(stmt);
  // A compound statement has already ended its line in its suite.
  if (out_.text().ends_with('\n')) return;
  break_lines();
  if (const std::string_view text = comment_of(stmt); !text.empty()) out_.write("  # "), out_.write(text);
  out_.end_line();
}

void Statements::comment(std::string_view text) {
  // If aligned output has no line left above the next statement, the comment is written behind the previous statement.
  const bool behind = options_.align && out_.text().ends_with('\n') && lines_.next_line >= 0 &&
                      lines_.next_line <= std::int32_t(out_.line()) && text.find('\n') == text.npos;
  if (behind) out_.reopen_line(), out_.write("  ");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!behind) out_.begin_line();
    out_.write(end > at ? "# " : "#");
    // Unprintable characters could hide text from the reader, or end the comment, so they become question marks. In the
    // first two lines of a file, "coding:" would name its encoding (PEP 263), so a space stands in front of the colon.
    for (std::size_t i = at; i < end;) {
      const CodePoint point = code_point(text, i);
      const bool is_sign = text[i] == ':' || text[i] == '=';
      if (is_sign && text.substr(at, i - at).ends_with("coding")) out_.write(" ");
      out_.write(point.valid && is_printable(point.value) ? text.substr(i, point.size) : "?");
      i += point.size;
    }
    out_.end_line();
    at = end + 1;
  }
}

// Prints the `elif` clauses in a loop instead of recursion, because there may be thousands of them.
void Statements::conditional(const Stmt* stmt) {
  for (std::string_view keyword = "if ";; keyword = "elif ") {
    auto* n = as<If>(stmt);
    begin(stmt);
    out_.write(keyword);
    exprs_.clause_condition(n->test);
    suite_before(n->body, n->orelse);
    if (n->orelse.size() != 1 || !is<If>(n->orelse[0])) return otherwise("else", n->orelse);
    stmt = n->orelse[0];
  }
}

void Statements::with_items(List<WithItem> items) {
  if (items.empty()) return exprs_.internal("missing", -1, nullptr);
  bool first = true;
  const bool may_break = dialect_of(version_).bracketed_with_items && items.size() > 1;
  // If the first item stands behind `with (`, it starts further to the right than if it stood on a line of its own. So
  // the column of the first item shows whether the item has its own line.
  const std::int32_t first_item = first_line(items[0].context_expr);
  const bool has_own_line =
      may_break && first_item > 0 && positions_.column(items[0].context_expr) == std::int32_t(out_.indent() + 4);
  breaks_.starts_at(has_own_line ? first_item - 1 : first_item);
  if (may_break) breaks_.mark(Mark::Kind::open, first_item, 0, true);
  for (const WithItem& item : items) {
    if (!first) breaks_.comma(first_line(item.context_expr));
    first = false;
    // From 3.9 on `with (a, b):` has two items, so a tuple as the only item needs double parentheses.
    const bool tuple =
        is<Tuple>(item.context_expr) || (is<ConstantExpr>(item.context_expr) &&
                                         as<ConstantExpr>(item.context_expr)->value->kind == Constant::Kind::tuple);
    if (tuple && items.size() == 1 && !item.optional_vars) {
      out_.write("(");
      exprs_.expr(item.context_expr, Level::test);
      out_.write(")");
    } else {
      exprs_.expr(item.context_expr, Level::test);
    }
    if (item.optional_vars) out_.write(" as "), exprs_.expr(item.optional_vars, Level::test);
  }
  if (may_break) breaks_.mark(Mark::Kind::close, -1, 0, true);
}

void Statements::cases(const Match& node) {
  out_.write(":");
  break_lines();
  out_.end_line();
  out_.deeper();
  for (const MatchCase& each : node.cases) {
    // A pattern may leave no instruction with its own line, so the line of the case is derived from its body.
    lines_.pad_to_clause(each.body);
    out_.begin_line();
    breaks_.last_line = each.line;
    out_.write("case ");
    patterns_.of_case(each.pattern);
    if (each.guard) out_.write(" if "), exprs_.condition(each.guard);
    suite(each.body);
  }
  out_.shallower();
}

void Statements::handlers(const Try& node) {
  for (std::size_t i = 0; i < node.handlers.size(); ++i) {
    const ExceptHandler& handler = node.handlers[i];
    const std::int32_t line = handler.type ? first_line(handler.type) : -1;
    line >= 0 ? lines_.pad_to(line) : lines_.pad_to_clause(handler.body);
    out_.begin_line();
    breaks_.last_line = line;
    out_.write(node.is_star ? "except*" : "except");
    if (handler.type) out_.write(" "), exprs_.expr(handler.type, Level::test);
    if (!handler.name.empty()) out_.write(" as "), names_.name(handler.name);
    // The suite must leave room for the next clause: a handler, `else` or `finally`.
    suite_before(handler.body, i + 1 < node.handlers.size() ? node.handlers[i + 1].body
                               : !node.orelse.empty()       ? node.orelse
                                                            : node.finalbody);
  }
  if (!node.handlers.empty()) otherwise("else", node.orelse);
  if (!node.finalbody.empty()) return otherwise("finally", node.finalbody);
  // A try statement needs some clause, so without handlers the else clause becomes a finally clause.
  if (node.handlers.empty()) {
    out_.begin_line();
    out_.write("finally");
    suite(node.orelse);
  }
}

// Prints the names of an import. Names that are imported `from` a module are printed without demangling, because the
// compiler does not mangle the tuple of these names. `line` is the source line of the first name (-1 if unknown), and
// each further name is `step` lines below its predecessor.
void Statements::aliases(List<Alias> aliases, bool from, std::int32_t line, int step) {
  bool first = true;
  for (const Alias& alias : aliases) {
    if (!first) breaks_.comma(line >= 0 ? line += step : -1);
    first = false;
    if (line >= 0) breaks_.last_line = line;
    if (alias.name == "*") out_.write("*");
    else if (from) names_.plain_name(alias.name);
    else names_.dotted_name(alias.name);
    const bool binds_another = !alias.asname.empty() && !(from && names_.spelled(alias.asname) == alias.name);
    if (binds_another) out_.write(" as "), names_.name(alias.asname);
  }
}

// Prints `global a, b` or `nonlocal a, b`. A declaration that has no names left becomes `pass`.
void Statements::names(std::string_view keyword, List<std::string_view> names) {
  if (names.empty()) return out_.write("pass");
  bool first = true;
  for (std::string_view each : names) {
    out_.write(first ? keyword : ", ");
    first = false;
    names_.name(each);
  }
}

void Statements::annotated_assignment(const AnnAssign& assign) {
  // Only `(x): int` in the source leads to a target that is a name but not `simple`.
  const bool is_parenthesised = !assign.simple && is<Name>(assign.target);
  if (is_parenthesised) out_.write("(");
  exprs_.expr(assign.target, Level::test);
  out_.write(is_parenthesised ? "): " : ": ");
  if (!constants_.divided_annotation(assign.annotation)) exprs_.expr(assign.annotation, Level::test);
  if (assign.value) out_.write(" = "), exprs_.value(assign.value, Level::yield);
}

void Statements::import_from(const Stmt* stmt, const ImportFrom& import) {
  if (import.names.empty()) return out_.write("pass");
  out_.write(import.is_lazy ? "lazy from " : "from ");
  out_.write(std::string(std::size_t(std::max(import.level, 0)), '.'));
  if (!import.module.empty() || import.level <= 0) names_.dotted_name(import.module);
  out_.write(" import ");
  if (import.names.size() == 1 && import.names[0].name == "*") return aliases(import.names, true, -1, 0);
  // The position of the instruction that ends the statement spans the lines of the whole import. If an import has more
  // lines than names, each name stands on a line of its own.
  const Position* position = positions_.position_of(stmt);
  const std::int32_t more = position ? position->end_line - stmt->line : 0;
  const std::int32_t line = stmt->line >= 0 && more > 0 ? stmt->line + 1 : -1;
  breaks_.optional_brackets(
      line, [&] { aliases(import.names, true, line, more > std::int32_t(import.names.size()) ? 1 : 0); });
}

void Statements::return_statement(const Stmt* stmt, const Return& node) {
  out_.write("return");
  if (!node.value) return;
  out_.write(" ");
  // If the value starts on another line than the instruction of the statement, and is not in brackets, the instruction
  // does not have the line of the keyword `return`.
  if (first_line(node.value) != stmt->line && !positions_.is_in_brackets(stmt, node.value))
    breaks_.last_line = first_line(node.value);
  exprs_.value(node.value, Level::tuple);
}

void Statements::keyword_statement(const Stmt* stmt) {
  visit_kind(stmt->node,
             Overloaded{
                 [&](const FunctionDef& n) { definitions_.definition(stmt, n); },
                 [&](const ClassDef& n) { definitions_.definition(stmt, n); },
                 [&](const Return& n) { return_statement(stmt, n); },
                 [&](const Delete& n) {
                   out_.write("del ");
                   if (n.targets.empty()) return out_.write("()");
                   if (n.targets.size() == 1) return exprs_.comma_separated(n.targets);
                   breaks_.optional_brackets(first_line(n.targets[0]), [&] { exprs_.comma_separated(n.targets); });
                 },
                 [&](const Assign& n) {
                   for (const Expr* target : n.targets) {
                     // Nobody writes brackets around a name that is assigned to.
                     if (is<Name>(target)) exprs_.expr(target, Level::tuple);
                     else exprs_.value(target, Level::tuple);
                     out_.write(" = ");
                   }
                   exprs_.value(n.value, Level::yield);
                 },
                 [&](const AugAssign& n) {
                   exprs_.expr(n.target, Level::test);
                   out_.write(" ");
                   out_.write(operator_of(n.op).text);
                   out_.write("= ");
                   exprs_.value(n.value, Level::yield, dialect_of(version_).starred_right_sides);
                 },
                 [&](const AnnAssign& n) { annotated_assignment(n); },
                 [&](const TypeAlias& n) {
                   out_.write("type ");
                   names_.name(n.name);
                   exprs_.type_params(n.type_params);
                   out_.write(" = ");
                   exprs_.value(n.value, Level::test);
                 },
                 [&](const For& n) {
                   out_.write(n.is_async ? "async for " : "for ");
                   exprs_.value(n.target, Level::tuple);
                   out_.write(" in ");
                   exprs_.value(n.iter, Level::tuple, dialect_of(version_).starred_right_sides);
                   suite_before(n.body, n.orelse);
                   otherwise("else", n.orelse);
                 },
                 [&](const While& n) {
                   out_.write("while ");
                   exprs_.clause_condition(n.test);
                   suite_before(n.body, n.orelse);
                   otherwise("else", n.orelse);
                 },
                 [&](const If&) { conditional(stmt); },
                 [&](const With& n) {
                   out_.write(n.is_async ? "async with " : "with ");
                   with_items(n.items);
                   suite(n.body);
                 },
                 [&](const Match& n) {
                   out_.write("match ");
                   is<NamedExpr>(n.subject) ? exprs_.condition(n.subject) : exprs_.bare(n.subject, Level::tuple);
                   cases(n);
                 },
                 [&](const Raise& n) {
                   out_.write("raise");
                   if (n.exc) out_.write(" "), exprs_.value(n.exc, Level::test);
                   // `raise` without an exception cannot have a cause.
                   if (n.exc && n.cause) out_.write(" from "), exprs_.value(n.cause, Level::test);
                 },
                 [&](const Try& n) {
                   out_.write("try");
                   suite_before(n.body, n.handlers.empty() ? n.finalbody : n.handlers[0].body);
                   handlers(n);
                 },
                 [&](const Assert& n) {
                   out_.write("assert ");
                   breaks_.optional_brackets(-1, [&] { exprs_.expr(n.test, Level::test); });
                   if (n.msg) out_.write(", "), exprs_.value(n.msg, Level::test);
                 },
                 [&](const Import& n) {
                   if (n.is_lazy && !n.names.empty()) out_.write("lazy ");
                   out_.write(n.names.empty() ? "pass" : "import ");
                   aliases(n.names, false, -1, 0);
                 },
                 [&](const ImportFrom& n) { import_from(stmt, n); },
                 [&](const Global& n) { names("global ", n.names); },
                 [&](const Nonlocal& n) { names("nonlocal ", n.names); },
                 [&](const ExprStmt& n) { exprs_.value(n.value, Level::yield); },
                 [&](const Pass&) { out_.write("pass"); },
                 [&](const Break&) { out_.write("break"); },
                 [&](const Continue&) { out_.write("continue"); },
                 [&](const Comment& n) { comment(n.text); },
                 [&](const InternalStmt& n) { exprs_.internal(name_of(n.marker), n.index, n.value, n.value2); },
             });
}

}  // namespace depyf::print
