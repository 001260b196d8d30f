// Prints expressions. All kinds stand in one file, since how one is printed depends on the precedence of those in it.
#include <algorithm>
#include <iterator>
#include <type_traits>

#include "ast/overloaded.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "print/printer.h"
#include "print/unicode.h"

namespace depyf::print {

using namespace ast;

Level level_of(const Expr* expr) {
  if (!expr) return Level::atom;
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

// Within a class C the compiler makes _C__x of __x.
void Printer::name(std::string_view name) {
  const bool private_name = !private_.empty() && name.starts_with(private_) && !name.ends_with("__");
  if (private_name) name.remove_prefix(private_.size() - 2);
  if (known_names_.is_identifier(name)) write(name);
  else write(renamed_(name));
}

void Printer::dotted_name(std::string_view name) {
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    if (at > 0) write(".");
    this->name(name.substr(at, end - at));
    at = end + 1;
  }
}

// The operand that the text of `expr` begins with; null where it begins with something else.
Printer::Operand Printer::leftmost(const Expr* expr) {
  if (auto* n = as<BinOp>(expr)) return {n->left, operator_of(n->op).left};
  if (auto* n = as<BoolOp>(expr))
    return {n->values.empty() ? nullptr : n->values[0], tighter(n->is_or ? Level::or_ : Level::and_)};
  if (auto* n = as<Compare>(expr)) return {n->left, Level::bit_or};
  if (auto* n = as<Attribute>(expr)) return {n->value, Level::atom};
  if (auto* n = as<Subscript>(expr)) return {n->value, Level::atom};
  if (auto* n = as<Call>(expr)) return {n->func, Level::atom};
  if (auto* n = as<IfExp>(expr)) return {n->body, Level::or_};
  return {nullptr, Level::atom};
}

// Goes down the leftmost operands and back in a loop: `a + b + c + ...` nests as deep as it is long.
void Printer::expr(const Expr* expr, Level loosest) {
  const std::size_t bottom = open_.size();
  for (;;) {
    const bool parenthesised = level_of(expr) < loosest;
    if (parenthesised) write("("), open(first_line_within(expr));
    const Operand operand = leftmost(expr);
    if (!operand.expr) {
      without_leftmost(expr);
      if (parenthesised) close(is<Tuple>(expr) ? expr : nullptr), write(")");
      break;
    }
    open_.push_back({expr, parenthesised});
    expr = operand.expr;
    loosest = operand.loosest;
  }
  while (open_.size() > bottom) {
    const Open whole = open_.back();
    open_.pop_back();
    after_leftmost(whole.expr);
    if (whole.parenthesised) close(), write(")");
  }
}

void Printer::after_leftmost(const Expr* whole) {
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
  if (auto* n = as<Attribute>(whole)) {
    auto* number = as<ConstantExpr>(n->value);
    if (number && number->value->kind == Constant::Kind::integer && level_of(n->value) == Level::atom)
      write(" ");  // `1.real` would begin with the float `1.`
    mark(Mark::Kind::separator, whole->line, attribute_priority);
    reached(whole);
    write(".");
    anchor(whole);
    return name(n->attr);
  }
  if (auto* n = as<Subscript>(whole)) {
    write("[");
    open(first_line(n->slice));
    slice_index(n->slice);
    close(whole);
    return write("]");
  }
  if (auto* n = as<Call>(whole)) {
    auto* only = n->args.size() == 1 && n->keywords.empty() ? as<ComprehensionExpr>(n->args[0]) : nullptr;
    if (only && only->kind == ComprehensionKind::generator) return comprehension(*only);  // its parentheses do
    return call_arguments(n->args, n->keywords, whole);
  }
  if (auto* n = as<IfExp>(whole)) {
    operator_before("if", Level::test, n->test);
    expr(n->test, Level::or_);
    operator_before("else", Level::test, n->orelse);
    expr(n->orelse, Level::test);
  }
}

void Printer::operator_before(std::string_view op, Level level, const Expr* right) {
  mark(Mark::Kind::separator, first_line(right), static_cast<std::uint8_t>(int(Level::atom) - int(level)));
  write(" ");
  write(op);
  write(" ");
}

void Printer::without_leftmost(const Expr* leaf) {
  if (!leaf) return internal("missing", -1, nullptr);
  reached(leaf);
  anchor(leaf);
  std::visit(Overloaded{
                 [&](const Name& n) { name(n.id); },
                 [&](const ConstantExpr& n) { constant(leaf, *n.value); },
                 [&](const Attribute&) { internal("missing", -1, nullptr); },
                 [&](const Subscript&) { internal("missing", -1, nullptr); },
                 [&](const Slice& n) {  // outside of a subscript
                   bool first = true;
                   for (const Expr* part : {n.lower, n.upper, n.step}) {
                     write(first ? "slice(" : ", ");
                     first = false;
                     part ? expr(part, Level::test) : write("None");
                   }
                   write(")");
                 },
                 [&](const Call&) { internal("missing", -1, nullptr); },
                 [&](const BinOp&) { internal("missing", -1, nullptr); },
                 [&](const UnaryExpr& n) {
                   const Operator& op = operator_of(n.op);
                   write(op.text);
                   expr(n.operand, op.right);
                 },
                 [&](const BoolOp&) { internal("missing", -1, nullptr); },
                 [&](const Compare&) { internal("missing", -1, nullptr); },
                 [&](const IfExp&) { internal("missing", -1, nullptr); },
                 [&](const Tuple& n) {
                   if (n.elts.empty()) write("()");
                   comma_separated(n.elts);
                   if (n.elts.size() == 1) write(",");
                 },
                 [&](const ListExpr& n) {
                   write("[");
                   elements(leaf, n.elts);
                   write("]");
                 },
                 [&](const SetExpr& n) {
                   write(n.elts.empty() ? "{*()" : "{");
                   elements(leaf, n.elts);
                   write("}");
                 },
                 [&](const Dict& n) { dict(n, leaf); },
                 [&](const FormattedValue&) { fstring(leaf); },
                 [&](const JoinedStr& n) { n.is_percent&& fields_ == 0 ? percent_format(n, leaf) : fstring(leaf); },
                 [&](const Interpolation&) { fstring(leaf); },
                 [&](const TemplateStr&) { fstring(leaf); },
                 [&](const Lambda& n) {
                   write("lambda");
                   const std::string args = capture([&] { arguments(n.args, false); });
                   if (!args.empty()) write(" ");
                   write(args);
                   write(": ");
                   const CodeObject* around = std::exchange(code_, n.code ? n.code : code_);
                   expr(n.body, Level::test);
                   code_ = around;
                 },
                 [&](const ComprehensionExpr& n) { comprehension(n); },
                 [&](const Await& n) {
                   write("await ");
                   expr(n.value, Level::atom);
                 },
                 [&](const Yield& n) {
                   write("yield");
                   if (n.value) write(" "), bare(n.value, Level::tuple);
                 },
                 [&](const YieldFrom& n) {
                   write("yield from ");
                   expr(n.value, Level::test);
                 },
                 [&](const NamedExpr& n) {
                   expr(n.target, Level::atom);
                   write(" := ");
                   expr(n.value, Level::test);
                 },
                 [&](const Starred& n) {
                   write("*");
                   expr(n.value, Level::bit_or);
                 },
                 [&](const Verbatim& n) { write(n.text); },
                 [&](const Internal& n) { internal(name_of(n.marker), n.index, n.value); },
             },
             leaf->node);
}

// The lines of a tuple that the compiler made one constant of: what is in it has no positions.
void Printer::constant_items(const Constant& constant, std::int32_t line, int step) {
  bool first = true;
  std::vector<const Constant*> items;
  for (const Constant& item : constant.items) items.push_back(&item);
  // The order of a set depends on hashes, which change from run to run.
  if (constant.kind == Constant::Kind::frozenset)
    std::ranges::sort(items, {}, [](auto* item) { return literal(*item); });
  for (const Constant* item : items) {
    if (!first) comma(line >= 0 ? line += step : -1);
    first = false;
    if (line >= 0) last_line_ = line;
    this->constant(nullptr, *item);
  }
  if (constant.kind == Constant::Kind::tuple && constant.items.size() == 1) write(",");
}

void Printer::constant(const Expr* leaf, const Constant& constant, bool bracketed) {
  using Kind = Constant::Kind;
  const bool is_display = (constant.kind == Kind::tuple || constant.kind == Kind::frozenset) && !constant.items.empty();
  if (!is_display || fields_ > 0) {
    if (leaf && constant.kind == Kind::string && multiline_string(leaf, constant)) return;
    return constant_text(constant);
  }
  const std::int32_t more = leaf ? end_line(leaf) - leaf->line : 0;
  const bool spread = leaf && leaf->line >= 0 && more > 0;
  const bool one_by_one = more > std::int32_t(constant.items.size());
  const std::int32_t line = spread ? leaf->line + 1 : -1;
  const bool tuple = constant.kind == Kind::tuple;
  if (bracketed) write(tuple ? "(" : "{"), open(line);
  constant_items(constant, line, one_by_one ? 1 : 0);
  if (spread) last_line_ = std::max(last_line_, leaf->line + more - 1);
  if (bracketed) close(leaf), write(tuple ? ")" : "}");
}

// The elements of a list or set, up to the closing bracket.
void Printer::elements(const Expr* whole, List<Expr*> elts) {
  if (elts.empty()) return;
  std::vector<Expr*> sorted;
  // The compiler makes one constant of many constants, which have no positions then.
  const bool is_folded = elts.size() > 1 && std::ranges::all_of(elts, [&](const Expr* each) {
                           return is<ConstantExpr>(each) && each->line >= 0 && each->offset == elts[0]->offset;
                         });
  if (is_folded && is<SetExpr>(whole)) {  // see constant_items
    sorted.assign(elts.begin(), elts.end());
    std::ranges::sort(sorted, {}, [](const Expr* each) { return literal(*as<ConstantExpr>(each)->value); });
    elts = sorted;
  }
  const std::int32_t more = end_line(whole) - whole->line;
  if (!is_folded || whole->line < 0 || more <= 0) {
    open(first_line(elts[0]));
    comma_separated(elts);
    return close(whole);
  }
  const int step = more > std::int32_t(elts.size()) ? 1 : 0;
  std::int32_t line = whole->line + 1;
  for (std::size_t i = 0; i < elts.size(); ++i) {
    i == 0 ? open(line) : comma(line += step);
    last_line_ = line;
    expr(elts[i], Level::test);
    last_line_ = line;
  }
  last_line_ = std::max(last_line_, whole->line + more - 1);
  close(whole);
}

// True if the instruction at `leaf` loads this very constant, not a tuple that the compiler made of it and its neighbours.
bool Printer::loads(const Expr* leaf, const Constant& constant) const {
  if (!code_ || leaf->offset + 1 >= code_->bytecode.size()) return false;
  const std::size_t low = code_->bytecode[leaf->offset + 1];
  const std::size_t high = leaf->offset >= 2 ? code_->bytecode[leaf->offset - 1] : 0;  // of an EXTENDED_ARG
  return std::ranges::any_of(std::initializer_list<std::size_t>{low, low | high << 8}, [&](std::size_t index) {
    return index < code_->constants.size() && code_->constants[index].kind == constant.kind &&
           code_->constants[index].text == constant.text;
  });
}

bool Printer::has_own_position(const Expr* leaf, const Constant& constant) const {
  return !constant.text.empty() && loads(leaf, constant);
}

// A string that had the line breaks of the source in it.
bool Printer::multiline_string(const Expr* leaf, const Constant& constant) {
  const std::int32_t more = end_line(leaf) - leaf->line;
  if (!has_own_position(leaf, constant) || fields_ > 0 || !marking_ || leaf->line < 0 || more <= 0 ||
      constant.text.find('\r') != std::string::npos)
    return false;
  if (std::ranges::count(constant.text, '\n') == more) append_docstring(out_.text(), constant.text, 0);
  else joined_string(leaf, constant);
  return true;
}

// A string that was written as several, one a line. The columns tell how long the last was; the others are filled up.
void Printer::joined_string(const Expr* leaf, const Constant& constant) {
  const Position& position = code_->positions[leaf->offset / 2];
  constexpr std::size_t usual_width = 88;
  const std::size_t column = std::max(position.column, 0);
  const std::size_t last_width =
      position.end_column - position.column > 2 ? position.end_column - position.column - 2 : 0;
  const std::size_t width = usual_width - std::min(column + 2, usual_width / 2);
  const std::string_view text = constant.text;
  auto escaped_size = [](std::string_view part) {
    std::string escaped;
    append_escaped(escaped, part, 0);
    return escaped.size();
  };
  auto is_start = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80; };
  std::size_t last = text.size();
  while (last > 0 && (!is_start(last - 1) || escaped_size(text.substr(last - 1)) <= last_width)) {
    if (text.size() - last > last_width) break;
    --last;
  }
  while (last < text.size() && !is_start(last)) ++last;  // never within a character
  Constant part;
  part.kind = Constant::Kind::string;
  std::int32_t line = last_line_ = position.line;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = last;
    const std::int32_t left = position.end_line - line;
    if (at >= last || left <= 0) {
      end = text.size();
    } else if (left > 1 && last - at > width) {
      const std::size_t blank = text.rfind(' ', at + width - 1), newline = text.rfind('\n', at + width - 1);
      end = newline != text.npos && newline > at ? newline + 1
            : blank != text.npos && blank > at   ? blank + 1
                                                 : at + width;
      while (end < last && !is_start(end)) ++end;
    }
    part.text = text.substr(at, end - at);
    if (at > 0) mark(Mark::Kind::separator, ++line, string_priority), write(" ");
    constant_text(part);
    at = end;
  }
  last_line_ = std::max(last_line_, position.end_line);
}

void Printer::constant(const Constant& constant) { this->constant(nullptr, constant); }

void Printer::constant_text(const Constant& constant) {
  const Quoting in_field = dialect_of(version_).free_fstrings ? Quoting::in_field : Quoting::no_backslash;
  append_literal(out_.text(), constant, fields_ > 0 ? in_field : Quoting::usual, version_);
}

// What should not be left in a finished tree; its name says so, and the text stays valid.
void Printer::internal(std::string_view what, std::int32_t index, const Expr* value, const Expr* value2) {
  write("__internal_");
  write(what);
  if (index >= 0) write("_" + std::to_string(index));
  write("__");
  if (!value && !value2) return;
  write("(");
  if (value) expr(value, Level::test);
  if (value && value2) write(", ");
  if (value2) expr(value2, Level::test);
  write(")");
}

void Printer::comma_separated(List<Expr*> exprs) {
  bool first = true;
  for (const Expr* each : exprs) {
    if (!first) comma(first_line(each));
    first = false;
    part(each, Level::test);
  }
}

void Printer::condition(const Expr* test) { expr(test, is<NamedExpr>(test) ? Level::named : Level::test); }

void Printer::bare(const Expr* value, Level loosest, bool starred_allowed) {
  if (auto* tuple = as<Tuple>(value); tuple && !starred_allowed)
    for (const Expr* each : tuple->elts)
      if (is<Starred>(each)) loosest = Level::test;
  if (auto* n = as<ConstantExpr>(value); n && n->value->kind == Constant::Kind::tuple && loosest <= Level::tuple) {
    reached(value);
    // A tuple of several lines has brackets.
    return constant(value, *n->value, end_line(value) > value->line);
  }
  expr(value, loosest);
}

void Printer::call_arguments(List<Expr*> args, List<Keyword> keywords, const Expr* whole) {
  write("(");
  bool first = true;
  auto separate = [&](const Expr* next) {
    first ? open(first_line(next)) : comma(first_line(next));
    first = false;
  };
  for (const Expr* each : args) {
    separate(each);
    if (auto* starred = as<Starred>(each)) {
      write("*");
      part(starred->value, Level::test);
    } else {
      perhaps_bracketed(each, [&] { condition(each); });
    }
  }
  for (const Keyword& each : keywords) {
    separate(each.value);
    if (each.arg.empty()) {
      write("**");
      part(each.value, Level::test);
    } else if (is_identifier(each.arg)) {
      write(each.arg);
      write("=");
      part(each.value, Level::test);
    } else {  // no syntax but this passes such a name
      Constant key;
      key.kind = Constant::Kind::string;
      key.text = each.arg;
      write("**{");
      constant(key);
      write(": ");
      expr(each.value, Level::test);
      write("}");
    }
  }
  if (!first) close(whole);
  write(")");
}

// One of the parts of a subscript, where slices are written with colons.
void Printer::slice_element(const Expr* element) {
  if (auto* slice = as<Slice>(element)) {
    if (slice->lower) expr(slice->lower, Level::test);
    write(":");
    if (slice->upper) expr(slice->upper, Level::test);
    if (slice->step) write(":"), expr(slice->step, Level::test);
  } else if (auto* n = as<ConstantExpr>(element)) {
    slice_element(*n->value);
  } else {
    expr(element, Level::test);
  }
}

void Printer::slice_element(const Constant& element) {
  if (element.kind != Constant::Kind::slice || element.items.size() != 3) return constant(element);
  for (std::size_t i = 0; i < 3; ++i) {
    const bool none = element.items[i].kind == Constant::Kind::none;
    if (i == 1 || (i == 2 && !none)) write(":");
    if (!none) constant(element.items[i]);
  }
}

void Printer::slice_index(const Expr* index) {
  auto list = [&](const auto& elements, auto print) {
    bool first = true;
    for (const auto& each : elements) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(each)>, Constant>) {
        if (!first) comma();
      } else {
        if (!first) comma(first_line(each));
      }
      first = false;
      print(each);
    }
  };
  auto* tuple = as<Tuple>(index);
  auto* n = as<ConstantExpr>(index);
  if (tuple && !tuple->elts.empty()) {
    const bool starred = std::ranges::any_of(tuple->elts, [](const Expr* each) { return is<Starred>(each); });
    if (starred && !dialect_of(version_).starred_subscripts) return expr(index, Level::test);
    list(tuple->elts, [&](const Expr* each) { slice_element(each); });
    if (tuple->elts.size() == 1 && !starred) write(",");
  } else if (n && n->value->kind == Constant::Kind::tuple && !n->value->items.empty()) {
    list(n->value->items, [&](const Constant& each) { slice_element(each); });
    if (n->value->items.size() == 1) write(",");
  } else {
    slice_element(index);
  }
}

void Printer::generators(List<Comprehension> generators, const CodeObject* around) {
  for (const Comprehension& each : generators) {
    mark(Mark::Kind::separator, first_line(each.target), comprehension_priority);
    write(each.is_async ? " async for " : " for ");
    // In brackets where it breaks: a comma of the target separates no items of the display around it.
    value(each.target, Level::tuple);
    write(" in ");
    const CodeObject* inner = std::exchange(code_, &each == &generators[0] ? around : code_);
    part(each.iter, Level::or_);
    code_ = inner;
    for (const Expr* test : each.ifs) {
      mark(Mark::Kind::separator, first_line(test), comprehension_priority);
      write(" if ");
      part(test, Level::or_);
    }
  }
}

void Printer::comprehension(const ComprehensionExpr& node) {
  static constexpr std::string_view brackets[] = {"[]", "{}", "{}", "()"};
  const std::string_view bracket = brackets[static_cast<int>(node.kind)];
  write(bracket.substr(0, 1));
  open(first_line(node.elt ? node.elt : node.value));
  const CodeObject* around = std::exchange(code_, node.code ? node.code : code_);
  if (node.kind == ComprehensionKind::dict && !node.elt) {
    write("**");
    expr(node.value, Level::bit_or);
  } else {
    part(node.elt, Level::test);
    if (node.kind == ComprehensionKind::dict) write(": "), part(node.value, Level::test);
  }
  generators(node.generators, around);
  code_ = around;
  close();
  write(bracket.substr(1));
}

void Printer::dict(const Dict& node, const Expr* whole) {
  write("{");
  for (std::size_t i = 0; i < node.values.size(); ++i) {
    // The compiler keeps the positions of constant keys that it puts into one tuple no longer.
    const bool has_key = i < node.keys.size() && node.keys[i];
    const Expr* start = has_key && !is<ConstantExpr>(node.keys[i]) ? node.keys[i] : node.values[i];
    i > 0 ? comma(first_line(start)) : open(first_line(start));
    if (has_key) {
      const std::int32_t line = last_line_;
      expr(node.keys[i], Level::test);
      if (is<ConstantExpr>(node.keys[i])) last_line_ = line;
      write(": ");
      part(node.values[i], Level::test);
    } else {
      write("**");
      expr(node.values[i], Level::bit_or);
    }
  }
  if (!node.values.empty()) close(whole);
  write("}");
}

}  // namespace depyf::print
