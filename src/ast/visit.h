// Walks over trees.
#pragma once
#include <cstdint>
#include <type_traits>
#include <variant>

#include "ast/node.h"
#include "support/function_ref.h"
namespace depyf::ast {
// A set of kinds of nodes has one bit for each alternative of the variant.
template <class Kind, class... All>
constexpr std::uint32_t bit_of_kind(const std::variant<All...>*) {
  std::uint32_t bit = 1, found = 0;
  ((found |= std::is_same_v<Kind, All> ? bit : 0, bit <<= 1), ...);
  return found;
}

// A set of kinds of statements. A pass asks for the kinds in a block before it walks a tree that has no statement for
// it.
class StmtKinds {
 public:
  constexpr StmtKinds() = default;
  template <class... Kinds>
  static constexpr StmtKinds of() {
    StmtKinds kinds;
    kinds.bits_ = (bit_of_kind<Kinds>(static_cast<const Stmt::Node*>(nullptr)) | ...);
    return kinds;
  }
  static StmtKinds of(const Stmt* stmt) {
    StmtKinds kinds;
    kinds.bits_ = std::uint32_t{1} << stmt->node.index();
    return kinds;
  }
  static StmtKinds in(Block body);  // nested blocks included
  static constexpr StmtKinds nesting() { return of<For, While, If, With, Match, Try>(); }  // those with blocks
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(StmtKinds other) const { return (bits_ & other.bits_) != 0; }  // one of them

 private:
  std::uint32_t bits_ = 0;
};
// Calls `visit` with each direct subexpression, in the order of evaluation. `visit` may replace the subexpression.
void for_each_child(Expr* expr, FunctionRef<void(Expr*&)> visit);
// Calls `visit` with each expression that belongs to the statement itself, in the order of evaluation. Expressions of
// nested blocks do not count.
void for_each_expr(Stmt* stmt, FunctionRef<void(Expr*&)> visit);
// Calls `visit` with each nested block of a statement that belongs to the same scope, in order. `visit` may replace the
// block. The body of a definition is left out: it is finished when the definition is made, and several definitions may
// share it.
void visit_blocks(Stmt* stmt, FunctionRef<void(Block&)> visit);
template <class Visit>
void for_each_block(Stmt* stmt, Visit&& visit) {
  if (StmtKinds::of(stmt).has(StmtKinds::nesting())) visit_blocks(stmt, visit);
}
}  // namespace depyf::ast
