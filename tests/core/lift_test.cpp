// Tests of lifting small code objects into a graph of statements and expressions.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "assemble.h"
#include "decode/decode.h"
#include "flow/cfg.h"
#include "lift/lift.h"
#include "print/print.h"

namespace depyf {
namespace {

constexpr Version version{3, 10};

// A code object and the graph that it is lifted into. The nodes refer to the context and to the code.
struct LiftedCode {
  explicit LiftedCode(CodeObject assembled, Split split = Split::none) : code(std::move(assembled)) {
    const Result<DecodedCode> decoded = decode(code);
    REQUIRE(decoded);
    context.version = version;
    const Cfg cfg = build_cfg(*decoded, GraphForm::statements);
    lifted = lift(context, *decoded, cfg, split);
  }

  const Node& entry() const { return lifted.nodes[lifted.entry]; }
  const Node& node(int number) const { return lifted.nodes[number]; }
  // Returns the number of nodes that were not merged into others.
  std::ptrdiff_t size() const {
    return std::ranges::count_if(lifted.nodes, [](const Node& node) { return node.end != Node::End::none; });
  }

  CodeObject code;
  Context context;
  Lifted lifted;
};

std::string text(const ast::Expr* expr) { return expr ? print_expr(expr, version) : "nothing"; }

}  // namespace

TEST_CASE("lift: values on the stack become one expression") {
  const LiftedCode code(assemble(
      version, {{Opcode::LOAD_FAST, 0}, {Opcode::LOAD_FAST, 1}, {Opcode::BINARY_ADD}, {Opcode::RETURN_VALUE}}));
  REQUIRE(code.size() == 1);
  CHECK(code.entry().end == Node::End::leave);
  CHECK(code.entry().statements.empty());
  CHECK(text(code.entry().value) == "v0 + v1");
}

TEST_CASE("lift: a value that nobody uses is a statement") {
  const LiftedCode code(assemble(version, {{Opcode::LOAD_GLOBAL, 0},
                                           {Opcode::CALL_FUNCTION, 0},
                                           {Opcode::POP_TOP},
                                           {Opcode::LOAD_FAST, 0},
                                           {Opcode::RETURN_VALUE}}));
  REQUIRE(code.size() == 1);
  REQUIRE(code.entry().statements.size() == 1);
  const auto* call = ast::as<ast::ExprStmt>(code.entry().statements[0]);
  REQUIRE(call);
  CHECK(text(call->value) == "n0()");
  CHECK(text(code.entry().value) == "v0");
}

TEST_CASE("lift: a jump that keeps the tested value is `and` or `or`") {
  for (const auto& [jump, expected] :
       {std::pair(Opcode::JUMP_IF_FALSE_OR_POP, "v0 and v1"), std::pair(Opcode::JUMP_IF_TRUE_OR_POP, "v0 or v1")}) {
    const CodeObject joined =
        assemble(version, {{Opcode::LOAD_FAST, 0}, {jump, 3}, {Opcode::LOAD_FAST, 1}, {Opcode::RETURN_VALUE}});
    const LiftedCode code(joined);
    CHECK(code.size() == 1);
    CHECK(text(code.entry().value) == expected);
    // In the exact style, each test stays a branch.
    CHECK(LiftedCode(joined, Split::effects_and_tests).size() > 1);
  }
}

TEST_CASE("lift: a test is a branch to two nodes") {
  const LiftedCode code(assemble(version, {{Opcode::LOAD_FAST, 0},
                                           {Opcode::POP_JUMP_IF_FALSE, 4},
                                           {Opcode::LOAD_FAST, 1},
                                           {Opcode::RETURN_VALUE},
                                           {Opcode::LOAD_GLOBAL, 0},
                                           {Opcode::RETURN_VALUE}}));
  REQUIRE(code.size() == 3);
  REQUIRE(code.entry().end == Node::End::branch);
  CHECK(text(code.entry().value) == "v0");
  CHECK(text(code.node(code.entry().a).value) == "v1");
  CHECK(text(code.node(code.entry().b).value) == "n0");
}

TEST_CASE("lift: an iterator that is put on the stack at the end of a loop's body is stored as a call of iter") {
  // The loop takes an iterator of `v1` in each turn: FOR_ITER at index 9 is reached from the body through GET_ITER.
  const LiftedCode code(assemble(version, {{Opcode::LOAD_FAST, 0},
                                           {Opcode::LOAD_FAST, 1},
                                           {Opcode::POP_JUMP_IF_TRUE, 9},
                                           {Opcode::POP_TOP},
                                           {Opcode::LOAD_CONST, 0},
                                           {Opcode::RETURN_VALUE},
                                           {Opcode::POP_TOP},
                                           {Opcode::LOAD_FAST, 1},
                                           {Opcode::GET_ITER},
                                           {Opcode::FOR_ITER, 2},
                                           {Opcode::STORE_FAST, 0},
                                           {Opcode::JUMP_ABSOLUTE, 6},
                                           {Opcode::LOAD_CONST, 0},
                                           {Opcode::RETURN_VALUE}}));
  std::vector<std::string> stored;
  for (const Node& node : code.lifted.nodes)
    for (const ast::Stmt* statement : node.statements)
      if (const auto* assign = ast::as<ast::Assign>(statement)) stored.push_back(text(assign->value));
  CHECK(std::ranges::find(stored, "iter(v1)") != stored.end());
}

TEST_CASE("lift: a for loop has the iterable, the target, the body and the way out") {
  const LiftedCode code(assemble(version, {{Opcode::LOAD_FAST, 0},
                                           {Opcode::GET_ITER},
                                           {Opcode::FOR_ITER, 2},
                                           {Opcode::STORE_FAST, 1},
                                           {Opcode::JUMP_ABSOLUTE, 2},
                                           {Opcode::LOAD_FAST, 1},
                                           {Opcode::RETURN_VALUE}}));
  const auto loop = std::ranges::find(code.lifted.nodes, Node::End::loop, &Node::end);
  REQUIRE(loop != code.lifted.nodes.end());
  CHECK(text(loop->value) == "v0");
  CHECK(text(loop->target) == "v1");
  CHECK(code.node(loop->b).end == Node::End::leave);
}

TEST_CASE("lift: a builtin that is called by its name is marked") {
  const LiftedCode iterator(assemble(version, {{Opcode::LOAD_FAST, 0}, {Opcode::GET_ITER}, {Opcode::RETURN_VALUE}}));
  CHECK(text(iterator.entry().value) == "iter(v0)");
  const LiftedCode slice(assemble(
      version, {{Opcode::LOAD_FAST, 0}, {Opcode::LOAD_FAST, 1}, {Opcode::BUILD_SLICE, 2}, {Opcode::RETURN_VALUE}}));
  CHECK(text(slice.entry().value) == "slice(v0, v1)");
  for (const LiftedCode* code : {&iterator, &slice}) {
    REQUIRE(code->entry().statements.size() == 1);
    const auto* mark = ast::as<ast::Comment>(code->entry().statements[0]);
    REQUIRE(mark);
    CHECK(mark->text.starts_with("depyf: not equal: "));
  }
}

TEST_CASE("lift: the plain form gives each block a node and keeps the stack in locals") {
  CodeObject joined = assemble(
      version,
      {{Opcode::LOAD_FAST, 0}, {Opcode::JUMP_IF_FALSE_OR_POP, 3}, {Opcode::LOAD_FAST, 1}, {Opcode::RETURN_VALUE}});
  const Result<DecodedCode> decoded = decode(joined);
  REQUIRE(decoded);
  Context context;
  context.version = version;
  const Lifted flat = lift_flat(context, *decoded, build_cfg(*decoded, GraphForm::instructions));
  CHECK(flat.nodes.size() == 3);
  const auto last = std::ranges::find(flat.nodes, Node::End::leave, &Node::end);
  REQUIRE(last != flat.nodes.end());
  CHECK(text(last->value) == "__stack_0");
}

}  // namespace depyf
