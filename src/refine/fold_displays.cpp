// t = [a]; t.extend([b]); u = [t]; v = u[0]; f(*v)     ->   f(a, b)
//
// Lists, tuples and dicts that only locals hold are followed from statement to statement: what is put in is what comes
// out. The stores that make and change them go; where something else gets one, it is written there as a display. Copies
// (`b = a`) and stores that nothing reads go with them.
#include <algorithm>
#include <charconv>
#include <optional>

#include "ast/visit.h"
#include "refine/locals.h"

namespace depyf {
using namespace ast;

namespace {

// What a name or an item is known to be: an expression that may stand anywhere (a local, a constant, a cell), or an
// object.
struct Value {
  Expr* atom = nullptr;
  int object = -1;
};

struct Object {
  enum class Kind : std::uint8_t { list, tuple, dict } kind = Kind::list;
  std::vector<Expr*> keys;  // of a dict: constants
  std::vector<Value> items;
};

struct State {
  std::map<std::string_view, Value> names;
  std::map<int, Object> objects;
};

bool small_integer(const Expr* expr, int& value) {
  auto* constant = as<ConstantExpr>(expr);
  if (!constant || constant->value->kind != Constant::Kind::integer || constant->value->text.size() > 6) return false;
  const std::string& text = constant->value->text;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// (lambda: x).__closure__[0]: the cell itself, always the same.
bool is_cell(const Expr* expr) {
  auto* subscript = as<Subscript>(expr);
  auto* attribute = subscript ? as<Attribute>(subscript->value) : nullptr;
  return attribute && attribute->attr == "__closure__" && is<Lambda>(attribute->value) &&
         is<ConstantExpr>(subscript->slice);
}

bool ends_function(Block body) {
  if (body.empty()) return false;
  const Stmt* last = body.back();
  if (auto* branch = as<If>(last)) return ends_function(branch->body) && ends_function(branch->orelse);
  return is<Return>(last) || is<Raise>(last);
}

class Folder {
 public:
  Folder(Context& context, const Scope& scope, Block body) : context_(context), locals_(scope), reads_(body) {}

  Block run(Block body) {
    context_.lent.clear();
    State state;
    return block(body, state, {});
  }

 private:
  using Intervals = std::vector<Reads::Interval>;
  using Statements = std::vector<Stmt*>;

  // ---- statements ----------------------------------------------------------------------------------------------

  Block block(Block body, State& state, const Intervals& outside) {
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

  void statement(Stmt* stmt) {
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
  void compound(Stmt* stmt) {
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

  void conditional(Stmt* stmt, If& branch) {
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

  void assignment(Stmt* stmt, Assign& assign) {
    if (assign.targets.size() == 1) {
      if (auto* name = as<Name>(assign.targets[0]); name && locals_.foldable(name->id)) {
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

  // a, b = c, d and a, b = display, for locals that may go
  bool unpack(Tuple& targets, Expr* value) {
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

  bool store_item(Subscript& target, Expr*& value) {
    auto container = known(target.value, false);
    Object* object = container ? object_of(*container) : nullptr;
    if (!object || object->kind == Object::Kind::tuple) return false;
    std::size_t first = 0, last = 0;
    if (object->kind == Object::Kind::dict) {
      if (!is<ConstantExpr>(target.slice)) return false;
      Value item = value_of(value);
      if (reaches(item, container->object)) return name_object(container->object), false;
      object = object_of(*container);
      std::size_t at = find_key(*object, target.slice);
      if (at == object->keys.size()) object->keys.push_back(target.slice), object->items.push_back(item);
      else object->items[at] = item;
      return true;
    }
    if (index_in(target.slice, object->items.size(), first)) {
      Value item = value_of(value);
      if (reaches(item, container->object)) return name_object(container->object), false;
      object_of(*container)->items[first] = item;
      return true;
    }
    if (!bounds_in(target.slice, object->items.size(), first, last)) return false;
    std::vector<Value> items;
    auto made = known(value, true);
    if (!made || !sequence(*made, items)) return false;
    for (const Value& item : items)
      if (reaches(item, container->object)) return name_object(container->object), false;
    auto& list = object_of(*container)->items;
    auto at = list.erase(list.begin() + std::ptrdiff_t(first), list.begin() + std::ptrdiff_t(last));
    list.insert(at, items.begin(), items.end());
    return true;
  }

  void deletion(Stmt* stmt, Delete& remove) {
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

  void expression(Stmt* stmt, ExprStmt& single) {
    if (auto* call = as<Call>(single.value); call && call->args.size() == 1 && call->keywords.empty()) {
      auto* method = as<Attribute>(call->func);
      if (method && !is<Starred>(call->args[0]) && grow(*method, call->args[0])) return;
    }
    if (auto value = known(single.value, false)) return;
    use(single.value);
    if (!silent(single.value)) out_->push_back(stmt);
  }

  // list.append(x), list.extend(display)
  bool grow(Attribute& method, Expr*& argument) {
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
    for (const Value& item : items)
      if (reaches(item, container->object)) return name_object(container->object), false;
    auto& list = object_of(*container)->items;
    list.insert(list.end(), items.begin(), items.end());
    return list.size() < 4096 || (name_object(container->object), true);
  }

  // ---- names ---------------------------------------------------------------------------------------------------

  bool live(std::string_view name) const { return live(name, future_); }
  bool live(std::string_view name, const Intervals& within) const {
    return std::ranges::any_of(within, [&](Reads::Interval each) { return reads_.any(name, each); });
  }
  // Read by the statement at work, or later.
  bool live_or_now(std::string_view name) const {
    return live(name) || (now_ && reads_.any(name, {reads_.number_of(now_), reads_.number_of(now_)}));
  }

  void forget_dead() {
    std::erase_if(state_->names, [&](const auto& entry) { return !live_or_now(entry.first); });
    std::set<int> kept;
    for (const auto& [name, value] : state_->names) reach(value, kept);
    std::erase_if(state_->objects, [&](const auto& entry) { return !kept.contains(entry.first); });
  }

  void reach(const Value& value, std::set<int>& found) const {
    std::vector<int> todo;
    if (value.object >= 0) todo.push_back(value.object);
    while (!todo.empty()) {
      int at = todo.back();
      todo.pop_back();
      if (!found.insert(at).second) continue;
      for (const Value& item : state_->objects.at(at).items)
        if (item.object >= 0) todo.push_back(item.object);
    }
  }
  bool reaches(const Value& value, int object) const {
    std::set<int> found;
    reach(value, found);
    return found.contains(object);
  }

  void bind(std::string_view name, Value value) {
    if (auto* same = as<Name>(value.atom); same && same->id == name) return;
    stored(name);
    if (!live(name)) return;
    state_->names[name] = value;
    auto* read = as<Name>(value.atom);
    if (!read || !is_temporary(read->id) || is_temporary(name)) return;
    auto [lent, fresh] = context_.lent.try_emplace(read->id, name);
    if (!fresh && lent->second != name) lent->second = {};
  }

  // The local gets another value: what is known to be its old one keeps that under another name.
  void stored(std::string_view name) {
    state_->names.erase(name);
    Expr* copy = nullptr;
    auto replace = [&](Value& value) {
      auto* read = as<Name>(value.atom);
      if (!read || read->id != name) return;
      if (!copy) copy = named(context_.name(name)).atom;
      value.atom = copy;
    };
    for (auto& [other, value] : state_->names) replace(value);
    for (auto& [object, content] : state_->objects)
      for (Value& item : content.items) replace(item);
  }

  // t = expr
  Value named(Expr* expr) {
    std::string_view id = context_.arena.copy("__temp_" + std::to_string(++fresh_) + "_");
    emit(Assign{context_.list({context_.name(id)}), expr}, now_);
    return {context_.name(id), -1};
  }

  // The name is stored after all.
  void give_name(std::string_view name) {
    auto found = state_->names.find(name);
    if (found == state_->names.end()) return;
    if (found->second.object >= 0) return void(name_object(found->second.object, name));
    Expr* atom = found->second.atom;
    state_->names.erase(found);
    emit(Assign{context_.list({context_.name(name)}), copy_of(atom)}, now_);
  }

  void name_all_live() { name_all_live(future_); }
  void name_all_live(const Intervals& within) {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : state_->names)
      if (live(name, within)) names.push_back(name);
    // Objects first by the names of people.
    std::ranges::stable_sort(names, {}, [](std::string_view name) { return is_temporary(name); });
    for (std::string_view name : names) give_name(name);
    state_->names.clear();
    state_->objects.clear();
  }

  std::string_view name_object(int object, std::string_view name = {}) {
    if (name.empty()) {
      for (const auto& [each, value] : state_->names)
        if (value.object == object && (name.empty() || is_temporary(name))) name = each;
      if (name.empty()) name = context_.arena.copy("__temp_" + std::to_string(++fresh_) + "_");
    }
    Expr* display = written(object);
    state_->names.erase(name);
    emit(Assign{context_.list({context_.name(name)}), display}, now_);
    auto replace = [&](Value& value) {
      if (value.object == object) value = {context_.name(name), -1};
    };
    for (auto& [each, value] : state_->names) replace(value);
    for (auto& [each, content] : state_->objects)
      for (Value& item : content.items) replace(item);
    state_->objects.erase(object);
    return name;
  }

  void name_what_inner_scopes_read(Stmt* stmt) {
    std::set<std::string_view> inside;
    for_each_read(stmt, [&](std::string_view name, bool inner) {
      if (inner) inside.insert(name);
    });
    for (std::string_view name : inside) give_name(name);
  }

  // ---- values --------------------------------------------------------------------------------------------------

  Object* object_of(const Value& value) {
    auto found = state_->objects.find(value.object);
    return found == state_->objects.end() ? nullptr : &found->second;
  }

  Value make(Object object) {
    int id = ++objects_;
    state_->objects.emplace(id, std::move(object));
    return {nullptr, id};
  }

  bool sequence(const Value& value, std::vector<Value>& items) {
    if (const Object* object = object_of(value)) {
      if (object->kind == Object::Kind::dict) return false;
      items = object->items;
      return true;
    }
    auto* constant = as<ConstantExpr>(value.atom);
    if (!constant || constant->value->kind != Constant::Kind::tuple) return false;
    for (const Constant& item : constant->value->items) items.push_back({context_.expr(ConstantExpr{&item}), -1});
    return true;
  }

  bool index_in(const Expr* slice, std::size_t size, std::size_t& found) const {
    int value = 0;
    if (!small_integer(slice, value)) return false;
    if (value < 0) value += int(size);
    found = std::size_t(value);
    return value >= 0 && found < size;
  }

  bool bounds_in(const Expr* slice, std::size_t size, std::size_t& first, std::size_t& last) const {
    auto* range = as<Slice>(slice);
    if (!range || range->step) return false;
    int lower = 0, upper = int(size);
    if (range->lower && !small_integer(range->lower, lower)) return false;
    if (range->upper && !small_integer(range->upper, upper)) return false;
    auto clamp = [&](int at) { return std::size_t(std::clamp(at < 0 ? at + int(size) : at, 0, int(size))); };
    first = clamp(lower), last = std::max(clamp(upper), first);
    return true;
  }

  std::size_t find_key(const Object& object, const Expr* key) const {
    auto same = [&](const Expr* other) {
      const Constant &a = *as<ConstantExpr>(key)->value, &b = *as<ConstantExpr>(other)->value;
      return a.kind == b.kind && a.text == b.text;
    };
    return std::size_t(std::ranges::find_if(object.keys, same) - object.keys.begin());
  }
  static bool plain_key(const Expr* key) {
    auto* constant = as<ConstantExpr>(key);
    return constant &&
           (constant->value->kind == Constant::Kind::string || constant->value->kind == Constant::Kind::integer);
  }

  // What an expression without effects gives; with `hoist`, parts of a display that have effects get names.
  std::optional<Value> known(Expr* expr, bool hoist) {
    if (auto* name = as<Name>(expr)) {
      if (auto found = state_->names.find(name->id); found != state_->names.end()) return found->second;
      if (locals_.is_fast(name->id) && locals_.generated()) return Value{expr, -1};
      return {};
    }
    if (is<ConstantExpr>(expr) || is_cell(expr)) return Value{expr, -1};
    if (auto* list = as<ListExpr>(expr)) return display(Object::Kind::list, list->elts, hoist);
    if (auto* tuple = as<Tuple>(expr)) return display(Object::Kind::tuple, tuple->elts, hoist);
    if (auto* dict = as<Dict>(expr)) return dictionary(*dict, hoist);
    if (auto* subscript = as<Subscript>(expr)) return item(*subscript);
    return {};
  }

  std::optional<Value> display(Object::Kind kind, List<Expr*> elements, bool hoist) {
    for (Expr* element : elements) {
      auto* starred = as<Starred>(element);
      std::vector<Value> unused;
      if (starred) {
        auto inner = known(starred->value, false);
        if (!inner || !sequence(*inner, unused)) return {};
      } else if (!hoist && !known(element, false)) {
        return {};
      }
    }
    Object object{kind, {}, {}};
    for (Expr*& element : elements) {
      if (auto* starred = as<Starred>(element)) {
        std::vector<Value> items;
        sequence(*known(starred->value, false), items);
        object.items.insert(object.items.end(), items.begin(), items.end());
      } else {
        object.items.push_back(value_of(element));
      }
    }
    return make(std::move(object));
  }

  std::optional<Value> dictionary(Dict& dict, bool hoist) {
    for (std::size_t i = 0; i < dict.values.size(); ++i) {
      if (!plain_key(dict.keys[i]) || (!hoist && !known(dict.values[i], false))) return {};
      for (std::size_t before = 0; before < i; ++before)
        if (as<ConstantExpr>(dict.keys[before])->value->text == as<ConstantExpr>(dict.keys[i])->value->text) return {};
    }
    Object object{Object::Kind::dict, {dict.keys.begin(), dict.keys.end()}, {}};
    for (Expr*& value : dict.values) object.items.push_back(value_of(value));
    return make(std::move(object));
  }

  std::optional<Value> item(Subscript& subscript) {
    auto container = known(subscript.value, false);
    if (!container) return {};
    std::vector<Value> items;
    std::size_t first = 0, last = 0;
    if (sequence(*container, items)) {
      if (index_in(subscript.slice, items.size(), first)) return items[first];
      const Object* object = object_of(*container);
      if (!object || !bounds_in(subscript.slice, items.size(), first, last)) return {};
      return make({object->kind, {}, {items.begin() + std::ptrdiff_t(first), items.begin() + std::ptrdiff_t(last)}});
    }
    const Object* object = object_of(*container);
    if (!object || !plain_key(subscript.slice)) return {};
    std::size_t at = find_key(*object, subscript.slice);
    if (at == object->keys.size()) return {};
    return object->items[at];
  }

  // A value for what is put into an object: known, or under a name.
  Value value_of(Expr*& expr) {
    if (auto value = known(expr, true)) return *value;
    use(expr);
    return named(expr);
  }

  Expr* copy_of(const Expr* atom) { return context_.expr(atom->node, atom->offset, atom->line); }

  // ---- uses ----------------------------------------------------------------------------------------------------

  // Can others see the object, beside the one who gets it now through `name`?
  bool shared(int object, std::string_view name) const {
    for (const auto& [each, value] : state_->names) {
      if (each == name ? !live(each) : !live_or_now(each)) continue;
      if (reaches(value, object)) return true;
    }
    return false;
  }

  // A name, or part of what it is known to be, is needed as a value.
  Expr* given(Value value, std::string_view through) {
    if (value.atom) return copy_of(value.atom);
    bool again =
        !through.empty() && now_ && reads_.count(through, {reads_.number_of(now_), reads_.number_of(now_)}) > 1;
    std::set<int> parts;
    reach(value, parts);
    for (int part : parts) {
      if (part == value.object || !state_->objects.contains(part)) continue;
      if (again || shared(part, through) || times(value.object, part) > 1) name_object(part);
    }
    if (!again && !shared(value.object, through)) return written(value.object);
    return context_.name(name_object(value.object, bound_to(through, value.object) ? through : std::string_view{}));
  }

  bool bound_to(std::string_view name, int object) const {
    auto found = state_->names.find(name);
    return found != state_->names.end() && found->second.object == object;
  }

  // How often one object holds another, at any depth.
  int times(int whole, int part) const {
    int count = 0;
    std::set<int> found;
    reach({nullptr, whole}, found);
    for (int each : found)
      for (const Value& item : state_->objects.at(each).items) count += item.object == part;
    return count;
  }

  // The object as a display. What it holds by more than one way has a name.
  Expr* written(int id) {
    std::set<int> parts;
    reach({nullptr, id}, parts);
    parts.erase(id);
    for (int part : parts) {
      if (!state_->objects.contains(part)) continue;
      bool others = false;
      for (const auto& [name, value] : state_->names) others = others || (value.object == part && live_or_now(name));
      if (others || times(id, part) > 1) name_object(part);
    }
    const Object object = state_->objects.at(id);
    std::vector<Expr*> items;
    for (const Value& item : object.items) items.push_back(item.atom ? copy_of(item.atom) : written(item.object));
    auto list = context_.arena.copy(items);
    switch (object.kind) {
      case Object::Kind::list: return context_.expr(ListExpr{list});
      case Object::Kind::tuple: return context_.expr(Tuple{list});
      case Object::Kind::dict: return context_.expr(Dict{context_.arena.copy(object.keys), list});
    }
    return nullptr;
  }

  void use(Expr*& slot) {
    if (auto* name = as<Name>(slot)) {
      auto found = state_->names.find(name->id);
      if (found != state_->names.end()) slot = given(found->second, name->id);
      return;
    }
    if (is<Lambda>(slot) || is<ComprehensionExpr>(slot) || is_cell(slot)) return;
    if (is<Subscript>(slot)) {
      if (auto value = known(slot, false)) {
        slot = given(*value, base_name(slot));
        return;
      }
    }
    if (auto* walrus = as<NamedExpr>(slot)) {
      use(walrus->value);
      auto* name = as<Name>(walrus->target);
      if (!name) return;
      stored(name->id);
      if (locals_.foldable(name->id) && !live_or_now(name->id)) slot = walrus->value;
      return;
    }
    if (auto* call = as<Call>(slot)) {
      use(call->func);
      call->args = spread(call->args);
      for (Keyword& keyword : call->keywords) use(keyword.value);
      return;
    }
    if (auto* list = as<ListExpr>(slot)) {
      list->elts = spread(list->elts);
      return;
    }
    if (auto* tuple = as<Tuple>(slot)) {
      tuple->elts = spread(tuple->elts);
      return;
    }
    for_each_child(slot, [&](Expr*& child) { use(child); });
  }

  // Items, with displays that stand after a star in their place.
  List<Expr*> spread(List<Expr*> items) {
    std::vector<Expr*> result;
    bool changed = false;
    for (Expr*& slot : items) {
      auto* starred = as<Starred>(slot);
      auto value = starred ? known(starred->value, false) : std::nullopt;
      std::vector<Value> parts;
      if (!value || !sequence(*value, parts)) {
        use(slot);
        result.push_back(slot);
        continue;
      }
      changed = true;
      for (const Value& part : parts) result.push_back(given(part, base_name(starred->value)));
    }
    return changed ? context_.arena.copy(result) : items;
  }

  static std::string_view base_name(const Expr* expr) {
    while (auto* subscript = as<Subscript>(expr)) expr = subscript->value;
    auto* name = as<Name>(expr);
    return name ? name->id : std::string_view{};
  }

  // The expressions within a target; the names that it binds are left alone.
  void use_parts(Expr* target) {
    if (is<Name>(target)) return;
    for_each_child(target, [&](Expr*& child) {
      if (is<Tuple>(target) || is<ListExpr>(target) || is<Starred>(target)) use_parts(child);
      else use(child);
    });
  }

  bool silent(const Expr* expr) const {
    auto* name = as<Name>(expr);
    return is<ConstantExpr>(expr) || (name && locals_.is_fast(name->id));
  }

  void emit(Stmt::Node node, const Stmt* like) {
    out_->push_back(context_.stmt(std::move(node), like ? like->offset : 0, like ? like->line : -1));
  }

  Context& context_;
  const Locals locals_;
  const Reads reads_;
  State* state_ = nullptr;
  Statements* out_ = nullptr;
  Intervals after_, future_;  // where the execution may go from the statement at work; with what is nested in it
  const Stmt* now_ = nullptr;  // the statement at work
  bool in_try_ = false;
  int fresh_ = 0, objects_ = 0;
};

}  // namespace

Block fold_displays(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::function && scope.kind != Scope::Kind::expression) return body;
  return Folder(context, scope, body).run(body);
}

}  // namespace depyf
