// The operations of `match` by themselves: each becomes a match statement that sets a temporary.
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

void Lifter::matching(const Instruction& instruction) {
  auto pattern = [&](auto node) { return context_.arena.make<Pattern>(Pattern{node}); };
  auto constant = [&](Constant::Kind kind) {
    Constant value;
    value.kind = kind;
    return context_.constant(std::move(value));
  };
  auto decide = [&](Expr* subject, Pattern* wanted, Expr* success, Expr* failure) {
    std::string_view id = fresh_name();
    auto set = [&](Expr* value) {
      return context_.list(
          {context_.stmt(Assign{context_.list({context_.name(id)}), value}, now().offset, now().line)});
    };
    MatchCase yes{wanted, nullptr, set(success)};
    MatchCase no{pattern(MatchAs{nullptr, {}}), nullptr, set(failure)};
    emit(Match{subject, context_.list({yes, no})});
    push(Name{id});
  };
  auto named_subject = [&]() {
    spill_all(stack_.size());
    return make(peek(1).expr->node);
  };
  // To 3.10, a bool beside the values tells whether there are any.
  auto found = [&]() {
    if (!dialect_of(decoded_.code->version).pushed_pattern_tests) return;
    push(Compare{make(peek(1).expr->node), context_.list({CompareOp::is_not}), context_.list({context_.none()})});
  };
  if (instruction.op == Op::match_mapping_) {
    Expr* subject = named_subject();
    decide(subject, pattern(MatchMapping{}), constant(Constant::Kind::true_), constant(Constant::Kind::false_));
    return;
  }
  if (instruction.op == Op::match_sequence_) {
    Expr* subject = named_subject();
    Pattern* star = pattern(MatchStar{});
    decide(subject, pattern(MatchSequence{context_.list({star})}), constant(Constant::Kind::true_),
           constant(Constant::Kind::false_));
    return;
  }
  if (instruction.op == Op::match_class_) {
    auto* names = as<ConstantExpr>(pop());
    spill_all(stack_.size());
    Expr *cls = pop(), *subject = pop();
    if (!names || names->value->kind != Constant::Kind::tuple) fail("attributes of a class pattern are no tuple");
    if (!is<Name>(cls) || !stable(cls)) {
      std::string_view id = fresh_name();
      emit(Assign{context_.list({context_.name(id)}), cls});
      cls = context_.name(id);
    }
    std::vector<Pattern*> positional, keyword;
    std::vector<std::string_view> attributes;
    std::vector<Expr*> captured;
    auto capture = [&]() {
      std::string_view id = fresh_name();
      captured.push_back(context_.name(id));
      return pattern(MatchAs{nullptr, id});
    };
    for (int index = 0; index < instruction.arg; ++index) positional.push_back(capture());
    for (const Constant& name : names->value->items) attributes.push_back(name.text), keyword.push_back(capture());
    decide(subject,
           pattern(MatchClass{cls, context_.arena.copy(positional), context_.arena.copy(attributes),
                              context_.arena.copy(keyword)}),
           make(Tuple{context_.arena.copy(captured)}), context_.none());
    found();
    return;
  }
  if (instruction.op == Op::match_keys_) {
    // subject, keys: pushes the tuple of their values, or None
    spill_all(stack_.size());
    Expr *keys = make(peek(1).expr->node), *subject = make(peek(2).expr->node);
    // tuple(map(subject.__getitem__, keys)) if all(map(subject.__contains__, keys)) else None: a comprehension would make
    // a cell of the subject.
    auto call = [&](std::string_view function, std::initializer_list<Expr*> arguments) {
      return make(Call{context_.name(function), context_.list(arguments), {}});
    };
    auto mapped = [&](std::string_view method) { return call("map", {make(Attribute{subject, method}), keys}); };
    push(IfExp{call("all", {mapped("__contains__")}), call("tuple", {mapped("__getitem__")}), context_.none()});
    spill_all(stack_.size());
    found();
    return;
  }
  if (instruction.op == Op::copy_dict_without_keys_) {
    // subject, keys -> subject, rest
    spill_all(stack_.size());
    Expr *keys = pop(), *subject = make(peek(1).expr->node);
    std::string_view key = fresh_name(), value = fresh_name();
    Expr* items = make(Call{make(Attribute{subject, "items"}), {}, {}});
    Expr* wanted = make(Compare{context_.name(key), context_.list({CompareOp::not_in}), context_.list({keys})});
    Expr* target = make(Tuple{context_.list({context_.name(key), context_.name(value)})});
    push(ComprehensionExpr{ComprehensionKind::dict, context_.name(key), context_.name(value),
                           context_.list({Comprehension{target, items, context_.list({wanted}), false}})});
    return;
  }
}

}  // namespace depyf
