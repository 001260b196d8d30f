// Reads trees that tree_writer.py wrote: numbers as text with a blank behind, strings and lists behind their length, nodes
// behind the number of their type (-1: null), all fields in the order of ast/fields.h.
#pragma once

#include <bit>
#include <charconv>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ast/fields.h"
#include "support/arena.h"

namespace depyf::testing {

class TreeReader {
 public:
  explicit TreeReader(std::string_view input) : rest_(input) {}

  bool done() const { return rest_.empty(); }
  template <class T>
  T read() {
    T value{};
    read(value);
    return value;
  }

 private:
  template <class T>
  T number() {
    T value{};
    const auto end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value).ptr;
    rest_.remove_prefix(end - rest_.data() + 1);
    return value;
  }

  std::string_view bytes() {
    const auto size = number<std::size_t>();
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  template <class N>
  N* node() {
    const auto type = number<int>();
    if (type < 0) return nullptr;
    N* result = arena_.make<N>();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((static_cast<int>(I) == type ? read(result->node.template emplace<I>()) : void()), ...);
    }(std::make_index_sequence<std::variant_size_v<decltype(result->node)>>{});
    return result;
  }

  void read(Constant& value) {
    value.kind = static_cast<Constant::Kind>(number<int>());
    value.real = std::bit_cast<double>(number<std::uint64_t>());
    value.imag = std::bit_cast<double>(number<std::uint64_t>());
    value.text = bytes();
    value.items.resize(number<std::size_t>());
    for (Constant& item : value.items) read(item);
  }

  template <class Kind>
  void read(ast::Boxed<Kind>& box) {
    box.fields = arena_.make<Kind>();
    read(*box.fields);
  }

  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, ast::Expr*> || std::is_same_v<T, ast::Pattern*>) {
      value = node<std::remove_pointer_t<T>>();
    } else if constexpr (std::is_same_v<T, ast::Stmt*>) {
      value = node<ast::Stmt>();
      value->offset = next_offset_++;
    } else if constexpr (std::is_same_v<T, const Constant*>) {
      read(constants_.emplace_back());
      value = &constants_.back();
    } else if constexpr (std::is_same_v<T, const ast::Arguments*>) {
      auto* made = arena_.make<ast::Arguments>();
      read(*made);
      value = made;
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      value = arena_.copy(bytes());
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      value = static_cast<T>(number<int>());
    } else if constexpr (requires { ast::fields(value); }) {
      std::apply([&](auto&... field) { (read(const_cast<std::remove_cvref_t<decltype(field)>&>(field)), ...); },
                 ast::fields(value));
    } else {
      std::vector<typename T::element_type> items(number<std::size_t>());
      for (auto& item : items) read(item);
      value = arena_.copy(items);
    }
  }

  std::string_view rest_;
  std::uint32_t next_offset_ = 0;
  Arena arena_;
  std::deque<Constant> constants_;
};

}  // namespace depyf::testing
