// Folds the statements that build a list, tuple or dict step by step into a single display. Lists, tuples and dicts
// that only locals refer to are tracked with their items from statement to statement, and the statements that build
// them are removed. If a statement that is kept uses a tracked object, a display replaces this use. Copies (`b = a`)
// and stores that nothing reads are removed too. The pass relies on a later proof of equivalence: if the folded source
// is not proved, python/depyf/decompilation.py falls back to source without folding. For example, `t = [a];
// t.extend([b]); u = [t]; v = u[0]; f(*v)` becomes `f(a, b)`.
#include "ast/visit.h"
#include "refine/known_displays.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace displays {
namespace {
// True if `body` always leaves the function.
bool ends_function(Block body) {
  if (body.empty()) return false;
  const Stmt* last = body.back();
  if (auto* branch = as<If>(last)) return ends_function(branch->body) && ends_function(branch->orelse);
  return is<Return>(last) || is<Raise>(last);
}

// Rewrites the statements of one code object.
class Folder {
 public:
  Folder(Context& context, const Scope& scope, Block body)
      : context_(context),
        locals_(scope, context.options),
        liveness_(body),
        names_(context, liveness_),
        known_(context, locals_, liveness_, names_) {}

  Block run(Block body) {
    context_.lent.clear();
    context_.wanted.clear();
    State state;
    return block(body, state, {});
  }

 private:
  // Rewrites a block; `outside` contains the statements that may run behind the block.
  Block block(Block body, State& state, const Intervals& outside);
  void statement(Stmt* stmt);
  // Rewrites a statement with nested blocks. No known values are kept at the start of a nested block, or behind a
  // statement with nested blocks.
  void compound(Stmt* stmt);
  // Rewrites an `if`.
  void conditional(Stmt* stmt, If& branch);
  void assignment(Stmt* stmt, Assign& assign);
  // If `value` is the call of a compiled graph whose number of outputs is known, stores the outputs in temporaries, and
  // records the tuple of these temporaries as the value of `name`. Returns false if `value` is not a call of a compiled
  // graph with a known number of outputs.
  bool outputs(std::string_view name, Expr*& value);
  bool unpack(Tuple& targets, Expr* value);
  // For `object[key] = value` with a known list or dict as `object`, changes the known items, without emitting a store.
  // Returns false if the object or the key is not known.
  bool store_item(Subscript& target, Expr*& value);
  void deletion(Stmt* stmt, Delete& remove);
  void expression(Stmt* stmt, ExprStmt& single);
  // For a call of append or extend of a known list, adds the items of `argument` to the known list. Returns false for
  // other methods, and if the list or the items are not known.
  bool grow(Attribute& method, Expr*& argument);
  // True if the evaluation of `expr` has no effect.
  bool silent(const Expr* expr) const {
    auto* name = as<Name>(expr);
    return is<ConstantExpr>(expr) || (name && locals_.is_fast(name->id));
  }

  Context& context_;
  const Locals locals_;
  Liveness liveness_;
  Names names_;
  Known known_;
  bool in_try_ = false;  // true inside try and with statements: a handler may run behind any statement
};

Block Folder::block(Block body, State& state, const Intervals& outside) {
  std::vector<Stmt*> out;
  const Names::Scene outer = names_.exchange({&state, &out});
  Liveness::Moment before = liveness_.moment();
  for (std::size_t i = 0; i < body.size(); ++i) {
    Intervals after = outside;
    if (i + 1 < body.size()) after.push_back(liveness_.extent(body.subspan(i + 1)));
    liveness_.come_to(body[i], std::move(after));
    names_.forget_dead();
    statement(body[i]);
  }
  liveness_.come_to_end(outside);
  // If code behind the block may read a known value, the value is stored under its name at the end of the block.
  if (!ends_function(body)) names_.name_all_live();
  names_.exchange(outer);
  liveness_.come_back(std::move(before));
  return context_.arena.copy(out);
}

void Folder::statement(Stmt* stmt) {
  names_.name_what_inner_scopes_read(stmt);
  if (auto* assign = as<Assign>(stmt)) return assignment(stmt, *assign);
  if (auto* remove = as<Delete>(stmt)) return deletion(stmt, *remove);
  if (auto* single = as<ExprStmt>(stmt)) return expression(stmt, *single);
  if (auto* branch = as<If>(stmt)) return conditional(stmt, *branch);
  // An augmented assignment may change the object of its target in place, so a known object is first stored under its
  // name.
  if (auto* augmented = as<AugAssign>(stmt)) {
    if (auto* name = as<Name>(augmented->target)) names_.give_name(name->id);
    else known_.use_parts(augmented->target);
    known_.use(augmented->value);
    if (auto* name = as<Name>(augmented->target)) names_.stored(name->id);
    return names_.keep(stmt);
  }
  bool nested = is<FunctionDef>(stmt) || is<ClassDef>(stmt);
  for_each_block(stmt, [&](Block&) { nested = true; });
  if (!nested) {
    if (is<Break>(stmt) || is<Continue>(stmt)) names_.name_all_live();
    for_each_expr(stmt, [&](Expr*& expr) { known_.use(expr); });
    return names_.keep(stmt);
  }
  compound(stmt);
}

// Known values that may be read later are stored in front of `stmt`. Each nested block is rewritten without any known
// values at its start.
void Folder::compound(Stmt* stmt) {
  liveness_.repeat(stmt);
  names_.name_all_live();
  const bool protects = is<Try>(stmt) || is<With>(stmt);
  const bool outer = std::exchange(in_try_, in_try_ || protects);
  Intervals within = liveness_.after();
  // A loop repeats its body, and the handler of a try or with statement may run behind any statement of the body.
  if (is<For>(stmt) || is<While>(stmt) || protects) within.push_back(liveness_.extent(stmt));
  for_each_block(stmt, [&](Block& inner) {
    State fresh;
    inner = block(inner, fresh, within);
  });
  in_try_ = outer;
  names_.keep(stmt);
}

void Folder::conditional(Stmt* stmt, If& branch) {
  known_.use(branch.test);
  // If a branch always leaves the function, the changes of known values in the branch do not matter behind the `if`.
  bool first = ends_function(branch.body), second = ends_function(branch.orelse);
  if (in_try_ || (!first && !second)) return compound(stmt);
  Intervals after = liveness_.after();
  Block *left = first ? &branch.body : &branch.orelse, *other = first ? &branch.orelse : &branch.body;
  State copy = names_.state();
  *left = block(*left, copy, {});
  if (first && second) {
    copy = names_.state();
    *other = block(*other, copy, {});
    names_.state().names.clear();
  } else if (!other->empty()) {
    // If only one branch leaves the function, known values that the other branch, or code behind the `if`, may read are
    // stored in front of the `if`.
    after.push_back(liveness_.extent(*other));
    names_.name_all_live(after);
    State fresh;
    after.pop_back();
    *other = block(*other, fresh, after);
  }
  names_.keep(stmt);
}

void Folder::assignment(Stmt* stmt, Assign& assign) {
  if (assign.targets.size() == 1) {
    if (auto* name = as<Name>(assign.targets[0]); name && locals_.foldable(name->id)) {
      // The store of a known value is emitted only in front of a later statement that needs the variable.
      if (outputs(name->id, assign.value)) return;
      if (auto value = known_.known(assign.value, true)) return names_.bind(name->id, *value);
      known_.use(assign.value);
      names_.stored(name->id);
      if (liveness_.live(name->id)) return names_.keep(stmt);
      if (!silent(assign.value)) names_.emit(ExprStmt{assign.value}, stmt);
      return;
    }
    if (auto* subscript = as<Subscript>(assign.targets[0]); subscript && store_item(*subscript, assign.value)) return;
    if (auto* tuple = as<Tuple>(assign.targets[0]); tuple && unpack(*tuple, assign.value)) return;
  }
  known_.use(assign.value);
  for (Expr*& target : assign.targets) {
    known_.use_parts(target);
    for_each_bound(target, [&](std::string_view name) { names_.stored(name); });
  }
  names_.keep(stmt);
}

// Unpacks the outputs of a compiled graph into separate variables. Nothing else refers to the container in which a
// compiled graph returns its outputs. For example, if Options::outputs lists the outputs a and b of the compiled graph
// `f`, `t = f(x); g(t[0], t[1])` becomes `a, b = f(x); g(a, b)`.
bool Folder::outputs(std::string_view name, Expr*& value) {
  auto* call = as<Call>(value);
  auto* function = call ? as<Name>(call->func) : nullptr;
  if (!function || !locals_.is_fast(function->id)) return false;
  auto known_outputs = context_.options.outputs.find(function->id);
  if (known_outputs == context_.options.outputs.end() || known_outputs->second.empty()) return false;
  known_.use(value);
  Object object{Object::Kind::tuple, {}, {}};
  std::vector<Expr*> targets;
  for (const std::string& wanted : known_outputs->second) {
    std::string_view id = names_.fresh_name();
    context_.wanted[id] =
        context_.arena.copy(wanted.empty() ? std::string(name) + "_" + std::to_string(targets.size()) : wanted);
    targets.push_back(context_.name(id));
    object.items.push_back({context_.name(id), -1});
  }
  if (targets.size() == 1) {
    Expr* first = context_.expr(Subscript{value, context_.constant(Constant::Kind::integer, "0")});
    names_.emit(Assign{context_.arena.copy(targets), first}, liveness_.now());
  } else {
    names_.emit(Assign{context_.list({context_.expr(Tuple{context_.arena.copy(targets)})}), value}, liveness_.now());
  }
  names_.bind(name, names_.make(std::move(object)));
  return true;
}

// For an assignment `a, b = c, d` or `a, b = display`, records the known values of a and b without emitting a store.
// Returns false if a target is no local whose stores may be removed, or if the items of the assigned value are not
// known.
bool Folder::unpack(Tuple& targets, Expr* value) {
  for (Expr* target : targets.elts) {
    auto* name = as<Name>(target);
    if (!name || !locals_.foldable(name->id)) return false;
  }
  std::vector<Value> items;
  if (auto* tuple = as<Tuple>(value)) {
    if (tuple->elts.size() != targets.elts.size()) return false;
    for (Expr* item : tuple->elts)
      if (is<Starred>(item)) return false;
    for (Expr*& item : tuple->elts) items.push_back(known_.value_of(item));
    for (Value& item : items) names_.refresh(item);
  } else {
    auto made = known_.known(value, false);
    if (!made || !names_.sequence(*made, items) || items.size() != targets.elts.size()) return false;
  }
  // In `a, b = c, d`, both values are read before the first store.
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string_view id = as<Name>(targets.elts[i])->id;
    for (std::size_t later = i + 1; later < items.size(); ++later) {
      if (auto* read = as<Name>(items[later].atom); read && read->id == id)
        items[later] = names_.named(context_.name(id));
    }
    names_.bind(id, items[i]);
  }
  return true;
}

bool Folder::store_item(Subscript& target, Expr*& value) {
  auto container = known_.known(target.value, false);
  Object* object = container ? names_.state().object_of(*container) : nullptr;
  if (!object || object->kind == Object::Kind::tuple) return false;
  const bool is_dict = object->kind == Object::Kind::dict;
  std::size_t first = 0, last = 0;
  std::vector<Value> items;
  // If the target is an item of a known dict or list, and its key or index is known, the assigned value becomes the
  // item with that key or index.
  if (is_dict ? plain_key(target.slice) : index_in(target.slice, object->items.size(), first)) {
    items.push_back(known_.value_of(value));
    object = known_.receiver(*container, items);
    if (!object) return false;
    if (is_dict) first = find_key(*object, target.slice);
    if (first < object->items.size()) object->items[first] = items[0];
    else object->keys.push_back(target.slice), object->items.push_back(items[0]);
    return true;
  }
  // If the target is a slice of a known list, the known items of the assigned sequence replace the items of the slice.
  if (is_dict || !bounds_in(target.slice, object->items.size(), first, last)) return false;
  auto made = known_.known(value, true);
  if (!made || !names_.sequence(*made, items)) return false;
  object = known_.receiver(*container, items);
  if (!object) return false;
  auto& list = object->items;
  auto at = list.erase(list.begin() + std::ptrdiff_t(first), list.begin() + std::ptrdiff_t(last));
  list.insert(at, items.begin(), items.end());
  return true;
}

void Folder::deletion(Stmt* stmt, Delete& remove) {
  std::vector<Stmt*> kept;
  for (Expr* target : remove.targets) {
    if (auto* name = as<Name>(target); name && locals_.foldable(name->id)) {
      // The deletion of a local needs no statement if no later statement reads the local.
      if (!liveness_.live(name->id)) {
        names_.state().names.erase(name->id);
        continue;
      }
    }
    if (auto* subscript = as<Subscript>(target)) {
      auto container = known_.known(subscript->value, false);
      Object* object = container ? names_.state().object_of(*container) : nullptr;
      std::size_t at = 0;
      if (object && object->kind == Object::Kind::list && index_in(subscript->slice, object->items.size(), at)) {
        object->items.erase(object->items.begin() + std::ptrdiff_t(at));
        continue;
      }
    }
    if (auto* name = as<Name>(target)) names_.give_name(name->id), names_.stored(name->id);
    else known_.use_parts(target);
    names_.emit(Delete{context_.list({target})}, stmt);
  }
}

void Folder::expression(Stmt* stmt, ExprStmt& single) {
  if (auto* call = as<Call>(single.value); call && call->args.size() == 1 && call->keywords.empty()) {
    auto* method = as<Attribute>(call->func);
    if (method && !is<Starred>(call->args[0]) && grow(*method, call->args[0])) return;
  }
  // If the value of an expression statement is known, the statement has no effect.
  if (auto value = known_.known(single.value, false)) return;
  known_.use(single.value);
  if (!silent(single.value)) names_.keep(stmt);
}

// A known list that reaches search_limits::display_items items is stored under a name, because a longer display would
// not be readable.
bool Folder::grow(Attribute& method, Expr*& argument) {
  if (method.attr != "append" && method.attr != "extend") return false;
  auto container = known_.known(method.value, false);
  Object* object = container ? names_.state().object_of(*container) : nullptr;
  if (!object || object->kind != Object::Kind::list) return false;
  std::vector<Value> items;
  if (method.attr == "append") {
    items.push_back(known_.value_of(argument));
  } else {
    auto made = known_.known(argument, true);
    if (!made || !names_.sequence(*made, items)) return false;
  }
  object = known_.receiver(*container, items);
  if (!object) return false;
  auto& list = object->items;
  list.insert(list.end(), items.begin(), items.end());
  return list.size() < search_limits::display_items || (names_.name_object(container->object), true);
}

}  // namespace
}  // namespace displays

Block fold_displays(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::function && scope.kind != Scope::Kind::expression) return body;
  return displays::Folder(context, scope, body).run(body);
}

}  // namespace depyf
