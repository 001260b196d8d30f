// Code objects within code objects: functions, classes, lambdas, comprehensions.
// These share the order in which defaults, annotations and closures are evaluated, and so stay in one file.
#include <algorithm>

#include "lower/lowerer.h"

namespace depyf::lowering {
using namespace ast;

namespace {

constexpr int with_defaults = 1, with_kwdefaults = 2, with_annotations = 4, with_closure = 8;

std::string_view name_of(ComprehensionKind kind) {
  switch (kind) {
    case ComprehensionKind::list: return "<listcomp>";
    case ComprehensionKind::set: return "<setcomp>";
    case ComprehensionKind::dict: return "<dictcomp>";
    case ComprehensionKind::generator: return "<genexpr>";
  }
  return "";
}

}  // namespace

// As CPython names what is nested: behind the names around it, with `<locals>` below functions.
std::string Lowerer::qualified(std::string_view name) const {
  const Lowerer* around = this;
  while (around->outer_ && around->scope_->unit()->kind == ScopeKind::type_params) around = around->outer_;
  Scope* unit = around->scope_->unit();
  if (unit->kind == ScopeKind::module) return std::string(name);
  const std::string_view stored = shared_.symbols.mangled(name, *around->scope_);
  if (auto home = unit->homes.find(stored); home != unit->homes.end() && home->second == Home::global_explicit)
    return std::string(name);
  std::string text = around->result_->code.qualname;
  if (unit->kind == ScopeKind::function && !unit->is_comprehension) text += ".<locals>";
  return text + "." + std::string(name);
}

// The code object of one node is made once, however often the node stands in the code.
std::shared_ptr<LoweredCode> Lowerer::nested(const void* node, Scope* scope, const Header& header,
                                             const std::function<void(Lowerer&)>& body) {
  std::shared_ptr<LoweredCode>& code = nested_[node];
  if (!code) code = Lowerer(shared_, scope, this, header).run(body);
  return code;
}

void Lowerer::make_function(const std::shared_ptr<LoweredCode>& code, int flags) {
  const std::vector<std::string>& free = code->code.freevars;
  if (!free.empty()) {
    for (const std::string& name : free) emit(Op::load_closure_, cell_slot(scope_, name));
    emit(Op::build_tuple_, static_cast<std::int32_t>(free.size()));
    flags |= with_closure;
  }
  Constant value;
  value.kind = Constant::Kind::code;
  value.code = std::shared_ptr<const CodeObject>(code, &code->code);
  load(value);
  emit(Op::make_function_, flags, 0);
}

int Lowerer::defaults(const Arguments* args) {
  if (!args) return 0;
  int flags = 0;
  if (!args->defaults.empty()) {
    exprs(args->defaults);
    emit(Op::build_tuple_, static_cast<std::int32_t>(args->defaults.size()));
    flags |= with_defaults;
  }
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (std::size_t i = 0; i < args->kwonly.size() && i < args->kw_defaults.size(); ++i) {
    if (!args->kw_defaults[i]) continue;
    expr(args->kw_defaults[i]);
    Constant& name = names.items.emplace_back();
    name.kind = Constant::Kind::string;
    name.text = mangled(args->kwonly[i].name);
  }
  if (!names.items.empty()) {
    const auto count = static_cast<std::int32_t>(names.items.size());
    load(names);
    emit(Op::build_const_key_map_, count);
    flags |= with_kwdefaults;
  }
  return flags;
}

void Lowerer::annotation(const Expr* value) {
  if (auto* starred = as<Starred>(value)) {  // of *args: *Ts
    expr(starred->value);
    emit(Op::unpack_sequence_, 1);
    return;
  }
  expr(value);
}

bool Lowerer::annotations(const FunctionDef& node) {
  int count = 0;
  if (names_and_annotations(node, count)) emit(Op::build_tuple_, count);
  return count > 0;
}

bool Lowerer::names_and_annotations(const FunctionDef& node, int& count) {
  const auto add = [&](std::string_view name, const Expr* value) {
    if (!value) return;
    load_string(mangled(name));
    annotation(value);
    count += 2;
  };
  const Arguments empty;
  const Arguments* args = node.args ? node.args : &empty;
  for (List<Arg> list : {args->args, args->posonly})
    for (const Arg& arg : list) add(arg.name, arg.annotation);
  add(args->vararg.name, args->vararg.annotation);
  for (const Arg& arg : args->kwonly) add(arg.name, arg.annotation);
  add(args->kwarg.name, args->kwarg.annotation);
  add("return", node.returns);
  return count > 0;
}

// Each function that evaluates something later refuses formats that it does not know (3.14 and later).
void Lowerer::format_test() {
  if (!dialect_.deferred_annotations) return;
  const Label known = label();
  variable(".format", Access::load);
  load_integer(2);
  emit(Op::compare_op_, static_cast<std::int32_t>(CompareOp::gt));
  jump(Op::pop_jump_if_false_, known);
  emit(Op::load_common_constant_, static_cast<std::int32_t>(CommonName::not_implemented_error));
  emit(Op::raise_, 1);
  place(known);
}

// Leaves the function that makes the annotations, if there are any.
bool Lowerer::annotate_function(const FunctionDef& node) {
  bool any = node.returns != nullptr;
  if (node.args) {
    for (List<Arg> list : {node.args->args, node.args->posonly, node.args->kwonly})
      for (const Arg& arg : list) any = any || arg.annotation;
    any = any || node.args->vararg.annotation || node.args->kwarg.annotation;
  }
  if (!any) return false;
  // From 3.15 on the qualified name has that of the function in it, but where a function of type parameters is around.
  const std::string name(spelled(node.name));
  const bool named = dialect_.qualified_annotates && scope_->unit()->kind != ScopeKind::type_params;
  const Header header{
      .name = "__annotate__", .qualname = qualified(named ? name + ".__annotate__" : "__annotate__"), .posonly = 1};
  auto code = nested(&node.returns, scope_->children.at(&node.returns), header, [&](Lowerer& lowerer) {
    lowerer.format_test();
    int count = 0;
    lowerer.names_and_annotations(node, count);
    lowerer.emit(Op::build_map_, count / 2);
    lowerer.emit(Op::return_value_);
  });
  make_function(code, 0);
  return true;
}

// What a module does first and a class last: the function that makes its annotations is stored.
void Lowerer::deferred_annotations() {
  if (scope_->deferred.empty()) return;
  const Header header{.name = "__annotate__", .qualname = qualified("__annotate__"), .posonly = 1};
  auto code = nested(&scope_->deferred, scope_->children.at(&scope_->deferred), header, [&](Lowerer& lowerer) {
    lowerer.format_test();
    lowerer.emit(Op::build_map_, 0);
    for (const Deferred& each : scope_->deferred) {
      const Label skipped = lowerer.label();
      if (each.index >= 0) {
        lowerer.load_integer(each.index);
        lowerer.variable("__conditional_annotations__", Access::load);
        lowerer.emit(Op::contains_op_, 0);
        lowerer.jump(Op::pop_jump_if_false_, skipped);
      }
      lowerer.expr(each.node->annotation);
      lowerer.emit(Op::copy_, 2);
      lowerer.load_string(mangled(as<Name>(each.node->target)->id));
      lowerer.emit(Op::store_subscr_);
      lowerer.place(skipped);
    }
    lowerer.emit(Op::return_value_);
  });
  make_function(code, 0);
  variable(scope_->kind == ScopeKind::module ? "__annotate__" : "__annotate_func__", Access::store);
}

// The set that tells which annotations have been reached.
void Lowerer::conditional_annotations() {
  if (scope_->conditional_annotations == 0) return;
  emit(Op::build_set_, 0);
  if (scope_->kind == ScopeKind::class_body) emit(Op::store_deref_, slot(scope_, "__conditional_annotations__"));
  else variable("__conditional_annotations__", Access::store);
}

void Lowerer::mark_annotation(const AnnAssign& node) {
  for (const Deferred& each : scope_->deferred) {
    if (each.node != &node || each.index < 0) continue;
    if (scope_->kind == ScopeKind::class_body) emit(Op::load_deref_, slot(scope_, "__conditional_annotations__"));
    else variable("__conditional_annotations__", Access::load);
    load_integer(each.index);
    emit(Op::set_add_, 1);
    emit(Op::pop_top_);
  }
}

// A function of no name evaluates the bound, the constraints or the default of a type parameter when somebody asks.
void Lowerer::evaluator(const Expr* value, std::string_view name) {
  const Header header{.name = std::string(name), .qualname = qualified(name), .posonly = dialect_.deferred_annotations};
  auto code = nested(value, scope_->children.at(value), header, [&](Lowerer& lowerer) {
    lowerer.format_test();
    if (auto* starred = as<Starred>(value)) {
      lowerer.expr(starred->value);
      lowerer.emit(Op::unpack_sequence_, 1);
    } else {
      lowerer.expr(value);
    }
    lowerer.emit(Op::return_value_);
  });
  make_function(code, default_format());
}

// The format that such a function takes where nobody gives one.
int Lowerer::default_format() {
  if (!dialect_.deferred_annotations) return 0;
  load_integer(1);
  emit(Op::build_tuple_, 1);
  return with_defaults;
}

// Leaves the tuple of the type parameters, each of which is bound to its name.
void Lowerer::type_params(List<TypeParam> params) {
  for (const TypeParam& param : params) {
    load_string(mangled(param.name));
    switch (param.kind) {
      case TypeParam::Kind::type_var:
        if (param.bound) {
          auto* constant = constant_of(param.bound, Constant::Kind::tuple);
          evaluator(param.bound, mangled(param.name));
          emit(Op::intrinsic_2_,
               static_cast<std::int32_t>(is<Tuple>(param.bound) || constant ? Intrinsic2::typevar_with_constraints
                                                                            : Intrinsic2::typevar_with_bound));
        } else {
          emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::typevar));
        }
        break;
      case TypeParam::Kind::param_spec: emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::paramspec)); break;
      case TypeParam::Kind::type_var_tuple:
        emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::typevartuple));
        break;
    }
    if (param.default_value) {
      evaluator(param.default_value, mangled(param.name));
      emit(Op::intrinsic_2_, static_cast<std::int32_t>(Intrinsic2::set_typeparam_default));
    }
    emit(Op::copy_, 1);
    variable(mangled(param.name), Access::store);
  }
  emit(Op::build_tuple_, static_cast<std::int32_t>(params.size()));
}

// What has type parameters is made in a function of its own, which is called at once; `arguments` lie on the stack.
void Lowerer::generic(const void* node, std::string_view name, int arguments,
                      const std::function<void(Lowerer&)>& body) {
  const std::string own_name = "<generic parameters of " + std::string(name) + ">";
  const Header header{.name = own_name, .qualname = qualified(own_name)};
  auto code = nested(node, scope_->children.at(node), header, [&](Lowerer& lowerer) {
    body(lowerer);
    lowerer.emit(Op::return_value_);
  });
  make_function(code, 0);
  if (arguments > 0) emit(Op::rotate_, arguments + 1);
  emit(Op::call_function_, arguments);
}

void Lowerer::type_alias(const TypeAlias& node, const Stmt* stmt) {
  const auto alias = [&](Lowerer& lowerer) {
    const Header header{.name = std::string(node.name),
                        .qualname = lowerer.qualified(node.name),
                        .posonly = dialect_.deferred_annotations};
    auto code = lowerer.nested(stmt, lowerer.scope_->children.at(stmt), header, [&](Lowerer& inner) {
      inner.format_test();
      inner.expr(node.value);
      inner.emit(Op::return_value_);
    });
    lowerer.make_function(code, lowerer.default_format());
    lowerer.emit(Op::build_tuple_, 3);
    lowerer.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::typealias));
  };
  if (node.type_params.empty()) {
    load_string(node.name);
    load_none();
    alias(*this);
  } else {
    generic(&node.type_params, node.name, 0, [&](Lowerer& lowerer) {
      lowerer.load_string(node.name);
      lowerer.type_params(node.type_params);
      alias(lowerer);
    });
  }
  name(node.name, Access::store);
}

void Lowerer::function(const FunctionDef& node, const Stmt* stmt) {
  exprs(node.decorators);
  const int flags = defaults(node.args);
  if (node.type_params.empty()) {
    plain_function(node, stmt, flags);
  } else {
    const int arguments = ((flags & with_defaults) != 0) + ((flags & with_kwdefaults) != 0);
    generic(&node.type_params, spelled(node.name), arguments, [&](Lowerer& lowerer) {
      lowerer.type_params(node.type_params);
      if (flags & with_defaults) lowerer.variable(".defaults", Access::load);
      if (flags & with_kwdefaults) lowerer.variable(".kwdefaults", Access::load);
      lowerer.plain_function(node, stmt, flags);
      lowerer.emit(Op::swap_, 2);
      lowerer.emit(Op::intrinsic_2_, static_cast<std::int32_t>(Intrinsic2::set_function_type_params));
    });
  }
  for (std::size_t i = 0; i < node.decorators.size(); ++i) emit(Op::call_function_, 1);
  name(node.name, Access::store);
}

// Defaults lie on the stack, as `flags` say; leaves the function.
void Lowerer::plain_function(const FunctionDef& node, const Stmt* stmt, int flags) {
  if (!dialect_.deferred_annotations && annotations(node)) flags |= with_annotations;
  Header header{.name = std::string(spelled(node.name)), .qualname = {}, .origin = node.code, .args = node.args};
  header.qualname = qualified(header.name);
  Block body = node.body;
  header.docstring = take_docstring(body);
  auto code = nested(stmt, scope_->children.at(stmt), header, [&](Lowerer& lowerer) {
    lowerer.block(body);
    lowerer.load_none();
    lowerer.emit(Op::return_value_);
  });
  make_function(code, flags);
  if (!dialect_.deferred_annotations || !annotate_function(node)) return;
  constexpr std::int32_t annotate = 16;
  emit(Op::swap_, 2);
  emit(Op::set_function_attribute_, annotate);
}

void Lowerer::lambda(const Lambda& node, const Expr* expr) {
  const int flags = defaults(node.args);
  const Header header{
      .name = "<lambda>", .qualname = qualified("<lambda>"), .origin = nullptr, .args = node.args, .is_lambda = true};
  auto code = nested(expr, scope_->children.at(expr), header, [&](Lowerer& lowerer) {
    lowerer.expr(node.body);
    lowerer.emit(Op::return_value_);
  });
  make_function(code, flags);
}

void Lowerer::class_body(const ClassDef& node, const Header& header) {
  variable("__name__", Access::load);
  variable("__module__", Access::store);
  load_string(header.qualname);
  variable("__qualname__", Access::store);
  if (dialect_.class_details) {
    load_integer(0);
    variable("__firstlineno__", Access::store);
  }
  if (!node.type_params.empty()) {
    variable(".type_params", Access::load);
    variable("__type_params__", Access::store);
  }
  if (scope_->cells.contains("__classdict__")) {
    emit(Op::load_locals_);
    emit(Op::store_deref_, slot(scope_, "__classdict__"));
  }
  conditional_annotations();
  if (scope_->has_annotations && (!dialect_.deferred_annotations || shared_.annotations_are_text))
    emit(Op::setup_annotations_);
  Block body = node.body;
  if (const Constant* text = take_docstring(body)) {
    load(*text);
    variable("__doc__", Access::store);
  }
  block(body);
  deferred_annotations();
  if (dialect_.class_details) {
    Constant attributes;
    attributes.kind = Constant::Kind::tuple;
    for (const std::string& attribute : static_attributes_) {
      Constant& text = attributes.items.emplace_back();
      text.kind = Constant::Kind::string;
      text.text = attribute;
    }
    load(attributes);
    variable("__static_attributes__", Access::store);
  }
  if (scope_->cells.contains("__classdict__")) {
    emit(Op::load_closure_, slot(scope_, "__classdict__"));
    variable("__classdictcell__", Access::store);
  }
  if (scope_->cells.contains("__class__")) {
    emit(Op::load_closure_, slot(scope_, "__class__"));
    emit(Op::copy_, 1);
    named(Op::store_name_, "__classcell__");
  } else {
    load_none();
  }
  emit(Op::return_value_);
}

void Lowerer::class_def(const ClassDef& node, const Stmt* stmt) {
  exprs(node.decorators);
  if (node.type_params.empty()) {
    plain_class(node, stmt);
  } else {
    generic(&node.type_params, spelled(node.name), 0, [&](Lowerer& lowerer) {
      lowerer.type_params(node.type_params);
      lowerer.variable(".type_params", Access::store);
      lowerer.plain_class(node, stmt);
    });
  }
  for (std::size_t i = 0; i < node.decorators.size(); ++i) emit(Op::call_function_, 1);
  name(node.name, Access::store);
}

void Lowerer::plain_class(const ClassDef& node, const Stmt* stmt) {
  emit(Op::load_build_class_);
  Header header{.name = std::string(spelled(node.name)), .qualname = {}, .origin = node.code, .args = nullptr};
  header.qualname = qualified(header.name);
  auto code =
      nested(stmt, scope_->children.at(stmt), header, [&](Lowerer& lowerer) { lowerer.class_body(node, header); });
  make_function(code, 0);
  load_string(header.name);
  if (node.type_params.empty()) return arguments(2, node.bases, node.keywords);
  variable(".type_params", Access::load);
  emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::subscript_generic));
  variable(".generic_base", Access::store);
  std::vector<Expr*> bases(node.bases.begin(), node.bases.end());
  Expr generic_base{Name{".generic_base"}};
  bases.push_back(&generic_base);
  arguments(2, bases, node.keywords);
}

void Lowerer::comprehension(const ComprehensionExpr& node, const Expr* whole) {
  if (node.generators.empty()) fail("a comprehension without a loop");
  Scope* inner = scope_->children.at(whole);
  const Comprehension& first = node.generators[0];
  if (inner->inlined) {
    expr(first.iter);
    if (first.is_async) emit(Op::get_aiter_);
    else if (!dialect_.iterating_generators) emit(Op::get_iter_);
    inlined_comprehension(node, inner);
    return;
  }
  const bool gets_iterator = dialect_.iterating_generators && !first.is_async;  // in place of the code around
  const std::string own_name(name_of(node.kind));
  const Header header{.name = own_name, .qualname = qualified(own_name), .iterates = gets_iterator};
  auto code = nested(whole, inner, header, [&](Lowerer& lowerer) {
    if (node.kind == ComprehensionKind::list) lowerer.emit(Op::build_list_, 0);
    if (node.kind == ComprehensionKind::set) lowerer.emit(Op::build_set_, 0);
    if (node.kind == ComprehensionKind::dict) lowerer.emit(Op::build_map_, 0);
    if (!gets_iterator) lowerer.emit(Op::load_fast_, lowerer.slot(inner, ".0"));
    lowerer.generators(node, 0, 0);
    if (node.kind == ComprehensionKind::generator) lowerer.load_none();
    lowerer.emit(Op::return_value_);
  });
  make_function(code, 0);
  expr(first.iter);
  if (!gets_iterator) emit(first.is_async ? Op::get_aiter_ : Op::get_iter_);
  emit(Op::call_function_, 1);
  if (inner->is_coroutine && node.kind != ComprehensionKind::generator) await();
}

// From 3.12 on: the variables of the comprehension have slots of their own for as long as it runs.
void Lowerer::inlined_comprehension(const ComprehensionExpr& node, Scope* inner) {
  Scope* around = scope_;
  std::vector<std::int32_t> own;
  for (std::string_view name : inner->bound) {
    if (inner->homes.at(name) != Home::local) continue;
    const std::int32_t index = slot(inner, name);
    own.push_back(index);
    if (inner->cells.contains(name)) emit(Op::make_cell_, index);
  }
  if (node.kind == ComprehensionKind::list) emit(Op::build_list_, 0);
  if (node.kind == ComprehensionKind::set) emit(Op::build_set_, 0);
  if (node.kind == ComprehensionKind::dict) emit(Op::build_map_, 0);
  emit(Op::swap_, 2);
  if (dialect_.iterating_generators && !node.generators[0].is_async)
    emit(Op::get_iter_);  // once what is filled is there
  const int outside = handler_;
  const Label raised = label(), end = label();
  if (outside >= 0) handler_ = protect(raised, depth_);
  scope_ = inner;
  generators(node, 0, 0);
  scope_ = around;
  handler_ = outside;
  const auto clear = [&] {
    for (std::int32_t index : own) {
      emit(Op::load_fast_and_clear_, index);
      emit(Op::pop_top_);
    }
  };
  clear();
  if (outside < 0) return;
  jump(Op::jump_, end);
  place(raised);
  clear();
  emit(Op::reraise_, 0);
  place(end);
}

// The iterator lies on the stack; `depth`: how many iterators of outer loops lie between it and the result.
void Lowerer::generators(const ComprehensionExpr& node, std::size_t index, int depth) {
  const Comprehension& loop = node.generators[index];
  const Label again = label(), end = label(), next = label();
  const int outside = handler_;
  bool looped = true;
  if (index > 0) {
    auto* list = as<ListExpr>(loop.iter);
    auto* tuple = as<Tuple>(loop.iter);
    const List<Expr*> items = list ? list->elts : tuple ? tuple->elts : List<Expr*>{};
    // `for x in [value]` assigns, from 3.9 on.
    looped = !(dialect_.assigned_single_items && !loop.is_async && items.size() == 1 && !is<Starred>(items[0]) &&
               !is<ConstantExpr>(items[0]));
    if (looped) {
      expr(loop.iter);
      emit(loop.is_async ? Op::get_aiter_ : Op::get_iter_);
    } else {
      expr(items[0]);
      store(loop.target);
    }
  }
  if (looped) {
    place(again);
    if (loop.is_async) {
      handler_ = protect(end, depth_);
      emit(Op::get_anext_);
      load_none();
      send_loop(true);
      handler_ = outside;
    } else {
      jump(Op::for_iter_, end);
    }
    store(loop.target);
    ++depth;
  }
  for (const Expr* test : loop.ifs) condition(test, looped ? again : next, false);
  if (index + 1 < node.generators.size()) {
    generators(node, index + 1, depth);
  } else {
    switch (node.kind) {
      case ComprehensionKind::generator:
        expr(node.elt);
        if (dialect_.wrapped_async_items && (result_->code.flags & CodeObject::async_generator))
          emit(Op::async_gen_wrap_);
        emit(Op::yield_value_, 0);
        emit(Op::resume_, 1);
        emit(Op::pop_top_);
        break;
      case ComprehensionKind::list:
        expr(node.elt);
        emit(Op::list_append_, depth + 1);
        break;
      case ComprehensionKind::set:
        expr(node.elt);
        emit(Op::set_add_, depth + 1);
        break;
      case ComprehensionKind::dict:
        expr(node.elt);
        expr(node.value);
        emit(Op::map_add_, depth + 1);
        break;
    }
  }
  if (!looped) {
    place(next);
    return;
  }
  jump(Op::jump_, again);
  place(end);
  if (loop.is_async) emit(Op::end_async_for_);
}

}  // namespace depyf::lowering
