#include <doctest/doctest.h>

#include "print/print.h"
#include "tree_builder.h"

using namespace depyf;
using namespace depyf::ast;
using depyf::testing::TreeBuilder;

namespace {
constexpr Version old_version{3, 8}, new_version{3, 13};
std::string print(const Expr* expr, Version version = old_version) { return print_expr(expr, version); }
Constant integer(const char* text) { return {.kind = Constant::Kind::integer, .text = text}; }
}  // namespace

TEST_CASE("names that are no identifiers") {
  TreeBuilder b;
  CHECK(print(b.name(".0")) == "_0");
  CHECK(print(b.name("<lambda>")) == "_lambda_");
  CHECK(print(b.name("class")) == "_class");
  CHECK(print(b.name("")) == "_");
  CHECK(print(b.name("1a")) == "_1a");
  CHECK(print(b.name("a b\n")) == "a_b_");
  CHECK(print(b.name("caf\xc3\xa9")) == "caf\xc3\xa9");
  CHECK(print(b.name("\xff\xc3")) == "__");
  CHECK(print(b.name("\xef\xac\x81")) == "_");  // a ligature, which the parser normalises to two letters
  CHECK(print(b.name("match")) == "match");
  CHECK(print(b.expr(Attribute{b.name("a"), "if"})) == "a._if");
  CHECK(print(b.expr(Call{b.name("f"), {}, b.list<Keyword>({{"a b", b.name("c")}, {"d", b.name("e")}})})) ==
        "f(**{\"a b\": c}, d=e)");
}

TEST_CASE("constants that have no expression of their own") {
  TreeBuilder b;
  const Constant minus = integer("-1"), none{};
  const Constant slice{.kind = Constant::Kind::slice, .items = {integer("1"), none, none}};
  const Constant reverse{.kind = Constant::Kind::slice, .items = {none, none, minus}};
  const Constant pair{.kind = Constant::Kind::tuple, .items = {slice, minus}};
  auto index = [&](Constant constant) {
    return print(b.expr(Subscript{b.name("a"), b.constant(std::move(constant))}));
  };
  CHECK(index(slice) == "a[1:]");
  CHECK(index(reverse) == "a[::-1]");
  CHECK(index(pair) == "a[1:, -1]");
  CHECK(index({.kind = Constant::Kind::tuple, .items = {pair}}) == "a[(slice(1, None, None), -1),]");
  CHECK(index({.kind = Constant::Kind::tuple}) == "a[()]");
  CHECK(literal(pair) == "(slice(1, None, None), -1)");
  CHECK(literal({.kind = Constant::Kind::frozenset, .items = {minus}}) == "{-1}");
  CHECK(literal({.kind = Constant::Kind::frozenset}) == "frozenset()");
  CHECK(literal(integer("-0xffffffffffffffffff")) == "-0xffffffffffffffffff");
  auto power = [&](Constant base) {
    return print(b.expr(BinOp{b.constant(std::move(base)), BinaryOp::power, b.constant(minus), false}));
  };
  CHECK(power(minus) == "(-1) ** -1");
  CHECK(power({.kind = Constant::Kind::complex, .real = 1, .imag = -2}) == "(1-2j) ** -1");
  CHECK(power({.kind = Constant::Kind::complex, .real = -0.0, .imag = -2}) == "(-2j) ** -1");
  CHECK(power({.kind = Constant::Kind::real, .real = -0.0}) == "(-0.0) ** -1");
}

TEST_CASE("starred subscripts have parentheses before 3.11") {
  TreeBuilder b;
  auto* index = b.expr(Tuple{b.exprs({b.expr(Starred{b.name("b")}), b.name("c")})});
  auto* subscript = b.expr(Subscript{b.name("a"), index});
  CHECK(print(subscript) == "a[(*b, c)]");
  CHECK(print(subscript, {3, 11}) == "a[*b, c]");
}

TEST_CASE("what an f-string holds before 3.12") {
  TreeBuilder b;
  auto lines = [&] { return b.expr(Subscript{b.name("a"), b.string("\\")}); };
  CHECK(print(b.joined({b.field(lines())}), new_version) == "f\"{a['\\\\']}\"");
  CHECK(print(b.joined({b.string("x"), b.field(lines(), 'r', b.string(">9"))})) ==
        "\"\".join([\"x\", format(repr(a[\"\\\\\"]), \">9\")])");
  CHECK(print(b.field(lines())) == "format(a[\"\\\\\"])");
  CHECK(print(b.joined({b.field(b.expr(Subscript{b.name("a"), b.string("it's \"b\"")}))})) ==
        "f\"\"\"{a['''it's \"b\"''']}\"\"\"");
  CHECK(print(b.joined({b.field(b.expr(Subscript{b.name("a"), b.string("\n")}))})) == "f\"\"\"{a['''\n''']}\"\"\"");

  Expr* nested = b.joined({b.field(b.name("a"))});
  for (int i = 0; i < 3; ++i) nested = b.joined({b.field(nested)});
  CHECK(print(nested) == "f\"\"\"{f'''{f\"{f'{a}'}\"}'''}\"\"\"");
  nested = b.joined({b.field(nested)});
  CHECK(print(nested).starts_with("\"\".join([format("));
  CHECK(print(nested, new_version) == "f\"{f\"\"\"{f'''{f\"{f'{a}'}\"}'''}\"\"\"}\"");
  for (int i = 0; i < 200; ++i) nested = b.joined({b.field(nested)});
  CHECK(print(nested).starts_with("\"\".join([format("));  // and soon
  CHECK(print(nested, new_version).starts_with("f\""));
}

TEST_CASE("fields of format specifications nest only so deep") {
  TreeBuilder b;
  auto* inner = b.field(b.name("c"), 0, b.joined({b.field(b.name("d"))}));
  auto* outer = b.field(b.name("a"), 0, b.joined({b.string("{"), inner}));
  CHECK(print(outer) == "f\"{a:\\x7b{f'{c:{d}}'}}\"");
  CHECK(print(outer, new_version) == "f\"{a:\\x7b{c:{d}}}\"");
}

TEST_CASE("interpolations keep the text that they had") {
  TreeBuilder b;
  using Shown = Interpolation::Shown;
  auto print_template = [&](std::string_view text, Shown shown = Shown::text) {
    auto* value = b.expr(BinOp{b.name("a"), BinaryOp::add, b.name("b"), false});
    return print(b.expr(TemplateStr{b.exprs({b.expr(Interpolation{value, text, 0, nullptr, shown})})}), {3, 14});
  };
  CHECK(print_template("a+b") == "t\"{a+b}\"");
  CHECK(print_template(" (a + b)") == "t\"{ (a + b)}\"");
  CHECK(print_template("a - b", Shown::likely_text) == "t\"{a - b}\"");
  CHECK(print_template("a - b", Shown::value) == "t\"{a + b}\"");
}

TEST_CASE("internal nodes keep the text valid") {
  TreeBuilder b;
  CHECK(print(b.expr(Internal{Marker::null, -1, nullptr})) == "__internal_null__");
  CHECK(print(b.expr(Internal{Marker::iterator, 3, b.name("a")})) == "__internal_iterator_3__(a)");
  CHECK(print(nullptr) == "__internal_missing__");
}

TEST_CASE("long chains need no stack") {
  constexpr int length = 200000;  // long enough that work on each pair of parts would take minutes
  TreeBuilder b;
  auto chain = [&](auto next) {
    Expr* expr = b.name("a");
    for (int i = 0; i < length; ++i) expr = next(expr);
    return print(expr).size();
  };
  CHECK(chain([&](Expr* e) { return b.expr(BinOp{e, BinaryOp::add, b.name("b"), false}); }) == 1 + 4 * length);
  CHECK(chain([&](Expr* e) { return b.expr(BinOp{e, BinaryOp::power, b.name("b"), false}); }) == 6 + 7 * (length - 1));
  CHECK(chain([&](Expr* e) { return b.expr(BoolOp{false, b.exprs({e, b.name("b")})}); }) == 7 + 8 * (length - 1));
  CHECK(chain([&](Expr* e) {
          return b.expr(Compare{e, b.list<CompareOp>({CompareOp::lt}), b.exprs({b.name("b")})});
        }) == 5 + 6 * (length - 1));
  CHECK(chain([&](Expr* e) { return b.expr(Attribute{e, "b"}); }) == 1 + 2 * length);
  CHECK(chain([&](Expr* e) { return b.expr(Subscript{e, b.name("b")}); }) == 1 + 3 * length);
  CHECK(chain([&](Expr* e) { return b.expr(Call{e, {}, {}}); }) == 1 + 2 * length);
  CHECK(chain([&](Expr* e) { return b.expr(IfExp{b.name("b"), e, b.name("c")}); }) == 13 + 14 * (length - 1));

  Expr* right = b.name("a");
  for (int i = 0; i < 2000; ++i) right = b.expr(BinOp{b.name("b"), BinaryOp::subtract, right, false});
  CHECK(print(right).size() == 5 + 6 * 1999);
}
