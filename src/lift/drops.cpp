// POP_TOP: what is dropped was evaluated for its effect, or was there for the compiler alone.
//
//   v; POP_TOP                                    v           an expression as a statement
//   v; UNPACK_SEQUENCE 2; POP_TOP; STORE a        a, a = v    any name that is stored again at once does
//   the exception, in a handler; POP_TOP          except T:   without `as`
//   an iterator; POP_TOP                          nothing: `break` or `return` leaves the loop
//   v; POP_TOP, with no test before it            match v: case _: ...
#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "lift/operations.h"
#include "lift/stores.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// What the compiler keeps on the stack for itself.
bool is_bookkeeping(const Internal& value) {
  const Marker marker = value.marker;
  if (marker == Marker::iterator) return value.value == nullptr;  // of a loop at work
  return marker == Marker::copied || marker == Marker::enter_result || marker == Marker::null ||
         marker == Marker::with_exit || marker == Marker::previous_exception;
}
}  // namespace

void pop_top(Simulation& sim) {
  if (auto* internal = sim.stack.empty() ? nullptr : as<Internal>(sim.stack.back().expr)) {
    if (internal->marker == Marker::item) return store(sim, sim.names.fresh(), sim.pop_entry());
    if (internal->marker == Marker::unpacked) {
      int next = sim.cursor.skip(sim.cursor.at + 1);
      while (next < sim.cursor.end && sim.cursor.code[next].op == Op::pop_top_) next = sim.cursor.skip(next + 1);
      const bool again = next < sim.cursor.end && sim.cursor.code[next].op == Op::store_fast_ && !sim.cursor.flat;
      return store(sim, again ? sim.cursor.target_name(sim.cursor.code[next]) : sim.names.fresh(), sim.pop_entry());
    }
    const bool exception = internal->marker == Marker::exception;
    if (exception) sim.emit(InternalStmt{StmtMarker::bind_exception, 0, nullptr, nullptr});
    if (exception || is_bookkeeping(*internal)) return sim.stack.pop_back();
  }
  Expr* value = sim.pop();
  if (sim.names.stable(value) && is<Name>(value)) {
    // A load may raise where the local is unbound; temporaries never are.
    std::string_view id = as<Name>(value)->id;
    if (id.starts_with("__temp_") || id.starts_with("__stack_") || id.starts_with("__const_")) return;
  }
  // A constant is no statement of the compiler's; dropped on another line it is the subject of `case _`.
  if (is<ConstantExpr>(value) && !sim.cursor.flat && value->line != sim.cursor.now().line &&
      dialect_of(sim.cursor.decoded.code->version).match_statement) {
    MatchCase any{sim.context.arena.make<Pattern>(Pattern{MatchAs{nullptr, {}}}), nullptr,
                  sim.context.list({sim.context.stmt(Pass{})})};
    return sim.emit(Match{value, sim.context.list({any})});
  }
  // A plain string would be a docstring, or dropped.
  if (!sim.cursor.flat && constant_of(value, Constant::Kind::string))
    value = sim.cursor.make(JoinedStr{sim.context.list({value})});
  sim.emit(ExprStmt{value});
}

}  // namespace depyf::lifting
