// POP_TOP: the value was evaluated for its effect, or the compiler kept it for itself.
//
//   v; POP_TOP                                    v           an expression as a statement
//   v; UNPACK_SEQUENCE 2; POP_TOP; STORE a        a, a = v    the name is stored again at once, so it may take both
//   the exception, in a handler; POP_TOP          except T:   without `as`
//   an iterator; POP_TOP                          nothing: `break` or `return` leaves the loop
//   v; POP_TOP, with no test in front             match v: case _: ...
#include "decode/op.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"
#include "lift/operations.h"
#include "lift/stores.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// True if the value is one that the compiler keeps on the stack for itself.
bool is_bookkeeping(const Internal& value) {
  const Marker marker = value.marker;
  // The iterator of a loop that runs.
  if (marker == Marker::iterator) return value.value == nullptr;
  return marker == Marker::copied || marker == Marker::enter_result || marker == Marker::null ||
         marker == Marker::with_exit || marker == Marker::previous_exception;
}
}  // namespace

void pop_top(Simulation& sim) {
  if (auto* internal = sim.stack.empty() ? nullptr : as<Internal>(sim.stack.back().expr)) {
    // The item of a for loop that nobody uses needs a name as a target.
    if (internal->marker == Marker::item) return store(sim, sim.names.fresh(), sim.pop_entry());
    if (internal->marker == Marker::unpacked) {
      int next = sim.cursor.skip(sim.cursor.at + 1);
      while (next < sim.cursor.end && sim.cursor.code[next].op == Op::pop_top_) next = sim.cursor.skip(next + 1);
      // A variable that is stored next can take the item of the unpacking too.
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
    // Loading a local raises if it is unbound, so the load is a statement. Temporaries are always bound.
    std::string_view id = as<Name>(value)->id;
    if (id.starts_with("__temp_") || id.starts_with("__stack_") || id.starts_with("__const_")) return;
  }
  // The compiler removes statements that are constants. A constant that is popped on another line is the subject of
  // `case _`.
  if (is<ConstantExpr>(value) && !sim.cursor.flat && value->line != sim.cursor.now().line &&
      dialect_of(sim.cursor.decoded.version).match_statement) {
    MatchCase any{sim.context.arena.make<Pattern>(Pattern{MatchAs{nullptr, {}}}), nullptr,
                  sim.context.list({sim.context.stmt(Pass{})})};
    return sim.emit(Match{value, sim.context.list({any})});
  }
  // A plain string as a statement would become a docstring or be removed. An f-string is neither.
  if (!sim.cursor.flat && constant_of(value, Constant::Kind::string))
    value = sim.cursor.make(JoinedStr{sim.context.list({value})});
  sim.emit(ExprStmt{value});
}

}  // namespace depyf::lifting
