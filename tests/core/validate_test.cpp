#include <doctest/doctest.h>

#include "print/print.h"
#include "tree_builder.h"
#include "validate/expression_text.h"
#include "validate/validate.h"

using namespace depyf;
using namespace depyf::ast;
using depyf::testing::TreeBuilder;

namespace {

// Returns the text of `body` after the pass, with marks that have no offsets.
std::string valid(Block body, Version version = {3, 12}) {
  Context context;
  std::string text = print_block(valid_statements(context, body, version), version).source;
  for (std::size_t at; (at = text.find(" (offset 0)")) != text.npos;) text.erase(at, 11);
  return text;
}

bool is_kept(Block body, Version version = {3, 12}) {
  return valid(body, version).find("not equal") == std::string::npos;
}

struct Trees : TreeBuilder {
  Arguments* parameters(const std::vector<std::string_view>& names) {
    std::vector<Arg> args;
    for (std::string_view name : names) args.push_back({name, nullptr});
    auto* result = arena.make<Arguments>();
    result->args = arena.copy(args);
    return result;
  }
  Stmt* definition(std::string_view id, const Arguments* args, const std::vector<Stmt*>& body, bool is_async = false) {
    return stmt(FunctionDef{id, args, block(body), {}, nullptr, is_async, {}});
  }
  Stmt* assign(std::string_view id) { return stmt(Assign{exprs({name(id)}), integer(1)}); }
  Stmt* nonlocal(std::string_view id) { return stmt(Nonlocal{list<std::string_view>({id})}); }
  Arena arena;
};

}  // namespace

TEST_CASE("a statement that does not compile is marked and raises, and its neighbours stay") {
  Trees t;
  auto* give = t.stmt(ExprStmt{t.expr(Yield{t.name("a")})});
  auto* leave = t.stmt(Return{t.name("b")});
  CHECK(valid(t.block({t.definition("f", nullptr, {give, leave}, true)})) ==
        "async def f():\n    yield a\n    # depyf: not equal: a return with a value in an async generator\n"
        "    raise RuntimeError(\"depyf cannot show this: a return with a value in an async generator\")\n");
  CHECK(is_kept(t.block({t.definition("f", nullptr, {give, leave})})));
  CHECK(is_kept(t.block({t.definition("f", nullptr, {leave}, true)})));
}

TEST_CASE("parameters and names that no function can have") {
  Trees t;
  CHECK(is_kept(t.block({t.definition("f", t.parameters({"a", "b"}), {})})));
  CHECK_FALSE(is_kept(t.block({t.definition("f", t.parameters({"a", "a"}), {})})));
  // one of the parameters gets another name
  CHECK(is_kept(t.block({t.definition("f", t.parameters({"a b", "a_b"}), {})})));
  CHECK_FALSE(is_kept(t.block({t.definition("f", t.parameters({"__debug__"}), {})})));
  CHECK_FALSE(is_kept(t.block({t.assign("__debug__")})));
  CHECK(is_kept(t.block({t.line("__debug__")})));
}

TEST_CASE("nonlocal needs a function around that binds the name") {
  Trees t;
  auto* inner = t.definition("g", nullptr, {t.nonlocal("x")});
  CHECK(is_kept(t.block({t.definition("f", nullptr, {t.assign("x"), inner})})));
  CHECK(is_kept(t.block({t.definition("f", t.parameters({"x"}), {t.definition("g", nullptr, {t.nonlocal("x")})})})));
  CHECK_FALSE(is_kept(t.block({t.assign("x"), t.definition("g", nullptr, {t.nonlocal("x")})})));
  CHECK_FALSE(is_kept(t.block({t.nonlocal("x")})));
  CHECK_FALSE(is_kept(t.block(
      {t.definition("f", nullptr, {t.assign("x"), t.definition("g", t.parameters({"x"}), {t.nonlocal("x")})})})));
  // An empty name is printed as `_`, but a handler without a name does not bind the variable `_`.
  auto* handler = t.stmt(Try{{}, t.list<ExceptHandler>({{nullptr, "", {}}}), {}, {}});
  CHECK_FALSE(
      is_kept(t.block({t.definition("f", t.parameters({}), {handler, t.definition("g", nullptr, {t.nonlocal("")})})})));
}

TEST_CASE("a private name is another variable in a class than around it") {
  Trees t;
  auto in_class = [&](std::string_view class_name, std::string_view variable) {
    auto* inner = t.stmt(ClassDef{class_name, {}, {}, t.block({t.nonlocal(variable)}), {}, {}});
    return is_kept(t.block({t.definition("f", nullptr, {t.assign(variable), inner})}));
  };
  CHECK(in_class("C", "x"));
  CHECK(in_class("C", "_C__x"));  // printed as __x
  CHECK(in_class("C", "__x__"));
  CHECK(in_class("__", "__x"));  // a class whose name has only underscores does not mangle names
  CHECK_FALSE(in_class("C", "__x"));
}

TEST_CASE("3.12 has no functions in scopes of type parameters and aliases within a class") {
  Trees t;
  auto* function = t.expr(Lambda{t.arena.make<Arguments>(), t.name("x")});
  auto* alias = t.stmt(TypeAlias{"A", {}, function});
  const TypeParam bounded{TypeParam::Kind::type_var, "T", function, nullptr};
  auto* method = t.stmt(FunctionDef{"m", nullptr, {}, {}, nullptr, false, t.list<TypeParam>({bounded})});
  for (Stmt* stmt : {alias, method}) {
    auto* in_class = t.stmt(ClassDef{"C", {}, {}, t.block({stmt}), {}, {}});
    CHECK_FALSE(is_kept(t.block({in_class}), {3, 12}));
    CHECK(is_kept(t.block({stmt}), {3, 12}));
    CHECK(is_kept(t.block({t.stmt(ClassDef{"C", {}, {}, t.block({stmt}), {}, {}})}), {3, 13}));
  }
}

TEST_CASE("nothing is assigned, yielded or awaited in the scope of type parameters") {
  Trees t;
  const List<TypeParam> params = t.list<TypeParam>({{TypeParam::Kind::type_var, "T", nullptr, nullptr}});
  for (Expr* effect :
       {t.expr(NamedExpr{t.name("y"), t.name("T")}), t.expr(Yield{nullptr}), t.expr(Await{t.name("T")})}) {
    auto in_coroutine = [&](Stmt* stmt) { return is_kept(t.block({t.definition("f", nullptr, {stmt}, true)})); };
    auto function = [&](List<TypeParam> of) { return t.stmt(FunctionDef{"g", nullptr, {}, {}, effect, false, of}); };
    auto class_of = [&](List<TypeParam> of) { return t.stmt(ClassDef{"C", t.exprs({effect}), {}, {}, {}, of}); };
    CHECK(in_coroutine(function({})));
    CHECK(in_coroutine(class_of({})));
    CHECK_FALSE(in_coroutine(function(params)));
    CHECK_FALSE(in_coroutine(class_of(params)));
  }
}

TEST_CASE("an annotation holds no integer that Python cannot write with decimal digits") {
  Trees t;
  auto* large = t.constant({.kind = Constant::Kind::integer, .text = "0x" + std::string(4000, 'f')});
  auto* args = t.arena.make<Arguments>();
  args->args = t.list<Arg>({{"a", large}});
  CHECK_FALSE(is_kept(t.block({t.definition("f", args, {})})));
  CHECK(is_kept(t.block({t.stmt(ExprStmt{large})})));
}

TEST_CASE("the names that a replaced statement binds remain variables of the function") {
  Trees t;
  auto* bad = t.stmt(Assign{t.exprs({t.name("x"), t.name("y")}), t.expr(Await{t.name("z")})});
  auto* inner = t.definition("g", nullptr, {t.nonlocal("x")});
  const std::string text = valid(t.block({t.definition("f", nullptr, {bad, inner})}));
  CHECK(text.find("\")\n    x = y = None\n") != std::string::npos);
  CHECK(text.find("nonlocal x") != std::string::npos);
  // in a module, all names are globals, which need no assignment
  CHECK(valid(t.block({bad})).find("None") == std::string::npos);
}

TEST_CASE("a nonlocal that is taken out binds nothing for those within") {
  Trees t;
  auto* inner = t.definition("g", nullptr, {t.nonlocal("x")});
  const std::string text = valid(t.block({t.definition("f", nullptr, {t.nonlocal("x"), inner})}));
  CHECK(text.find("nonlocal x") == std::string::npos);
}

TEST_CASE("yield, await, return, break where they may not stand") {
  Trees t;
  auto* awaiting = t.stmt(ExprStmt{t.expr(Await{t.name("a")})});
  CHECK(is_kept(t.block({t.definition("f", nullptr, {awaiting}, true)})));
  CHECK_FALSE(is_kept(t.block({t.definition("f", nullptr, {t.stmt(ExprStmt{t.expr(Await{t.name("a")})})})})));
  CHECK_FALSE(is_kept(t.block({t.stmt(ExprStmt{t.expr(Yield{nullptr})})})));
  CHECK_FALSE(is_kept(t.block({t.stmt(Return{nullptr})})));
  CHECK_FALSE(is_kept(t.block({t.stmt(Break{})})));
  CHECK(is_kept(t.block({t.stmt(While{t.name("a"), t.block({t.stmt(Break{})}), {}})})));
  CHECK_FALSE(is_kept(t.block({t.stmt(While{t.name("a"), {}, t.block({t.stmt(Continue{})})})})));
}

TEST_CASE("targets") {
  Trees t;
  auto assigned = [&](Expr* target) { return t.block({t.stmt(Assign{t.exprs({target}), t.name("v")})}); };
  auto* star = t.expr(Starred{t.name("a")});
  CHECK(is_kept(assigned(t.expr(Tuple{t.exprs({star, t.name("b")})}))));
  CHECK_FALSE(is_kept(assigned(t.expr(Tuple{t.exprs({star, star})}))));
  CHECK_FALSE(is_kept(assigned(star)));
  CHECK_FALSE(is_kept(assigned(t.integer(1))));
  CHECK_FALSE(is_kept(assigned(t.call("f", {}))));
}

TEST_CASE("what only later versions have") {
  Trees t;
  auto* match = t.stmt(Match{t.name("a"), t.list<MatchCase>({{nullptr, nullptr, {}}})});
  CHECK(is_kept(t.block({match}), {3, 10}));
  CHECK_FALSE(is_kept(t.block({t.stmt(Match{t.name("a"), t.list<MatchCase>({{nullptr, nullptr, {}}})})}), {3, 9}));
  auto* alias = t.stmt(TypeAlias{"X", {}, t.name("int")});
  CHECK(is_kept(t.block({alias}), {3, 12}));
  CHECK_FALSE(is_kept(t.block({t.stmt(TypeAlias{"X", {}, t.name("int")})}), {3, 11}));
}

TEST_CASE("patterns that bind nothing, or name what they cannot") {
  Trees t;
  auto matched = [&](auto pattern) {
    auto* node = t.arena.make<Pattern>(held(t.arena, pattern));
    return t.block({t.stmt(Match{t.name("a"), t.list<MatchCase>({{node, nullptr, {}}})})});
  };
  CHECK(is_kept(matched(MatchAs{nullptr, "b"})));
  CHECK_FALSE(is_kept(matched(MatchAs{nullptr, "_"})));
  auto* one = t.arena.make<Pattern>(Pattern{MatchValue{t.integer(1)}});
  CHECK(is_kept(matched(MatchAs{one, "b"})));
  CHECK_FALSE(is_kept(matched(MatchAs{one, ""})));  // an empty name is printed as `_`
  CHECK(is_kept(matched(MatchClass{t.name("C"), {}, {}, {}})));
  CHECK_FALSE(is_kept(matched(MatchClass{t.name("_"), {}, {}, {}})));
  CHECK_FALSE(is_kept(matched(MatchClass{t.call("f", {}), {}, {}, {}})));
  CHECK_FALSE(is_kept(matched(MatchValue{t.name("a")})));
}

TEST_CASE("imports from __future__ come first") {
  Trees t;
  auto future = [&] { return t.stmt(ImportFrom{"__future__", t.list<Alias>({{"annotations", ""}}), 0, false}); };
  CHECK(is_kept(t.block({t.stmt(ExprStmt{t.string("text")}), future(), future()})));
  CHECK_FALSE(is_kept(t.block({t.line("a"), future()})));
  CHECK_FALSE(is_kept(t.block({t.stmt(If{t.name("a"), t.block({future()}), {}})})));
}

TEST_CASE("a docstring with surrogates is left out from 3.13 on") {
  Trees t;
  auto body = [&] { return t.block({t.stmt(ExprStmt{t.string("\xed\xa0\x80")}), t.line("a")}); };
  CHECK(is_kept(body(), {3, 12}));
  CHECK(valid(body(), {3, 13}) == "# depyf: not equal: a docstring with surrogates\na\n");
  const Block marked =
      t.block({t.stmt(Comment{"depyf: not equal: a mark"}), t.stmt(ExprStmt{t.string("\xed\xa0\x80")})});
  CHECK(valid(marked, {3, 13}).find("ud800") == std::string::npos);
}

TEST_CASE("texts of annotations") {
  for (std::string_view text : {"int",
                                "a.b.C",
                                "list[int]",
                                "dict[str, tuple[int, ...]]",
                                "int | None",
                                "Callable[[int, str], None]",
                                "'a b'",
                                "-1",
                                "1.5e-10",
                                "x if y else z",
                                "lambda: 0",
                                "lambda a, *b, c=1, **d: a",
                                "f(a, *b, c=1, **d)",
                                "[i for i in a if i]",
                                "{'a': 1, **b}",
                                "{*a, b}",
                                "()",
                                "(a,)",
                                "a[1:2, ::3]",
                                "not a and b or c in d",
                                "a is not b",
                                "b'x'",
                                "tuple[*Ts]",
                                "a < b <= c",
                                "a ** -b",
                                "\xc3\xa9",
                                "0x1f",
                                "1j",
                                "'a' 'b'",
                                "f'{a}1'",
                                "f'{ {1}} {{}} {a!r:>{w}}'",
                                R"(f"{a['k']}\x00\ud800")",
                                "r'\\d'",
                                "f'{a[\"#\"]}'",
                                "f'{(lambda: 1)()}' 'b'"})
    CHECK_MESSAGE(validate::is_expression(text, dialect_of({3, 12})), text);
  for (std::string_view text :
       {"",       " a",      "a b",  "a,,b", "x := 1", "yield", "return", "class", "def f", "a.",
        "a[",     "a]",      "(",    "1a",   "01",     "a = 1", "x: int", "*",     "'a",    "f'{a b}'",
        "a if b", "a not b", "a..b", "0x",   "lambda", "!a",    "a; b",   "a?"})
    CHECK_MESSAGE(!validate::is_expression(text, dialect_of({3, 12})), text);
  for (std::string_view text :
       {"f'{'", "f'}'", "f'{}'", "f'{a!x}'", "f'{a b}'", "f'{a:{b:{c}}", "'a' b'b'", "t'{a}'", "'\\x1'",
        "'\\N{no such}'", "'\\U00200000'", "f'{lambda: 1}'", "f'{a[\\'x\\']}'", "f'{a:'}'"})
    CHECK_MESSAGE(!validate::is_expression(text, dialect_of({3, 12})), text);
  CHECK(validate::is_expression("t'{a}'", dialect_of({3, 14})));
  CHECK(!validate::is_expression("t'{a}' 'b'", dialect_of({3, 14})));
  // Before 3.12 a field has no backslash, no `#`, and not the quotes around it.
  CHECK(validate::is_expression("f'{a[\"x\"]}'", dialect_of({3, 11})));
  for (std::string_view text : {"f'{a['x']}'", "f'{a[\"#\"]}'", "f'{a[\"\\n\"]}'"}) {
    CHECK_MESSAGE(!validate::is_expression(text, dialect_of({3, 11})), text);
    CHECK_MESSAGE(validate::is_expression(text, dialect_of({3, 12})), text);
  }
}

TEST_CASE("items that a comprehension unpacks") {
  Trees t;
  const auto of = [&](ComprehensionKind kind, Expr* item, Expr* value) {
    const auto clauses = t.list<Comprehension>({{t.name("x"), t.name("y"), {}, false}});
    return t.block({t.stmt(ExprStmt{t.expr(ComprehensionExpr{item, value, clauses, kind})})});
  };
  Expr* starred = t.expr(Starred{t.name("x")});
  const Version unpacking{3, 15}, before{3, 14};
  CHECK(is_kept(of(ComprehensionKind::list, starred, nullptr), unpacking));
  CHECK_FALSE(is_kept(of(ComprehensionKind::list, starred, nullptr), before));
  CHECK(is_kept(of(ComprehensionKind::dict, nullptr, t.name("x")), unpacking));
  CHECK_FALSE(is_kept(of(ComprehensionKind::dict, starred, t.name("x")), unpacking));
  CHECK_FALSE(is_kept(of(ComprehensionKind::dict, t.name("x"), starred), unpacking));
}

TEST_CASE("a global private name that a comprehension assigns") {
  Trees t;
  const auto method = [&](std::string_view name) {
    const auto clauses = t.list<Comprehension>({{t.name("x"), t.name("y"), {}, false}});
    Expr* const item = t.expr(NamedExpr{t.name(name), t.name("x")});
    Expr* const list = t.expr(ComprehensionExpr{item, nullptr, clauses, ComprehensionKind::list});
    return t.definition("f", nullptr, {t.stmt(Global{t.list<std::string_view>({name})}), t.stmt(ExprStmt{list})});
  };
  const auto in_class = [&](std::string_view name) {
    return t.block({t.stmt(ClassDef{"_C", {}, {}, t.block({method(name)}), {}, {}})});
  };
  CHECK_FALSE(is_kept(in_class("__x"), {3, 12}));
  CHECK_FALSE(is_kept(in_class("_C__x"), {3, 12}));  // printed as `__x`
  CHECK(is_kept(in_class("__x"), {3, 13}));
  CHECK(is_kept(in_class("z"), {3, 12}));
  CHECK(is_kept(t.block({method("__x")}), {3, 12}));
}
