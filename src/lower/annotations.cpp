#include <algorithm>

#include "decode/op.h"
#include "lower/annotations.h"
#include "lower/expressions.h"
#include "lower/generics.h"

namespace depyf::lowering {
using namespace ast;

namespace {

// Pushes the value of one annotation. The value of `*Ts` in `*args: *Ts` is the only item to which `Ts` unpacks.
void annotation(Unit& unit, const Expr* value) {
  if (unit.shared.annotations_are_text) return annotation_text(unit, value);
  if (auto* starred = as<Starred>(value)) {
    expr(unit, starred->value);
    unit.code.emit(Op::unpack_sequence_, 1);
    return;
  }
  expr(unit, value);
}

// Pushes names and annotations in the order in which CPython evaluates them: up to 3.14, positional-or-keyword parameters
// before positional-only parameters. Adds the number of the pushed values to `count`. Returns true if `count` is greater than
// 0.
bool names_and_annotations(Unit& unit, const FunctionDef& node, int& count) {
  const auto add = [&](std::string_view name, const Expr* value) {
    if (!value) return;
    unit.code.load_string(unit.names.mangled(name));
    annotation(unit, value);
    count += 2;
  };
  const Arguments empty;
  const Arguments* args = node.args ? node.args : &empty;
  const bool in_order = unit.dialect.annotations_in_order;
  for (List<Arg> list : {in_order ? args->posonly : args->args, in_order ? args->args : args->posonly})
    for (const Arg& arg : list) add(arg.name, arg.annotation);
  add(args->vararg.name, args->vararg.annotation);
  for (const Arg& arg : args->kwonly) add(arg.name, arg.annotation);
  add(args->kwarg.name, args->kwarg.annotation);
  add("return", node.returns);
  return count > 0;
}

}  // namespace

void annotation_text(Unit& unit, const Expr* value) {
  // Only a Verbatim node has the text of the annotation, which cannot be derived from any other node. For an annotation
  // that is a string constant, CPython stores a text with additional quotes.
  auto* text = as<Verbatim>(value);
  if (!text) fail("an annotation that is stored as text and has none");
  unit.code.load_string(text->text);
}

bool annotations(Unit& unit, const FunctionDef& node) {
  int count = 0;
  if (names_and_annotations(unit, node, count)) unit.code.emit(Op::build_tuple_, count);
  return count > 0;
}

// The `__annotate__` function returns a dict of all annotations (see lift/annotations.cpp for its instructions).
bool annotate_function(Unit& unit, const FunctionDef& node) {
  bool any = node.returns != nullptr;
  if (node.args) {
    for (List<Arg> list : {node.args->args, node.args->posonly, node.args->kwonly})
      for (const Arg& arg : list) any = any || arg.annotation;
    any = any || node.args->vararg.annotation || node.args->kwarg.annotation;
  }
  if (!any) return false;
  // From 3.15 on, the qualified name of `__annotate__` contains the name of the function, unless the function has type
  // parameters and is defined at module level.
  const std::string name(unit.names.spelled(node.name));
  const bool is_generic_of_module =
      unit.names.scope->unit()->kind == ScopeKind::type_params && unit.qualified("__annotate__") == "__annotate__";
  const bool named = unit.dialect.qualified_annotates && !is_generic_of_module;
  const Header header{.name = "__annotate__",
                      .qualname = unit.qualified(named ? name + ".__annotate__" : "__annotate__"),
                      .posonly = 1};
  auto code = unit.nested(&node.returns, header, [&](Unit& within) {
    format_test(within);
    int count = 0;
    names_and_annotations(within, node, count);
    within.code.emit(Op::build_map_, count / 2);
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, 0);
  return true;
}

// Emits the `__annotate__` function of a module or class, which stores each annotation in a dict (see
// lift/annotations.cpp). An annotation whose `Deferred::index` is not -1 is stored only if its statement has run.
void deferred_annotations(Unit& unit) {
  if (unit.names.scope->deferred.empty()) return;
  const Header header{.name = "__annotate__", .qualname = unit.qualified("__annotate__"), .posonly = 1};
  auto code = unit.nested(&unit.names.scope->deferred, header, [&](Unit& within) {
    format_test(within);
    within.code.emit(Op::build_map_, 0);
    for (const Deferred& each : unit.names.scope->deferred) {
      const Label skipped = within.code.label();
      // Emits the test `if index in __conditional_annotations__:`.
      if (each.index >= 0) {
        within.code.load_integer(each.index);
        within.names.variable("__conditional_annotations__", Access::load);
        within.code.emit(Op::contains_op_, 0);
        within.code.jump(Op::pop_jump_if_false_, skipped);
      }
      expr(within, each.node->annotation);
      within.code.emit(Op::copy_, 2);
      within.code.load_string(unit.names.mangled(as<Name>(each.node->target)->id));
      within.code.emit(Op::store_subscr_);
      within.code.place(skipped);
    }
    within.code.emit(Op::return_value_);
  });
  unit.make_function(code, 0);
  unit.names.variable(unit.names.scope->kind == ScopeKind::module ? "__annotate__" : "__annotate_func__",
                      Access::store);
}

// Emits the creation of `__conditional_annotations__`, the set of indices of the annotations whose statements have run. A
// class around a class with such annotations has a set, too, which nothing uses.
void conditional_annotations(Assembler& code, Variables& names) {
  constexpr std::string_view set = "__conditional_annotations__";
  if (names.scope->kind == ScopeKind::class_body) {
    if (!names.scope->has_cell(set)) return;
    code.emit(Op::build_set_, 0);
    code.emit(Op::store_deref_, names.slot(names.scope, set));
  } else if (names.scope->has_conditional_annotations) {
    code.emit(Op::build_set_, 0);
    names.variable(set, Access::store);
  }
}

// Emits the SET_ADD that adds the annotation's index (`Deferred::index`) to the set `__conditional_annotations__`.
// Emits nothing if the annotation has no index.
void mark_annotation(Assembler& code, Variables& names, const AnnAssign& node) {
  for (const Deferred& each : names.scope->deferred) {
    if (each.node != &node || each.index < 0) continue;
    if (names.scope->kind == ScopeKind::class_body)
      code.emit(Op::load_deref_, names.slot(names.scope, "__conditional_annotations__"));
    else names.variable("__conditional_annotations__", Access::load);
    code.load_integer(each.index);
    code.emit(Op::set_add_, 1);
    code.emit(Op::pop_top_);
  }
}

}  // namespace depyf::lowering
