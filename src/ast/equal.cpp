#include "ast/equal.h"

#include <bit>
#include <utility>
#include <vector>

#include "ast/fields.h"

namespace depyf::ast {
namespace {

// Compares the bits of `a` and `b`, so that 0.0 differs from -0.0, and a NaN equals itself.
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same_constant(const Constant& a, const Constant& b) {
  if (a.kind != b.kind || !same_bits(a.real, b.real) || !same_bits(a.imag, b.imag) || a.text != b.text ||
      a.code != b.code || a.items.size() != b.items.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same_constant(a.items[i], b.items[i])) return false;
  return true;
}

// Compares two trees. The pairs of nodes that are still to be compared are in lists and not on the call stack, so that
// trees may have any depth.
class Comparison {
 public:
  template <class T>
  bool run(const T& a, const T& b) {
    if (!same(a, b)) return false;
    for (;;) {
      if (!exprs_.empty()) {
        if (!next(exprs_)) return false;
      } else if (!stmts_.empty()) {
        if (!next(stmts_)) return false;
      } else if (!patterns_.empty()) {
        if (!next(patterns_)) return false;
      } else {
        return true;
      }
    }
  }

 private:
  template <class N>
  using Pairs = std::vector<std::pair<const N*, const N*>>;

  template <class N>
  bool next(Pairs<N>& pairs) {
    auto [a, b] = pairs.back();
    pairs.pop_back();
    return std::visit(
        [&]<class T>(const T& one) {
          const T* other = std::get_if<T>(&b->node);
          return other && same(one, *other);
        },
        a->node);
  }

  template <class N>
  static bool later(Pairs<N>& pairs, const N* a, const N* b) {
    if (a && b && a != b) pairs.emplace_back(a, b);
    return !a == !b;
  }

  template <class T>
  bool same(const T& a, const T& b) {
    if constexpr (std::is_convertible_v<T, const Expr*>) {
      return later(exprs_, static_cast<const Expr*>(a), static_cast<const Expr*>(b));
    } else if constexpr (std::is_convertible_v<T, const Stmt*>) {
      return later(stmts_, static_cast<const Stmt*>(a), static_cast<const Stmt*>(b));
    } else if constexpr (std::is_convertible_v<T, const Pattern*>) {
      return later(patterns_, static_cast<const Pattern*>(a), static_cast<const Pattern*>(b));
    } else if constexpr (std::is_same_v<T, const Constant*>) {
      return a == b || (a && b && same_constant(*a, *b));
    } else if constexpr (std::is_pointer_v<T>) {
      return a == b || (a && b && same(*a, *b));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string_view>) {
      return a == b;
    } else if constexpr (requires { fields(a); }) {
      return same_fields(fields(a), fields(b));
    } else {
      if (a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); ++i)
        if (!same(a[i], b[i])) return false;
      return true;
    }
  }

  template <class... Ts>
  bool same_fields(std::tuple<const Ts&...> a, std::tuple<const Ts&...> b) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (same(std::get<I>(a), std::get<I>(b)) && ...);
    }(std::index_sequence_for<Ts...>{});
  }

  Pairs<Expr> exprs_;
  Pairs<Stmt> stmts_;
  Pairs<Pattern> patterns_;
};

}  // namespace

bool equal(const Expr* a, const Expr* b) { return Comparison().run(a, b); }
bool equal(const Stmt* a, const Stmt* b) { return Comparison().run(a, b); }
bool equal(Block a, Block b) { return Comparison().run(a, b); }

}  // namespace depyf::ast
