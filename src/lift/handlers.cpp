// What handlers of exceptions do, as markers: src/structure makes clauses of them.
//
//   h: PUSH_EXC_INFO; T; CHECK_EXC_MATCH; POP_JUMP_IF_FALSE n; STORE e; ...       except T as e: ...
//   POP_EXCEPT; None; STORE e; DELETE e                                           the end of that clause
//   n: RERAISE                                                                    no clause takes it
//
// In the state machine RERAISE is: t = e.__context__; try: raise e; finally: e.__context__ = t
#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

void Lifter::reraise(const Instruction& instruction) {
  Expr* exc = stack_.empty() ? nullptr : pop_entry().expr;
  auto* internal = as<Internal>(exc);
  if (flat_ && is<Name>(exc)) {
    // A plain `raise` would give the exception the context of the place where it stands.
    Expr* context = fresh();
    auto place = [&] { return make(Attribute{make(exc->node), "__context__"}); };
    emit(Assign{context_.list({context}), place()});
    Expr* kept = context_.name(as<Name>(context)->id);
    Stmt* back = context_.stmt(Assign{context_.list({place()}), kept}, instruction.offset, instruction.line);
    Stmt* raise = context_.stmt(Raise{exc, nullptr}, instruction.offset, instruction.line);
    emit(Try{context_.list({raise}), {}, {}, context_.list({back}), false});
  } else if (flat_) emit(Raise{exc, nullptr});
  else if (internal && internal->marker == Marker::exception)
    emit(InternalStmt{StmtMarker::reraise, 0, nullptr, nullptr});
  else emit(Raise{exc, nullptr});
  stop();
  if (instruction.target >= 0 && !flat_) {  // 3.8
    pop_entry();  // what was handled before
    nodes_[node_].a = cfg_.blocks[current_block_].jump;
    nodes_[node_].end_offset = static_cast<std::uint32_t>(instruction.aux);
  }
}

void Lifter::handler(const Instruction& instruction) {
  if (instruction.op == Op::behind_handlers_) {
    nodes_[node_].behind_handlers = true;
    nodes_[node_].else_break = (instruction.arg & 1) != 0;
    nodes_[node_].else_clause = (instruction.arg & 2) != 0;
    return;
  }
  if (instruction.op == Op::push_exc_info_) {
    Entry exception = pop_entry();
    push(Internal{Marker::previous_exception, 0, nullptr});
    stack_.push_back(exception);
    return;
  }
  if (instruction.op == Op::pop_except_) {
    pop_entry();
    if (flat_) return;
    emit(InternalStmt{StmtMarker::pop_except, 0, nullptr, nullptr});
    // LOAD_CONST None; STORE e; DELETE e: the end of `except ... as e`
    int load = skip(at_ + 1), store = skip(load + 1), remove = skip(store + 1);
    if (remove < end_ && code_[load].op == Op::load_const_ && code_[store].arg == code_[remove].arg) {
      bool pair = is_store_name(code_[store].op) && code_[remove].op == delete_of(code_[store].op);
      if (pair && bound_names_.contains(as<Name>(target_name(code_[store]))->id)) at_ = remove;
    }
    return;
  }
  if (instruction.op == Op::check_exc_match_) {
    Expr* type = pop();
    Expr* exception = stack_.empty() ? nullptr : stack_.back().expr;
    if (flat_) push(Call{context_.name("isinstance"), context_.list({exception, type}), {}});
    else push(Internal{Marker::exc_match, 0, type});
    return;
  }
  if (instruction.op == Op::check_eg_match_) {
    if (flat_) exception_group(instruction);
    else push(Internal{Marker::eg_match, 0, pop()});
    return;
  }
}

}  // namespace depyf
