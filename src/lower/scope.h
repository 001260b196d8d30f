// The symbol table of a finished tree. It says which scope binds each name, by the rules of CPython's symtable.c.
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
#include "lower/assembler.h"

namespace depyf::lowering {

enum class ScopeKind : std::uint8_t { module, class_body, function, type_params };

// The place where the value of a name lives, as one scope sees it.
enum class Home : std::uint8_t { local, free, global_explicit, global_implicit };

// An annotation of a module or class that is evaluated when somebody asks for it (3.14 and later).
struct Deferred {
  const ast::AnnAssign* node = nullptr;
  // Its index among the annotations that hold only if their statement has run; -1 if it always holds.
  std::int32_t index = -1;
};

// The names of one module, class, function, comprehension or function that evaluates something later.
struct Scope {
  ScopeKind kind = ScopeKind::module;
  Scope* parent = nullptr;
  // A comprehension whose code is part of the scope around it (3.12 and later).
  bool inlined = false;
  bool is_comprehension = false;
  bool is_generator = false;  // contains a yield, or is a generator expression
  bool is_coroutine = false;
  bool has_annotations = false;  // contains an annotated assignment, in any block
  // The scope is evaluated in a class body, and looks names up in the class first (3.12 and later).
  bool sees_class = false;
  std::vector<const ast::Expr*> annotations;  // of any target
  bool has_conditional_annotations = false;
  std::vector<Deferred> deferred;
  // The number of annotations that need a mark.
  std::int32_t conditional_annotations = 0;
  std::string class_name;  // the class around, for mangling private names
  // The names that the scope binds, uses and declares, all of them mangled.
  std::set<std::string_view, ByLength> bound, used, declared_global, declared_nonlocal;
  std::vector<std::string_view> parameters;
  // By name: where its value lives.
  std::map<std::string_view, Home, ByLength> homes;
  std::set<std::string_view> cells;  // bound here, and used by nested code
  std::set<std::string_view> frees;  // the free variables of the code object
  std::unordered_map<const void*, Scope*> children;  // by the node that opens the scope

  bool is_function_like() const { return kind == ScopeKind::function || kind == ScopeKind::type_params; }
  // Returns the scope whose code object contains the code of this scope.
  Scope* unit() {
    Scope* scope = this;
    while (scope->inlined) scope = scope->parent;
    return scope;
  }
};

// Builds the scopes in one walk over the tree, and then finds the home of each name.
class SymbolTable {
 public:
  // `around` holds names that functions around the tree bind.
  SymbolTable(Version version, bool annotations_are_text, std::set<std::string_view> around = {})
      : version_(version), text_(annotations_are_text), around_(std::move(around)) {}

  // Returns the scope of the whole tree. All scopes live as long as the table.
  Scope* build(ast::Block body);

  // Returns the name as the compiler stores it: a private name in a class gets the name of the class in front.
  std::string_view mangled(std::string_view name, const Scope& scope);
  // Keeps a text alive and returns a view of it.
  std::string_view keep(std::string text);
  // Returns the kept texts. All views of them stay valid as long as the result lives.
  std::unordered_set<std::string> take_names() { return std::move(names_); }

 private:
  // Opens the scope of a function that evaluates something later.
  Scope* open_evaluator(Scope* scope, const void* node);
  // Visits the annotations of a module or class.
  void deferred(Scope* scope);
  // Opens a scope. Returns null if the node was visited before.
  Scope* open(Scope* parent, const void* node, ScopeKind kind);
  void bind(Scope* scope, std::string_view name) { scope->bound.insert(mangled(name, *scope)); }
  // Records that a scope uses a name.
  void use(Scope* scope, std::string_view name);
  // These functions visit one kind of node each, and record the names in it.
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
  // Binds the target of a walrus.
  void bind_named(Scope* scope, std::string_view name);
  void target(Scope* scope, const ast::Expr* target);
  // Finds the homes of all names of a scope.
  void resolve(Scope* scope);
  // Finds the home of one name.
  void resolve_name(Scope* scope, std::string_view name);

  const Version version_;
  // The number of statements around the current one, in its scope, that may or may not run it.
  int conditions_ = 0;
  // True if annotations are kept as text, as with `from __future__ import annotations`.
  const bool text_;
  const std::set<std::string_view> around_;
  std::deque<Scope> scopes_;
  std::unordered_set<std::string> names_;  // texts that names refer to
};

}  // namespace depyf::lowering
