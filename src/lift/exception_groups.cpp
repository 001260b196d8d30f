// Expands the operations of `except*` for the state machine. In the expansions, G stands for BaseExceptionGroup.
//
// CHECK_EG_MATCH pops the type T and the exception exc. CHECK_EG_MATCH pushes rest, the part of exc that does not match
// T, and then match, the part of exc that matches T. In Python, CHECK_EG_MATCH computes
//       `match, rest = ((None, None) if exc is None else
//                      (exc if isinstance(exc, G) else G('', [exc]), None) if isinstance(exc, T) else
//                      exc.split(T) if isinstance(exc, G) else (None, exc))`.
// PREP_RERAISE_STAR pops excs, the list of the exceptions that the clauses raised or left unhandled, and orig, the
// exception that was raised in the body. PREP_RERAISE_STAR pushes raised, which is the exception to raise behind the
// clauses, or None. In Python, PREP_RERAISE_STAR computes
//       `left = [e for e in excs if e is not None];
//       raised = None if not left else left[0] if not isinstance(orig, G) or (len(left) == 1 and
//           left[0].__traceback__ is orig.__traceback__) else G('', left)`.
// The expansion of PREP_RERAISE_STAR is an approximation: CPython joins the unhandled and reraised exceptions into one
// group with the nesting of the original group.
#include "decode/op.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

// Returns false if the instruction is neither CHECK_EG_MATCH nor PREP_RERAISE_STAR. The lambdas build parts of the
// expressions in the comment at the top of this file.
bool exception_group(Simulation& sim, const Instruction& instruction) {
  auto call = [&](Expr* function, std::initializer_list<Expr*> args) {
    return sim.cursor.make(Call{function, sim.context.list(args), {}});
  };
  auto is = [&](Expr* left, Expr* right) {
    return sim.cursor.make(Compare{left, sim.context.list({CompareOp::is}), sim.context.list({right})});
  };
  auto pair = [&](Expr* one, Expr* two) { return sim.cursor.make(Tuple{sim.context.list({one, two})}); };
  auto group_type = [&]() { return sim.cursor.make(Name{"BaseExceptionGroup"}); };
  auto is_group = [&](Expr* value) { return call(sim.cursor.make(Name{"isinstance"}), {value, group_type()}); };
  auto group_of = [&](Expr* exceptions) {
    return call(group_type(), {sim.context.constant(Constant::Kind::string), exceptions});
  };
  // Assigns `value` to a temporary and returns the name of the temporary.
  auto named = [&](Expr* value) {
    std::string_view id = sim.names.fresh_name();
    sim.emit(Assign{sim.context.list({sim.cursor.make(Name{id})}), value});
    return id;
  };
  bool match = instruction.op == Op::check_eg_match_;
  bool prepare = instruction.op == Op::intrinsic_2_ && Intrinsic2(instruction.arg) == Intrinsic2::prep_reraise_star;
  if (!match && !prepare) return false;
  sim.spill_all(sim.stack.size());
  Expr *second = sim.pop(), *first = sim.pop();
  std::string_view one = named(first), two = named(second);
  auto name = [&](std::string_view id) { return sim.cursor.make(Name{id}); };
  if (match) {
    Expr* whole = sim.cursor.make(
        IfExp{is_group(name(one)), name(one), group_of(sim.cursor.make(ListExpr{sim.context.list({name(one)})}))});
    Expr* some = call(sim.cursor.make(Attribute{name(one), "split"}), {name(two)});
    Expr* split = sim.cursor.make(IfExp{is_group(name(one)), some, pair(sim.context.none(), name(one))});
    Expr* found = call(sim.cursor.make(Name{"isinstance"}), {name(one), name(two)});
    Expr* present = sim.cursor.make(IfExp{found, pair(whole, sim.context.none()), split});
    Expr* absent = pair(sim.context.none(), sim.context.none());
    Expr* value = sim.cursor.make(IfExp{is(name(one), sim.context.none()), absent, present});
    std::string_view taken = sim.names.fresh_name(), rest = sim.names.fresh_name();
    sim.emit(Assign{sim.context.list({pair(name(taken), name(rest))}), value});
    sim.push(Name{rest});
    sim.push(Name{taken});
    return true;
  }
  std::string_view each = sim.names.fresh_name();
  Expr* present = sim.cursor.make(
      Compare{name(each), sim.context.list({CompareOp::is_not}), sim.context.list({sim.context.none()})});
  std::string_view left = named(sim.cursor.make(ComprehensionExpr{
      name(each), nullptr, sim.context.list({Comprehension{name(each), name(two), sim.context.list({present}), false}}),
      ComprehensionKind::list}));
  auto number = [&](const char* digits) { return sim.context.constant(Constant::Kind::integer, digits); };
  auto only = [&]() { return sim.cursor.make(Subscript{name(left), number("0")}); };
  Expr* length = call(sim.cursor.make(Name{"len"}), {name(left)});
  Expr* single = sim.cursor.make(Compare{length, sim.context.list({CompareOp::eq}), sim.context.list({number("1")})});
  Expr* same =
      is(sim.cursor.make(Attribute{only(), "__traceback__"}), sim.cursor.make(Attribute{name(one), "__traceback__"}));
  Expr* rest = sim.cursor.make(BoolOp{false, sim.context.list({single, same})});
  Expr* naked = sim.cursor.make(UnaryExpr{UnaryOp::not_, is_group(name(one))});
  Expr* raised = sim.cursor.make(
      IfExp{sim.cursor.make(BoolOp{true, sim.context.list({naked, rest})}), only(), group_of(name(left))});
  sim.push(Name{named(sim.cursor.make(IfExp{name(left), raised, sim.context.none()}))});
  return true;
}

}  // namespace depyf::lifting
