// Turns the instructions of exception handlers into markers (`ast::Internal` and `ast::InternalStmt`), which
// src/structure turns into except clauses.
//
//   `PUSH_EXC_INFO; T; CHECK_EXC_MATCH; POP_JUMP_IF_FALSE n; STORE e` starts the clause `except T as e`.
//   `POP_EXCEPT; None; STORE e; DELETE e` ends the clause `except T as e`.
//   RERAISE at the target of the last POP_JUMP_IF_FALSE runs if no clause matched.
//
// In the state machine, RERAISE becomes `t = e.__context__; try: raise e; finally: e.__context__ = t`.
#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/block_ends.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

// Ends the node by raising the handled exception again.
void reraise(Simulation& sim, const Instruction& instruction) {
  Expr* exc = sim.stack.empty() ? nullptr : sim.pop_entry().expr;
  auto* internal = as<Internal>(exc);
  if (sim.cursor.flat && is<Name>(exc)) {
    // A plain `raise e` would set the __context__ of `e` to the exception that is being handled, so __context__ is
    // restored.
    Expr* context = sim.names.fresh();
    auto place = [&] { return sim.cursor.make(Attribute{sim.cursor.make(exc->node), "__context__"}); };
    sim.emit(Assign{sim.context.list({context}), place()});
    Expr* kept = sim.context.name(as<Name>(context)->id);
    Stmt* back = sim.context.stmt(Assign{sim.context.list({place()}), kept}, instruction.offset, instruction.line);
    Stmt* raise = sim.context.stmt(Raise{exc, nullptr}, instruction.offset, instruction.line);
    sim.emit(Try{sim.context.list({raise}), {}, {}, sim.context.list({back}), false});
  } else if (sim.cursor.flat) sim.emit(Raise{exc, nullptr});
  else if (internal && internal->marker == Marker::exception)
    sim.emit(InternalStmt{StmtMarker::reraise, 0, nullptr, nullptr});
  else sim.emit(Raise{exc, nullptr});
  stop(sim.graph);
  // In 3.8, the instruction that raises the exception again has a target: the code behind the handlers (see
  // `replace_block_stack` in src/flow). The target becomes the member `a` of the node.
  if (instruction.target >= 0 && !sim.cursor.flat) {
    sim.pop_entry();  // the exception that was handled before
    sim.graph.nodes[sim.graph.node].a = sim.cursor.cfg.blocks[sim.cursor.block].jump;
    sim.graph.nodes[sim.graph.node].end_offset = static_cast<std::uint32_t>(instruction.aux);
  }
}

// In 3.8: true if the instructions in front of the current POP_EXCEPT are `STORE e; DELETE e; END_FINALLY`, with which
// the compiler ends `except T as e`.
bool ends_named_handler(const Cursor& cursor) {
  int at = cursor.at - 1;
  while (at > 0 && (cursor.code[at].op == Op::behind_handlers_ || cursor.code[at].op == Op::nop_)) --at;
  return at >= 2 && is_store_name(cursor.code[at - 2].op) && cursor.code[at - 1].arg == cursor.code[at - 2].arg &&
         cursor.code[at - 1].op == delete_of(cursor.code[at - 2].op);
}

// Handles the instructions of exception handlers except RERAISE.
void handler(Simulation& sim, const Instruction& instruction) {
  if (instruction.op == Op::behind_handlers_) {
    Node& node = sim.graph.nodes[sim.graph.node];
    node.left_by_statement |= instruction.arg == behind_call_of_continue;
    if (instruction.arg == behind_call_of_continue || instruction.arg == behind_return_start) return;
    node.behind_handlers = true;
    node.else_break = (instruction.arg & behind_else_break) != 0;
    node.else_clause = (instruction.arg & behind_else_start) != 0;
    return;
  }
  if (instruction.op == Op::push_exc_info_) {
    Entry exception = sim.pop_entry();
    sim.push(Internal{Marker::previous_exception, 0, nullptr});
    sim.stack.push_back(exception);
    return;
  }
  if (instruction.op == Op::pop_except_) {
    sim.pop_entry();
    if (sim.cursor.flat) return;
    Node& node = sim.graph.nodes[sim.graph.node];
    node.left_by_statement = instruction.aux == 1;
    node.ends_handler = node.behind_handlers && node.statements.empty() && !ends_named_handler(sim.cursor);
    sim.emit(InternalStmt{StmtMarker::pop_except, 0, nullptr, nullptr});
    // The code `LOAD_CONST None; STORE e; DELETE e` at the end of `except T as e` is skipped, because the clause
    // implies it.
    int load = sim.cursor.skip(sim.cursor.at + 1), store = sim.cursor.skip(load + 1),
        remove = sim.cursor.skip(store + 1);
    if (remove < sim.cursor.end && sim.cursor.code[load].op == Op::load_const_ &&
        sim.cursor.code[store].arg == sim.cursor.code[remove].arg) {
      bool pair = is_store_name(sim.cursor.code[store].op) &&
                  sim.cursor.code[remove].op == delete_of(sim.cursor.code[store].op);
      if (pair && sim.rare->bound_names.contains(as<Name>(sim.cursor.target_name(sim.cursor.code[store]))->id))
        sim.cursor.at = remove;
    }
    return;
  }
  if (instruction.op == Op::check_exc_match_) {
    Expr* type = sim.pop();
    Expr* exception = sim.stack.empty() ? nullptr : sim.stack.back().expr;
    if (sim.cursor.flat) sim.push(Call{sim.context.name("isinstance"), sim.context.list({exception, type}), {}});
    else sim.push(Internal{Marker::exc_match, 0, type});
    return;
  }
  if (instruction.op == Op::check_eg_match_) {
    if (sim.cursor.flat) exception_group(sim, instruction);
    else sim.push(Internal{Marker::eg_match, 0, sim.pop()});
    return;
  }
}

}  // namespace depyf::lifting
