#include "lower/lower.h"
#include "decode/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tree_builder.h"

using namespace depyf;
using namespace depyf::ast;
using depyf::testing::TreeBuilder;

namespace {

struct Trees : TreeBuilder {
  Stmt* assign(std::string_view id, Expr* value) { return stmt(Assign{exprs({name(id)}), value}); }
  Stmt* does(Expr* value) { return stmt(ExprStmt{value}); }
  Stmt* definition(std::string_view id, const std::vector<Stmt*>& body) {
    return stmt(FunctionDef{id, arena.make<Arguments>(), block(body), {}, nullptr, false, {}});
  }
  Arena arena;
};

LoweredTree lowered(Block body, Version version = {3, 12}) {
  CodeObject root;
  root.version = version;
  root.name = "<module>";
  return lower_tree(body, root, true, 1 << 20);
}

// Returns the operations of one code object, without resume_, which every code object has.
std::string operations(const LoweredCode& code) {
  std::string text;
  for (const Instruction& instruction : code.decoded.instructions)
    if (instruction.op != Op::resume_) text += (text.empty() ? "" : " ") + std::string(op_name(instruction.op));
  return text;
}

const LoweredCode& code_named(const LoweredTree& tree, std::string_view name) {
  const auto found = std::ranges::find_if(tree.codes, [&](const auto& code) { return code->code.name == name; });
  REQUIRE(found != tree.codes.end());
  return **found;
}

}  // namespace

TEST_CASE("a module loads and stores by name, and returns None") {
  Trees t;
  const LoweredTree tree =
      lowered(t.block({t.assign("x", t.expr(BinOp{t.name("a"), BinaryOp::add, t.name("b"), false}))}));
  CHECK(operations(*tree.codes[0]) == "load_name load_name binary_op store_name load_const return_value");
}

TEST_CASE("a name that a nested function binds lives in a cell") {
  Trees t;
  auto* inner = t.definition("inner", {t.stmt(Nonlocal{t.list<std::string_view>({"x"})}), t.assign("x", t.integer(1))});
  const LoweredTree tree = lowered(t.block({t.definition("outer", {t.assign("x", t.integer(0)), inner})}));
  CHECK(operations(code_named(tree, "outer")) ==
        "make_cell load_const store_deref load_closure build_tuple load_const make_function store_fast load_const "
        "return_value");
  CHECK(operations(code_named(tree, "inner")) == "copy_free_vars load_const store_deref load_const return_value");
  CHECK(code_named(tree, "inner").code.freevars == std::vector<std::string>{"x"});
  CHECK(code_named(tree, "inner").code.qualname == "outer.<locals>.inner");
}

TEST_CASE("private names of a class get its name") {
  Trees t;
  auto* definition = t.stmt(ClassDef{"_C", {}, {}, t.block({t.assign("__x", t.integer(1))}), {}, {}});
  const LoweredTree tree = lowered(t.block({definition}));
  const std::vector<std::string>& names = code_named(tree, "_C").code.names;
  CHECK(std::ranges::find(names, "_C__x") != names.end());
}

TEST_CASE("a class has the name that is printed, whatever it was made of") {
  Trees t;
  CodeObject origin;
  origin.name = "Other";
  auto* definition = t.stmt(ClassDef{"C", {}, {}, t.block({t.stmt(Pass{})}), {}, {}, &origin});
  const LoweredTree tree = lowered(t.block({definition}));
  CHECK(code_named(tree, "C").origin == &origin);
}

TEST_CASE("a comprehension is a function of its own up to 3.11") {
  Trees t;
  auto* comprehension = t.expr(ComprehensionExpr{
      t.name("x"), nullptr, t.list<Comprehension>({{t.name("x"), t.name("y"), {}, false}}), ComprehensionKind::list});
  CHECK(lowered(t.block({t.does(comprehension)}), {3, 11}).codes.size() == 2);
  CHECK(lowered(t.block({t.does(comprehension)}), {3, 12}).codes.size() == 1);
}

TEST_CASE("a way out of a try statement runs its finally clause") {
  Trees t;
  auto* leave = t.stmt(Return{t.integer(1)});
  auto* statement = t.stmt(Try{t.block({leave}), {}, {}, t.block({t.does(t.call("clean", {}))}), false});
  const LoweredTree tree = lowered(t.block({t.definition("f", {statement})}));
  const LoweredCode& code = code_named(tree, "f");
  // The finally clause is compiled three times: where the body returns, behind the body, and where an exception leaves
  // the body.
  CHECK(std::ranges::count(code.decoded.instructions, Op::call_function_, &Instruction::op) == 3);
  const auto& ranges = code.decoded.ranges;
  REQUIRE_FALSE(ranges.empty());
  CHECK(code.decoded.instructions[static_cast<std::size_t>(ranges[0].target)].op == Op::push_exc_info_);
}

TEST_CASE("instructions and constants take no more memory than the limit") {
  Trees t;
  CodeObject root;
  root.version = {3, 12};
  const Block body = t.block({t.assign("x", t.string(std::string(1000, 'a')))});
  CHECK(lower_tree(body, root, true, 4000).codes[0]->failure.empty());
  CHECK(lower_tree(body, root, true, 1000).codes[0]->failure == "more memory than the limit");
}

TEST_CASE("what cannot be lowered says so, and its neighbours stay") {
  Trees t;
  const LoweredTree tree =
      lowered(t.block({t.definition("f", {t.stmt(Break{})}), t.definition("g", {t.stmt(Pass{})})}));
  CHECK(code_named(tree, "f").failure == "a break or continue outside a loop");
  CHECK(code_named(tree, "g").failure.empty());
  CHECK(tree.codes[0]->failure.empty());
}

TEST_CASE("an annotation that is stored as text is not the value of a string constant") {
  Trees t;
  const auto annotated = [&](Expr* annotation) {
    Stmt* future = t.stmt(ImportFrom{"__future__", t.list<Alias>({Alias{"annotations", {}}}), 0, false});
    return lowered(t.block({future, t.stmt(AnnAssign{t.name("x"), annotation, nullptr, true})}));
  };
  CHECK(annotated(t.expr(Verbatim{"y"})).codes[0]->failure.empty());
  // CPython stores the text `'y'` with its quotes for the annotation `x: 'y'`.
  CHECK(!annotated(t.string("y")).codes[0]->failure.empty());
}

TEST_CASE("private names of locals live as long as the result") {
  Trees t;
  auto* method = t.definition("method", {t.assign("__a_private_name", t.name("x"))});
  const LoweredTree tree = lowered(t.block({t.stmt(ClassDef{"Class", {}, {}, t.block({method}), {}, {}})}));
  const auto& locals = code_named(tree, "method").decoded.localsplus;
  REQUIRE(locals.size() == 1);
  CHECK(std::string(locals[0]) == "_Class__a_private_name");
  // If the memory of the name had been freed, these strings would overwrite it.
  const std::vector<std::string> others(64, std::string("another text of this length"));
  CHECK(std::string(locals[0]) == "_Class__a_private_name");
}
