// Functions that build syntax trees by hand, for tests.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ast/node.h"
#include "support/arena.h"

namespace depyf::testing {

class TreeBuilder {
 public:
  template <class Node>
  ast::Expr* expr(Node node) {
    auto* result = arena_.make<ast::Expr>();
    result->node = ast::held(arena_, node);
    return result;
  }

  template <class Node>
  ast::Stmt* stmt(Node node, std::uint32_t offset = 0) {
    auto* result = arena_.make<ast::Stmt>();
    result->node = ast::held(arena_, node);
    result->offset = offset;
    return result;
  }

  template <class T>
  ast::List<T> list(const std::vector<T>& items) {
    return arena_.copy(items);
  }
  ast::List<ast::Expr*> exprs(const std::vector<ast::Expr*>& items) { return list(items); }
  ast::Block block(const std::vector<ast::Stmt*>& items) { return list(items); }

  ast::Expr* name(std::string_view id) { return expr(ast::Name{id}); }
  ast::Expr* string(std::string_view text) {
    return constant({.kind = Constant::Kind::string, .text = std::string(text)});
  }
  ast::Expr* integer(int value) { return constant({.kind = Constant::Kind::integer, .text = std::to_string(value)}); }
  ast::Expr* constant(Constant value) { return expr(ast::ConstantExpr{&constants_.emplace_back(std::move(value))}); }
  ast::Expr* call(std::string_view function, const std::vector<ast::Expr*>& args) {
    return expr(ast::Call{name(function), exprs(args), {}});
  }
  ast::Expr* field(ast::Expr* value, char conversion = 0, ast::Expr* spec = nullptr) {
    return expr(ast::FormattedValue{value, conversion, spec});
  }
  ast::Expr* joined(const std::vector<ast::Expr*>& parts) { return expr(ast::JoinedStr{exprs(parts)}); }
  ast::Stmt* line(std::string_view id, std::uint32_t offset = 0) { return stmt(ast::ExprStmt{name(id)}, offset); }
  ast::Stmt* function(std::string_view id, ast::Block body, std::uint32_t offset = 0,
                      const CodeObject* code = nullptr) {
    return stmt(ast::FunctionDef{id, nullptr, body, {}, nullptr, false, {}, code}, offset);
  }

 private:
  Arena arena_;
  std::deque<Constant> constants_;
};

}  // namespace depyf::testing
