// Statements. A way out of one runs what the statements around it do when they are left (`unwind`).
// They stay in one file because each is a case of the same scheme: open, body, `unwind`, close.
#include <algorithm>

#include "ast/overloaded.h"
#include "lower/lowerer.h"

namespace depyf::lowering {
using namespace ast;

namespace {
constexpr std::int32_t eager_import = 2;  // 3.15: one that no setting makes lazy
}

void Lowerer::stmt(const Stmt* stmt) {
  std::visit(Overloaded{
                 [&](const FunctionDef& n) { function(n, stmt); },
                 [&](const ClassDef& n) { class_def(n, stmt); },
                 [&](const Return& n) { return_stmt(n); },
                 [&](const Delete& n) {
                   for (const Expr* target : n.targets) remove(target);
                 },
                 [&](const Assign& n) { assign(n); },
                 [&](const AugAssign& n) { augmented(n); },
                 [&](const AnnAssign& n) { annotated(n); },
                 [&](const TypeAlias& n) { type_alias(n, stmt); },
                 [&](const For& n) { n.is_async ? async_for(n) : for_stmt(n); },
                 [&](const While& n) { while_stmt(n); },
                 [&](const If& n) { if_stmt(n); },
                 [&](const With& n) { with_stmt(n.items, n.body, n.is_async); },
                 [&](const Match& n) { match(n); },
                 [&](const Raise& n) {
                   if (n.exc) expr(n.exc);
                   if (n.cause) expr(n.cause);
                   emit(Op::raise_, n.cause ? 2 : n.exc ? 1 : 0);
                 },
                 [&](const Try& n) { try_stmt(n); },
                 [&](const Assert& n) {
                   const Label end = label();
                   condition(n.test, end, true);
                   if (!dialect_.global_assertion_error) emit(Op::load_assertion_error_);
                   else named(Op::load_global_, "AssertionError");
                   if (n.msg) {
                     expr(n.msg);
                     emit(Op::call_function_, 1);
                   }
                   emit(Op::raise_, 1);
                   place(end);
                 },
                 [&](const Import& n) { import(n); },
                 [&](const ImportFrom& n) { import_from(n); },
                 [&](const ExprStmt& n) {
                   if (is<ConstantExpr>(n.value)) return;  // no effect, and no code
                   expr(n.value);
                   emit(Op::pop_top_);
                 },
                 [&](const Break&) { unwind_to_loop(true); },
                 [&](const Continue&) { unwind_to_loop(false); },
                 [&](const Global&) {},
                 [&](const Nonlocal&) {},
                 [&](const Pass&) {},
                 [&](const Comment&) {},
                 [&](const InternalStmt&) { fail("a part of the tree that was not finished"); },
             },
             stmt->node);
}

void Lowerer::assign(const Assign& node) {
  expr(node.value);
  for (std::size_t i = 0; i < node.targets.size(); ++i) {
    if (i + 1 < node.targets.size()) emit(Op::copy_, 1);
    store(node.targets[i]);
  }
}

void Lowerer::annotated(const AnnAssign& node) {
  if (node.value) {
    expr(node.value);
    store(node.target);
  }
  const bool function = scope_->unit()->is_function_like();
  if (dialect_.deferred_annotations && !shared_.annotations_are_text && node.simple && is<Name>(node.target)) {
    if (!function) mark_annotation(node);
    return;
  }
  if (auto* name_node = as<Name>(node.target)) {
    if (function) return;
    if (node.simple) {
      expr(node.annotation);
      named(Op::load_name_, "__annotations__");
      load_string(mangled(name_node->id));
      emit(Op::store_subscr_);
      return;
    }
  } else if (!node.value) {
    if (auto* attribute = as<Attribute>(node.target)) {
      expr(attribute->value);
      emit(Op::pop_top_);
    } else if (auto* subscripted = as<Subscript>(node.target)) {
      expr(subscripted->value);
      emit(Op::pop_top_);
      expr(subscripted->slice);
      emit(Op::pop_top_);
    }
  }
  if (!function && !shared_.annotations_are_text) {
    expr(node.annotation);
    emit(Op::pop_top_);
  }
}

// What happens to the name of an exception where its clause is left.
void Lowerer::unbind_name(std::string_view id) {
  load_none();
  name(id, Access::store);
  name(id, Access::remove);
}

void Lowerer::if_stmt(const If& node) {
  const Label otherwise = label(), end = label();
  condition(node.test, otherwise, false);
  block(node.body);
  jump(Op::jump_, end);
  place(otherwise);
  block(node.orelse);
  place(end);
}

// What is repeated from `again` on, to which `continue` leads too; `break` leads to `end`.
template <class F>
void Lowerer::loop_body(Exit kind, Label again, Label end, F emit_body) {
  frames_.push_back({.kind = kind, .end = end, .next = again, .outside = handler_});
  emit_body();
  frames_.pop_back();
  jump(Op::jump_, again);
}

void Lowerer::while_stmt(const While& node) {
  const Label again = label(), otherwise = label(), end = label();
  place(again);
  condition(node.test, otherwise, false);
  loop_body(Exit::while_loop, again, end, [&] { block(node.body); });
  place(otherwise);
  block(node.orelse);
  place(end);
}

void Lowerer::for_stmt(const For& node) {
  expr(node.iter);
  emit(Op::get_iter_);
  const Label again = label(), otherwise = label(), end = label();
  place(again);
  jump(Op::for_iter_, otherwise);
  loop_body(Exit::for_loop, again, end, [&] {
    store(node.target);
    block(node.body);
  });
  place(otherwise);
  block(node.orelse);
  place(end);
}

void Lowerer::async_for(const For& node) {
  expr(node.iter);
  emit(Op::get_aiter_);
  const Label again = label(), otherwise = label(), end = label();
  place(again);
  loop_body(Exit::for_loop, again, end, [&] {
    const int outside = handler_;
    handler_ = protect(otherwise, depth_);
    emit(Op::get_anext_);
    load_none();
    send_loop(true);
    handler_ = outside;
    store(node.target);
    block(node.body);
  });
  place(otherwise);
  emit(Op::end_async_for_);
  block(node.orelse);
  place(end);
}

// __exit__ lies on top (from 3.14 on: with its self above it); it is called with None three times.
void Lowerer::call_exit(bool async) {
  for (int i = 0; i < 3; ++i) load_none();
  if (dialect_.exit_with_self) emit(Op::call_, 3, -1);
  else emit(Op::call_function_, 3);
  if (async) {
    emit(Op::get_awaitable_, dialect_.await_tells_reason ? 2 : 0);
    load_none();
    send_loop(true);
  }
  emit(Op::pop_top_);
}

void Lowerer::with_stmt(List<WithItem> items, Block body, bool async) {
  if (items.empty()) return block(body);
  const WithItem& item = items[0];
  const Label handler = label(), cleanup = label(), suppressed = label(), end = label();
  expr(item.context_expr);
  if (dialect_.exit_with_self) {
    constexpr std::int32_t enter = 0, exit = 1, async_enter = 2, async_exit = 3;
    emit(Op::copy_, 1);
    emit(Op::load_special_, async ? async_exit : exit);
    emit(Op::swap_, 2);
    emit(Op::swap_, 3);
    emit(Op::load_special_, async ? async_enter : enter);
    emit(Op::call_, 0, -1);
  } else {
    emit(async ? Op::before_async_with_ : Op::before_with_);
  }
  if (async) {
    emit(Op::get_awaitable_, dialect_.await_tells_reason ? 1 : 0);
    load_none();
    send_loop(true);
  }
  const int outside = handler_;
  const int base = depth_ - 1;  // the exit lies on top
  handler_ = protect(handler, base, true);
  frames_.push_back({.kind = async ? Exit::async_with_body : Exit::with_body, .outside = outside});
  if (item.optional_vars) store(item.optional_vars);
  else emit(Op::pop_top_);
  with_stmt(items.subspan(1), body, async);
  frames_.pop_back();
  handler_ = outside;
  call_exit(async);
  jump(Op::jump_, end);

  place(handler);
  handler_ = protect(cleanup, base + 2, true);
  emit(Op::push_exc_info_);
  emit(Op::with_except_start_, 0, dialect_.exit_with_self);
  if (async) {
    emit(Op::get_awaitable_, dialect_.await_tells_reason ? 2 : 0);
    load_none();
    send_loop(true);
  }
  jump(Op::pop_jump_if_true_, suppressed);
  emit(Op::reraise_, 2);
  place(suppressed);
  emit(Op::pop_top_);
  handler_ = outside;
  emit(Op::pop_except_);
  emit(Op::pop_top_);
  emit(Op::pop_top_);
  if (dialect_.exit_with_self) emit(Op::pop_top_);
  jump(Op::jump_, end);
  place(cleanup);
  emit(Op::copy_, 3);
  emit(Op::pop_except_);
  emit(Op::reraise_, 1);
  place(end);
}

void Lowerer::try_stmt(const Try& node) {
  if (node.finalbody.empty() && !node.handlers.empty()) return node.is_star ? try_star(node) : try_except(node);
  // A try without handlers whose finally clause the printer takes from the else clause.
  const bool lone = node.finalbody.empty();
  const Block finally = lone ? node.orelse : node.finalbody;
  const Label handler = label(), cleanup = label(), end = label();
  const int outside = handler_, base = depth_;
  handler_ = protect(handler, base);
  frames_.push_back({.kind = Exit::finally_body, .outside = outside, .body = finally});
  if (node.handlers.empty()) {
    block(node.body);
    if (!lone) block(node.orelse);
  } else {
    node.is_star ? try_star(node) : try_except(node);
  }
  frames_.pop_back();
  handler_ = outside;
  block(finally);
  jump(Op::jump_, end);

  place(handler);
  handler_ = protect(cleanup, base + 1, true);
  emit(Op::push_exc_info_);
  frames_.push_back({.kind = Exit::finally_handler, .outside = outside});
  block(finally);
  frames_.pop_back();
  emit(Op::reraise_, 0);
  handler_ = outside;
  place(cleanup);
  emit(Op::copy_, 3);
  emit(Op::pop_except_);
  emit(Op::reraise_, 1);
  place(end);
}

void Lowerer::try_except(const Try& node) {
  const Label handlers = label(), cleanup = label(), end = label();
  const int outside = handler_, base = depth_;
  handler_ = protect(handlers, base);
  frames_.push_back({.kind = Exit::try_body, .outside = outside});
  block(node.body);
  frames_.pop_back();
  handler_ = outside;
  block(node.orelse);
  jump(Op::jump_, end);

  place(handlers);
  const int inside = protect(cleanup, base + 1, true);
  handler_ = inside;
  emit(Op::push_exc_info_);
  for (const ExceptHandler& each : node.handlers) {
    const Label next = label();
    handler_ = inside;
    if (each.type) {
      expr(each.type);
      emit(Op::check_exc_match_);
      jump(Op::pop_jump_if_false_, next);
    }
    if (each.name.empty()) {
      emit(Op::pop_top_);
      frames_.push_back({.kind = Exit::handler, .outside = outside});
      block(each.body);
      frames_.pop_back();
      handler_ = outside;
      emit(Op::pop_except_);
      jump(Op::jump_, end);
    } else {
      name(each.name, Access::store);
      const Label unbind = label();
      handler_ = protect(unbind, depth_, true);
      frames_.push_back({.kind = Exit::handler, .outside = outside, .name = each.name});
      block(each.body);
      frames_.pop_back();
      if (!dialect_.finally_subroutines) {
        handler_ = outside;
        emit(Op::pop_except_);
        unbind_name(each.name);
      } else {
        handler_ = inside;
        unbind_name(each.name);
        handler_ = outside;
        emit(Op::pop_except_);
      }
      jump(Op::jump_, end);
      place(unbind);
      handler_ = inside;
      if (dialect_.exception_table) {
        unbind_name(each.name);
        emit(Op::reraise_, 1);
      } else {  // the second exception is handled while the name is unbound
        const Label again = label();
        handler_ = protect(again, depth_, true);
        emit(Op::push_exc_info_);
        unbind_name(each.name);
        emit(Op::reraise_, 0);
        handler_ = inside;
        place(again);
        emit(Op::copy_, 3);
        emit(Op::pop_except_);
        emit(Op::reraise_, 1);
      }
    }
    place(next);
    depth_ = base + 2;
  }
  handler_ = inside;
  emit(Op::reraise_, 0);
  handler_ = outside;
  place(cleanup);
  emit(Op::copy_, 3);
  emit(Op::pop_except_);
  emit(Op::reraise_, 1);
  place(end);
}

// except*: each clause gets the part of the group that it matches; what is raised is gathered in a list.
void Lowerer::try_star(const Try& node) {
  const Label handlers = label(), cleanup = label(), end = label(), raise = label();
  const int outside = handler_, base = depth_;
  handler_ = protect(handlers, base);
  frames_.push_back({.kind = Exit::try_body, .outside = outside});
  block(node.body);
  frames_.pop_back();
  handler_ = outside;
  block(node.orelse);
  jump(Op::jump_, end);

  place(handlers);
  const int inside = protect(cleanup, base + 1, true);
  handler_ = inside;
  emit(Op::push_exc_info_);
  bool first = true;
  for (const ExceptHandler& each : node.handlers) {
    const Label next = label(), unmatched = label(), raised = label();
    handler_ = inside;
    if (first) {
      emit(Op::copy_, 1);
      emit(Op::build_list_, 0);
      emit(Op::swap_, 2);
    }
    first = false;
    if (!each.type) fail("except* without a type");
    expr(each.type);
    emit(Op::check_eg_match_);
    emit(Op::copy_, 1);
    jump(Op::pop_jump_if_none_, unmatched);
    if (each.name.empty()) emit(Op::pop_top_);
    else name(each.name, Access::store);
    handler_ = protect(raised, depth_, true);
    frames_.push_back({.kind = Exit::handler, .outside = outside, .name = each.name});
    block(each.body);
    frames_.pop_back();
    handler_ = inside;
    if (!each.name.empty()) {
      unbind_name(each.name);
    }
    jump(Op::jump_, next);
    place(raised);
    if (!each.name.empty()) {
      unbind_name(each.name);
    }
    emit(Op::list_append_, 3);
    emit(Op::pop_top_);
    jump(Op::jump_, next);
    place(unmatched);
    emit(Op::pop_top_);
    place(next);
    depth_ = base + 4;
  }
  handler_ = inside;
  emit(Op::list_append_, 1);
  emit(Op::intrinsic_2_, static_cast<std::int32_t>(Intrinsic2::prep_reraise_star));
  emit(Op::copy_, 1);
  jump(Op::pop_jump_if_not_none_, raise);
  emit(Op::pop_top_);
  handler_ = outside;
  emit(Op::pop_except_);
  jump(Op::jump_, end);
  place(raise);
  handler_ = inside;
  emit(Op::swap_, 2);
  handler_ = outside;
  emit(Op::pop_except_);
  emit(Op::reraise_, 0);
  place(cleanup);
  emit(Op::copy_, 3);
  emit(Op::pop_except_);
  emit(Op::reraise_, 1);
  place(end);
}

// What leaving the statement of `frame` does. `value`: what is returned lies on top of the stack.
void Lowerer::unwind(const Frame& frame, bool value) {
  switch (frame.kind) {
    case Exit::while_loop: return;
    case Exit::for_loop:
      if (value) emit(Op::swap_, 2);
      emit(Op::pop_top_);
      return;
    case Exit::try_body: handler_ = frame.outside; return;
    case Exit::finally_body: {
      handler_ = frame.outside;
      if (value) frames_.push_back({.kind = Exit::value, .outside = frame.outside});
      block(frame.body);
      if (value) frames_.pop_back();
      return;
    }
    case Exit::finally_handler:
      if (value) emit(Op::swap_, 2);
      emit(Op::pop_top_);
      handler_ = frame.outside;
      if (value) emit(Op::swap_, 2);
      emit(Op::pop_except_);
      return;
    case Exit::handler:
      handler_ = frame.outside;
      if (value) emit(Op::swap_, 2);
      emit(Op::pop_except_);
      if (!frame.name.empty()) {
        unbind_name(frame.name);
      }
      return;
    case Exit::with_body:
    case Exit::async_with_body:
      handler_ = frame.outside;
      if (value) emit(Op::rotate_, dialect_.exit_with_self ? 3 : 2);
      call_exit(frame.kind == Exit::async_with_body);
      return;
    case Exit::value:
      if (value) emit(Op::swap_, 2);
      emit(Op::pop_top_);
      return;
  }
}

void Lowerer::unwind_to_loop(bool is_break) {
  const std::vector<Frame> frames = frames_;
  const int outside = handler_, depth = depth_;
  while (!frames_.empty()) {
    const Frame frame = frames_.back();
    if (frame.kind == Exit::while_loop || frame.kind == Exit::for_loop) {
      if (is_break) unwind(frame, false);
      jump(Op::jump_, is_break ? frame.end : frame.next);
      break;
    }
    frames_.pop_back();
    unwind(frame, false);
  }
  if (frames_.empty()) fail("a break or continue outside a loop");
  frames_ = frames;
  handler_ = outside;
  depth_ = depth;
}

void Lowerer::return_stmt(const Return& node) {
  const std::vector<Frame> frames = frames_;
  const int outside = handler_, depth = depth_;
  if (node.value) expr(node.value);
  else load_none();
  while (!frames_.empty()) {
    const Frame frame = frames_.back();
    frames_.pop_back();
    unwind(frame, true);
  }
  emit(Op::return_value_);
  frames_ = frames;
  handler_ = outside;
  depth_ = depth;
}

// 3.15: only an import in a module, outside try statements, may be made lazy by a setting.
std::int32_t Lowerer::import_kind(bool lazy) const {
  if (!dialect_.lazy_imports) return 0;
  if (lazy) return 1;
  const auto handles = [](const Frame& frame) {
    return frame.kind == Exit::try_body || frame.kind == Exit::finally_body || frame.kind == Exit::finally_handler ||
           frame.kind == Exit::handler;
  };
  return scope_->unit()->kind != ScopeKind::module || std::ranges::any_of(frames_, handles) ? eager_import : 0;
}

void Lowerer::import(const Import& node) {
  for (const Alias& alias : node.names) {
    load_integer(0);
    load_none();
    named(Op::import_name_, alias.name, import_kind(node.is_lazy));
    const std::size_t dot = alias.name.find('.');
    if (alias.asname.empty()) {
      name(alias.name.substr(0, dot), Access::store);
      continue;
    }
    for (std::size_t at = dot; at != std::string_view::npos;) {
      const std::size_t end = alias.name.find('.', at + 1);
      named(Op::import_from_, alias.name.substr(at + 1, end == alias.name.npos ? end : end - at - 1));
      emit(Op::swap_, 2);
      emit(Op::pop_top_);
      at = end;
    }
    name(alias.asname, Access::store);
  }
}

void Lowerer::import_from(const ImportFrom& node) {
  load_integer(node.level);
  Constant names;
  names.kind = Constant::Kind::tuple;
  for (const Alias& alias : node.names) {
    Constant& name = names.items.emplace_back();
    name.kind = Constant::Kind::string;
    name.text = alias.name;
  }
  load(names);
  const bool star = node.names.size() == 1 && node.names[0].name == "*";
  named(Op::import_name_, node.module, star && dialect_.lazy_imports ? eager_import : import_kind(node.is_lazy));
  if (star) {
    emit(Op::import_star_);
    return;
  }
  for (const Alias& alias : node.names) {
    named(Op::import_from_, alias.name);
    name(alias.asname.empty() ? alias.name : alias.asname, Access::store);
  }
  emit(Op::pop_top_);
}

}  // namespace depyf::lowering
