#include <doctest/doctest.h>

#include <cmath>

#include "ast/equal.h"
#include "ast/visit.h"
#include "tree_builder.h"

using namespace depyf;
using namespace depyf::ast;
using depyf::testing::TreeBuilder;

namespace {

std::string children(Expr* expr) {
  std::string result;
  for_each_child(expr, [&](Expr*& child) { result += as<Name>(child) ? as<Name>(child)->id : "?"; });
  return result;
}

std::string exprs(Stmt* stmt) {
  std::string result;
  for_each_expr(stmt, [&](Expr*& child) { result += as<Name>(child) ? as<Name>(child)->id : "?"; });
  return result;
}

}  // namespace

TEST_CASE("children come in the order of evaluation") {
  TreeBuilder b;
  auto n = [&](const char* id) { return b.name(id); };
  CHECK(children(b.expr(IfExp{n("1"), n("2"), n("3")})) == "123");
  CHECK(children(b.expr(Dict{b.exprs({n("1"), nullptr}), b.exprs({n("2"), n("3")})})) == "123");
  CHECK(children(b.expr(NamedExpr{n("2"), n("1")})) == "12");
  CHECK(children(b.expr(Call{n("1"), b.exprs({n("2")}), b.list<Keyword>({{"k", n("3")}})})) == "123");
  CHECK(children(b.expr(Slice{nullptr, n("1"), nullptr})) == "1");
  CHECK(children(b.expr(ComprehensionExpr{n("4"), n("5"),
                                          b.list<Comprehension>({{n("2"), n("1"), b.exprs({n("3")}), false}}),
                                          ComprehensionKind::dict})) == "12345");
  CHECK(exprs(b.stmt(Assign{b.exprs({n("2"), n("3")}), n("1")})) == "123");
  CHECK(exprs(b.stmt(AugAssign{n("1"), BinaryOp::add, n("2")})) == "12");
  CHECK(exprs(b.stmt(AnnAssign{n("2"), n("3"), n("1"), true})) == "123");
  CHECK(exprs(b.stmt(For{n("2"), n("1"), b.block({b.line("no")}), {}, false})) == "12");
  Arguments args{.posonly = b.list<Arg>({{"a", n("5")}}),
                 .args = b.list<Arg>({{"b", n("4")}}),
                 .kwonly = {},
                 .vararg = {"c", n("6")},
                 .defaults = b.exprs({n("2")}),
                 .kw_defaults = b.exprs({n("3")})};
  CHECK(exprs(b.stmt(FunctionDef{"f", &args, {}, b.exprs({n("1")}), n("7"), false, {}})) == "1234567");
}

TEST_CASE("slots may be replaced") {
  TreeBuilder b;
  auto* sum = b.expr(BinOp{b.name("a"), BinaryOp::add, b.name("b"), false});
  for_each_child(sum, [&](Expr*& child) { child = b.name("c"); });
  CHECK(children(sum) == "cc");
  auto* choice = b.stmt(If{b.name("a"), {}, b.block({b.line("b")})});
  for_each_block(choice, [&](Block& block) { block = b.block({b.line("x"), b.line("y")}); });
  CHECK(as<If>(choice)->body.size() == 2);
  CHECK(as<If>(choice)->orelse.size() == 2);
}

TEST_CASE("equality looks at all but places") {
  TreeBuilder b;
  auto sum = [&](const char* left, BinaryOp op) { return b.expr(BinOp{b.name(left), op, b.integer(1), false}); };
  CHECK(equal(sum("a", BinaryOp::add), sum("a", BinaryOp::add)));
  CHECK_FALSE(equal(sum("a", BinaryOp::add), sum("b", BinaryOp::add)));
  CHECK_FALSE(equal(sum("a", BinaryOp::add), sum("a", BinaryOp::subtract)));
  CHECK_FALSE(equal(sum("a", BinaryOp::add), b.name("a")));
  CHECK_FALSE(equal(b.expr(Slice{b.name("a"), nullptr, nullptr}), b.expr(Slice{nullptr, b.name("a"), nullptr})));
  CHECK(equal(static_cast<Expr*>(nullptr), static_cast<Expr*>(nullptr)));
  CHECK_FALSE(equal(b.name("a"), nullptr));
  auto real = [&](double value) { return b.constant({.kind = Constant::Kind::real, .real = value}); };
  CHECK_FALSE(equal(real(0.0), real(-0.0)));
  CHECK(equal(real(std::nan("")), real(std::nan(""))));
  CHECK_FALSE(equal(real(1), b.integer(1)));
  CHECK(equal(b.line("a", 1), b.line("a", 2)));
  CHECK_FALSE(equal(b.block({b.line("a")}), b.block({b.line("a"), b.line("b")})));
  CHECK(equal(b.function("f", b.block({b.line("a")})), b.function("f", b.block({b.line("a")}))));
  CHECK_FALSE(equal(b.function("f", b.block({b.line("a")})), b.function("f", b.block({b.line("b")}))));
}

TEST_CASE("equality needs no stack") {
  TreeBuilder b;
  auto deep = [&] {
    Expr* expr = b.name("a");
    for (int i = 0; i < 200000; ++i) expr = b.expr(UnaryExpr{UnaryOp::not_, expr});
    return expr;
  };
  CHECK(equal(deep(), deep()));
}
