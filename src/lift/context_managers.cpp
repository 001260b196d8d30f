// Lifts with statements.
//
//   `m; BEFORE_WITH; STORE x; <body>; None; None; None; CALL` is `with m as x: <body>`.
//   The handler that starts with `PUSH_EXC_INFO; WITH_EXCEPT_START` becomes no code, because `with` implies it.
//
// The state machine, and code that cannot be the body of a with statement, call the methods of the context manager.
//
//   `m; BEFORE_WITH` pushes `type(m).__exit__.__get__(m)` and `type(m).__enter__(m)`.
//   `exit; exception; WITH_EXCEPT_START` is `exit(type(exception), exception, exception.__traceback__)`.
#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

// Pushes a call of the context manager's exit method with the exception. Only the source of a state machine (`flat`)
// contains this call, because a with statement implies it.
void call_exit(Simulation& sim, const Instruction& instruction) {
  if (!sim.cursor.flat) sim.cursor.fail("with handler outside a with statement");
  Expr* exception = sim.peek(1).expr;
  Expr* exit = sim.peek(4 + instruction.aux).expr;
  Expr* type = sim.cursor.make(Call{sim.context.name("type"), sim.context.list({exception}), {}});
  sim.push(Call{exit, sim.context.list({type, exception, sim.cursor.make(Attribute{exception, "__traceback__"})}), {}});
}

// Enters a with statement: pushes `ast::Internal` markers, which the setup node turns into the with statement, or
// pushes explicit calls of the methods of the context manager.
void enter_with(Simulation& sim, const Instruction& instruction) {
  bool async = instruction.op == Op::before_async_with_;
  RegionIndex region = -1;
  if (!sim.cursor.flat) {
    const auto& with_at = sim.rare->with_at;
    if (auto found = with_at.find(sim.cursor.at + 1); found != with_at.end()) region = found->second;
    if (int next = sim.cursor.cfg.blocks[sim.cursor.block].next;
        next >= 0 && sim.cursor.cfg.blocks[next].setup_of > region &&
        sim.cursor.cfg.regions[sim.cursor.cfg.blocks[next].setup_of].kind == Region::Kind::with)
      region = sim.cursor.cfg.blocks[next].setup_of;
  }
  if (region < 0) {
    // If no with statement can be written, a call of `type(manager).__enter__` enters the context manager. The context
    // manager is used several times, so it is stored in a temporary.
    Entry manager{sim.pop(), sim.graph.node, -1};
    if (!sim.names.stable(manager.expr))
      sim.stack.push_back(manager), sim.spill_all(sim.stack.size()), manager = sim.pop_entry();
    sim.mark_builtin("type", sim.cursor.now().offset);
    auto special = [&](std::string_view name) {
      return sim.cursor.make(
          Attribute{sim.cursor.make(Call{sim.context.name("type"), sim.context.list({manager.expr}), {}}), name});
    };
    sim.push(Call{sim.cursor.make(Attribute{special(async ? "__aexit__" : "__exit__"), "__get__"}),
                  sim.context.list({manager.expr}),
                  {}});
    if (instruction.aux) sim.push(Internal{Marker::null, 1, nullptr});
    sim.push(Call{special(async ? "__aenter__" : "__enter__"), sim.context.list({manager.expr}), {}});
    return;
  }
  Expr* manager = sim.pop();
  sim.push(Internal{Marker::with_exit, sim.cursor.at, nullptr});
  if (instruction.aux) sim.push(Internal{Marker::null, 1, nullptr});
  sim.push(Internal{Marker::enter_result, region, manager});
}

}  // namespace depyf::lifting
