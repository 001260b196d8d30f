// Lifts `yield`, `yield from` and `await`.
//
//   `v; YIELD_VALUE` is `yield v`.
//   `v; GET_YIELD_FROM_ITER; None; yield_from` is `yield from v`.
//   `v; GET_AWAITABLE; None; yield_from` is `await v`.
//   The operations of `await` in an `async with` or an asynchronous comprehension are implied, so they become no code.
#include "decode/op.h"
#include "depyf/code_object.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

// GET_AWAITABLE and GET_YIELD_FROM_ITER push a marker, which the operation `yield_from` turns into an `await` or `yield
// from` expression.
void yields(Simulation& sim, const Instruction& instruction) {
  if (instruction.op == Op::get_awaitable_) return sim.push(Internal{Marker::awaitable, 0, sim.pop()});
  if (instruction.op == Op::get_yield_from_iter_) return sim.push(Internal{Marker::awaitable, 1, sim.pop()});
  if (instruction.op == Op::async_gen_wrap_) return;
  if (instruction.op == Op::yield_value_) {
    Expr* value = sim.pop();
    return sim.push(Yield{is_none(value) ? nullptr : value});
  }
  // The popped value is None, the first value that is sent to the generator.
  sim.pop();
  Entry receiver = sim.pop_entry();
  auto* internal = as<Internal>(receiver.expr);
  if (internal && internal->marker == Marker::awaitable) {
    Expr* value = internal->value;
    if (internal->index == 1) return sim.push(YieldFrom{value});
    // `async with` awaits the results of __aenter__ and __aexit__ by itself.
    if (auto* entered = as<Internal>(value); entered && entered->marker == Marker::enter_result) return sim.push(value);
    if (auto* exited = as<Internal>(value); exited && exited->marker == Marker::with_exit) return sim.push(value);
    // A comprehension with `async for` or `await` in it is a coroutine, which the code around it awaits.
    if (auto* made = as<ComprehensionExpr>(value); made && made->kind != ComprehensionKind::generator && made->code &&
                                                   (made->code->flags & CodeObject::coroutine) && !made->is_awaited) {
      made->is_awaited = true;
      return sim.push(value);
    }
    return sim.push(Await{value});
  }
  sim.push(YieldFrom{receiver.expr});
}

}  // namespace depyf::lifting
