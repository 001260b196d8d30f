// Handles POP_TOP, which drops a value that was evaluated for its side effect, or an internal value of the compiler.
//
//   `v; POP_TOP` is `v` as a statement.
//   `v; UNPACK_SEQUENCE 2; POP_TOP; STORE a` is `a, a = v`, where the second item overwrites the first one in `a`.
//   In a handler, POP_TOP of the exception starts `except T:` without `as`.
//   POP_TOP of the iterator of a for loop belongs to a `break` or `return` that leaves the loop.
//   If `v` is a constant, `v; POP_TOP` may be `match v:` with the only case `case _`.
#include "decode/op.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"
#include "lift/operations.h"
#include "lift/stores.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// True if `value` is an internal value of the compiler, which corresponds to no expression of the source.
bool is_bookkeeping(const Internal& value) {
  const Marker marker = value.marker;
  // An iterator marker without a value is the iterator of a running for loop.
  if (marker == Marker::iterator) return value.value == nullptr;
  return marker == Marker::copied || marker == Marker::enter_result || marker == Marker::null ||
         marker == Marker::with_exit || marker == Marker::previous_exception;
}
}  // namespace

void pop_top(Simulation& sim) {
  if (auto* internal = sim.stack.empty() ? nullptr : as<Internal>(sim.stack.back().expr)) {
    // The unused item of a for loop is stored in a temporary, because the loop needs a target.
    if (internal->marker == Marker::item) return store(sim, sim.names.fresh(), sim.pop_entry());
    if (internal->marker == Marker::unpacked) {
      int next = sim.cursor.skip(sim.cursor.at + 1);
      while (next < sim.cursor.end && sim.cursor.code[next].op == Op::pop_top_) next = sim.cursor.skip(next + 1);
      // The dropped item of an unpacking can be stored in the variable of the next store, because that store overwrites
      // the item.
      const bool again = next < sim.cursor.end && sim.cursor.code[next].op == Op::store_fast_ && !sim.cursor.flat;
      return store(sim, again ? sim.cursor.target_name(sim.cursor.code[next]) : sim.names.fresh(), sim.pop_entry());
    }
    if (internal->marker == Marker::with_exit && sim.cursor.now().aux == 1)
      sim.graph.nodes[sim.graph.node].left_by_statement = true;
    const bool exception = internal->marker == Marker::exception;
    if (exception) sim.emit(InternalStmt{StmtMarker::bind_exception, 0, nullptr, nullptr});
    if (exception || is_bookkeeping(*internal)) return sim.stack.pop_back();
  }
  Expr* value = sim.pop();
  if (sim.names.stable(value) && is<Name>(value)) {
    // Loading a local raises an exception if the local is unbound, so the load becomes a statement. Temporaries are
    // always bound.
    std::string_view id = as<Name>(value)->id;
    if (id.starts_with("__temp_") || id.starts_with("__stack_") || id.starts_with("__const_")) return;
  }
  // The compiler removes expression statements that are constants. A constant that is popped by an instruction with
  // another line is the subject of a match statement whose only case is `case _`.
  if (is<ConstantExpr>(value) && !sim.cursor.flat && value->line != sim.cursor.now().line &&
      dialect_of(sim.cursor.decoded.version).match_statement) {
    MatchCase any{sim.context.arena.make<Pattern>(Pattern{MatchAs{nullptr, {}}}), nullptr,
                  sim.context.list({sim.context.stmt(Pass{})})};
    return sim.emit(Match{value, sim.context.list({any})});
  }
  // A plain string as a statement would become a docstring or be removed, so it is printed as an f-string.
  if (!sim.cursor.flat && constant_of(value, Constant::Kind::string))
    value = sim.cursor.make(JoinedStr{sim.context.list({value})});
  sim.emit(ExprStmt{value});
}

}  // namespace depyf::lifting
