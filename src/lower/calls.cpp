#include <algorithm>

#include "decode/op.h"
#include "lower/awaits.h"
#include "lower/calls.h"
#include "lower/expressions.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Emits the call of any(), all() or tuple() with a generator expression (3.14 and later; list() and set() from 3.15
// on). The loop over the generator is inlined, behind a test that the name refers to the builtin. Returns false, and
// emits nothing, for a call that the compiler does not inline. The instructions of the test and of the loop are:
//
//   <name>; COPY 1; LOAD_COMMON_CONSTANT; IS_OP 0; POP_JUMP_IF_FALSE called; POP_TOP;
//   <generator>; again: FOR_ITER exhausted; <test or append>; JUMP again.
bool call_of_generator(Unit& unit, const Call& node) {
  auto* callee = as<Name>(node.func);
  auto* generator = node.args.size() == 1 ? as<ComprehensionExpr>(node.args[0]) : nullptr;
  if (!unit.dialect.inlined_generator_calls || !callee || !generator ||
      generator->kind != ComprehensionKind::generator || !node.keywords.empty())
    return false;
  if (unit.names.scope->children.at(node.args[0])->is_coroutine) return false;
  const std::string_view id = callee->id;
  CommonName common = CommonName::tuple;
  if (id == "any") common = CommonName::any;
  else if (id == "all") common = CommonName::all;
  else if (id == "list" && unit.dialect.inlined_list_calls) common = CommonName::list;
  else if (id == "set" && unit.dialect.inlined_list_calls) common = CommonName::set;
  else if (id != "tuple") return false;
  const bool tests = common == CommonName::any || common == CommonName::all;
  const Label called = unit.code.label(), again = unit.code.label(), exhausted = unit.code.label(),
              decided = unit.code.label(), end = unit.code.label();
  expr(unit, node.func);
  unit.code.emit(Op::copy_, 1);
  unit.code.emit(Op::load_common_constant_, static_cast<std::int32_t>(common));
  unit.code.emit(Op::is_op_, 0);
  unit.code.jump(Op::pop_jump_if_false_, called);
  unit.code.emit(Op::pop_top_);
  if (!tests) unit.code.emit(common == CommonName::set ? Op::build_set_ : Op::build_list_, 0);
  expr(unit, node.args[0]);
  unit.code.place(again);
  unit.code.jump(Op::for_iter_, exhausted);
  // any() stops at the first true item, and all() at the first false item.
  if (tests) {
    const bool any = common == CommonName::any;
    unit.code.jump(any ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, decided);
    unit.code.jump(Op::jump_, again);
    const auto give = [&](bool value) {
      Constant constant;
      constant.kind = value ? Constant::Kind::true_ : Constant::Kind::false_;
      unit.code.load(constant);
    };
    unit.code.place(decided);
    unit.code.emit(Op::pop_top_);
    give(any);
    unit.code.jump(Op::jump_, end);
    unit.code.place(exhausted);
    give(!any);
  } else {
    unit.code.emit(common == CommonName::set ? Op::set_add_ : Op::list_append_, 2);
    unit.code.jump(Op::jump_, again);
    unit.code.place(exhausted);
    if (common == CommonName::tuple) unit.code.emit(Op::list_to_tuple_);
  }
  unit.code.jump(Op::jump_, end);
  unit.code.place(called);
  expr(unit, node.args[0]);
  unit.code.emit(Op::call_function_, 1);
  unit.code.place(end);
  return true;
}

// Pushes the values of keyword arguments, and then the tuple of their names.
void some_keywords(Unit& unit, List<Keyword> keywords) {
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (const Keyword& keyword : keywords) {
    expr(unit, keyword.value);
    Constant& name = names.items.emplace_back();
    name.kind = Constant::Kind::string;
    name.text = keyword.arg;  // the names of keyword arguments are never mangled
  }
  unit.code.load(std::move(names));
}

// Emits f(*a, k=b, **c): a tuple of the positional arguments, a dict of the keyword arguments, and CALL_FUNCTION_EX.
void expanded_arguments(Unit& unit, int pushed, List<Expr*> args, List<Keyword> keywords) {
  // For f(*a), CALL_FUNCTION_EX gets the value of `a` itself instead of a new tuple.
  if (pushed == 0 && args.size() == 1 && is<Starred>(args[0])) expr(unit, as<Starred>(args[0])->value);
  else sequence(unit, args, pushed, Op::build_list_, true);
  bool built = false;
  std::size_t begin = 0;
  // Emits the keyword arguments since the last `**` as one dict, as CPython does, and merges it into the dict of
  // earlier keyword arguments.
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    const List<Keyword> some = keywords.subspan(begin, end - begin);
    const auto count = static_cast<std::int32_t>(some.size());
    if (some.size() > most_pairs && unit.dialect.bounded_displays) {
      unit.code.emit(Op::build_map_, 0);
      for (const Keyword& keyword : some) {
        unit.code.load_string(keyword.arg);
        expr(unit, keyword.value);
        unit.code.emit(Op::map_add_, 1);
      }
    } else if (some.size() == 1 || !unit.dialect.constant_key_maps) {
      for (const Keyword& keyword : some) {
        unit.code.load_string(keyword.arg);
        expr(unit, keyword.value);
      }
      unit.code.emit(Op::build_map_, count);
    } else {
      some_keywords(unit, some);
      unit.code.emit(Op::build_const_key_map_, count);
    }
    if (built) unit.code.emit(Op::dict_merge_, 1);
    built = true;
  };
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    if (!keywords[i].arg.empty()) continue;
    flush(i);
    begin = i + 1;
    if (!built) unit.code.emit(Op::build_map_, 0);
    built = true;
    expr(unit, keywords[i].value);
    unit.code.emit(Op::dict_merge_, 1);
  }
  flush(keywords.size());
  unit.code.emit(Op::call_function_ex_, built, 0);
}

// Emits f(*a, k=b, **c) for 3.8. The arguments are gathered into tuples and dicts, which BUILD_TUPLE_UNPACK_WITH_CALL
// and BUILD_MAP_UNPACK_WITH_CALL join.
void expanded_arguments_38(Unit& unit, int pushed, List<Expr*> args, List<Keyword> keywords) {
  const int parts = gathered_38(unit, args, pushed, Op::build_tuple_);
  if (parts == 0) unit.code.emit(Op::build_tuple_, 0);
  if (parts > 1) unit.code.emit(Op::build_unpack_, parts, 4);
  int dicts = 0;
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    const List<Keyword> some = keywords.subspan(begin, end - begin);
    if (some.size() == 1) {
      unit.code.load_string(some[0].arg);
      expr(unit, some[0].value);
      unit.code.emit(Op::build_map_, 1);
    } else {
      some_keywords(unit, some);
      unit.code.emit(Op::build_const_key_map_, static_cast<std::int32_t>(some.size()));
    }
    ++dicts;
  };
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    if (!keywords[i].arg.empty()) continue;
    flush(i);
    begin = i + 1;
    expr(unit, keywords[i].value);
    ++dicts;
  }
  flush(keywords.size());
  if (dicts > 1) unit.code.emit(Op::build_unpack_, dicts, 5);
  unit.code.emit(Op::call_function_ex_, dicts > 0, 0);
}

}  // namespace

// From 3.12 on, `super().name` and `super(A, b).name` are compiled to one operation, unless the name `super` may
// refer to something else than the builtin.
bool super_attribute(Unit& unit, const Attribute& node) {
  auto* call = as<Call>(node.value);
  auto* callee = call ? as<Name>(call->func) : nullptr;
  Scope* owner = unit.names.scope->unit();
  if (!unit.dialect.super_attributes || !callee || callee->id != "super" || !call->keywords.empty()) return false;
  if (!owner->is_function_like() || unit.names.scope->home_of("super") != Home::global_implicit) return false;
  const Scope* module = owner;
  while (module->parent) module = module->parent;
  const Symbol* replaced = module->symbols.find("super");
  // CPython does not emit LOAD_SUPER_ATTR if the module itself mentions the name `super`, even if the module only reads
  // it.
  if (replaced && (replaced->is_mentioned || replaced->is_declared_global)) return false;
  const bool written = call->args.size() == 2;
  if (!written && !call->args.empty()) return false;
  if (has_star(call->args)) return false;
  // `super()` without arguments needs a first parameter and the cell `__class__`.
  if (!written) {
    if (!unit.has_positional_parameters()) return false;
    if (unit.names.scope->home_of("__class__") != Home::free) return false;
  }
  const std::string_view attribute = unit.names.mangled(node.attr);
  if (attribute == "__class__") return false;
  unit.names.variable("super", Access::load);
  if (written) {
    exprs(unit, call->args);
  } else {
    unit.code.emit(Op::load_deref_, unit.names.cell_slot(unit.names.scope, "__class__"));
    unit.names.variable(owner->parameters[0], Access::load);
  }
  unit.code.named(Op::load_super_attr_, attribute, written ? 2 : 0);
  return true;
}

// A method call is emitted without LOAD_METHOD, as the call of an attribute.
void call(Unit& unit, const Call& node) {
  if (call_of_generator(unit, node)) return;
  expr(unit, node.func);
  arguments(unit, 0, node.args, node.keywords);
}

// A call with `*` or `**` arguments passes a tuple and a dict to CALL_FUNCTION_EX.
void arguments(Unit& unit, int pushed, List<Expr*> args, List<Keyword> keywords) {
  const bool expanded =
      has_star(args) || std::ranges::any_of(keywords, [](const Keyword& keyword) { return keyword.arg.empty(); });
  if (expanded)
    return unit.dialect.unpacking_builds ? expanded_arguments_38(unit, pushed, args, keywords)
                                         : expanded_arguments(unit, pushed, args, keywords);
  exprs(unit, args);
  const auto count = static_cast<std::int32_t>(args.size()) + pushed;
  if (keywords.empty()) {
    unit.code.emit(Op::call_function_, count);
    return;
  }
  some_keywords(unit, keywords);
  unit.code.emit(Op::call_function_kw_, count + static_cast<std::int32_t>(keywords.size()));
}

}  // namespace depyf::lowering
