// The operations of `except*` by themselves, for the state machine. G is BaseExceptionGroup.
//
//   CHECK_EG_MATCH      exc, T -> rest, match
//       match, rest = ((None, None) if exc is None else
//                      (exc if isinstance(exc, G) else G('', [exc]), None) if isinstance(exc, T) else
//                      exc.split(T) if isinstance(exc, G) else (None, exc))
//   PREP_RERAISE_STAR   orig, excs -> what is raised after the clauses, or None
//       left = [e for e in excs if e is not None]
//       None if not left else left[0] if not isinstance(orig, G) or (len(left) == 1 and
//           left[0].__traceback__ is orig.__traceback__) else G('', left)
//
// The second is an approximation: CPython joins what is left of the original into one group of its shape.
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

bool Lifter::exception_group(const Instruction& instruction) {
  auto call = [&](Expr* function, std::initializer_list<Expr*> args) {
    return make(Call{function, context_.list(args), {}});
  };
  auto is = [&](Expr* left, Expr* right) {
    return make(Compare{left, context_.list({CompareOp::is}), context_.list({right})});
  };
  auto pair = [&](Expr* one, Expr* two) { return make(Tuple{context_.list({one, two})}); };
  auto group_type = [&]() { return make(Name{"BaseExceptionGroup"}); };
  auto is_group = [&](Expr* value) { return call(make(Name{"isinstance"}), {value, group_type()}); };
  auto group_of = [&](Expr* exceptions) {
    return call(group_type(), {context_.constant(Constant::Kind::string), exceptions});
  };
  auto named = [&](Expr* value) {
    std::string_view id = fresh_name();
    emit(Assign{context_.list({make(Name{id})}), value});
    return id;
  };
  bool match = instruction.op == Op::check_eg_match_;
  bool prepare = instruction.op == Op::intrinsic_2_ && Intrinsic2(instruction.arg) == Intrinsic2::prep_reraise_star;
  if (!match && !prepare) return false;
  spill_all(stack_.size());
  Expr *second = pop(), *first = pop();
  std::string_view one = named(first), two = named(second);
  auto name = [&](std::string_view id) { return make(Name{id}); };
  if (match) {
    Expr* whole = make(IfExp{is_group(name(one)), name(one), group_of(make(ListExpr{context_.list({name(one)})}))});
    Expr* some = call(make(Attribute{name(one), "split"}), {name(two)});
    Expr* split = make(IfExp{is_group(name(one)), some, pair(context_.none(), name(one))});
    Expr* found = call(make(Name{"isinstance"}), {name(one), name(two)});
    Expr* present = make(IfExp{found, pair(whole, context_.none()), split});
    Expr* absent = pair(context_.none(), context_.none());
    Expr* value = make(IfExp{is(name(one), context_.none()), absent, present});
    std::string_view taken = fresh_name(), rest = fresh_name();
    emit(Assign{context_.list({pair(name(taken), name(rest))}), value});
    push(Name{rest});
    push(Name{taken});
    return true;
  }
  std::string_view each = fresh_name();
  Expr* present = make(Compare{name(each), context_.list({CompareOp::is_not}), context_.list({context_.none()})});
  std::string_view left = named(
      make(ComprehensionExpr{ComprehensionKind::list, name(each), nullptr,
                             context_.list({Comprehension{name(each), name(two), context_.list({present}), false}})}));
  auto number = [&](const char* digits) { return context_.constant(Constant::Kind::integer, digits); };
  auto only = [&]() { return make(Subscript{name(left), number("0")}); };
  Expr* length = call(make(Name{"len"}), {name(left)});
  Expr* single = make(Compare{length, context_.list({CompareOp::eq}), context_.list({number("1")})});
  Expr* same = is(make(Attribute{only(), "__traceback__"}), make(Attribute{name(one), "__traceback__"}));
  Expr* rest = make(BoolOp{false, context_.list({single, same})});
  Expr* naked = make(UnaryExpr{UnaryOp::not_, is_group(name(one))});
  Expr* raised = make(IfExp{make(BoolOp{true, context_.list({naked, rest})}), only(), group_of(name(left))});
  push(Name{named(make(IfExp{name(left), raised, context_.none()}))});
  return true;
}

}  // namespace depyf
