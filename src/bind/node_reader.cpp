#include "node_reader.h"

#include <algorithm>

namespace nb = nanobind;

namespace depyf {
namespace {

Kind kind_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Kind> kinds{{"Node", Kind::node},
                                                                {"tuple", Kind::tuple},
                                                                {"list", Kind::list},
                                                                {"immutable_list", Kind::list},
                                                                {"str", Kind::text},
                                                                {"int", Kind::number},
                                                                {"float", Kind::number},
                                                                {"bool", Kind::number},
                                                                {"NoneType", Kind::number},
                                                                {"dtype", Kind::constant},
                                                                {"device", Kind::constant},
                                                                {"layout", Kind::constant},
                                                                {"memory_format", Kind::constant},
                                                                {"FakeTensor", Kind::tensor},
                                                                {"Tensor", Kind::tensor},
                                                                {"SymInt", Kind::symbol},
                                                                {"SymFloat", Kind::symbol},
                                                                {"SymBool", Kind::symbol}};
  const auto found = kinds.find(name);
  return found == kinds.end() ? Kind::other : found->second;
}

}  // namespace

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_dotted_name(std::string_view path) {
  for (std::size_t dot = path.find('.'); dot != path.npos; path.remove_prefix(dot + 1), dot = path.find('.'))
    if (!is_identifier(path.substr(0, dot))) return false;
  return is_identifier(path);
}

Type& NodeReader::type_of(nb::handle value) {
  const auto [known, is_new] = types_.try_emplace(value.type().ptr());
  if (is_new) {
    known->second.name = value.type().attr("__name__");
    known->second.kind = kind_of(view_of(known->second.name));
  }
  return known->second;
}

void Arguments::append(std::string& text, nb::handle value, std::vector<PyObject*>& inputs) {
  Type& type = reader_.type_of(value);
  if (type.kind == Kind::node) {
    text += view_of(attribute(value, reader_.name));
    inputs.push_back(value.ptr());
    return;
  }
  if (!type.is_known_argument) parts_.add(type.name);
  type.is_known_argument = true;
  const bool is_tuple = type.kind == Kind::tuple;
  if (is_tuple || type.kind == Kind::list) {
    text += is_tuple ? '(' : '[';
    const std::size_t count = append_all(text, value, inputs);
    text += is_tuple ? (count == 1 ? ",)" : ")") : "]";
  } else if (type.kind == Kind::number || type.kind == Kind::text || type.kind == Kind::constant) {
    text += view_of(nb::repr(value));
  } else {
    only_pytorch_prints("an argument");
  }
}

std::size_t Arguments::append_all(std::string& text, nb::handle items, std::vector<PyObject*>& inputs) {
  std::size_t count = 0;
  for (const nb::handle each : items) {
    if (count++) text += ", ";
    append(text, each, inputs);
  }
  return count;
}

}  // namespace depyf
