// Expressions, in the order in which the language evaluates them.
// They stay in one file, in the order of the grammar: each function is short, and most call several of the others.
#include <algorithm>
#include <cctype>

#include "ast/overloaded.h"
#include "lower/lowerer.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// CPython's compilers build larger displays and calls item by item (STACK_USE_GUIDELINE), from 3.10 on.
constexpr std::size_t most_on_the_stack = 30;
constexpr std::size_t most_pairs = 15;

bool has_star(List<Expr*> items) {
  return std::ranges::any_of(items, [](const Expr* item) { return is<Starred>(item); });
}

// True for two equal strings, bytes or integers.
bool has_same_text(const Constant& one, const Constant& two) {
  using Kind = Constant::Kind;
  const bool has_text = one.kind == Kind::string || one.kind == Kind::bytes || one.kind == Kind::integer;
  return has_text && one.kind == two.kind && one.text == two.text;
}

}  // namespace

void Lowerer::expr(const Expr* expr) {
  if (!expr) fail("an expression that is missing");
  std::visit(Overloaded{
                 [&](const Name& n) { name(n.id, Access::load); },
                 [&](const ConstantExpr& n) { load(*n.value); },
                 [&](const Attribute& n) {
                   if (super_attribute(n)) return;
                   this->expr(n.value);
                   named(Op::load_attr_, mangled(n.attr));
                 },
                 [&](const Subscript& n) { subscript(n); },
                 [&](const Slice& n) {
                   slice(n);
                   emit(Op::build_slice_, n.step ? 3 : 2);
                 },
                 [&](const Call& n) { call(n); },
                 [&](const BinOp& n) {
                   this->expr(n.left);
                   this->expr(n.right);
                   emit(Op::binary_op_, static_cast<std::int32_t>(n.op), n.in_place);
                 },
                 [&](const UnaryExpr& n) {
                   this->expr(n.operand);
                   emit(Op::unary_op_, static_cast<std::int32_t>(n.op));
                 },
                 [&](const BoolOp& n) { bool_op(n); },
                 [&](const Compare& n) { compare(n); },
                 [&](const IfExp& n) {
                   const Label otherwise = label(), end = label();
                   condition(n.test, otherwise, false);
                   this->expr(n.body);
                   jump(Op::jump_, end);
                   place(otherwise);
                   this->expr(n.orelse);
                   place(end);
                 },
                 [&](const Tuple& n) { sequence(n.elts, 0, Op::build_tuple_, true); },
                 [&](const ListExpr& n) { sequence(n.elts, 0, Op::build_list_); },
                 [&](const SetExpr& n) { sequence(n.elts, 0, Op::build_set_); },
                 [&](const Dict& n) { dict(n); },
                 [&](const FormattedValue& n) { formatted(n); },
                 [&](const JoinedStr& n) { joined(n.values); },
                 [&](const Interpolation&) { fail("an interpolation outside a template"); },
                 [&](const TemplateStr& n) { template_string(n); },
                 [&](const Lambda& n) { lambda(n, expr); },
                 [&](const ComprehensionExpr& n) { comprehension(n, expr); },
                 [&](const Await& n) {
                   this->expr(n.value);
                   await();
                 },
                 [&](const Yield& n) { yield(n); },
                 [&](const YieldFrom& n) {
                   this->expr(n.value);
                   yield_from();
                 },
                 [&](const NamedExpr& n) {
                   this->expr(n.value);
                   emit(Op::copy_, 1);
                   store(n.target);
                 },
                 [&](const Starred&) { fail("a star where no items are gathered"); },
                 [&](const Verbatim& n) { load_string(n.text); },
                 [&](const Internal&) { fail("a part of the tree that was not finished"); },
             },
             expr->node);
}

// Jumps to `target` if the truth of `test` is `when`, falls through otherwise. A value is asked for its truth once.
void Lowerer::condition(const Expr* test, Label target, bool when) {
  if (auto* node = as<UnaryExpr>(test); node && node->op == UnaryOp::not_)
    return condition(node->operand, target, !when);
  if (auto* node = as<BoolOp>(test)) {
    const bool or_ = node->is_or;
    if (node->values.empty()) fail("an operator without operands");
    const Label past = or_ != when ? label() : target;
    for (std::size_t i = 0; i + 1 < node->values.size(); ++i) condition(node->values[i], past, or_);
    condition(node->values.back(), target, when);
    if (past != target) place(past);
    return;
  }
  if (auto* node = as<IfExp>(test)) {
    const Label otherwise = label(), end = label();
    condition(node->test, otherwise, false);
    condition(node->body, target, when);
    jump(Op::jump_, end);
    place(otherwise);
    condition(node->orelse, target, when);
    place(end);
    return;
  }
  if (auto* node = as<Compare>(test); node && node->ops.size() > 1) return compare_condition(*node, target, when);
  expr(test);
  jump(when ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, target);
}

void Lowerer::bool_op(const BoolOp& node) {
  if (node.values.empty()) fail("an operator without operands");
  const Label end = label();
  for (std::size_t i = 0; i + 1 < node.values.size(); ++i) {
    expr(node.values[i]);
    if (dialect_.copied_conditions) {
      emit(Op::copy_, 1);
      jump(node.is_or ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, end);
      emit(Op::pop_top_);
    } else {
      jump(node.is_or ? Op::jump_if_true_or_pop_ : Op::jump_if_false_or_pop_, end);
    }
  }
  expr(node.values.back());
  place(end);
}

void Lowerer::comparison(CompareOp op) {
  switch (op) {
    case CompareOp::in: emit(Op::contains_op_, 0); return;
    case CompareOp::not_in: emit(Op::contains_op_, 1); return;
    case CompareOp::is: emit(Op::is_op_, 0); return;
    case CompareOp::is_not: emit(Op::is_op_, 1); return;
    case CompareOp::lt:
    case CompareOp::le:
    case CompareOp::eq:
    case CompareOp::ne:
    case CompareOp::gt:
    case CompareOp::ge: emit(Op::compare_op_, static_cast<std::int32_t>(op)); return;
  }
}

void Lowerer::compare(const Compare& node) {
  expr(node.left);
  if (node.ops.empty() || node.ops.size() != node.comparators.size()) fail("a comparison without operands");
  const std::size_t last = node.ops.size() - 1;
  const Label cleanup = label(), end = label();
  for (std::size_t i = 0; i < last; ++i) {
    expr(node.comparators[i]);
    emit(Op::copy_, 1);
    emit(Op::rotate_, 3);
    comparison(node.ops[i]);
    if (dialect_.copied_conditions) {
      emit(Op::copy_, 1);
      jump(Op::pop_jump_if_false_, cleanup);
      emit(Op::pop_top_);
    } else {
      jump(Op::jump_if_false_or_pop_, cleanup);
    }
  }
  expr(node.comparators[last]);
  comparison(node.ops[last]);
  if (last == 0) return;
  jump(Op::jump_, end);
  place(cleanup);
  emit(Op::swap_, 2);
  emit(Op::pop_top_);
  place(end);
}

void Lowerer::compare_condition(const Compare& node, Label target, bool when) {
  expr(node.left);
  const std::size_t last = node.ops.size() - 1;
  if (node.ops.size() != node.comparators.size()) fail("a comparison without operands");
  const Label cleanup = label(), end = label();
  for (std::size_t i = 0; i < last; ++i) {
    expr(node.comparators[i]);
    emit(Op::copy_, 1);
    emit(Op::rotate_, 3);
    comparison(node.ops[i]);
    jump(Op::pop_jump_if_false_, cleanup);
  }
  expr(node.comparators[last]);
  comparison(node.ops[last]);
  jump(when ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, target);
  jump(Op::jump_, end);
  place(cleanup);
  emit(Op::pop_top_);
  if (!when) jump(Op::jump_, target);
  place(end);
}

// `pushed`: how many items lie on the stack already.
void Lowerer::sequence(List<Expr*> items, int pushed, Op build, bool tuple) {
  const Op add = build == Op::build_set_ ? Op::set_add_ : Op::list_append_;
  const Op extend = build == Op::build_set_ ? Op::set_update_ : Op::list_extend_;
  const std::size_t count = items.size();
  if (dialect_.unpacking_builds) {
    if (has_star(items)) return unpacked_sequence_38(items, tuple ? 0 : build == Op::build_list_ ? 1 : 2);
    exprs(items);
    emit(tuple ? Op::build_tuple_ : build, static_cast<std::int32_t>(count) + pushed);
    return;
  }
  const bool constants = std::ranges::all_of(items, [](const Expr* item) { return is<ConstantExpr>(item); });
  if (build == Op::build_set_ && count > 2 && constants &&
      (!dialect_.bounded_set_constants || count <= most_on_the_stack)) {
    Constant set;
    set.kind = Constant::Kind::frozenset;
    for (const Expr* item : items) {
      const Constant& value = *as<ConstantExpr>(item)->value;
      const auto is_the_same = [&](const Constant& earlier) {
        return &earlier == &value || has_same_text(earlier, value);
      };
      if (std::ranges::none_of(set.items, is_the_same)) set.items.push_back(value);
    }
    emit(build, 0);
    load(set);
    emit(extend, 1);
    return;
  }
  const bool big = dialect_.bounded_displays && count + static_cast<std::size_t>(pushed) > most_on_the_stack;
  if (!has_star(items) && !big) {
    exprs(items);
    emit(tuple ? Op::build_tuple_ : build, static_cast<std::int32_t>(count) + pushed);
    return;
  }
  bool built = false;
  if (big) emit(build == Op::build_tuple_ ? Op::build_list_ : build, pushed), built = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto* starred = as<Starred>(items[i])) {
      if (!built) emit(build == Op::build_tuple_ ? Op::build_list_ : build, static_cast<std::int32_t>(i) + pushed);
      built = true;
      expr(starred->value);
      emit(extend, 1);
    } else {
      expr(items[i]);
      if (built) emit(add, 1);
    }
  }
  if (tuple) emit(Op::list_to_tuple_);
}

// 3.8: gathers what is pushed already and the items between stars into tuples; returns how many values that are to be joined
// then lie on the stack.
int Lowerer::gathered_38(List<Expr*> items, int pushed) {
  int parts = 0, gathered = pushed;
  const auto gather = [&] {
    if (gathered == 0) return;
    emit(Op::build_tuple_, gathered);
    gathered = 0;
    ++parts;
  };
  for (const Expr* item : items) {
    if (auto* starred = as<Starred>(item)) {
      gather();
      expr(starred->value);
      ++parts;
    } else {
      expr(item);
      ++gathered;
    }
  }
  gather();
  return parts;
}

void Lowerer::unpacked_sequence_38(List<Expr*> items, int kind) {
  const int parts = gathered_38(items, 0);
  emit(Op::build_unpack_, parts, kind);
}

void Lowerer::some_pairs(const Dict& node, std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  const bool constants = std::all_of(node.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                     node.keys.begin() + static_cast<std::ptrdiff_t>(end),
                                     [](const Expr* key) { return is<ConstantExpr>(key); });
  const bool big = count > most_pairs && dialect_.bounded_displays;
  if (count > 1 && constants && !big && dialect_.constant_key_maps) {
    Constant keys;
    keys.kind = Constant::Kind::tuple;
    for (std::size_t i = begin; i < end; ++i) {
      expr(node.values[i]);
      keys.items.push_back(*as<ConstantExpr>(node.keys[i])->value);
    }
    load(keys);
    emit(Op::build_const_key_map_, static_cast<std::int32_t>(count));
    return;
  }
  if (big) emit(Op::build_map_, 0);
  for (std::size_t i = begin; i < end; ++i) {
    expr(node.keys[i]);
    expr(node.values[i]);
    if (big) emit(Op::map_add_, 1);
  }
  if (!big) emit(Op::build_map_, static_cast<std::int32_t>(count));
}

void Lowerer::dict(const Dict& node) {
  if (node.keys.size() != node.values.size()) fail("a dict whose keys and values do not pair");
  std::size_t begin = 0;
  bool built = false;
  int parts = 0;
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    some_pairs(node, begin, end);
    ++parts;
    if (built && !dialect_.unpacking_builds) emit(Op::dict_update_, 1);
    built = true;
    begin = end;
  };
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i]) {
      constexpr std::size_t most_pairs_39 = 0xFFFF;
      if (i - begin > (dialect_.bounded_displays ? most_pairs : most_pairs_39 - 1)) flush(i + 1);
      continue;
    }
    flush(i);
    begin = i + 1;
    if (!built && !dialect_.unpacking_builds) emit(Op::build_map_, 0);
    built = true;
    ++parts;
    expr(node.values[i]);
    if (!dialect_.unpacking_builds) emit(Op::dict_update_, 1);
  }
  flush(node.keys.size());
  if (!built) emit(Op::build_map_, 0);
  const bool unpacks = std::ranges::any_of(node.keys, [](const Expr* key) { return key == nullptr; });
  if (dialect_.unpacking_builds && (unpacks || parts > 1)) emit(Op::build_unpack_, parts, 3);
}

// `super().name` and `super(A, b).name` are one operation from 3.12 on.
bool Lowerer::super_attribute(const Attribute& node) {
  auto* call = as<Call>(node.value);
  auto* callee = call ? as<Name>(call->func) : nullptr;
  Scope* unit = scope_->unit();
  if (!dialect_.super_attributes || !callee || callee->id != "super" || !call->keywords.empty()) return false;
  if (!unit->is_function_like() || scope_ != unit) return false;
  auto home = scope_->homes.find("super");
  if (home == scope_->homes.end() || home->second != Home::global_implicit) return false;
  if (auto top = scope_; true) {
    while (top->parent) top = top->parent;
    if (top->bound.contains("super") || top->declared_global.contains("super")) return false;
  }
  const bool written = call->args.size() == 2;
  if (!written && !call->args.empty()) return false;
  if (has_star(call->args)) return false;
  if (!written) {
    if (result_->code.argcount == 0) return false;
    auto free = scope_->homes.find("__class__");
    if (free == scope_->homes.end() || free->second != Home::free) return false;
  }
  const std::string_view attribute = mangled(node.attr);
  if (attribute == "__class__") return false;
  variable("super", Access::load);
  if (written) {
    exprs(call->args);
  } else {
    emit(Op::load_deref_, cell_slot(scope_, "__class__"));
    variable(scope_->parameters[0], Access::load);
  }
  named(Op::load_super_attr_, attribute, written ? 2 : 0);
  return true;
}

// any(...), all(...) and tuple(...) of a generator run its loop in place, if the name stands for the function (3.14 and later;
// list and set from 3.15 on).
bool Lowerer::call_of_generator(const Call& node) {
  auto* callee = as<Name>(node.func);
  auto* generator = node.args.size() == 1 ? as<ComprehensionExpr>(node.args[0]) : nullptr;
  if (!dialect_.inlined_generator_calls || !callee || !generator || generator->kind != ComprehensionKind::generator ||
      !node.keywords.empty())
    return false;
  if (scope_->children.at(node.args[0])->is_coroutine) return false;
  const std::string_view id = callee->id;
  CommonName common = CommonName::tuple;
  if (id == "any") common = CommonName::any;
  else if (id == "all") common = CommonName::all;
  else if (id == "list" && dialect_.inlined_list_calls) common = CommonName::list;
  else if (id == "set" && dialect_.inlined_list_calls) common = CommonName::set;
  else if (id != "tuple") return false;
  const bool tests = common == CommonName::any || common == CommonName::all;
  const Label called = label(), again = label(), exhausted = label(), decided = label(), end = label();
  expr(node.func);
  emit(Op::copy_, 1);
  emit(Op::load_common_constant_, static_cast<std::int32_t>(common));
  emit(Op::is_op_, 0);
  jump(Op::pop_jump_if_false_, called);
  emit(Op::pop_top_);
  if (!tests) emit(common == CommonName::set ? Op::build_set_ : Op::build_list_, 0);
  expr(node.args[0]);
  place(again);
  jump(Op::for_iter_, exhausted);
  if (tests) {
    const bool any = common == CommonName::any;
    jump(any ? Op::pop_jump_if_true_ : Op::pop_jump_if_false_, decided);
    jump(Op::jump_, again);
    const auto give = [&](bool value) {
      Constant constant;
      constant.kind = value ? Constant::Kind::true_ : Constant::Kind::false_;
      load(constant);
    };
    place(decided);
    emit(Op::pop_top_);
    give(any);
    jump(Op::jump_, end);
    place(exhausted);
    give(!any);
  } else {
    emit(common == CommonName::set ? Op::set_add_ : Op::list_append_, 2);
    jump(Op::jump_, again);
    place(exhausted);
    if (common == CommonName::tuple) emit(Op::list_to_tuple_);
  }
  jump(Op::jump_, end);
  place(called);
  expr(node.args[0]);
  emit(Op::call_function_, 1);
  place(end);
  return true;
}

void Lowerer::call(const Call& node) {
  if (call_of_generator(node)) return;
  expr(node.func);
  arguments(0, node.args, node.keywords);
}

void Lowerer::arguments(int pushed, List<Expr*> args, List<Keyword> keywords) {
  const bool expanded =
      has_star(args) || std::ranges::any_of(keywords, [](const Keyword& keyword) { return keyword.arg.empty(); });
  if (expanded)
    return dialect_.unpacking_builds ? expanded_arguments_38(pushed, args, keywords)
                                     : expanded_arguments(pushed, args, keywords);
  exprs(args);
  const auto count = static_cast<std::int32_t>(args.size()) + pushed;
  if (keywords.empty()) {
    emit(Op::call_function_, count);
    return;
  }
  some_keywords(keywords);
  emit(Op::call_function_kw_, count + static_cast<std::int32_t>(keywords.size()));
}

// The values of named arguments, and the tuple of their names.
void Lowerer::some_keywords(List<Keyword> keywords) {
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (const Keyword& keyword : keywords) {
    expr(keyword.value);
    Constant& name = names.items.emplace_back();
    name.kind = Constant::Kind::string;
    name.text = keyword.arg;  // never mangled
  }
  load(names);
}

void Lowerer::expanded_arguments(int pushed, List<Expr*> args, List<Keyword> keywords) {
  if (pushed == 0 && args.size() == 1 && is<Starred>(args[0])) expr(as<Starred>(args[0])->value);
  else sequence(args, pushed, Op::build_list_, true);
  bool built = false;
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    const List<Keyword> some = keywords.subspan(begin, end - begin);
    const auto count = static_cast<std::int32_t>(some.size());
    if (some.size() > most_pairs && dialect_.bounded_displays) {
      emit(Op::build_map_, 0);
      for (const Keyword& keyword : some) {
        load_string(keyword.arg);
        expr(keyword.value);
        emit(Op::map_add_, 1);
      }
    } else if (some.size() == 1 || !dialect_.constant_key_maps) {
      for (const Keyword& keyword : some) {
        load_string(keyword.arg);
        expr(keyword.value);
      }
      emit(Op::build_map_, count);
    } else {
      some_keywords(some);
      emit(Op::build_const_key_map_, count);
    }
    if (built) emit(Op::dict_merge_, 1);
    built = true;
  };
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    if (!keywords[i].arg.empty()) continue;
    flush(i);
    begin = i + 1;
    if (!built) emit(Op::build_map_, 0);
    built = true;
    expr(keywords[i].value);
    emit(Op::dict_merge_, 1);
  }
  flush(keywords.size());
  emit(Op::call_function_ex_, built, 0);
}

void Lowerer::expanded_arguments_38(int pushed, List<Expr*> args, List<Keyword> keywords) {
  const int parts = gathered_38(args, pushed);
  if (parts == 0) emit(Op::build_tuple_, 0);
  if (parts > 1) emit(Op::build_unpack_, parts, 4);
  int dicts = 0;
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    if (end == begin) return;
    const List<Keyword> some = keywords.subspan(begin, end - begin);
    if (some.size() == 1) {
      load_string(some[0].arg);
      expr(some[0].value);
      emit(Op::build_map_, 1);
    } else {
      some_keywords(some);
      emit(Op::build_const_key_map_, static_cast<std::int32_t>(some.size()));
    }
    ++dicts;
  };
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    if (!keywords[i].arg.empty()) continue;
    flush(i);
    begin = i + 1;
    expr(keywords[i].value);
    ++dicts;
  }
  flush(keywords.size());
  if (dicts > 1) emit(Op::build_unpack_, dicts, 5);
  emit(Op::call_function_ex_, dicts > 0, 0);
}

bool Lowerer::is_binary_slice(const Expr* slice) const {
  auto* node = as<Slice>(slice);
  if (!dialect_.binary_slices || !node || node->step) return false;
  const auto constant = [](const Expr* bound) { return !bound || is<ConstantExpr>(bound); };
  return !dialect_.constant_slices || !constant(node->lower) || !constant(node->upper);
}

void Lowerer::slice(const Slice& node) {
  for (const Expr* bound : {node.lower, node.upper}) {
    if (bound) expr(bound);
    else load_none();
  }
  if (node.step) expr(node.step);
}

void Lowerer::subscript(const Subscript& node) {
  expr(node.value);
  if (is_binary_slice(node.slice)) {
    slice(*as<Slice>(node.slice));
    emit(Op::binary_slice_);
    return;
  }
  expr(node.slice);
  emit(Op::binary_subscr_);
}

void Lowerer::joined(List<Expr*> values) {
  if (values.size() > most_on_the_stack && dialect_.bounded_displays) {
    load_string("");
    named(Op::load_attr_, "join");
    emit(Op::build_list_, 0);
    for (const Expr* value : values) {
      expr(value);
      emit(Op::list_append_, 1);
    }
    emit(Op::call_function_, 1);
    return;
  }
  exprs(values);
  if (values.size() != 1) emit(Op::build_string_, static_cast<std::int32_t>(values.size()));
}

void Lowerer::formatted(const FormattedValue& node) {
  expr(node.value);
  const std::int32_t conversion = node.conversion == 's'   ? 1
                                  : node.conversion == 'r' ? 2
                                  : node.conversion == 'a' ? 3
                                                           : 0;
  if (!node.format_spec) {
    emit(Op::format_value_, conversion, 0);
    return;
  }
  // From 3.13 on converting is an operation of its own where a format follows.
  if (dialect_.conversion_apart && conversion) emit(Op::convert_value_, conversion);
  expr(node.format_spec);
  emit(Op::format_value_, dialect_.conversion_apart ? 0 : conversion, 1);
}

// The strings between the interpolations, one more than these, then the interpolations.
void Lowerer::template_string(const TemplateStr& node) {
  int strings = 0, interpolations = 0;
  bool text = false;
  for (const Expr* value : node.values) {
    if (is<Interpolation>(value)) {
      if (!text) load_string(""), ++strings;
      text = false;
    } else {
      expr(value);
      ++strings;
      text = true;
    }
  }
  if (!text) load_string(""), ++strings;
  emit(Op::build_tuple_, strings);
  for (const Expr* value : node.values) {
    auto* part = as<Interpolation>(value);
    if (!part) continue;
    expr(part->value);
    load_string(part->text);
    if (part->format_spec) expr(part->format_spec);
    const std::int32_t conversion = part->conversion == 's'   ? 1
                                    : part->conversion == 'r' ? 2
                                    : part->conversion == 'a' ? 3
                                                              : 0;
    emit(Op::build_interpolation_, conversion, part->format_spec != nullptr);
    ++interpolations;
  }
  emit(Op::build_tuple_, interpolations);
  emit(Op::build_template_);
}

// Receiver and value on the stack; the result is left. To 3.10 one operation does it.
void Lowerer::send_loop(bool await) {
  if (dialect_.single_yield_from) {
    emit(Op::yield_from_);
    return;
  }
  const Label again = label(), end = label(), thrown = label();
  place(again);
  jump(Op::send_, end);
  const int outside = handler_;
  if (dialect_.cleanup_throw) handler_ = protect(thrown, depth_);
  emit(Op::yield_value_, dialect_.yield_tells_await ? 1 : 0);
  handler_ = outside;
  emit(Op::resume_, await ? 3 : 2);
  jump(Op::jump_, again);
  if (dialect_.cleanup_throw) {
    place(thrown);
    emit(Op::cleanup_throw_);
    depth_ = label_depth_[static_cast<std::size_t>(end)];
    jump(Op::jump_, end);
    place(end);
    emit(Op::end_send_);
  } else {
    place(end);
  }
}

void Lowerer::await() {
  emit(Op::get_awaitable_, 0);
  load_none();
  send_loop(true);
}

void Lowerer::yield_from() {
  emit(Op::get_yield_from_iter_);
  load_none();
  send_loop(false);
}

void Lowerer::yield(const Yield& node) {
  if (node.value) expr(node.value);
  else load_none();
  if (dialect_.wrapped_async_items && (result_->code.flags & CodeObject::async_generator)) emit(Op::async_gen_wrap_);
  emit(Op::yield_value_, 0);
  emit(Op::resume_, 1);
}

}  // namespace depyf::lowering
