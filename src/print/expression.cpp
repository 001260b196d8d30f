// Prints expressions. All kinds of expressions but f-strings are printed in one file, because the parentheses of each
// kind depend on the precedence of its operands.
#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>

#include "ast/overloaded.h"
#include "ast/position.h"
#include "ast/visit.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "print/expression.h"
#include "print/literal.h"
#include "print/markers.h"
#include "print/operands.h"
#include "print/spelled_number.h"
#include "print/unicode.h"
#include "support/words.h"

namespace depyf::print {

using namespace ast;

namespace {

bool is_opening(char c) { return c == '(' || c == '[' || c == '{'; }
bool is_closing(char c) { return c == ')' || c == ']' || c == '}'; }

// The parts of an annotation that the bytecode keeps as text (`from __future__ import annotations`).
struct TextParts {
  // The number of ` | ` outside of brackets, and the number of commas directly within the last pair of brackets that no
  // other brackets enclose.
  std::int32_t bars = 0, commas = 0;
  bool is_bracketed = false;  // true if the text ends in a closing bracket
};

// Returns `text` with `...` in place of the word Ellipsis outside of string literals. Up to 3.8, CPython writes the
// word Ellipsis for a `...` in a constant tuple of an annotation. In a constant tuple, the word Ellipsis cannot be the
// name `Ellipsis`, because a tuple that contains a name is no constant.
std::string with_ellipsis(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = is_quote(text[at])  ? behind_string(text, at)
                            : is_word(text[at]) ? at + word_at(text.substr(at)).size()
                                                : at + 1;
    const std::string_view part = text.substr(at, end - at);
    result += part == "Ellipsis" ? "..." : part;
    at = end;
  }
  return result;
}

TextParts parts_of(std::string_view text) {
  TextParts result;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_quote(text[at])) {
      at = behind_string(text, at) - 1;
      continue;
    }
    const char c = text[at];
    if (is_opening(c) && depth++ == 0) result.commas = 0;
    if (is_closing(c)) --depth;
    if (depth == 0 && text.substr(at).starts_with(" | ")) ++result.bars;
    if (depth == 1 && c == ',') ++result.commas;
  }
  result.is_bracketed = !text.empty() && is_closing(text.back());
  return result;
}

// Returns how the source wrote the integer `number`, the value of `expr`. The text of the result is empty if the source
// wrote the digits of the number, which is assumed unless the width of the position of `expr` shows another spelling.
SpelledNumber spelling_of(const Expr* expr, const Constant& number, const Positions& positions) {
  if (number.kind != Constant::Kind::integer) return {};
  const Position* position = positions.of(expr);
  if (!position || position->line != position->end_line || position->column < 0) return {};
  const auto width = std::size_t(position->end_column - position->column);
  if (width == number.text.size() || !positions.loads(expr, number)) return {};
  return spelled_number(number.text, width);
}

// Returns the text of a constant that never needs parentheses and is written in only one way, such as `None` or a
// digit. Returns an empty text for a constant that may need parentheses or can be written in several ways.
std::string_view only_text_of(const Constant& value) {
  using Kind = Constant::Kind;
  if (value.kind == Kind::none) return "None";
  if (value.kind == Kind::true_) return "True";
  if (value.kind == Kind::false_) return "False";
  // Among the numbers with one digit, only 9 may be printed as a power, `3**2`.
  const bool is_digit = value.kind == Kind::integer && value.text.size() == 1 && value.text != "9";
  return is_digit ? std::string_view(value.text) : std::string_view();
}

// From 3.14 on, a slice of constants is one constant, unless the source wrote a part as an expression, which the
// compiler folds later. Returns the start, stop or step that the source wrote as an expression and the compiler folded;
// null if the source wrote no part as an expression. The subscript `x[8:8 + 4]`, for example, compiles to LOAD x; LOAD
// 8; LOAD 12; BINARY_SLICE, and the returned part is 12.
const Expr* folded_part(const Slice& slice, const Positions& positions, Version version) {
  if (!positions.code || !dialect_of(version).constant_slices) return nullptr;
  const Expr* folded = nullptr;
  for (const Expr* part : {slice.step, slice.lower, slice.upper}) {
    if (!part) continue;
    const Constant* number = constant_of(part, Constant::Kind::integer);
    const Position* position = number ? position_in(*positions.code, part) : nullptr;
    if (!position || number->text.starts_with('-') || !spelling_of(part, *number, positions).text.empty())
      return nullptr;
    const bool is_wider = position->line != position->end_line ||
                          std::size_t(position->end_column - position->column) > number->text.size();
    if (is_wider) folded = part;
  }
  return folded;
}

// Returns the precedence of an expression by its kind; the levels of operators are in the tables of precedence.h.
Level level_by_kind(const Expr* expr) {
  return std::visit(Overloaded{
                        [](const Name&) { return Level::atom; },
                        [](const ConstantExpr& n) { return level_of(*n.value); },
                        [](const Attribute&) { return Level::atom; },
                        [](const Subscript&) { return Level::atom; },
                        [](const Slice&) { return Level::atom; },
                        [](const Call&) { return Level::atom; },
                        [](const BinOp& n) { return operator_of(n.op).level; },
                        [](const UnaryExpr& n) { return operator_of(n.op).level; },
                        [](const BoolOp& n) { return n.is_or ? Level::or_ : Level::and_; },
                        [](const Compare&) { return Level::compare; },
                        [](const IfExp&) { return Level::test; },
                        [](const Tuple& n) { return n.elts.empty() ? Level::atom : Level::tuple; },
                        [](const ListExpr&) { return Level::atom; },
                        [](const SetExpr&) { return Level::atom; },
                        [](const Dict&) { return Level::atom; },
                        [](const FormattedValue&) { return Level::atom; },
                        [](const JoinedStr& n) { return n.is_percent ? Level::term : Level::atom; },
                        [](const Interpolation&) { return Level::atom; },
                        [](const TemplateStr&) { return Level::atom; },
                        [](const Lambda&) { return Level::test; },
                        [](const ComprehensionExpr&) { return Level::atom; },
                        [](const Await&) { return Level::await; },
                        [](const Yield&) { return Level::yield; },
                        [](const YieldFrom&) { return Level::yield; },
                        [](const NamedExpr&) { return Level::named; },
                        [](const Starred&) { return Level::atom; },
                        [](const Verbatim&) { return Level::test; },
                        [](const Internal&) { return Level::atom; },
                    },
                    expr->node);
}

}  // namespace

Level level_of(const Expr* expr) {
  // Most expressions are names, attributes or calls, so these kinds are tested first.
  if (!expr || is<Name>(expr) || is<Attribute>(expr) || is<Call>(expr)) return Level::atom;
  return level_by_kind(expr);
}

// Prints a constant. An integer is printed as the source wrote it if its position shows that the source did not write
// plain digits.
void Expressions::constant(const Expr* expr, const Constant& value, Level loosest) {
  // Most constants are strings, which never need parentheses.
  if (value.kind == Constant::Kind::string || value.kind == Constant::Kind::bytes) {
    breaks_.anchor(expr);
    return constants_.string(expr, value);
  }
  if (const std::string_view text = only_text_of(value); !text.empty()) {
    breaks_.reached_line(expr->line);
    breaks_.anchor(expr);
    return out_.write(text);
  }
  auto print = [&](bool parenthesised, auto print_literal) {
    if (parenthesised) out_.write("("), breaks_.open(expr->line);
    breaks_.reached_line(expr->line);
    print_literal();
    if (parenthesised) breaks_.close(), out_.write(")");
  };
  if (value.kind == Constant::Kind::integer)
    if (const SpelledNumber number = spelling_of(expr, value, positions_); !number.text.empty())
      return print(number.level < loosest, [&] { out_.write(number.text); });
  // No literal binds looser than a sum.
  print(loosest > Level::arithmetic && level_of(value) < loosest, [&] {
    breaks_.anchor(expr);
    constants_.constant(expr, value);
  });
}

// Follows the leftmost operands down and back in a loop instead of recursion, because `a + b + c + ...` nests as deep
// as it is long.
void Expressions::any_expr(const Expr* expr, Level loosest) {
  // Most operands are names or attributes of a name. Such an operand is printed at once, without `open_`, the list of
  // the nodes whose leftmost operand is being printed. `printed_short_operand` returns false, and prints nothing, for
  // any other operand.
  const auto printed_short_operand = [&](const Expr* operand) {
    if (auto* n = as<Name>(operand)) return name(operand, *n), true;
    auto* access = as<Attribute>(operand);
    auto* object = access ? as<Name>(access->value) : nullptr;
    if (object) name(access->value, *object), attribute(operand, *access);
    return object != nullptr;
  };
  if (auto* call = as<Call>(expr)) {
    if (printed_short_operand(call->func)) return call_arguments(call->args, call->keywords, expr);
  } else if (printed_short_operand(expr)) {
    return;
  }
  const std::size_t bottom = open_.size();
  // The texts of an expression and of its leftmost operands start with the same name or constant. The line of the name
  // or constant at the start of the text is searched for only once, because the name or constant may be nested deep.
  std::optional<std::int32_t> line_of_leaf;
  for (;;) {
    if (auto* n = as<Name>(expr)) {
      name(expr, *n);
      break;
    }
    if (auto* n = as<ConstantExpr>(expr)) {
      constant(expr, *n->value, loosest);
      break;
    }
    const Operand operand = leftmost(expr);
    // An expression whose leftmost operand must be an atom is an atom itself.
    const bool is_atom = operand.expr && operand.loosest == Level::atom;
    const bool parenthesised = !is_atom && level_of(expr) < loosest;
    if (parenthesised) {
      if (operand.expr && !line_of_leaf) line_of_leaf = first_line(expr);
      out_.write("(");
      breaks_.open(operand.expr ? *line_of_leaf : first_line_within(expr));
    }
    if (!operand.expr) {
      without_leftmost(expr);
      if (parenthesised) breaks_.close(is<Tuple>(expr) ? expr : nullptr), out_.write(")");
      break;
    }
    open_.add({expr, parenthesised});
    expr = operand.expr;
    loosest = operand.loosest;
  }
  while (open_.size() > bottom) {
    const Open whole = open_.take_last();
    if (auto* access = as<Attribute>(whole.expr)) attribute(whole.expr, *access);
    else if (auto* call = as<Call>(whole.expr)) call_arguments(call->args, call->keywords, whole.expr);
    else after_operand(whole.expr);
    if (whole.parenthesised) breaks_.close(), out_.write(")");
  }
}

void Expressions::name(const Expr* expr, const Name& node) {
  breaks_.reached_line(expr->line);
  breaks_.anchor(expr);
  names_.name(node.id);
}

void Expressions::attribute(const Expr* whole, const Attribute& node) {
  auto* number = as<ConstantExpr>(node.value);
  // `1.real` would be read as the float `1.` and a name, so a blank separates the number.
  if (number && number->value->kind == Constant::Kind::integer && level_of(node.value) == Level::atom) out_.write(" ");
  breaks_.mark(Mark::Kind::separator, whole->line, attribute_priority);
  breaks_.reached_line(whole->line);
  out_.write(".");
  breaks_.anchor(whole);
  names_.name(node.attr);
}

// Prints the rest of an operator or subscript whose leftmost operand has been printed: `+ b` of `a + b`.
void Expressions::after_operand(const Expr* whole) {
  if (auto* n = as<BinOp>(whole)) {
    const Operator& op = operator_of(n->op);
    operator_before(op.text, op.level, n->right);
    return part(n->right, op.right);
  }
  if (auto* n = as<BoolOp>(whole)) {
    const Level operands = tighter(n->is_or ? Level::or_ : Level::and_);
    for (const Expr* each : n->values.subspan(1)) {
      operator_before(n->is_or ? "or" : "and", Level::or_, each);
      part(each, operands);
    }
    return;
  }
  if (auto* n = as<Compare>(whole)) {
    for (std::size_t i = 0; i < n->comparators.size() && i < n->ops.size(); ++i) {
      operator_before(text_of(n->ops[i]), Level::compare, n->comparators[i]);
      expr(n->comparators[i], Level::bit_or);
    }
    return;
  }
  if (auto* n = as<Subscript>(whole)) {
    out_.write("[");
    breaks_.open(first_line(n->slice));
    slice_index(n->slice);
    breaks_.close(whole);
    return out_.write("]");
  }
  if (auto* n = as<IfExp>(whole)) {
    operator_before("if", Level::test, n->test);
    expr(n->test, Level::or_);
    operator_before("else", Level::test, n->orelse);
    expr(n->orelse, Level::test);
  }
}

void Expressions::operator_before(std::string_view op, Level level, const Expr* right) {
  // A line breaks first at the operators that bind loosest. So the tighter an operator binds (the higher its level is),
  // the lower is the priority of its mark.
  breaks_.mark(Mark::Kind::separator, first_line(right), static_cast<std::uint8_t>(int(Level::atom) - int(level)));
  out_.write(" ");
  out_.write(op);
  out_.write(" ");
}

// Prints an expression whose text does not start with an operand. A kind of expression that usually starts with an
// operand, such as `a + b`, is printed by `without_leftmost` only if a malformed tree lacks the operand.
void Expressions::without_leftmost(const Expr* leaf) {
  if (!leaf) return internal("missing", -1, nullptr);
  breaks_.reached(leaf);
  breaks_.anchor(leaf);
  visit_kind(leaf->node,
             Overloaded{
                 [&](const Name& n) { names_.name(n.id); },
                 [&](const ConstantExpr& n) { constants_.constant(leaf, *n.value); },
                 [&](const Attribute&) { internal("missing", -1, nullptr); },
                 [&](const Subscript&) { internal("missing", -1, nullptr); },
                 [&](const Slice& n) {  // a slice outside of a subscript is a call of `slice`
                   bool first = true;
                   for (const Expr* part : {n.lower, n.upper, n.step}) {
                     out_.write(first ? "slice(" : ", ");
                     first = false;
                     part ? expr(part, Level::test) : out_.write("None");
                   }
                   out_.write(")");
                 },
                 [&](const Call&) { internal("missing", -1, nullptr); },
                 [&](const BinOp&) { internal("missing", -1, nullptr); },
                 [&](const UnaryExpr& n) {
                   const Operator& op = operator_of(n.op);
                   out_.write(op.text);
                   expr(n.operand, op.right);
                 },
                 [&](const BoolOp&) { internal("missing", -1, nullptr); },
                 [&](const Compare&) { internal("missing", -1, nullptr); },
                 [&](const IfExp&) { internal("missing", -1, nullptr); },
                 [&](const Tuple& n) {
                   if (n.elts.empty()) out_.write("()");
                   comma_separated(n.elts);
                   if (n.elts.size() == 1) out_.write(",");
                 },
                 [&](const ListExpr& n) {
                   out_.write("[");
                   elements(leaf, n.elts);
                   out_.write("]");
                 },
                 // There is no literal of an empty set; `{*()}` is an expression of the same value.
                 [&](const SetExpr& n) {
                   out_.write(n.elts.empty() ? "{*()" : "{");
                   elements(leaf, n.elts);
                   out_.write("}");
                 },
                 [&](const Dict& n) { dict(n, leaf); },
                 [&](const FormattedValue&) { fstrings_.fstring(leaf); },
                 [&](const JoinedStr& n) {
                   n.is_percent&& constants_.fields == 0 ? fstrings_.percent_format(n, leaf) : fstrings_.fstring(leaf);
                 },
                 [&](const Interpolation&) { fstrings_.fstring(leaf); },
                 [&](const TemplateStr&) { fstrings_.fstring(leaf); },
                 [&](const Lambda& n) {
                   out_.write("lambda");
                   // The parameters of a lambda are printed as captured text, which has no marks, because no line may
                   // break between them.
                   const std::string args = breaks_.capture([&] { arguments(n.args, false); });
                   if (!args.empty()) out_.write(" ");
                   out_.write(args);
                   out_.write(": ");
                   // The columns of the expressions inside the lambda are found in the code object of the lambda.
                   const CodeObject* around = std::exchange(positions_.code, n.code ? n.code : positions_.code);
                   expr(n.body, Level::test);
                   positions_.code = around;
                 },
                 [&](const ComprehensionExpr& n) { comprehension(n); },
                 [&](const Await& n) {
                   out_.write("await ");
                   expr(n.value, Level::atom);
                 },
                 [&](const Yield& n) {
                   out_.write("yield");
                   if (n.value) out_.write(" "), bare(n.value, Level::tuple);
                 },
                 [&](const YieldFrom& n) {
                   out_.write("yield from ");
                   expr(n.value, Level::test);
                 },
                 [&](const NamedExpr& n) {
                   expr(n.target, Level::atom);
                   out_.write(" := ");
                   expr(n.value, Level::test);
                 },
                 [&](const Starred& n) {
                   out_.write("*");
                   expr(n.value, Level::bit_or);
                 },
                 [&](const Verbatim& n) {
                   if (dialect_of(version_).named_ellipsis) annotation_text(leaf, with_ellipsis(n.text));
                   else annotation_text(leaf, n.text);
                 },
                 [&](const Internal& n) { internal(name_of(n.marker), n.index, n.value); },
             });
}

// Prints an annotation that the bytecode keeps as text, and marks where its lines may break. The number of lines of
// the annotation's position decides whether each member of a union gets a line of its own. The number of lines also
// decides whether the items in brackets at the end of the annotation get a line each or share a line.
void Expressions::annotation_text(const Expr* leaf, std::string_view text) {
  const TextParts parts = parts_of(text);
  const std::int32_t first = leaf->line, more = first < 0 ? 0 : positions_.end_line(leaf) - first;
  const bool each_member = more > 0 && more == parts.bars;
  const bool each_item = more > 1 && parts.bars == 0 && parts.is_bracketed && more == parts.commas + 2;
  const bool own_line = more == 2 && parts.bars == 0 && parts.is_bracketed;
  const std::int32_t usual = more == 0 ? first : -1;  // the source line of the marks that `more` does not decide
  std::int32_t line = first;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_quote(text[at])) {
      const std::size_t end = behind_string(text, at);
      out_.write(text.substr(at, end - at));
      at = end - 1;
      continue;
    }
    const char c = text[at];
    const bool is_bar = text.substr(at).starts_with(" | ");
    if (is_bar) {
      breaks_.mark(Mark::Kind::separator, each_member && depth == 0 ? ++line : usual,
                   static_cast<std::uint8_t>(int(Level::atom) - int(Level::bit_or)));
    }
    if (is_closing(c)) {
      if (!is_opening(text[at - 1]))
        breaks_.mark(Mark::Kind::close, depth == 1 && (each_item || own_line) ? first + more : usual);
      --depth;
    }
    out_.write(text.substr(at, 1));
    if (is_opening(c)) {
      ++depth;
      if (at + 1 < text.size() && !is_closing(text[at + 1]))
        breaks_.open(depth == 1 && (each_item || own_line) ? ++line : usual);
    } else if (c == ',' && depth > 0 && at + 1 < text.size() && text[at + 1] == ' ') {
      if (depth == 1 && each_item) ++line;
      breaks_.mark(Mark::Kind::separator, depth == 1 && (each_item || own_line) ? line : usual, comma_priority);
    }
  }
}

// Prints the elements of a list or set, up to the closing bracket.
void Expressions::elements(const Expr* whole, List<Expr*> elts) {
  if (elts.empty()) return;
  std::vector<Expr*> sorted;
  // The compiler folds a display of constants into one constant, whose elements have no positions of their own: all
  // have the line and the offset of one instruction.
  const bool is_folded = elts.size() > 1 && std::ranges::all_of(elts, [&](const Expr* each) {
                           return is<ConstantExpr>(each) && each->line >= 0 && each->offset == elts[0]->offset;
                         });
  if (is_folded && is<SetExpr>(whole)) {  // sorted, because the order of a set changes from run to run
    sorted.assign(elts.begin(), elts.end());
    std::ranges::sort(sorted, precedes_in_set,
                      [](const Expr* each) -> const Constant& { return *as<ConstantExpr>(each)->value; });
    elts = sorted;
  }
  const std::int32_t more = positions_.end_line(whole) - whole->line;
  if (!is_folded || whole->line < 0 || more <= 0) {
    breaks_.open(first_line(elts[0]));
    comma_separated(elts);
    return breaks_.close(whole);
  }
  // A folded display with more lines than elements had each element on a line of its own.
  const int step = more > std::int32_t(elts.size()) ? 1 : 0;
  std::int32_t line = whole->line + 1;
  const bool outer = std::exchange(constants_.may_divide, more > std::int32_t(elts.size()) + 1);
  for (std::size_t i = 0; i < elts.size(); ++i) {
    i == 0 ? breaks_.open(line) : breaks_.comma(line += step);
    breaks_.last_line = line;
    constants_.constant(*as<ConstantExpr>(elts[i])->value);
    breaks_.last_line = line;
  }
  constants_.may_divide = outer;
  breaks_.last_line = std::max(breaks_.last_line, whole->line + more - 1);
  breaks_.close(whole);
}

void Expressions::internal(std::string_view what, std::int32_t index, const Expr* value, const Expr* value2) {
  out_.write("__internal_");
  out_.write(what);
  if (index >= 0) out_.write("_" + std::to_string(index));
  out_.write("__");
  if (!value && !value2) return;
  out_.write("(");
  if (value) expr(value, Level::test);
  if (value && value2) out_.write(", ");
  if (value2) expr(value2, Level::test);
  out_.write(")");
}

void Expressions::comma_separated(List<Expr*> exprs) {
  bool first = true;
  for (const Expr* each : exprs) {
    if (!first) breaks_.comma(first_line(each));
    first = false;
    part(each, Level::test);
  }
}

void Expressions::condition(const Expr* test) { expr(test, is<NamedExpr>(test) ? Level::named : Level::test); }

// If the version of Python allows no starred element in a tuple without brackets, the tuple gets brackets. For example,
// `return *a, b` is a syntax error in 3.7.
void Expressions::bare(const Expr* value, Level loosest, bool starred_allowed) {
  if (auto* n = as<Name>(value)) return name(value, *n);
  if (auto* n = as<ConstantExpr>(value)) {
    if (n->value->kind != Constant::Kind::tuple || loosest > Level::tuple) return constant(value, *n->value, loosest);
    breaks_.reached(value);
    // A tuple that spans several lines must have had brackets.
    const bool is_bracketed = n->value->items.size() == 1 || positions_.end_line(value) > value->line;
    return constants_.constant(value, *n->value, is_bracketed);
  }
  if (auto* tuple = as<Tuple>(value)) {
    const auto is_starred = [](const Expr* each) { return is<Starred>(each); };
    // The comma of a bare tuple of one element is easy to miss, so formatters write brackets.
    if (tuple->elts.size() == 1 || (!starred_allowed && std::ranges::any_of(tuple->elts, is_starred)))
      loosest = Level::test;
  }
  any_expr(value, loosest);
}

// Prints one element of a subscript, where a slice is written with colons: `x[1:2, ::3]`.
void Expressions::slice_element(const Expr* element) {
  if (auto* slice = as<Slice>(element)) {
    const Expr* folded = folded_part(*slice, positions_, version_);
    auto part = [&](const Expr* bound) {
      if (!bound) return;
      if (bound != folded) return expr(bound, Level::test);
      const Position& position = *position_in(*positions_.code, bound);
      const Constant* near = bound == slice->upper ? constant_of(slice->lower, Constant::Kind::integer) : nullptr;
      breaks_.reached(bound);
      out_.write(spelled_sum(constant_of(bound, Constant::Kind::integer)->text,
                             std::size_t(position.end_column - position.column), near ? near->text : ""));
    };
    part(slice->lower);
    out_.write(":");
    part(slice->upper);
    if (slice->step) out_.write(":"), part(slice->step);
  } else if (auto* n = as<ConstantExpr>(element)) {
    slice_element(*n->value);
  } else {
    expr(element, Level::test);
  }
}

// A slice whose parts are constants may itself be one constant (3.14); absent parts are None.
void Expressions::slice_element(const Constant& element) {
  if (element.kind != Constant::Kind::slice || element.items.size() != 3) return constants_.constant(element);
  for (std::size_t i = 0; i < 3; ++i) {
    const bool none = element.items[i].kind == Constant::Kind::none;
    if (i == 1 || (i == 2 && !none)) out_.write(":");
    if (!none) constants_.constant(element.items[i]);
  }
}

// Prints the elements of `x[a, b:c]` without brackets around the tuple.
void Expressions::slice_index(const Expr* index) {
  auto list = [&](const auto& elements, auto print) {
    bool first = true;
    for (const auto& each : elements) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(each)>, Constant>) {
        if (!first) breaks_.comma();
      } else {
        if (!first) breaks_.comma(first_line(each));
      }
      first = false;
      print(each);
    }
  };
  auto* tuple = as<Tuple>(index);
  auto* n = as<ConstantExpr>(index);
  if (tuple && !tuple->elts.empty()) {
    const bool starred = std::ranges::any_of(tuple->elts, [](const Expr* each) { return is<Starred>(each); });
    // Before 3.11 a starred element is a syntax error in a bare subscript, so the tuple gets parentheses.
    if (starred && !dialect_of(version_).starred_subscripts) return expr(index, Level::test);
    list(tuple->elts, [&](const Expr* each) { slice_element(each); });
    if (tuple->elts.size() == 1 && !starred) out_.write(",");
  } else if (n && n->value->kind == Constant::Kind::tuple && !n->value->items.empty()) {
    list(n->value->items, [&](const Constant& each) { slice_element(each); });
    if (n->value->items.size() == 1) out_.write(",");
  } else {
    slice_element(index);
  }
}

void Expressions::generators(List<Comprehension> generators, const CodeObject* around) {
  for (const Comprehension& each : generators) {
    breaks_.mark(Mark::Kind::separator, first_line(each.target), comprehension_priority);
    out_.write(each.is_async ? " async for " : " for ");
    // The targets get brackets of their own if the line breaks between them. Without brackets around the targets, a
    // break at a comma between targets would count as a break between items of the enclosing display.
    value(each.target, Level::tuple);
    out_.write(" in ");
    // The first iterable is evaluated by the enclosing code object, which has the columns of this iterable.
    const CodeObject* inner = std::exchange(positions_.code, &each == &generators[0] ? around : positions_.code);
    part(each.iter, Level::or_);
    positions_.code = inner;
    for (const Expr* test : each.ifs) {
      breaks_.mark(Mark::Kind::separator, first_line(test), comprehension_priority);
      out_.write(" if ");
      part(test, Level::or_);
    }
  }
}

void Expressions::comprehension(const ComprehensionExpr& node) {
  static constexpr std::string_view brackets[] = {"[]", "{}", "{}", "()"};
  // The dict form without `elt` is `{**mapping for ...}` of Python 3.15.
  const std::string_view bracket = brackets[static_cast<int>(node.kind)];
  out_.write(bracket.substr(0, 1));
  breaks_.open(first_line(node.elt ? node.elt : node.value));
  const CodeObject* around = std::exchange(positions_.code, node.code ? node.code : positions_.code);
  if (node.kind == ComprehensionKind::dict && !node.elt) {
    out_.write("**");
    expr(node.value, Level::bit_or);
  } else {
    part(node.elt, Level::test);
    if (node.kind == ComprehensionKind::dict) out_.write(": "), part(node.value, Level::test);
  }
  generators(node.generators, around);
  positions_.code = around;
  breaks_.close();
  out_.write(bracket.substr(1));
}

void Expressions::dict(const Dict& node, const Expr* whole) {
  out_.write("{");
  for (std::size_t i = 0; i < node.values.size(); ++i) {
    // Constant keys of a dict that the compiler put into one tuple have no positions, so an item with a constant key
    // has the line of its value.
    const bool has_key = i < node.keys.size() && node.keys[i];
    const Expr* start = has_key && !is<ConstantExpr>(node.keys[i]) ? node.keys[i] : node.values[i];
    i > 0 ? breaks_.comma(first_line(start)) : breaks_.open(first_line(start));
    if (has_key) {
      const std::int32_t line = breaks_.last_line;
      auto* key = as<ConstantExpr>(node.keys[i]);
      // If the compiler put all keys into one tuple, a key that is a constant tuple itself has the position of all
      // keys, so the key is printed without a position.
      if (key && key->value->kind == Constant::Kind::tuple) constants_.constant(*key->value);
      else expr(node.keys[i], Level::test);
      if (key) breaks_.last_line = line;
      out_.write(": ");
      part(node.values[i], Level::test);
    } else {
      out_.write("**");
      expr(node.values[i], Level::bit_or);
    }
  }
  if (!node.values.empty()) breaks_.close(whole);
  out_.write("}");
}

void Expressions::value(const Expr* expr, Level loosest, bool starred_allowed) {
  const std::int32_t line = first_line(expr);
  breaks_.starts_at(line);
  // A comprehension has brackets of its own. Further brackets around a comprehension are considered only if it starts
  // on a later line of the source than the text in front of it, for example behind an annotation of several lines.
  if (is<ComprehensionExpr>(expr) && line <= breaks_.last_line) return bare(expr, loosest, starred_allowed);
  const bool is_tuple = is<Tuple>(expr);
  breaks_.mark(Mark::Kind::open, is_tuple ? first_line_within(expr) : line, 0, true);
  bare(expr, loosest, starred_allowed);
  const std::int32_t end = is_tuple ? positions_.end_line(expr) : -1;
  breaks_.mark(Mark::Kind::close, end > breaks_.last_line ? end : -1, 0, true);
}

// An `if` has the line of its test in the bytecode, so only the second and later lines of the test show whether the
// test was in brackets.
void Expressions::clause_condition(const Expr* test) {
  breaks_.optional_brackets(-1, [&] { condition(test); });
}

}  // namespace depyf::print
