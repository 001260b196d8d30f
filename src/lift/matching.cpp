// Handles the operations of match statements that src/flow did not recognise as part of a case pattern. Each
// MATCH_MAPPING, MATCH_SEQUENCE and MATCH_CLASS becomes a match statement that assigns its result to a temporary.
#include "decode/op.h"
#include "depyf/constant.h"
#include "dialect/dialect.h"
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

// The lambda `decide` emits a match statement that sets a temporary to one of two values. The lambda `named_subject`
// stores the subject in a temporary.
void matching(Simulation& sim, const Instruction& instruction) {
  auto pattern = [&](const auto& node) { return sim.context.arena.make<Pattern>(held(sim.context.arena, node)); };
  auto constant = [&](Constant::Kind kind) { return sim.context.constant(kind); };
  auto decide = [&](Expr* subject, Pattern* wanted, Expr* success, Expr* failure) {
    std::string_view id = sim.names.fresh_name();
    auto set = [&](Expr* value) {
      return sim.context.list({sim.context.stmt(Assign{sim.context.list({sim.context.name(id)}), value},
                                                sim.cursor.now().offset, sim.cursor.now().line)});
    };
    MatchCase yes{wanted, nullptr, set(success)};
    MatchCase no{pattern(MatchAs{nullptr, {}}), nullptr, set(failure)};
    sim.emit(Match{subject, sim.context.list({yes, no})});
    sim.push(Name{id});
  };
  auto named_subject = [&]() {
    sim.spill_all(sim.stack.size());
    return sim.cursor.make(sim.peek(1).expr->node);
  };
  // Up to 3.10, MATCH_CLASS and MATCH_KEYS also push a bool that is true if the pattern matches.
  auto found = [&]() {
    if (!dialect_of(sim.cursor.decoded.version).pushed_pattern_tests) return;
    sim.push(Compare{sim.cursor.make(sim.peek(1).expr->node), sim.context.list({CompareOp::is_not}),
                     sim.context.list({sim.context.none()})});
  };
  if (instruction.op == Op::match_mapping_) {
    Expr* subject = named_subject();
    decide(subject, pattern(MatchMapping{}), constant(Constant::Kind::true_), constant(Constant::Kind::false_));
    return;
  }
  if (instruction.op == Op::match_sequence_) {
    Expr* subject = named_subject();
    Pattern* star = pattern(MatchStar{});
    decide(subject, pattern(MatchSequence{sim.context.list({star})}), constant(Constant::Kind::true_),
           constant(Constant::Kind::false_));
    return;
  }
  if (instruction.op == Op::match_class_) {
    auto* names = as<ConstantExpr>(sim.pop());
    sim.spill_all(sim.stack.size());
    Expr *cls = sim.pop(), *subject = sim.pop();
    if (!names || names->value->kind != Constant::Kind::tuple)
      sim.cursor.fail("attributes of a class pattern are no tuple");
    if (!is<Name>(cls) || !sim.names.stable(cls)) {
      std::string_view id = sim.names.fresh_name();
      sim.emit(Assign{sim.context.list({sim.context.name(id)}), cls});
      cls = sim.context.name(id);
    }
    Table<Pattern*> positional, keyword;
    Table<std::string_view> attributes;
    Table<Expr*> captured;
    auto capture = [&]() {
      std::string_view id = sim.names.fresh_name();
      captured.push_back(sim.context.name(id));
      return pattern(MatchAs{nullptr, id});
    };
    // The pattern captures each attribute in a temporary; MATCH_CLASS pushes the tuple of these temporaries.
    for (int index = 0; index < instruction.arg; ++index) positional.push_back(capture());
    for (const Constant& name : names->value->items) attributes.push_back(name.text), keyword.push_back(capture());
    decide(subject,
           pattern(MatchClass{cls, sim.context.arena.copy(positional), sim.context.arena.copy(attributes),
                              sim.context.arena.copy(keyword)}),
           sim.cursor.make(Tuple{sim.context.arena.copy(captured)}), sim.context.none());
    found();
    return;
  }
  if (instruction.op == Op::match_keys_) {
    // MATCH_KEYS leaves the subject and the keys on the stack, and pushes the tuple of the values, or None.
    sim.spill_all(sim.stack.size());
    Expr *keys = sim.cursor.make(sim.peek(1).expr->node), *subject = sim.cursor.make(sim.peek(2).expr->node);
    // The expression for the result of MATCH_KEYS calls map(), because a comprehension would turn the subject into a
    // cell variable: `tuple(map(subject.__getitem__, keys)) if all(map(subject.__contains__, keys)) else None`.
    auto call = [&](std::string_view function, std::initializer_list<Expr*> arguments) {
      return sim.cursor.make(Call{sim.context.name(function), sim.context.list(arguments), {}});
    };
    auto mapped = [&](std::string_view method) {
      return call("map", {sim.cursor.make(Attribute{subject, method}), keys});
    };
    sim.push(IfExp{call("all", {mapped("__contains__")}), call("tuple", {mapped("__getitem__")}), sim.context.none()});
    sim.spill_all(sim.stack.size());
    found();
    return;
  }
  if (instruction.op == Op::copy_dict_without_keys_) {
    // COPY_DICT_WITHOUT_KEYS (3.10) pops the keys, and pushes a dict of the subject's items without these keys.
    sim.spill_all(sim.stack.size());
    Expr *keys = sim.pop(), *subject = sim.cursor.make(sim.peek(1).expr->node);
    std::string_view key = sim.names.fresh_name(), value = sim.names.fresh_name();
    Expr* items = sim.cursor.make(Call{sim.cursor.make(Attribute{subject, "items"}), {}, {}});
    Expr* wanted = sim.cursor.make(
        Compare{sim.context.name(key), sim.context.list({CompareOp::not_in}), sim.context.list({keys})});
    Expr* target = sim.cursor.make(Tuple{sim.context.list({sim.context.name(key), sim.context.name(value)})});
    sim.push(ComprehensionExpr{sim.context.name(key), sim.context.name(value),
                               sim.context.list({Comprehension{target, items, sim.context.list({wanted}), false}}),
                               ComprehensionKind::dict});
    return;
  }
}

}  // namespace depyf::lifting
