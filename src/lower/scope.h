// The symbol table of a finished syntax tree, which determines the scope that binds each name by the rules of CPython's
// symtable.c.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ast/node.h"
#include "lower/name_map.h"
#include "support/private_names.h"

namespace depyf {
struct LoweredCode;
}

namespace depyf::lowering {

enum class ScopeKind : std::uint8_t { module, class_body, function, type_params };

// The kind of variable that a name refers to in one scope.
enum class Home : std::uint8_t {
  unknown,  // the scope does not mention the name
  local,
  free,
  global_explicit,
  global_implicit
};

// A name in one scope.
struct Symbol {
  Home home = Home::unknown;
  bool is_mentioned = false;  // the scope binds, uses or declares the name
  bool is_bound = false;
  bool is_declared_global = false, is_declared_nonlocal = false;
  bool is_cell = false;  // bound in this scope, and used by nested code
  bool is_free = false;  // a free variable of the code object
  // The index among the variables of the code object, and the index among its free variables; -1 if no index is
  // assigned.
  std::int32_t slot = -1, free_index = -1;
};

// An annotation of a module or class that is evaluated lazily, by `__annotate__` (3.14 and later).
struct Deferred {
  const ast::AnnAssign* node = nullptr;
  // The index of the annotation in `__conditional_annotations__`, the set of annotations whose statements have run; -1
  // if the annotation is unconditional.
  std::int32_t index = -1;
};

// The names of one module, class, function or comprehension, or of a function that the compiler adds for type
// parameters or lazy evaluation.
struct Scope {
  ScopeKind kind = ScopeKind::module;
  Scope* parent = nullptr;
  // True for a comprehension whose code is part of the code object of the enclosing scope (3.12 and later).
  bool inlined = false;
  bool is_comprehension = false;
  bool is_generator = false;  // true if the scope contains a yield, or is a generator expression
  bool is_coroutine = false;
  bool has_annotations = false;  // true if any block of the scope contains an annotated assignment
  // True if a function encloses the scope, so that names of the scope may be free variables.
  bool may_have_free = false;
  // True for a scope in a class body whose names are looked up in the namespace of the class first (3.12 and later).
  bool sees_class = false;
  std::vector<const ast::Expr*> annotations;  // the annotations of names, attributes and subscripts
  bool has_conditional_annotations = false;
  std::vector<Deferred> deferred;
  // The number of annotations that have an index in `__conditional_annotations__`.
  std::int32_t conditional_annotations = 0;
  std::string_view private_class;  // the name of the enclosing class as mangled names contain it
  // The type parameters that are the only names to be mangled; null if all private names are mangled.
  const ast::List<ast::TypeParam>* mangled_only = nullptr;
  NameMap<Symbol> symbols;  // indexed by mangled name
  std::vector<std::string_view> parameters;
  std::unordered_map<const void*, Scope*> children;  // the nested scopes, indexed by the node that opens the scope
  std::shared_ptr<LoweredCode> code;  // null until the scope is lowered; always null if the scope is inlined

  // Returns the kind of variable that a name refers to; `unknown` if the scope does not mention the name.
  Home home_of(const NameKey& name) const {
    const Symbol* symbol = symbols.find(name);
    return symbol ? symbol->home : Home::unknown;
  }
  bool has_cell(const NameKey& name) const {
    const Symbol* symbol = symbols.find(name);
    return symbol && symbol->is_cell;
  }
  // `use` and `bind` record that the scope mentions or binds a name, and return the symbol of the name.
  Symbol& use(const NameKey& name) {
    Symbol& symbol = symbols[name];
    symbol.is_mentioned = true;
    return symbol;
  }
  Symbol& bind(const NameKey& name) {
    Symbol& symbol = use(name);
    symbol.is_bound = true;
    return symbol;
  }
  // Returns the names of the free variables of the code object, sorted.
  std::vector<std::string_view> free_names() const;
  bool is_function_like() const { return kind == ScopeKind::function || kind == ScopeKind::type_params; }
  // Returns the scope whose code object contains the code of this scope.
  Scope* unit() {
    Scope* scope = this;
    while (scope->inlined) scope = scope->parent;
    return scope;
  }
};

// Builds the scopes in one walk over the tree, and then determines the kind of variable (`Home`) that each name
// refers to.
class SymbolTable {
 public:
  // `around` contains the names that functions around the tree bind.
  SymbolTable(Version version, bool annotations_are_text, std::set<std::string_view> around = {})
      : version_(version), text_(annotations_are_text), around_(std::move(around)) {}

  // Returns the scope of the whole tree. All scopes live as long as the table.
  Scope* build(ast::Block body);

  // Returns the name as the compiler stores it: a private name in a class is prefixed with the name of the class.
  std::string_view mangled(std::string_view name, const Scope& scope) {
    return scope.private_class.empty() || !is_private_name(name) || !is_mangled(name, scope)
               ? name
               : in_class(name, scope.private_class);
  }
  // Keeps a text alive and returns a view of it.
  std::string_view keep(std::string text);
  // Returns all texts that `keep` stored; views of the texts stay valid as long as the returned set lives.
  std::unordered_set<std::string> take_names() { return std::move(names_); }

 private:
  // Returns false if only type parameters are mangled in `scope`, and `name` is none of them.
  static bool is_mangled(std::string_view name, const Scope& scope) {
    return !scope.mangled_only ||
           std::ranges::any_of(*scope.mangled_only, [&](const ast::TypeParam& param) { return param.name == name; });
  }
  // Returns the mangled form of a private name, such as `_C__x` for `__x` in a class C.
  std::string_view in_class(std::string_view name, std::string_view private_class);
  // Opens the scope of a function that evaluates an expression, such as an annotation, lazily. `is_text` is true for
  // annotations that are kept as text.
  Scope* open_evaluator(Scope* scope, const void* node, bool is_text = false);
  // Visits the annotations of a module or class.
  void deferred(Scope* scope);
  // Opens a scope. Returns null if the node was visited before.
  Scope* open(Scope* parent, const void* node, ScopeKind kind);
  void bind(Scope* scope, std::string_view name) { scope->bind(mangled(name, *scope)); }
  // Records that a scope uses a name.
  void use(Scope* scope, std::string_view name);
  // Each of the following functions visits one kind of node, and records the names in the node.
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
  // Determines the kind of variable (`Home`) that each name of a scope refers to.
  void resolve(Scope* scope);
  // Returns the kind of variable (`Home`) that one name of `scope` refers to.
  Home home_of(Scope* scope, const NameKey& name, const Symbol& symbol);

  const Version version_;
  // The number of statements with a body, such as `if` and `with`, that enclose the current statement in its scope.
  int conditions_ = 0;
  // True if annotations are kept as text, as with `from __future__ import annotations`.
  const bool text_;
  const std::set<std::string_view> around_;
  std::deque<Scope> scopes_;
  std::unordered_set<std::string> names_;  // the texts that `keep` stored
};

}  // namespace depyf::lowering
