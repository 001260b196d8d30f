#include <algorithm>
#include <iterator>

#include "ast/overloaded.h"
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
                        [](const JoinedStr&) { return Level::atom; },
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
    if (parenthesised) write("(");
    const Operand operand = leftmost(expr);
    if (!operand.expr) {
      without_leftmost(expr);
      if (parenthesised) write(")");
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
    if (whole.parenthesised) write(")");
  }
}

void Printer::after_leftmost(const Expr* whole) {
  if (auto* n = as<BinOp>(whole)) {
    const Operator& op = operator_of(n->op);
    between_blanks(op.text);
    return expr(n->right, op.right);
  }
  if (auto* n = as<BoolOp>(whole)) {
    const Level operands = tighter(n->is_or ? Level::or_ : Level::and_);
    for (const Expr* each : n->values.subspan(1)) {
      between_blanks(n->is_or ? "or" : "and");
      expr(each, operands);
    }
    return;
  }
  if (auto* n = as<Compare>(whole)) {
    for (std::size_t i = 0; i < n->comparators.size() && i < n->ops.size(); ++i) {
      between_blanks(text_of(n->ops[i]));
      expr(n->comparators[i], Level::bit_or);
    }
    return;
  }
  if (auto* n = as<Attribute>(whole)) {
    auto* number = as<ConstantExpr>(n->value);
    if (number && number->value->kind == Constant::Kind::integer && level_of(n->value) == Level::atom)
      write(" ");  // `1.real` would begin with the float `1.`
    write(".");
    return name(n->attr);
  }
  if (auto* n = as<Subscript>(whole)) {
    write("[");
    slice_index(n->slice);
    return write("]");
  }
  if (auto* n = as<Call>(whole)) {
    auto* only = n->args.size() == 1 && n->keywords.empty() ? as<ComprehensionExpr>(n->args[0]) : nullptr;
    if (only && only->kind == ComprehensionKind::generator) return comprehension(*only);  // its parentheses do
    return call_arguments(n->args, n->keywords);
  }
  if (auto* n = as<IfExp>(whole)) {
    write(" if ");
    expr(n->test, Level::or_);
    write(" else ");
    expr(n->orelse, Level::test);
  }
}

void Printer::between_blanks(std::string_view op) {
  write(" ");
  write(op);
  write(" ");
}

void Printer::without_leftmost(const Expr* leaf) {
  if (!leaf) return internal("missing", -1, nullptr);
  std::visit(Overloaded{
                 [&](const Name& n) { name(n.id); },
                 [&](const ConstantExpr& n) { constant(*n.value); },
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
                   comma_separated(n.elts);
                   write("]");
                 },
                 [&](const SetExpr& n) {
                   write(n.elts.empty() ? "{*()" : "{");
                   comma_separated(n.elts);
                   write("}");
                 },
                 [&](const Dict& n) { dict(n); },
                 [&](const FormattedValue&) { fstring(leaf); },
                 [&](const JoinedStr&) { fstring(leaf); },
                 [&](const Interpolation&) { fstring(leaf); },
                 [&](const TemplateStr&) { fstring(leaf); },
                 [&](const Lambda& n) {
                   write("lambda");
                   const std::string args = out_.capture([&] { arguments(n.args, false); });
                   if (!args.empty()) write(" ");
                   write(args);
                   write(": ");
                   expr(n.body, Level::test);
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

void Printer::constant(const Constant& constant) {
  const bool in_field = fields_ > 0 && version_ < Version{3, 12};
  append_literal(out_.text(), constant, in_field ? Quoting::no_backslash : Quoting::repr, version_);
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
    if (!first) write(", ");
    first = false;
    expr(each, Level::test);
  }
}

void Printer::condition(const Expr* test) { expr(test, is<NamedExpr>(test) ? Level::named : Level::test); }

void Printer::bare(const Expr* value, Level loosest, bool starred_allowed) {
  if (auto* tuple = as<Tuple>(value); tuple && !starred_allowed)
    for (const Expr* each : tuple->elts)
      if (is<Starred>(each)) loosest = Level::test;
  if (auto* n = as<ConstantExpr>(value); n && n->value->kind == Constant::Kind::tuple && loosest <= Level::tuple) {
    const std::string text = out_.capture([&] { constant(*n->value); });
    return write(n->value->items.empty() ? std::string_view(text) : std::string_view(text).substr(1, text.size() - 2));
  }
  expr(value, loosest);
}

void Printer::call_arguments(List<Expr*> args, List<Keyword> keywords) {
  write("(");
  bool first = true;
  auto separate = [&] {
    if (!first) write(", ");
    first = false;
  };
  for (const Expr* each : args) {
    separate();
    if (auto* starred = as<Starred>(each)) {
      write("*");
      expr(starred->value, Level::test);
    } else {
      condition(each);
    }
  }
  for (const Keyword& each : keywords) {
    separate();
    if (each.arg.empty()) {
      write("**");
      expr(each.value, Level::test);
    } else if (is_identifier(each.arg)) {
      write(each.arg);
      write("=");
      expr(each.value, Level::test);
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
      if (!first) write(", ");
      first = false;
      print(each);
    }
  };
  auto* tuple = as<Tuple>(index);
  auto* n = as<ConstantExpr>(index);
  if (tuple && !tuple->elts.empty()) {
    const bool starred = std::ranges::any_of(tuple->elts, [](const Expr* each) { return is<Starred>(each); });
    if (starred && version_ < Version{3, 11}) return expr(index, Level::test);
    list(tuple->elts, [&](const Expr* each) { slice_element(each); });
    if (tuple->elts.size() == 1 && !starred) write(",");
  } else if (n && n->value->kind == Constant::Kind::tuple && !n->value->items.empty()) {
    list(n->value->items, [&](const Constant& each) { slice_element(each); });
    if (n->value->items.size() == 1) write(",");
  } else {
    slice_element(index);
  }
}

void Printer::generators(List<Comprehension> generators) {
  for (const Comprehension& each : generators) {
    write(each.is_async ? " async for " : " for ");
    bare(each.target, Level::tuple);
    write(" in ");
    expr(each.iter, Level::or_);
    for (const Expr* test : each.ifs) {
      write(" if ");
      expr(test, Level::or_);
    }
  }
}

void Printer::comprehension(const ComprehensionExpr& node) {
  static constexpr std::string_view brackets[] = {"[]", "{}", "{}", "()"};
  const std::string_view bracket = brackets[static_cast<int>(node.kind)];
  write(bracket.substr(0, 1));
  if (node.kind == ComprehensionKind::dict && !node.elt) {
    write("**");
    expr(node.value, Level::bit_or);
  } else {
    expr(node.elt, Level::test);
    if (node.kind == ComprehensionKind::dict) write(": "), expr(node.value, Level::test);
  }
  generators(node.generators);
  write(bracket.substr(1));
}

void Printer::dict(const Dict& node) {
  write("{");
  for (std::size_t i = 0; i < node.values.size(); ++i) {
    if (i > 0) write(", ");
    if (i < node.keys.size() && node.keys[i]) {
      expr(node.keys[i], Level::test);
      write(": ");
      expr(node.values[i], Level::test);
    } else {
      write("**");
      expr(node.values[i], Level::bit_or);
    }
  }
  write("}");
}

}  // namespace depyf::print
