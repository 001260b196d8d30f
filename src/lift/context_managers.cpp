// with statements.
//
//   m; BEFORE_WITH; STORE x; <body>; None; None; None; CALL          with m as x: <body>
//   h: PUSH_EXC_INFO; WITH_EXCEPT_START; ...                         nothing: the statement does it
//
// In the state machine, and where the body is none that a statement has:
//
//   m; BEFORE_WITH                                                   type(m).__exit__.__get__(m), type(m).__enter__(m)
//   exit; exception; WITH_EXCEPT_START                               exit(type(exception), exception, exception.__traceback__)
#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

// Calls the exit function with an exception, by hand.
void Lifter::call_exit(const Instruction& instruction) {
  if (!flat_) fail("with handler outside a with statement");
  Expr* exception = peek(1).expr;
  Expr* exit = peek(4 + instruction.aux).expr;
  Expr* type = make(Call{context_.name("type"), context_.list({exception}), {}});
  push(Call{exit, context_.list({type, exception, make(Attribute{exception, "__traceback__"})}), {}});
}

void Lifter::enter_with(const Instruction& instruction) {
  bool async = instruction.op == Op::before_async_with_;
  int region = -1;
  if (!flat_) {
    if (auto found = with_at_.find(at_ + 1); found != with_at_.end()) region = found->second;
    if (int next = cfg_.blocks[current_block_].next;
        next >= 0 && cfg_.blocks[next].setup_of > region &&
        cfg_.regions[cfg_.blocks[next].setup_of].kind == Region::Kind::with)
      region = cfg_.blocks[next].setup_of;
  }
  if (region < 0) {
    // Entered by hand: type(manager).__enter__(manager)
    Entry manager{pop(), node_, -1};
    if (!stable(manager.expr)) stack_.push_back(manager), spill_all(stack_.size()), manager = pop_entry();
    auto special = [&](std::string_view name) {
      return make(Attribute{make(Call{context_.name("type"), context_.list({manager.expr}), {}}), name});
    };
    push(
        Call{make(Attribute{special(async ? "__aexit__" : "__exit__"), "__get__"}), context_.list({manager.expr}), {}});
    if (instruction.aux) push(Internal{Marker::null, 1, nullptr});
    push(Call{special(async ? "__aenter__" : "__enter__"), context_.list({manager.expr}), {}});
    return;
  }
  Expr* manager = pop();
  push(Internal{Marker::with_exit, at_, nullptr});
  if (instruction.aux) push(Internal{Marker::null, 1, nullptr});
  push(Internal{Marker::enter_result, region, manager});
}

}  // namespace depyf
