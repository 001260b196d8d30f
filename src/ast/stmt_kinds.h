// Defines sets of statement kinds, by which passes skip code that contains no statement of the wanted kinds.
#pragma once
#include <cstdint>
#include <type_traits>
#include <variant>

#include "ast/node.h"
namespace depyf::ast {
// Returns the bit that represents `Kind` in a set of node kinds; the set has a bit for each alternative of the variant.
template <class Kind, class... All>
constexpr std::uint32_t bit_of_kind(const std::variant<All...>*) {
  std::uint32_t bit = 1, result = 0;
  ((result |= std::is_same_v<Held<Kind>, All> ? bit : 0, bit <<= 1), ...);
  return result;
}

// A set of statement kinds.
class StmtKinds {
 public:
  constexpr StmtKinds() = default;
  template <class... Kinds>
  static constexpr StmtKinds of() {
    constexpr const Stmt::Node* set = nullptr;
    static_assert(((bit_of_kind<Kinds>(set) != 0) && ...));
    StmtKinds kinds;
    kinds.bits_ = (bit_of_kind<Kinds>(set) | ...);
    return kinds;
  }
  static StmtKinds of(const Stmt* stmt) {
    StmtKinds kinds;
    kinds.add(stmt->node);
    return kinds;
  }
  static constexpr StmtKinds nesting() { return of<For, While, If, With, Match, Try>(); }  // with nested blocks
  static constexpr StmtKinds all() {
    StmtKinds kinds;
    kinds.bits_ = ~std::uint32_t{0};
    return kinds;
  }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr StmtKinds operator|(StmtKinds other) const {
    other.bits_ |= bits_;
    return other;
  }
  template <class Kind>
  constexpr void add(const Kind&) {
    bits_ |= of<Kind>().bits_;
  }
  void add(const Stmt::Node& node) { bits_ |= std::uint32_t{1} << node.index(); }
  constexpr bool has(StmtKinds other) const { return (bits_ & other.bits_) != 0; }  // true if any kind is in both sets

 private:
  static_assert(std::variant_size_v<Stmt::Node> <= 32);
  std::uint32_t bits_ = 0;
};
}  // namespace depyf::ast
