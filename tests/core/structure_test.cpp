// Tests of the statements that are built from graphs of nodes; the tests create the graphs by hand.
#include <doctest/doctest.h>

#include "flow/cfg.h"
#include "print/print.h"
#include "structure/structure.h"
#include "tree_builder.h"

namespace depyf {
namespace {

using ast::ExprStmt, ast::Name;

// A graph whose nodes are numbered in the order in which they are added.
class GraphBuilder {
 public:
  int go(const char* statement, int next) { return add({.end = Node::End::go, .a = next}, statement); }
  int branch(const char* test, int when_true, int when_false) {
    return add({.end = Node::End::branch, .value = tree_.name(test), .a = when_true, .b = when_false});
  }
  int loop(const char* iterable, const char* target, int body, int behind) {
    return add(
        {.end = Node::End::loop, .value = tree_.name(iterable), .target = tree_.name(target), .a = body, .b = behind});
  }
  int leave(const char* value) { return add({.end = Node::End::leave, .value = tree_.name(value)}); }

  // Returns the source of the statements, and of the state machine if `flat` is set.
  std::string source(bool flat = false) {
    Cfg cfg;
    cfg.blocks.resize(lifted_.nodes.size());
    for (std::size_t number = 0; number < cfg.blocks.size(); ++number) {
      const Node& node = lifted_.nodes[number];
      cfg.blocks[number].next = node.a;
      cfg.blocks[number].jump = node.b;
    }
    analyse(cfg);
    Context context;
    if (flat) return print_block(state_machine(context, lifted_, cfg, true), {3, 12}).source;
    simplify_graph(context, lifted_, cfg, true);
    return print_block(structure(context, lifted_, cfg, true).body, {3, 12}).source;
  }

 private:
  // The members of a node that the tests set.
  struct Members {
    Node::End end;
    ast::Expr *value = nullptr, *target = nullptr;
    int a = -1, b = -1;
  };

  int add(const Members& members, const char* statement = nullptr) {
    Node node;
    node.end = members.end, node.value = members.value, node.target = members.target;
    node.a = members.a, node.b = members.b;
    if (statement) node.statements.push_back(arena_, tree_.line(statement));
    lifted_.nodes.push_back(std::move(node));
    return static_cast<int>(lifted_.nodes.size()) - 1;
  }

  testing::TreeBuilder tree_;
  Arena arena_;
  Lifted lifted_;
};

}  // namespace

TEST_CASE("structure: what two branches meet at stands behind the if statement") {
  GraphBuilder graph;
  graph.branch("test", 1, 2);
  graph.go("first", 3);
  graph.go("second", 3);
  graph.leave("result");
  CHECK(graph.source() == "if test:\n    first\nelse:\n    second\nreturn result\n");
}

TEST_CASE("structure: a branch without statements gives no else clause") {
  GraphBuilder graph;
  graph.branch("test", 1, 2);
  graph.go("first", 2);
  graph.leave("result");
  CHECK(graph.source() == "if test:\n    first\nreturn result\n");
}

TEST_CASE("structure: a test that its body leads back to is a while loop") {
  GraphBuilder graph;
  graph.go("before", 1);
  graph.branch("test", 2, 3);
  graph.go("body", 1);
  graph.leave("result");
  CHECK(graph.source() == "before\nwhile test:\n    body\nreturn result\n");
}

TEST_CASE("structure: a way out of a for loop from its middle is a break") {
  GraphBuilder graph;
  graph.loop("items", "item", 1, 4);
  graph.branch("test", 3, 2);
  graph.go("body", 0);
  graph.go("found", 5);
  graph.go("exhausted", 5);
  graph.leave("result");
  CHECK(graph.source() ==
        "for item in items:\n    if test:\n        found\n        break\n    body\n"
        "else:\n    exhausted\nreturn result\n");
}

TEST_CASE("structure: a way back from the middle of a loop is a continue") {
  GraphBuilder graph;
  graph.loop("items", "item", 1, 4);
  graph.branch("test", 0, 2);
  graph.branch("other", 0, 3);
  graph.go("body", 0);
  graph.leave("result");
  const std::string source = graph.source();
  CHECK(source.starts_with("for item in items:\n"));
  CHECK(source.find("body") != std::string::npos);
  CHECK(source.ends_with("return result\n"));
  CHECK(source.find("while") == std::string::npos);
}

TEST_CASE("structure: the state machine expresses a loop with two entries") {
  GraphBuilder graph;
  graph.branch("test", 1, 2);
  graph.go("first", 2);
  graph.branch("again", 1, 3);
  graph.leave("result");
  const std::string source = graph.source(true);
  CHECK(source.find("while True:") != std::string::npos);
  for (const char* part : {"first", "1 if again else", "return result"}) CHECK(source.find(part) != std::string::npos);
}

}  // namespace depyf
