// The symbol table of a finished tree: which scope binds each name, as CPython's compiler would decide it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ast/node.h"

namespace depyf::lowering {

enum class ScopeKind : std::uint8_t { module, class_body, function, type_params };

// Where the value of a name lives, seen from one scope.
enum class Home : std::uint8_t { local, free, global_explicit, global_implicit };

// An annotation of a module or class that is evaluated when somebody asks (3.14 and later).
struct Deferred {
  const ast::AnnAssign* node = nullptr;
  std::int32_t index = -1;  // of those that hold only where their statement has run; -1: it always holds
};

struct Scope {
  ScopeKind kind = ScopeKind::module;
  Scope* parent = nullptr;
  bool inlined = false;          // a comprehension whose code stands in the scope around it (3.12 and later)
  bool is_comprehension = false;
  bool is_generator = false;     // holds a yield, or is a generator expression
  bool is_coroutine = false;
  bool has_annotations = false;  // holds an annotated assignment, at any depth of blocks
  bool sees_class = false;       // evaluated in a class body, whose names it finds first (3.12 and later)
  std::vector<Deferred> deferred;
  std::int32_t conditional_annotations = 0;
  std::string class_name;        // of the class around, that private names are mangled with
  std::set<std::string_view> bound, used, declared_global, declared_nonlocal;
  std::vector<std::string_view> parameters;
  std::map<std::string_view, Home> homes;
  std::set<std::string_view> cells;  // bound here, and used by code that is nested in this one
  std::set<std::string_view> frees;  // what the code object gets as free variables
  std::unordered_map<const void*, Scope*> children;  // by the node that opens the scope

  bool is_function_like() const { return kind == ScopeKind::function || kind == ScopeKind::type_params; }
  // The scope whose code object holds the code of this one.
  Scope* unit() {
    Scope* scope = this;
    while (scope->inlined) scope = scope->parent;
    return scope;
  }
};

class SymbolTable {
 public:
  // `around`: names that functions around the tree bind, which are not in it.
  SymbolTable(Version version, bool annotations_are_text, std::set<std::string_view> around = {})
      : version_(version), text_(annotations_are_text), around_(std::move(around)) {}

  Scope* build(ast::Block body);

  // The name as the compiler stores it: private names of a class get its name in front.
  std::string_view mangled(std::string_view name, const Scope& scope);
  std::string_view keep(std::string text);

 private:
  Scope* open_evaluator(Scope* scope, const void* node);
  void deferred(Scope* scope);
  Scope* open(Scope* parent, const void* node, ScopeKind kind);
  void bind(Scope* scope, std::string_view name) { scope->bound.insert(mangled(name, *scope)); }
  void use(Scope* scope, std::string_view name);
  void block(Scope* scope, ast::Block body);
  void annotated_assignment(Scope* scope, const ast::AnnAssign& assign);
  void stmt(Scope* scope, const ast::Stmt* stmt);
  void function(Scope* scope, const ast::FunctionDef& node, const ast::Stmt* stmt);
  void class_def(Scope* scope, const ast::ClassDef& node, const ast::Stmt* stmt);
  void arguments(Scope* scope, const ast::Arguments* args);
  void defaults(Scope* scope, const ast::Arguments* args);
  void annotations(Scope* scope, const ast::FunctionDef& node);
  Scope* type_params(Scope* scope, const void* node, ast::List<ast::TypeParam> params);
  void expr(Scope* scope, const ast::Expr* expr);
  void comprehension(Scope* scope, const ast::ComprehensionExpr& node, const ast::Expr* expr);
  void pattern(Scope* scope, const ast::Pattern* pattern);
  void bind_named(Scope* scope, std::string_view name);
  void target(Scope* scope, const ast::Expr* target);
  void resolve(Scope* scope);
  void resolve_name(Scope* scope, std::string_view name);

  const Version version_;
  int conditions_ = 0;  // statements around the one at work, in its scope, that may run it or not
  const bool text_;  // annotations are kept as text, as `from __future__ import annotations` has them
  const std::set<std::string_view> around_;
  std::deque<Scope> scopes_;
  std::unordered_set<std::string> names_;
};

}  // namespace depyf::lowering
