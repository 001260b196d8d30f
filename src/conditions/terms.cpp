#include <algorithm>
#include <utility>

#include "conditions/expression.h"
#include "depyf/conditions.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

using Kind = Expression::Kind;

// The names of the dicts in which an nn.Module stores objects that programs access as attributes.
constexpr std::string_view tables[] = {"__dict__", "_modules", "_parameters", "_buffers"};

bool is_table(std::string_view name) { return std::ranges::find(tables, name) != std::end(tables); }

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_identifier(std::string_view text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') &&
         std::ranges::all_of(text, [](char c) { return is_word(c) || (c & 0x80) != 0; });
}

// Returns the expression that users write for a variable of a guard's condition. Dynamo's name for an imported module
// becomes the name of the module: `__import_torch_dot_nn` becomes `torch.nn`.
Expression variable(std::string_view name) {
  constexpr std::string_view import = "__import_", dot = "_dot_";
  if (!name.starts_with(import) || name.size() == import.size()) return make(Kind::name, std::string(name));
  std::string_view rest = name.substr(import.size());
  Expression result;
  for (bool is_first = true; is_first || !rest.empty(); is_first = false) {
    const std::size_t end = std::min(rest.find(dot), rest.size());
    std::string part(rest.substr(0, end));
    rest.remove_prefix(std::min(end + dot.size(), rest.size()));
    result = is_first ? make(Kind::name, std::move(part)) : make(Kind::attribute, std::move(part), {std::move(result)});
  }
  return result;
}

bool is_method_call(const Expression& it, std::string_view name) {
  return it.is(Kind::call) && it.parts[0].is(Kind::attribute) && it.parts[0].text == name;
}

// True for a subscript with a key such as `__builtins_dict___1`, Dynamo's name in `G` for the dict of builtins.
bool is_builtins(const Expression& it) {
  if (!it.is(Kind::subscript)) return false;
  const auto key = string_value(it.parts[1]);
  return key && key->starts_with("__builtins_dict__");
}

// An nn.Module, and the name of one of the dicts in which it stores objects (see `tables`).
struct Table {
  const Expression* owner = nullptr;  // null if the expression reads no table
  std::string_view name;
};

// Returns the table that an expression reads (`m._modules`, or `m.__dict__['_modules']`), with a null owner if the
// expression reads no table.
Table table_of(const Expression& it) {
  if (it.is(Kind::attribute) && is_table(it.text)) return {&it.parts[0], it.text};
  if (!it.is(Kind::subscript)) return {};
  const auto key = string_value(it.parts[1]);
  const Expression& dict = it.parts[0];
  if (!key || !is_table(*key) || !dict.is(Kind::attribute) || dict.text != "__dict__") return {};
  return {&dict.parts[0], *key};
}

// Returns the module whose submodules a list contains in order: `m` for `list(dict.values(m._modules))`; null for any
// other expression.
const Expression* modules_in_order(const Expression& it) {
  if (!it.is(Kind::call) || !it.parts[0].is_name("list") || it.parts.size() < 2) return nullptr;
  const Expression& values = it.parts[1];
  if (!values.is(Kind::call) || values.parts.size() != 2 || unparse(values.parts[0]) != "dict.values") return nullptr;
  const Table table = table_of(values.parts[1]);
  return table.name == "_modules" ? table.owner : nullptr;
}

Expression changed(const Expression& it);

Expression with_changed_parts(const Expression& it) {
  Expression result = make(it.kind, it.text);
  result.operators = it.operators;
  for (const Expression& part : it.parts) result.parts.push_back(changed(part));
  return result;
}

// Returns `x.shape` for the call `x.size()`.
Expression shape(const Expression& call) { return make(Kind::attribute, "shape", {changed(call.parts[0].parts[0])}); }

Expression changed_subscript(const Expression& it) {
  const Expression &value = it.parts[0], &index = it.parts[1];
  if (index.is(Kind::number))
    if (const Expression* modules = modules_in_order(value))
      return make(Kind::subscript, {}, {changed(*modules), index});
  const auto key = string_value(index);
  if (key && (value.is_name("L") || value.is_name("G"))) return variable(*key);
  if (key && (is_identifier(*key) || is_digits(*key))) {
    if (is_builtins(value) && is_identifier(*key)) return make(Kind::name, std::string(*key));
    const Table table = table_of(value);
    if (table.owner && is_identifier(*key)) return make(Kind::attribute, std::string(*key), {changed(*table.owner)});
    // The owner can be a ModuleList, whose items have numbers as their names.
    if (table.owner && (table.name == "_modules" || table.name == "_parameters"))
      return make(Kind::subscript, {}, {changed(*table.owner), make(Kind::number, std::string(*key))});
  }
  if (is_method_call(value, "size") && value.parts.size() == 1)
    return make(Kind::subscript, {}, {shape(value), changed(index)});
  return with_changed_parts(it);
}

Expression changed_call(const Expression& it) {
  if (it.parts[0].is_name("__import__") && it.parts.size() == 2)
    if (const auto module = string_value(it.parts[1])) return variable(*module);
  if (!is_method_call(it, "size")) return with_changed_parts(it);
  if (it.parts.size() == 1) return shape(it);
  return make(Kind::subscript, {}, {shape(it), changed(it.parts[1])});
}

Expression changed(const Expression& it) {
  if (it.is(Kind::subscript)) return changed_subscript(it);
  if (it.is(Kind::call)) return changed_call(it);
  return with_changed_parts(it);
}

// Returns the comparison operator that keeps the meaning of a comparison when its operands are exchanged: `>` for `<`.
std::string turned(const std::string& sign) {
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
  for (const auto& [from, to] : others)
    if (sign == from) return std::string(to);
  return sign;
}

// True if the value of the expression does not depend on the inputs: it has no calls, and none of the names `L`, `G`,
// `id` and `type`.
bool is_plain(const Expression& it) {
  return !contains(it, [](const Expression& part) {
    return part.is(Kind::call) || part.is_name("L") || part.is_name("G") || part.is_name("id") || part.is_name("type");
  });
}

void add_bound(const Expression& subject, const std::string& sign, const Expression& constant,
               std::vector<Bound>& bounds) {
  std::string name = unparse(changed(subject));
  const bool is_shape = name.ends_with(".shape"), is_stride = name.ends_with(".stride()");
  if (sign != "==" || !constant.is(Kind::tuple) || (!is_shape && !is_stride)) {
    bounds.push_back({std::move(name), sign, unparse(constant)});
    return;
  }
  if (is_stride) name.resize(name.size() - 2);
  for (std::size_t i = 0; i < constant.parts.size(); ++i) {
    const std::string index = is_shape ? "[" + std::to_string(i) + "]" : "(" + std::to_string(i) + ")";
    bounds.push_back({name + index, "==", unparse(constant.parts[i])});
  }
}

// Adds the comparisons of a chained comparison to `bounds`. Returns false if one of the comparisons is not with a
// constant.
bool add_bounds(const Expression& it, std::vector<Bound>& bounds) {
  if (!it.is(Kind::comparison)) return false;
  for (std::size_t i = 0; i < it.operators.size(); ++i) {
    const std::string& sign = it.operators[i];
    if (sign == "in" || sign == "not in") return false;
    const Expression &left = it.parts[i], &right = it.parts[i + 1];
    const bool is_left_plain = is_plain(left), is_right_plain = is_plain(right);
    if (is_left_plain == is_right_plain) return false;
    if (is_right_plain) add_bound(left, sign, right, bounds);
    else add_bound(right, turned(sign), left, bounds);
  }
  return true;
}

}  // namespace

std::string in_terms(std::string_view expression) {
  const std::optional<Expression> tree = parse(expression);
  return tree ? unparse(changed(*tree)) : std::string(expression);
}

std::string owner_in_terms(std::string_view expression) {
  std::string terms = in_terms(expression);
  for (const std::string_view table : tables)
    if (terms.ends_with(table) && terms.size() > table.size() && terms[terms.size() - table.size() - 1] == '.') {
      terms.resize(terms.size() - table.size() - 1);
      break;
    }
  return terms;
}

std::vector<Bound> bounds_of(std::string_view condition) {
  const std::optional<Expression> tree = parse(condition);
  if (!tree) return {};
  std::vector<Bound> bounds;
  if (tree->is(Kind::boolean) && tree->text == "and") {
    for (const Expression& part : tree->parts)
      if (!add_bounds(part, bounds)) return {};
  } else if (!add_bounds(*tree, bounds)) {
    return {};
  }
  return bounds;
}

}  // namespace depyf::conditions
