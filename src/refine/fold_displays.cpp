// t = [a]; t.extend([b]); u = [t]; v = u[0]; f(*v)     ->   f(a, b)
//
// Lists, tuples and dicts that only locals hold are followed from statement to statement: what is put in is what comes
// out. The stores that make and change them go; where something else gets one, it is written there as a display. Copies
// (`b = a`) and stores that nothing reads go with them.
#include "refine/display_folder.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {
bool ends_function(Block body) {
  if (body.empty()) return false;
  const Stmt* last = body.back();
  if (auto* branch = as<If>(last)) return ends_function(branch->body) && ends_function(branch->orelse);
  return is<Return>(last) || is<Raise>(last);
}
}  // namespace

Block DisplayFolder::block(Block body, State& state, const Intervals& outside) {
  Statements out;
  Statements* outer_out = std::exchange(out_, &out);
  State* outer_state = std::exchange(state_, &state);
  Intervals outer_future = std::exchange(future_, {}), outer_after = std::exchange(after_, {});
  const Stmt* outer_now = now_;
  for (std::size_t i = 0; i < body.size(); ++i) {
    after_ = outside;
    if (i + 1 < body.size()) after_.push_back({reads_.number_of(body[i + 1]), reads_.extent(body.back()).second});
    now_ = body[i];
    future_ = after_;
    future_.push_back({reads_.number_of(now_) + 1, reads_.extent(now_).second});
    forget_dead();
    statement(body[i]);
  }
  future_ = outside;
  now_ = nullptr;
  // What the block leaves behind for others has its name then.
  if (!ends_function(body)) name_all_live();
  out_ = outer_out, state_ = outer_state, now_ = outer_now;
  future_ = std::move(outer_future), after_ = std::move(outer_after);
  return context_.arena.copy(out);
}

void DisplayFolder::statement(Stmt* stmt) {
  name_what_inner_scopes_read(stmt);
  if (auto* assign = as<Assign>(stmt)) return assignment(stmt, *assign);
  if (auto* remove = as<Delete>(stmt)) return deletion(stmt, *remove);
  if (auto* single = as<ExprStmt>(stmt)) return expression(stmt, *single);
  if (auto* branch = as<If>(stmt)) return conditional(stmt, *branch);
  if (auto* augmented = as<AugAssign>(stmt)) {
    if (auto* name = as<Name>(augmented->target)) give_name(name->id);
    else use_parts(augmented->target);
    use(augmented->value);
    if (auto* name = as<Name>(augmented->target)) stored(name->id);
    return out_->push_back(stmt);
  }
  bool nested = is<FunctionDef>(stmt) || is<ClassDef>(stmt);
  for_each_block(stmt, [&](Block&) { nested = true; });
  if (!nested) {
    if (is<Break>(stmt) || is<Continue>(stmt)) name_all_live();
    for_each_expr(stmt, [&](Expr*& expr) { use(expr); });
    return out_->push_back(stmt);
  }
  compound(stmt);
}

// Known values get their names before: what happens within is followed from there.
void DisplayFolder::compound(Stmt* stmt) {
  future_.push_back(reads_.extent(stmt));
  name_all_live();
  const bool protects = is<Try>(stmt) || is<With>(stmt);
  const bool outer = std::exchange(in_try_, in_try_ || protects);
  Intervals within = after_;
  if (is<For>(stmt) || is<While>(stmt) || protects) within.push_back(reads_.extent(stmt));
  for_each_block(stmt, [&](Block& inner) {
    State fresh;
    inner = block(inner, fresh, within);
  });
  in_try_ = outer;
  out_->push_back(stmt);
}

void DisplayFolder::conditional(Stmt* stmt, If& branch) {
  use(branch.test);
  bool first = ends_function(branch.body), second = ends_function(branch.orelse);
  if (in_try_ || (!first && !second)) return compound(stmt);
  Intervals after = after_;
  Block *left = first ? &branch.body : &branch.orelse, *other = first ? &branch.orelse : &branch.body;
  State copy = *state_;
  *left = block(*left, copy, {});
  if (first && second) {
    copy = *state_;
    *other = block(*other, copy, {});
    state_->names.clear();
  } else if (!other->empty()) {
    // The only way on: what it does is known after it.
    after.push_back({reads_.number_of(other->front()), reads_.extent(other->back()).second});
    name_all_live(after);
    State fresh;
    after.pop_back();
    *other = block(*other, fresh, after);
  }
  out_->push_back(stmt);
}

void DisplayFolder::assignment(Stmt* stmt, Assign& assign) {
  if (assign.targets.size() == 1) {
    if (auto* name = as<Name>(assign.targets[0]); name && locals_.foldable(name->id)) {
      if (outputs(name->id, assign.value)) return;
      if (auto value = known(assign.value, true)) return bind(name->id, *value);
      use(assign.value);
      stored(name->id);
      if (live(name->id)) return out_->push_back(stmt);
      if (!silent(assign.value)) emit(ExprStmt{assign.value}, stmt);
      return;
    }
    if (auto* subscript = as<Subscript>(assign.targets[0]); subscript && store_item(*subscript, assign.value)) return;
    if (auto* tuple = as<Tuple>(assign.targets[0]); tuple && unpack(*tuple, assign.value)) return;
  }
  use(assign.value);
  for (Expr*& target : assign.targets) {
    use_parts(target);
    for_each_bound(target, [&](std::string_view name) { stored(name); });
  }
  out_->push_back(stmt);
}

// t = f(x); g(t[0], t[1])   ->   a, b = f(x); g(a, b)     where f returns a container of two items that nobody else has
bool DisplayFolder::outputs(std::string_view name, Expr*& value) {
  auto* call = as<Call>(value);
  auto* function = call ? as<Name>(call->func) : nullptr;
  if (!function || !locals_.is_fast(function->id)) return false;
  auto known_outputs = context_.options.outputs.find(function->id);
  if (known_outputs == context_.options.outputs.end() || known_outputs->second.empty()) return false;
  use(value);
  Object object{Object::Kind::tuple, {}, {}};
  std::vector<Expr*> targets;
  for (const std::string& wanted : known_outputs->second) {
    std::string_view id = context_.arena.copy("__temp_" + std::to_string(++fresh_) + "_");
    context_.wanted[id] =
        context_.arena.copy(wanted.empty() ? std::string(name) + "_" + std::to_string(targets.size()) : wanted);
    targets.push_back(context_.name(id));
    object.items.push_back({context_.name(id), -1});
  }
  if (targets.size() == 1) {
    Expr* first = context_.expr(Subscript{value, context_.constant(Constant::Kind::integer, "0")});
    emit(Assign{context_.arena.copy(targets), first}, now_);
  } else {
    emit(Assign{context_.list({context_.expr(Tuple{context_.arena.copy(targets)})}), value}, now_);
  }
  bind(name, make(std::move(object)));
  return true;
}

// a, b = c, d and a, b = display, for locals that may go
bool DisplayFolder::unpack(Tuple& targets, Expr* value) {
  for (Expr* target : targets.elts) {
    auto* name = as<Name>(target);
    if (!name || !locals_.foldable(name->id)) return false;
  }
  std::vector<Value> items;
  if (auto* tuple = as<Tuple>(value)) {
    if (tuple->elts.size() != targets.elts.size()) return false;
    for (Expr* item : tuple->elts)
      if (is<Starred>(item)) return false;
    for (Expr*& item : tuple->elts) items.push_back(value_of(item));
    for (Value& item : items) refresh(item);
  } else {
    auto made = known(value, false);
    if (!made || !sequence(*made, items) || items.size() != targets.elts.size()) return false;
  }
  // All values are there before the first is stored.
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string_view id = as<Name>(targets.elts[i])->id;
    for (std::size_t later = i + 1; later < items.size(); ++later) {
      if (auto* read = as<Name>(items[later].atom); read && read->id == id) items[later] = named(context_.name(id));
    }
    bind(id, items[i]);
  }
  return true;
}

bool DisplayFolder::store_item(Subscript& target, Expr*& value) {
  auto container = known(target.value, false);
  Object* object = container ? object_of(*container) : nullptr;
  if (!object || object->kind == Object::Kind::tuple) return false;
  const bool is_dict = object->kind == Object::Kind::dict;
  std::size_t first = 0, last = 0;
  std::vector<Value> items;
  if (is_dict ? plain_key(target.slice) : index_in(target.slice, object->items.size(), first)) {
    items.push_back(value_of(value));
    object = receiver(*container, items);
    if (!object) return false;
    if (is_dict) first = find_key(*object, target.slice);
    if (first < object->items.size()) object->items[first] = items[0];
    else object->keys.push_back(target.slice), object->items.push_back(items[0]);
    return true;
  }
  if (is_dict || !bounds_in(target.slice, object->items.size(), first, last)) return false;
  auto made = known(value, true);
  if (!made || !sequence(*made, items)) return false;
  object = receiver(*container, items);
  if (!object) return false;
  auto& list = object->items;
  auto at = list.erase(list.begin() + std::ptrdiff_t(first), list.begin() + std::ptrdiff_t(last));
  list.insert(at, items.begin(), items.end());
  return true;
}

void DisplayFolder::deletion(Stmt* stmt, Delete& remove) {
  Statements kept;
  for (Expr* target : remove.targets) {
    if (auto* name = as<Name>(target); name && locals_.foldable(name->id)) {
      if (!live(name->id)) {
        state_->names.erase(name->id);
        continue;
      }
    }
    if (auto* subscript = as<Subscript>(target)) {
      auto container = known(subscript->value, false);
      Object* object = container ? object_of(*container) : nullptr;
      std::size_t at = 0;
      if (object && object->kind == Object::Kind::list && index_in(subscript->slice, object->items.size(), at)) {
        object->items.erase(object->items.begin() + std::ptrdiff_t(at));
        continue;
      }
    }
    if (auto* name = as<Name>(target)) give_name(name->id), stored(name->id);
    else use_parts(target);
    emit(Delete{context_.list({target})}, stmt);
  }
}

void DisplayFolder::expression(Stmt* stmt, ExprStmt& single) {
  if (auto* call = as<Call>(single.value); call && call->args.size() == 1 && call->keywords.empty()) {
    auto* method = as<Attribute>(call->func);
    if (method && !is<Starred>(call->args[0]) && grow(*method, call->args[0])) return;
  }
  if (auto value = known(single.value, false)) return;
  use(single.value);
  if (!silent(single.value)) out_->push_back(stmt);
}

// list.append(x), list.extend(display)
bool DisplayFolder::grow(Attribute& method, Expr*& argument) {
  if (method.attr != "append" && method.attr != "extend") return false;
  auto container = known(method.value, false);
  Object* object = container ? object_of(*container) : nullptr;
  if (!object || object->kind != Object::Kind::list) return false;
  std::vector<Value> items;
  if (method.attr == "append") {
    items.push_back(value_of(argument));
  } else {
    auto made = known(argument, true);
    if (!made || !sequence(*made, items)) return false;
  }
  object = receiver(*container, items);
  if (!object) return false;
  auto& list = object->items;
  list.insert(list.end(), items.begin(), items.end());
  return list.size() < search_limits::display_items || (name_object(container->object), true);
}

Block fold_displays(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::function && scope.kind != Scope::Kind::expression) return body;
  return DisplayFolder(context, scope, body).run(body);
}

}  // namespace depyf
