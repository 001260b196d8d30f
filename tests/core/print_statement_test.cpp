#include <doctest/doctest.h>

#include "depyf/code_object.h"
#include "print/print.h"
#include "tree_builder.h"

using namespace depyf;
using namespace depyf::ast;
using depyf::testing::TreeBuilder;

namespace {

std::string print(Block body, Version version = {3, 8}) { return print_block(body, version).source; }

std::vector<std::pair<int, int>> map(const Printed& printed, const CodeObject& code) {
  std::vector<std::pair<int, int>> result;
  for (const LineOfCode& it : printed.lines)
    if (it.code == &code) result.emplace_back(it.mapping.line, it.mapping.offset);
  return result;
}
using Map = std::vector<std::pair<int, int>>;

}  // namespace

TEST_CASE("blocks without a statement") {
  TreeBuilder b;
  CHECK(print(Block{}).empty());
  CHECK(print(b.block({b.function("f", {})})) == "def f():\n    pass\n");
  CHECK(print(b.block({b.function("f", b.block({b.stmt(Comment{"why"})}))})) == "def f():\n    # why\n    pass\n");
  CHECK(print(b.block({b.stmt(While{b.name("a"), {}, {}})})) == "while a:\n    pass\n");
  CHECK(print(b.block({b.stmt(Try{{}, {}, {}, {}, false})})) == "try:\n    pass\nfinally:\n    pass\n");
}

TEST_CASE("comments") {
  TreeBuilder b;
  auto* f = b.function("f", {});
  CHECK(print(b.block({b.stmt(Comment{"one\n\ntwo\x01\r"}), b.line("a")})) == "# one\n#\n# two??\na\n");
  // A comment must not be read as a declaration of the file's encoding.
  CHECK(print(b.block({b.stmt(Comment{"encoding: a"}), b.stmt(Comment{"coding=b"}), b.line("a")})) ==
        "# encoding : a\n# coding =b\na\n");
  CHECK(print(b.block({b.line("a"), b.stmt(Comment{"of f"}), f, b.stmt(Comment{"after"}), b.line("b")})) ==
        "a\n\n\n# of f\ndef f():\n    pass\n\n\n# after\nb\n");
}

TEST_CASE("an else block that is one if") {
  TreeBuilder b;
  auto choice = [&](std::string_view test, Block orelse) {
    return b.stmt(If{b.name(test), b.block({b.line("x")}), orelse});
  };
  CHECK(print(b.block({choice("a", b.block({choice("b", b.block({b.line("y")}))}))})) ==
        "if a:\n    x\nelif b:\n    x\nelse:\n    y\n");
  CHECK(print(b.block({choice("a", b.block({choice("b", {}), b.line("y")}))})) ==
        "if a:\n    x\nelse:\n    if b:\n        x\n    y\n");
  Stmt* chain = choice("a", {});
  for (int i = 0; i < 50000; ++i) chain = choice("a", b.block({chain}));
  CHECK(print(b.block({chain})).size() > 50000 * 14);
}

TEST_CASE("docstrings") {
  TreeBuilder b;
  auto documented = [&](std::string_view text, Version version) {
    return print(b.block({b.function("f", b.block({b.stmt(ExprStmt{b.string(text)})}))}), version);
  };
  CHECK(documented("One.", {3, 8}) == "def f():\n    \"\"\"One.\"\"\"\n");
  CHECK(documented("\"One\"", {3, 8}) == "def f():\n    \"\"\"\"One\\\"\"\"\"\n");
  CHECK(documented("\"\"\"\"", {3, 8}) == "def f():\n    \"\"\"\\\"\\\"\"\\\"\"\"\"\n");
  CHECK(documented("a\\\x01", {3, 8}) == "def f():\n    \"\"\"a\\\\\\x01\"\"\"\n");
  CHECK(documented("a\n\n    b\n    ", {3, 8}) == "def f():\n    \"\"\"a\n\n    b\n    \"\"\"\n");
  // From 3.13 on, the compiler removes the indentation from docstrings.
  CHECK(documented("a\n\nb\n", {3, 13}) == "def f():\n    \"\"\"a\n\n    b\n    \"\"\"\n");
  CHECK(documented("a\n\nb\n", {3, 12}) == "def f():\n    \"\"\"a\n\nb\n\"\"\"\n");
  CHECK(documented("a\n  b", {3, 13}) == "def f():\n    \"\"\"a\n  b\"\"\"\n");
}

TEST_CASE("the line map has the statements of each code object") {
  TreeBuilder b;
  const CodeObject module, nested;
  auto* inner = b.function("inner", b.block({b.line("within", 1)}), 10, &nested);
  auto* test = b.stmt(If{b.name("a"), b.block({b.line("b", 14)}), b.block({b.line("c", 16)})}, 12);
  auto* text = b.stmt(ExprStmt{b.expr(Tuple{b.exprs({b.string("x"), b.name("y")})})}, 18);
  const Block body =
      b.block({b.stmt(ExprStmt{b.string("Two\nlines")}, 2), inner, b.stmt(Comment{"no code"}), test, text});

  Printed printed = print_block(body, {3, 8}, &module);
  CHECK(map(printed, module) == Map{{1, 2}, {5, 10}, {10, 12}, {11, 14}, {13, 16}, {14, 18}});
  CHECK(map(printed, nested) == Map{{6, 1}});

  const CodeObject function;
  auto* outer = b.function("outer", body, 99, &function);
  printed = print_block(b.block({b.line("z", 98), outer}), {3, 8});
  CHECK(map(printed, function) == Map{{5, 2}, {8, 10}, {12, 12}, {13, 14}, {15, 16}, {16, 18}});
  CHECK(printed.lines.size() == 7);
}

TEST_CASE("tuples have parentheses where the grammar of 3.8 wants them") {
  TreeBuilder b;
  auto* starred = b.expr(Tuple{b.exprs({b.expr(Starred{b.name("a")}), b.name("b")})});
  const Block loop = b.block({b.stmt(For{b.name("i"), starred, {}, {}, false})});
  CHECK(print(loop, {3, 8}) == "for i in (*a, b):\n    pass\n");
  CHECK(print(loop, {3, 9}) == "for i in *a, b:\n    pass\n");
  const Block add = b.block({b.stmt(AugAssign{b.name("i"), BinaryOp::floor_divide, starred})});
  CHECK(print(add, {3, 8}) == "i //= (*a, b)\n");
  CHECK(print(add, {3, 9}) == "i //= *a, b\n");
}

TEST_CASE("constant tuples stand bare where others do") {
  TreeBuilder b;
  const Constant one{.kind = Constant::Kind::integer, .text = "1"};
  auto* single = b.constant({.kind = Constant::Kind::tuple, .items = {one}});
  auto* pair = b.constant({.kind = Constant::Kind::tuple, .items = {one, one}});
  auto* empty = b.constant({.kind = Constant::Kind::tuple});
  CHECK(print(b.block({b.stmt(Return{single}), b.stmt(Return{pair}), b.stmt(Return{empty})})) ==
        "return (1,)\nreturn 1, 1\nreturn ()\n");
  CHECK(print(b.block({b.stmt(With{b.list<WithItem>({{pair, nullptr}}), {}, false})})) == "with ((1, 1)):\n    pass\n");
}

TEST_CASE("statements of nothing and internal statements") {
  TreeBuilder b;
  CHECK(print(b.block({b.stmt(Global{}), b.stmt(Import{}), b.stmt(Delete{}),
                       b.stmt(InternalStmt{StmtMarker::append, 2, b.name("a"), b.name("b")})})) ==
        "pass\npass\ndel ()\n__internal_append_2__(a, b)\n");
}

TEST_CASE("an integer in a pattern is printed with its digits, whatever the width of its position") {
  TreeBuilder b;
  Arena arena;
  CodeObject code;
  code.version = {3, 13}, code.bytecode = {0, 0};
  code.constants.push_back({.kind = Constant::Kind::integer, .text = "2147483647"});
  code.positions.push_back({1, 1, 0, 9});  // as wide as `2**31 - 1`
  Expr* const number = b.expr(ConstantExpr{code.constants.data()});
  number->line = 1;
  auto* pattern = arena.make<Pattern>(Pattern{MatchValue{number}});
  const Block body = b.block({b.line("a")});
  Stmt* const match = b.stmt(Match{b.name("x"), b.list<MatchCase>({{pattern, nullptr, body}})});
  CHECK(print_block(b.block({b.stmt(ExprStmt{number}), match}), code.version, &code).source ==
        "2**31 - 1\nmatch x:\n    case 2147483647:\n        a\n");
}
