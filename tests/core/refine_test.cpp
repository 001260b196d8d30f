// Tests of the passes over the finished tree, each on statements that the pass rewrites.
#include <doctest/doctest.h>

#include <initializer_list>

#include "decode/instruction.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "flow/cfg.h"
#include "print/print.h"
#include "refine/refine.h"
#include "tree_builder.h"

namespace depyf {
namespace {

using namespace ast;

constexpr Version version{3, 12};

// Runs passes on hand-made statements of a function.
class Refiner : public depyf::testing::TreeBuilder {
 public:
  using Pass = Block (*)(Context&, Block, const Scope&);

  Refiner() {
    code_.version = version;
    code_.flags = CodeObject::new_locals;
    decoded_.code = &code_;
  }

  std::string source(Pass pass, const std::vector<Stmt*>& statements, Scope::Kind kind = Scope::Kind::function) {
    return print_block(pass(context_, block(statements), Scope{decoded_, cfg_, kind}), version).source;
  }

  // Sets the operations that the code contains.
  void contains(std::initializer_list<Op> ops) {
    for (const Op op : ops) cfg_.ops.add(op);
  }
  // Adds a region to the control flow graph of the code.
  void protects(Region::Kind kind) { cfg_.regions.emplace_back().kind = kind; }

  Stmt* at_line(Stmt* stmt, int line) {
    stmt->line = line;
    return stmt;
  }
  Stmt* assign(std::string_view target, Expr* value) { return stmt(Assign{exprs({name(target)}), value}); }
  Stmt* leave(Expr* value) { return stmt(Return{value}); }
  Expr* none() { return constant({.kind = Constant::Kind::none}); }
  Stmt* branch(std::string_view test, const std::vector<Stmt*>& body, const std::vector<Stmt*>& orelse = {}) {
    return stmt(If{name(test), block(body), block(orelse)});
  }

 private:
  CodeObject code_;
  DecodedCode decoded_;
  Cfg cfg_;
  Context context_;
};

}  // namespace

TEST_CASE("refine: the return that the compiler added goes, the written one stays") {
  Refiner r;
  CHECK(r.source(implicit_return, {r.at_line(r.line("a"), 3), r.at_line(r.leave(r.none()), 3)}) == "a\n");
  CHECK(r.source(implicit_return, {r.at_line(r.line("a"), 3), r.at_line(r.leave(r.none()), 4)}) == "a\nreturn None\n");
  // A module cannot contain a return statement, so none is written.
  CHECK(r.source(implicit_return, {r.at_line(r.line("a"), 3), r.at_line(r.leave(r.none()), 4)}, Scope::Kind::module) ==
        "a\n");
}

TEST_CASE("refine: an if statement that raises the compiler's AssertionError is an assert statement") {
  Refiner r;
  r.contains({Op::load_assertion_error_});
  const auto failure = [&] { return r.stmt(Raise{r.name("AssertionError"), nullptr}); };
  CHECK(r.source(assert_statement, {r.branch("failed", {failure()}), r.line("a")}) == "assert not failed\na\n");
  CHECK(r.source(assert_statement, {r.branch("failed", {r.stmt(Raise{r.name("ValueError"), nullptr})})}) ==
        "if failed:\n    raise ValueError\n");
}

TEST_CASE("refine: a try statement that only a finally clause encloses is joined with it") {
  Refiner r;
  r.protects(Region::Kind::try_finally);
  const ExceptHandler handler{r.name("ValueError"), {}, r.block({r.line("handled")})};
  Stmt* inner = r.stmt(Try{r.block({r.line("a")}), r.list<ExceptHandler>({handler}), {}, {}, false});
  Stmt* outer = r.stmt(Try{r.block({inner}), {}, {}, r.block({r.line("last")}), false});
  CHECK(r.source(try_finally, {outer}) == "try:\n    a\nexcept ValueError:\n    handled\nfinally:\n    last\n");
}

TEST_CASE("refine: a temporary with one use is replaced by its value") {
  Refiner r;
  CHECK(r.source(inline_temporaries, {r.assign("__temp_1", r.call("f", {r.name("a")})), r.leave(r.name("__temp_1"))}) ==
        "return f(a)\n");
  // A variable that the user named is not replaced by its value.
  CHECK(r.source(inline_temporaries, {r.assign("chosen", r.call("f", {r.name("a")})), r.leave(r.name("chosen"))}) ==
        "chosen = f(a)\nreturn chosen\n");
}

TEST_CASE("refine: passes leave alone what they were not made for") {
  Refiner r;
  for (const Refiner::Pass pass : {assert_statement, try_finally, elif_chain, indentation, lines, shared_ends, imports,
                                   with_items, annotations, inline_temporaries, first_walrus, name_temporaries})
    CHECK(r.source(pass, {r.branch("test", {r.line("a")}, {r.line("b")}), r.line("c")}) ==
          "if test:\n    a\nelse:\n    b\nc\n");
}

}  // namespace depyf
