// [a, *t][1:], with t known to be (b, c)   ->   [b, c]
//
// What an expression without effects is known to be.
#include <algorithm>
#include <charconv>

#include "refine/display_folder.h"

namespace depyf {
using namespace ast;

namespace {
bool small_integer(const Expr* expr, int& value) {
  const Constant* constant = constant_of(expr, Constant::Kind::integer);
  if (!constant || constant->text.size() > 6) return false;
  const std::string& text = constant->text;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
}  // namespace

// (lambda: x).__closure__[0]: the cell itself, always the same.
bool DisplayFolder::is_cell(const Expr* expr) {
  auto* subscript = as<Subscript>(expr);
  auto* attribute = subscript ? as<Attribute>(subscript->value) : nullptr;
  return attribute && attribute->attr == "__closure__" && is<Lambda>(attribute->value) &&
         is<ConstantExpr>(subscript->slice);
}

DisplayFolder::Object* DisplayFolder::object_of(const Value& value) {
  auto found = state_->objects.find(value.object);
  return found == state_->objects.end() ? nullptr : &found->second;
}

DisplayFolder::Value DisplayFolder::make(Object object) {
  int id = ++objects_;
  state_->objects.emplace(id, std::move(object));
  return {nullptr, id};
}

bool DisplayFolder::sequence(const Value& value, std::vector<Value>& items) {
  if (const Object* object = object_of(value)) {
    if (object->kind == Object::Kind::dict) return false;
    items = object->items;
    return true;
  }
  const Constant* constant = constant_of(value.atom, Constant::Kind::tuple);
  if (!constant) return false;
  for (const Constant& item : constant->items) items.push_back({context_.expr(ConstantExpr{&item}), -1});
  return true;
}

bool DisplayFolder::index_in(const Expr* slice, std::size_t size, std::size_t& found) const {
  int value = 0;
  if (!small_integer(slice, value)) return false;
  if (value < 0) value += int(size);
  found = std::size_t(value);
  return value >= 0 && found < size;
}

bool DisplayFolder::bounds_in(const Expr* slice, std::size_t size, std::size_t& first, std::size_t& last) const {
  auto* range = as<Slice>(slice);
  if (!range || range->step) return false;
  int lower = 0, upper = int(size);
  if (range->lower && !small_integer(range->lower, lower)) return false;
  if (range->upper && !small_integer(range->upper, upper)) return false;
  auto clamp = [&](int at) { return std::size_t(std::clamp(at < 0 ? at + int(size) : at, 0, int(size))); };
  first = clamp(lower), last = std::max(clamp(upper), first);
  return true;
}

std::size_t DisplayFolder::find_key(const Object& object, const Expr* key) const {
  auto same = [&](const Expr* other) {
    const Constant &a = *as<ConstantExpr>(key)->value, &b = *as<ConstantExpr>(other)->value;
    return a.kind == b.kind && a.text == b.text;
  };
  return std::size_t(std::ranges::find_if(object.keys, same) - object.keys.begin());
}

bool DisplayFolder::plain_key(const Expr* key) {
  return constant_of(key, Constant::Kind::string) || constant_of(key, Constant::Kind::integer);
}

// What an expression without effects gives; with `hoist`, parts of a display that have effects get names.
std::optional<DisplayFolder::Value> DisplayFolder::known(Expr* expr, bool hoist) {
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

std::optional<DisplayFolder::Value> DisplayFolder::display(Object::Kind kind, List<Expr*> elements, bool hoist) {
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
      auto inner = known(starred->value, false);
      if (!inner || !sequence(*inner, items)) return {};  // what stands before it used it: it has a name now
      object.items.insert(object.items.end(), items.begin(), items.end());
    } else {
      object.items.push_back(value_of(element));
    }
  }
  for (Value& item : object.items) refresh(item);
  return make(std::move(object));
}

std::optional<DisplayFolder::Value> DisplayFolder::dictionary(Dict& dict, bool hoist) {
  for (std::size_t i = 0; i < dict.values.size(); ++i) {
    if (!plain_key(dict.keys[i]) || (!hoist && !known(dict.values[i], false))) return {};
    for (std::size_t before = 0; before < i; ++before)
      if (as<ConstantExpr>(dict.keys[before])->value->text == as<ConstantExpr>(dict.keys[i])->value->text) return {};
  }
  Object object{Object::Kind::dict, {dict.keys.begin(), dict.keys.end()}, {}};
  for (Expr*& value : dict.values) object.items.push_back(value_of(value));
  for (Value& item : object.items) refresh(item);
  return make(std::move(object));
}

std::optional<DisplayFolder::Value> DisplayFolder::item(Subscript& subscript) {
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

// A value for what is put into an object: known, or under a name, which `expr` is then.
DisplayFolder::Value DisplayFolder::value_of(Expr*& expr) {
  if (auto value = known(expr, true)) return *value;
  use(expr);
  const Value value = named(expr);
  expr = copy_of(value.atom);
  return value;
}

// An object that got a name since `value` was made is known by that.
void DisplayFolder::refresh(Value& value) const {
  if (value.object < 0 || state_->objects.contains(value.object)) return;
  if (auto named = given_names_.find(value.object); named != given_names_.end())
    value = {context_.name(named->second), -1};
}

// The object that is to hold `items`, which were just made for it. Null where it has a name by now, as making them used it or
// they hold it.
DisplayFolder::Object* DisplayFolder::receiver(const Value& container, std::vector<Value>& items) {
  for (Value& item : items) refresh(item);
  for (const Value& item : items)
    if (reaches(item, container.object)) return name_object(container.object), nullptr;
  return object_of(container);
}

}  // namespace depyf
