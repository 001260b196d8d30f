// Any graph whatever: each block is one arm of a loop over the number of the block that runs.
//
//     __state = 0
//     while True:
//         try:                                   only where the code has handlers
//             if __state == 0:
//                 ...
//                 __state = 3 if test else 1         a module or class, which cannot return, leaves by `break`
//         except BaseException as __exception:
//             if __state in (1, 2):
//                 __stack_0 = __exception
//                 __state = 7
//                 continue
//             raise
#include <map>

#include "structure/structure.h"

namespace depyf {
using namespace ast;

Block state_machine(Context& context, Lifted& lifted, const Cfg& cfg, bool may_return) {
  auto number = [&](int value) { return context.constant(Constant::Kind::integer, std::to_string(value)); };
  auto set = [&](Expr* value, const Node& node) {
    return context.stmt(Assign{context.list({context.name("__state")}), value}, node.offset, node.line);
  };
  std::vector<Stmt*> arms;
  for (int index = 0; index < int(lifted.nodes.size()); ++index) {
    Node& node = lifted.nodes[index];
    if (node.end == Node::End::none) continue;
    std::vector<Stmt*> body = node.statements;
    switch (node.end) {
      case Node::End::go: body.push_back(set(number(node.a), node)); break;
      case Node::End::branch:
        body.push_back(set(context.expr(IfExp{node.value, number(node.a), number(node.b)}), node));
        break;
      case Node::End::loop: {
        std::vector<Stmt*> found{set(number(node.a), node), context.stmt(Break{})}, none{set(number(node.b), node)};
        body.push_back(context.stmt(
            For{node.target, node.value, context.arena.copy(found), context.arena.copy(none), node.is_async},
            node.offset, node.line));
        break;
      }
      case Node::End::leave:
        if (may_return) {
          // An asynchronous generator may not return a value.
          body.push_back(context.stmt(Return{is_none(node.value) ? nullptr : node.value}, node.offset, node.line));
        } else {
          if (!is<ConstantExpr>(node.value)) body.push_back(context.stmt(ExprStmt{node.value}, node.offset, node.line));
          body.push_back(context.stmt(Break{}, node.offset, node.line));
        }
        break;
      default: break;
    }
    if (body.empty()) body.push_back(context.stmt(Pass{}));
    Expr* test =
        context.expr(Compare{context.name("__state"), context.list({CompareOp::eq}), context.list({number(index)})});
    arms.push_back(context.stmt(If{test, context.arena.copy(body), {}}, node.offset, node.line));
  }
  std::map<int, std::vector<int>> by_region;
  for (int index = 0; index < int(lifted.nodes.size()); ++index) {
    int region = cfg.blocks[index].region;
    if (lifted.nodes[index].end == Node::End::none || region < 0) continue;
    by_region[region].push_back(index);
  }
  Block body = context.arena.copy(arms);
  if (!by_region.empty()) {
    std::vector<Stmt*> ways;
    for (const auto& [index, blocks] : by_region) {
      const Region& region = cfg.regions[index];
      std::vector<Expr*> states;
      for (int state : blocks) states.push_back(number(state));
      Expr* test = context.expr(Compare{context.name("__state"), context.list({CompareOp::in}),
                                        context.list({context.expr(Tuple{context.arena.copy(states)})})});
      std::vector<Stmt*> enter;
      auto slot = [&](int depth) { return context.name(context.arena.copy("__stack_" + std::to_string(depth))); };
      if (region.lasti) enter.push_back(context.stmt(Assign{context.list({slot(region.depth)}), context.none()}));
      enter.push_back(
          context.stmt(Assign{context.list({slot(region.depth + region.lasti)}), context.name("__exception")}));
      enter.push_back(context.stmt(Assign{context.list({context.name("__state")}), number(region.handler)}));
      enter.push_back(context.stmt(Continue{}));
      ways.push_back(context.stmt(If{test, context.arena.copy(enter), {}}));
    }
    ways.push_back(context.stmt(Raise{nullptr, nullptr}));
    ExceptHandler clause{context.name("BaseException"), "__exception", context.arena.copy(ways)};
    body = context.list({context.stmt(Try{body, context.list({clause}), {}, {}, false})});
  }
  Stmt* start = set(number(lifted.entry), lifted.nodes[lifted.entry]);
  Stmt* loop = context.stmt(While{context.constant(Constant::Kind::true_), body, {}});
  return context.list({start, loop});
}

}  // namespace depyf
