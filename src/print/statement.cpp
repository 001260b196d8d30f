#include <algorithm>

#include "ast/overloaded.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "print/printer.h"
#include "print/unicode.h"

namespace depyf::print {

using namespace ast;

namespace {

bool is_definition(const Stmt* stmt) { return is<FunctionDef>(stmt) || is<ClassDef>(stmt); }

// A comment belongs to what it stands above.
const Stmt* without_comments(Block body, std::size_t at) {
  while (at < body.size() && is<Comment>(body[at])) ++at;
  return at < body.size() ? body[at] : nullptr;
}

bool only_comments(Block body) {
  return std::ranges::all_of(body, [](const Stmt* each) { return is<Comment>(each); });
}

}  // namespace

void Printer::begin(const Stmt* stmt) {
  const std::int32_t line = options_.lines || options_.align ? source_line(stmt) : -1;
  const bool continues = std::exchange(continues_line_, false);
  if (!continues) pad_to(line);
  if (options_.lines && code_) out_.map_line(code_, stmt->offset, line);
  continues ? out_.continue_line() : out_.begin_line();
  last_line_ = stmt->line;
}

void Printer::module(Block body) {
  const std::size_t documented = docstring(body);
  statements(body.subspan(documented), documented ? Above::heading : Above::nothing);
}

// Two blank lines around the definitions of a module and one around others; one below the docstring of a module or class.
void Printer::statements(Block body, Above above) {
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

void Printer::suite(Block body) {
  write(":");
  break_lines(body);
  if (body.empty() && has_no_room_below()) {
    write(" pass");
    return out_.end_line();
  }
  if (fits_behind_colon(body)) {
    write(" ");
    return aligned_statements(body, true);
  }
  out_.end_line();
  out_.deeper();
  statements(body, Above::nothing);
  if (only_comments(body)) pass_line();
  out_.shallower();
}

void Printer::pass_line() {
  out_.begin_line();
  write("pass");
  out_.end_line();
}

void Printer::otherwise(std::string_view keyword, Block body) {
  if (body.empty()) return;
  pad_to_clause(body);
  out_.begin_line();
  write(keyword);
  suite(body);
}

void Printer::statement(const Stmt* stmt) {
  if (!stmt) return;
  if (auto* n = as<Comment>(stmt)) return comment(n->text);
  if (is<If>(stmt)) return conditional(stmt);
  begin(stmt);
  keyword_statement(stmt);
  if (out_.text().ends_with('\n')) return;
  break_lines();
  if (!stmt->comment.empty()) write("  # "), write(stmt->comment);
  out_.end_line();  // a compound statement ends in its suite
}

void Printer::comment(std::string_view text) {
  const bool behind = options_.align && !out_.text().empty() && out_.text().back() == '\n' && next_line_ >= 0 &&
                      next_line_ <= std::int32_t(out_.line()) && text.find('\n') == text.npos;
  if (behind) out_.reopen_line(), write("  ");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!behind) out_.begin_line();
    write(end > at ? "# " : "#");
    for (std::size_t i = at; i < end;) {
      const CodePoint point = code_point(text, i);
      write(point.valid && is_printable(point.value) ? text.substr(i, point.size) : "?");
      i += point.size;
    }
    out_.end_line();
    at = end + 1;
  }
}

// In a loop along `elif`, of which there may be thousands.
void Printer::conditional(const Stmt* stmt) {
  for (std::string_view keyword = "if ";; keyword = "elif ") {
    auto* n = as<If>(stmt);
    begin(stmt);
    write(keyword);
    clause_condition(n->test);
    suite_before(n->body, n->orelse);
    if (n->orelse.size() != 1 || !is<If>(n->orelse[0])) return otherwise("else", n->orelse);
    stmt = n->orelse[0];
  }
}

void Printer::with_items(List<WithItem> items) {
  if (items.empty()) return internal("missing", -1, nullptr);
  bool first = true;
  const bool may_break = dialect_of(version_).bracketed_with_items && items.size() > 1;
  // Behind the keyword an item stands a column further to the right than on a line of its own.
  const std::int32_t first_item = first_line(items[0].context_expr);
  const bool has_own_line =
      may_break && first_item > 0 && column(items[0].context_expr) == std::int32_t(out_.indent() + 4);
  starts_at(has_own_line ? first_item - 1 : first_item);
  if (may_break) mark(Mark::Kind::open, first_item, 0, true);
  for (const WithItem& item : items) {
    if (!first) comma(first_line(item.context_expr));
    first = false;
    // From 3.9 on, `with (a, b):` has two items instead of a tuple.
    const bool tuple =
        is<Tuple>(item.context_expr) || (is<ConstantExpr>(item.context_expr) &&
                                         as<ConstantExpr>(item.context_expr)->value->kind == Constant::Kind::tuple);
    if (tuple && items.size() == 1 && !item.optional_vars) {
      write("(");
      expr(item.context_expr, Level::test);
      write(")");
    } else {
      expr(item.context_expr, Level::test);
    }
    if (item.optional_vars) write(" as "), expr(item.optional_vars, Level::test);
  }
  if (may_break) mark(Mark::Kind::close, -1, 0, true);
}

void Printer::cases(const Match& node) {
  write(":");
  break_lines();
  out_.end_line();
  out_.deeper();
  for (const MatchCase& each : node.cases) {
    pad_to_clause(each.body);
    out_.begin_line();
    last_line_ = -1;
    write("case ");
    pattern(each.pattern, 0);
    if (each.guard) write(" if "), condition(each.guard);
    suite(each.body);
  }
  out_.shallower();
}

void Printer::handlers(const Try& node) {
  for (std::size_t i = 0; i < node.handlers.size(); ++i) {
    const ExceptHandler& handler = node.handlers[i];
    const std::int32_t line = handler.type ? first_line(handler.type) : -1;
    line >= 0 ? pad_to(line) : pad_to_clause(handler.body);
    out_.begin_line();
    last_line_ = line;
    write(node.is_star ? "except*" : "except");
    if (handler.type) write(" "), expr(handler.type, Level::test);
    if (!handler.name.empty()) write(" as "), name(handler.name);
    suite_before(handler.body, i + 1 < node.handlers.size() ? node.handlers[i + 1].body
                               : !node.orelse.empty()       ? node.orelse
                                                            : node.finalbody);
  }
  if (!node.handlers.empty()) otherwise("else", node.orelse);
  if (!node.finalbody.empty()) return otherwise("finally", node.finalbody);
  if (node.handlers.empty()) {
    out_.begin_line();
    write("finally");
    suite(node.orelse);
  }
}

// `line`: of the first name in the source, -1: unknown; the next ones are `step` lines further each.
void Printer::aliases(List<Alias> aliases, std::int32_t line, int step) {
  bool first = true;
  for (const Alias& alias : aliases) {
    if (!first) comma(line >= 0 ? line += step : -1);
    first = false;
    if (line >= 0) last_line_ = line;
    alias.name == "*" ? write("*") : dotted_name(alias.name);
    if (!alias.asname.empty()) write(" as "), name(alias.asname);
  }
}

void Printer::names(std::string_view keyword, List<std::string_view> names) {
  if (names.empty()) return write("pass");
  bool first = true;
  for (std::string_view each : names) {
    write(first ? keyword : ", ");
    first = false;
    name(each);
  }
}

void Printer::annotated_assignment(const AnnAssign& assign) {
  const bool is_parenthesised = !assign.simple && is<Name>(assign.target);
  if (is_parenthesised) write("(");
  expr(assign.target, Level::test);
  write(is_parenthesised ? "): " : ": ");
  expr(assign.annotation, Level::test);
  if (assign.value) write(" = "), value(assign.value, Level::yield);
}

void Printer::import_from(const Stmt* stmt, const ImportFrom& import) {
  if (import.names.empty()) return write("pass");
  write(import.is_lazy ? "lazy from " : "from ");
  write(std::string(std::max(import.level, 0), '.'));
  if (!import.module.empty() || import.level <= 0) dotted_name(import.module);
  write(" import ");
  if (import.names.size() == 1 && import.names[0].name == "*") return aliases(import.names, -1, 0);
  const Position* position = position_of(stmt);
  const std::int32_t more = position ? position->end_line - stmt->line : 0;
  const std::int32_t line = stmt->line >= 0 && more > 0 ? stmt->line + 1 : -1;
  optional_brackets(line, [&] { aliases(import.names, line, more > std::int32_t(import.names.size()) ? 1 : 0); });
}

void Printer::keyword_statement(const Stmt* stmt) {
  std::visit(Overloaded{
                 [&](const FunctionDef& n) { definition(stmt, n); },
                 [&](const ClassDef& n) { definition(stmt, n); },
                 [&](const Return& n) {
                   write("return");
                   if (!n.value) return;
                   write(" ");
                   if (first_line(n.value) != stmt->line && !is_in_brackets(stmt, n.value))
                     last_line_ = first_line(n.value);
                   value(n.value, Level::tuple);
                 },
                 [&](const Delete& n) {
                   write("del ");
                   if (n.targets.empty()) return write("()");
                   if (n.targets.size() == 1) return comma_separated(n.targets);
                   optional_brackets(first_line(n.targets[0]), [&] { comma_separated(n.targets); });
                 },
                 [&](const Assign& n) {
                   for (const Expr* target : n.targets) {
                     value(target, Level::tuple);
                     write(" = ");
                   }
                   value(n.value, Level::yield);
                 },
                 [&](const AugAssign& n) {
                   expr(n.target, Level::test);
                   write(" ");
                   write(operator_of(n.op).text);
                   write("= ");
                   value(n.value, Level::yield, dialect_of(version_).starred_right_sides);
                 },
                 [&](const AnnAssign& n) { annotated_assignment(n); },
                 [&](const TypeAlias& n) {
                   write("type ");
                   name(n.name);
                   type_params(n.type_params);
                   write(" = ");
                   value(n.value, Level::test);
                 },
                 [&](const For& n) {
                   write(n.is_async ? "async for " : "for ");
                   value(n.target, Level::tuple);
                   write(" in ");
                   value(n.iter, Level::tuple, dialect_of(version_).starred_right_sides);
                   suite_before(n.body, n.orelse);
                   otherwise("else", n.orelse);
                 },
                 [&](const While& n) {
                   write("while ");
                   clause_condition(n.test);
                   suite_before(n.body, n.orelse);
                   otherwise("else", n.orelse);
                 },
                 [&](const If&) { conditional(stmt); },
                 [&](const With& n) {
                   write(n.is_async ? "async with " : "with ");
                   with_items(n.items);
                   suite(n.body);
                 },
                 [&](const Match& n) {
                   write("match ");
                   is<NamedExpr>(n.subject) ? condition(n.subject) : bare(n.subject, Level::tuple);
                   cases(n);
                 },
                 [&](const Raise& n) {
                   write("raise");
                   if (n.exc) write(" "), value(n.exc, Level::test);
                   if (n.exc && n.cause) write(" from "), value(n.cause, Level::test);
                 },
                 [&](const Try& n) {
                   write("try");
                   suite_before(n.body, n.handlers.empty() ? n.finalbody : n.handlers[0].body);
                   handlers(n);
                 },
                 [&](const Assert& n) {
                   write("assert ");
                   optional_brackets(-1, [&] { expr(n.test, Level::test); });
                   if (n.msg) write(", "), value(n.msg, Level::test);
                 },
                 [&](const Import& n) {
                   if (n.is_lazy && !n.names.empty()) write("lazy ");
                   write(n.names.empty() ? "pass" : "import ");
                   aliases(n.names, -1, 0);
                 },
                 [&](const ImportFrom& n) { import_from(stmt, n); },
                 [&](const Global& n) { names("global ", n.names); },
                 [&](const Nonlocal& n) { names("nonlocal ", n.names); },
                 [&](const ExprStmt& n) { value(n.value, Level::yield); },
                 [&](const Pass&) { write("pass"); },
                 [&](const Break&) { write("break"); },
                 [&](const Continue&) { write("continue"); },
                 [&](const Comment& n) { comment(n.text); },
                 [&](const InternalStmt& n) { internal(name_of(n.marker), n.index, n.value, n.value2); },
             },
             stmt->node);
}

}  // namespace depyf::print
