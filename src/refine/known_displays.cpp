// Finds known values of expressions without effects. If t is known to be (b, c), the value of `[a, *t][1:]` is `[b,
// c]`.
#include <algorithm>
#include <charconv>

#include "refine/known_displays.h"

namespace depyf::displays {
using namespace ast;

namespace {
// True if `expr` is an integer constant of up to six characters. Sets `value` to the integer.
bool small_integer(const Expr* expr, int& value) {
  const Constant* constant = constant_of(expr, Constant::Kind::integer);
  if (!constant || constant->text.size() > 6) return false;
  const std::string& text = constant->text;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
}  // namespace

bool is_cell(const Expr* expr) {
  auto* subscript = as<Subscript>(expr);
  auto* attribute = subscript ? as<Attribute>(subscript->value) : nullptr;
  return attribute && attribute->attr == "__closure__" && is<Lambda>(attribute->value) &&
         is<ConstantExpr>(subscript->slice);
}

bool index_in(const Expr* slice, std::size_t size, std::size_t& found) {
  int value = 0;
  if (!small_integer(slice, value)) return false;
  if (value < 0) value += int(size);
  found = std::size_t(value);
  return value >= 0 && found < size;
}

bool bounds_in(const Expr* slice, std::size_t size, std::size_t& first, std::size_t& last) {
  auto* range = as<Slice>(slice);
  if (!range || range->step) return false;
  int lower = 0, upper = int(size);
  if (range->lower && !small_integer(range->lower, lower)) return false;
  if (range->upper && !small_integer(range->upper, upper)) return false;
  auto clamp = [&](int at) { return std::size_t(std::clamp(at < 0 ? at + int(size) : at, 0, int(size))); };
  first = clamp(lower), last = std::max(clamp(upper), first);
  return true;
}

std::size_t find_key(const Object& object, const Expr* key) {
  auto same = [&](const Expr* other) {
    const Constant &a = *as<ConstantExpr>(key)->value, &b = *as<ConstantExpr>(other)->value;
    return a.kind == b.kind && a.text == b.text;
  };
  return std::size_t(std::ranges::find_if(object.keys, same) - object.keys.begin());
}

bool plain_key(const Expr* key) {
  return constant_of(key, Constant::Kind::string) || constant_of(key, Constant::Kind::integer);
}

std::optional<Value> Known::known(Expr* expr, bool hoist) {
  if (auto* name = as<Name>(expr)) {
    if (auto found = names_.state().names.find(name->id); found != names_.state().names.end()) return found->second;
    // In code that Dynamo generated, the value of a local is the local itself. In code that a person wrote, the value
    // of a local is unknown, so that plain reads of the local stay unchanged.
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

std::optional<Value> Known::display(Object::Kind kind, List<Expr*> elements, bool hoist) {
  // All items must be known before any item is evaluated, unless `hoist` allows that items are stored in temporaries.
  for (Expr* element : elements) {
    auto* starred = as<Starred>(element);
    std::vector<Value> unused;
    if (starred) {
      auto inner = known(starred->value, false);
      if (!inner || !names_.sequence(*inner, unused)) return {};
    } else if (!hoist && !known(element, false)) {
      return {};
    }
  }
  Object object{kind, {}, {}};
  for (Expr*& element : elements) {
    if (auto* starred = as<Starred>(element)) {
      std::vector<Value> items;
      auto inner = known(starred->value, false);
      // If an earlier item has used the starred display, that display was stored under a name, and its items are not
      // known any more.
      if (!inner || !names_.sequence(*inner, items)) return {};
      object.items.insert(object.items.end(), items.begin(), items.end());
    } else {
      object.items.push_back(value_of(element));
    }
  }
  for (Value& item : object.items) names_.refresh(item);
  return names_.make(std::move(object));
}

std::optional<Value> Known::dictionary(Dict& dict, bool hoist) {
  for (std::size_t i = 0; i < dict.values.size(); ++i) {
    if (!plain_key(dict.keys[i]) || (!hoist && !known(dict.values[i], false))) return {};
    // The value of a dict display with two equal keys is not known, because the second key would replace the value of
    // the first.
    for (std::size_t before = 0; before < i; ++before)
      if (as<ConstantExpr>(dict.keys[before])->value->text == as<ConstantExpr>(dict.keys[i])->value->text) return {};
  }
  Object object{Object::Kind::dict, {dict.keys.begin(), dict.keys.end()}, {}};
  for (Expr*& value : dict.values) object.items.push_back(value_of(value));
  for (Value& item : object.items) names_.refresh(item);
  return names_.make(std::move(object));
}

std::optional<Value> Known::item(Subscript& subscript) {
  auto container = known(subscript.value, false);
  if (!container) return {};
  std::vector<Value> items;
  std::size_t first = 0, last = 0;
  if (names_.sequence(*container, items)) {
    if (index_in(subscript.slice, items.size(), first)) return items[first];
    const Object* object = names_.state().object_of(*container);
    // A slice of a constant tuple is not folded, because it would need a new constant.
    if (!object || !bounds_in(subscript.slice, items.size(), first, last)) return {};
    return names_.make(
        {object->kind, {}, {items.begin() + std::ptrdiff_t(first), items.begin() + std::ptrdiff_t(last)}});
  }
  const Object* object = names_.state().object_of(*container);
  if (!object || !plain_key(subscript.slice)) return {};
  std::size_t at = find_key(*object, subscript.slice);
  if (at == object->keys.size()) return {};
  return object->items[at];
}

Value Known::value_of(Expr*& expr) {
  // An expression whose value is not known is evaluated at this point and stored in a temporary.
  if (auto value = known(expr, true)) return *value;
  use(expr);
  const Value value = names_.named(expr);
  expr = names_.copy_of(value.atom);
  return value;
}

Object* Known::receiver(const Value& container, std::vector<Value>& items) {
  for (Value& item : items) names_.refresh(item);
  // If the container would contain itself, it is first stored under a name.
  for (const Value& item : items)
    if (names_.state().reaches(item, container.object)) return names_.name_object(container.object), nullptr;
  return names_.state().object_of(container);
}

}  // namespace depyf::displays
