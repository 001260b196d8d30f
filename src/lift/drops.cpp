// POP_TOP: what is dropped was evaluated for its effect, or was there for the compiler alone.
//
//   v; POP_TOP                                    v           an expression as a statement
//   v; UNPACK_SEQUENCE 2; POP_TOP; STORE a        a, a = v    any name that is stored again at once does
//   the exception, in a handler; POP_TOP          except T:   without `as`
//   an iterator; POP_TOP                          nothing: `break` or `return` leaves the loop
//   v; POP_TOP, with no test before it            match v: case _: ...
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "lift/lifter.h"

namespace depyf {
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

void Lifter::pop_top() {
  if (auto* internal = stack_.empty() ? nullptr : as<Internal>(stack_.back().expr)) {
    if (internal->marker == Marker::item) return store(fresh(), pop_entry());
    if (internal->marker == Marker::unpacked) {
      int next = skip(at_ + 1);
      while (next < end_ && code_[next].op == Op::pop_top_) next = skip(next + 1);
      const bool again = next < end_ && code_[next].op == Op::store_fast_ && !flat_;
      return store(again ? target_name(code_[next]) : fresh(), pop_entry());
    }
    const bool exception = internal->marker == Marker::exception;
    if (exception) emit(InternalStmt{StmtMarker::bind_exception, 0, nullptr, nullptr});
    if (exception || is_bookkeeping(*internal)) return stack_.pop_back();
  }
  Expr* value = pop();
  if (stable(value) && is<Name>(value)) {
    // A load may raise where the local is unbound; temporaries never are.
    std::string_view id = as<Name>(value)->id;
    if (id.starts_with("__temp_") || id.starts_with("__stack_") || id.starts_with("__const_")) return;
  }
  // A constant is no statement of the compiler's; dropped on another line it is the subject of `case _`.
  if (is<ConstantExpr>(value) && !flat_ && value->line != now().line &&
      dialect_of(decoded_.code->version).match_statement) {
    MatchCase any{context_.arena.make<Pattern>(Pattern{MatchAs{nullptr, {}}}), nullptr,
                  context_.list({context_.stmt(Pass{})})};
    return emit(Match{value, context_.list({any})});
  }
  // A plain string would be a docstring, or dropped.
  if (!flat_ && constant_of(value, Constant::Kind::string)) value = make(JoinedStr{context_.list({value})});
  emit(ExprStmt{value});
}

}  // namespace depyf
